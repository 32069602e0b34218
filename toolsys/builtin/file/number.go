package file

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxLineChars is how much of one line is shown, in code points.
const maxLineChars = 2000

// numbered shows lines with their numbers in front, the first being number first.
// Invalid bytes are replaced, since a result travels as JSON.
func numbered(lines []string, first int) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%6d\t%s", first+i, cut(replaced(line)))
	}
	return b.String()
}

// replaced shows each byte that is no UTF-8 as the replacement character.
func replaced(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// cut shortens an overlong line and says so.
func cut(line string) string {
	if len(line) <= maxLineChars {
		return line
	}
	chars := utf8.RuneCountInString(line)
	if chars <= maxLineChars {
		return line
	}
	end := 0
	for range maxLineChars {
		_, size := utf8.DecodeRuneInString(line[end:])
		end += size
	}
	return fmt.Sprintf("%s… [line cut, %d more characters]", line[:end], chars-maxLineChars)
}

// count words a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
