package budget

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"toolbench/toolsys/message"
)

// head gives the first n code points of text, or fewer: where the second half of
// them has a line end, the cut is there, so that no line is shown in part.
func head(text string, n int) string {
	cut := prefix(text, n)
	if len(cut) == len(text) {
		return text
	}
	if end := strings.LastIndexByte(cut, '\n') + 1; end > len(cut)/2 {
		return cut[:end]
	}
	return cut
}

// prefix gives the first n code points.
func prefix(text string, n int) string {
	if n <= 0 {
		return ""
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// prefixBytes gives at most n bytes, cut between code points.
func prefixBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

// preview is what the model gets of a result that is whole in file.
func preview(text, file string, chars, n int) string {
	shown := head(text, n)
	note := fmt.Sprintf("[This result has %d characters, too many to show here. All of it is saved in %s: read or search that file for more.", chars, file)
	if shown == "" {
		return note + "]"
	}
	return fmt.Sprintf("%s Its first %d characters:]\n%s", note, utf8.RuneCountInString(shown), shown)
}

// longestWhy bounds the words of a filesystem in a note, in code points.
const longestWhy = 100

// truncate cuts text so that it and the note fit n code points; the note is never
// cut.
func truncate(text string, chars, n int, why string) string {
	why = prefix(why, longestWhy)
	note := func(shown int) string {
		return fmt.Sprintf("\n[Cut here: %d of %d characters are shown. %s.]", shown, chars, why)
	}
	shown := head(text, n-utf8.RuneCountInString(note(chars)))
	shown = prefixBytes(shown, MaxInlineBytes-1-len(note(chars)))
	return shown + note(utf8.RuneCountInString(shown))
}

// withText puts text where the first text block of blocks stands and drops the
// others; all that is not text keeps its order.
func withText(blocks []message.Block, text string) []message.Block {
	out := make([]message.Block, 0, len(blocks))
	placed := false
	for _, b := range blocks {
		switch {
		case b.Type != message.TypeText:
			out = append(out, b)
		case !placed:
			b.Text, placed = text, true
			out = append(out, b)
		}
	}
	return out
}
