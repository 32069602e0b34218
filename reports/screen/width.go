package screen

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// columns measures as terminals in a Western locale do. The condition is spelled
// out because the library's default one reads the environment.
func columns() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

// Width is the number of terminal columns a line takes, escape sequences of
// Paint apart.
func Width(s string) int { return columns().StringWidth(unpainted(s)) }

// Cut shortens a line to at most width columns, with a mark where it was cut.
// Below the width of the mark nothing is left of the line but what fits of it.
func Cut(s string, width int, ascii bool) string {
	mark := "…"
	if ascii {
		mark = "~"
	}
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return columns().Truncate(s, width, mark)
}

// CutMiddle shortens a line as Cut does, but keeps more of its end than of its
// beginning: the ends of names tell them apart.
func CutMiddle(s string, width int, ascii bool) string {
	head := Cut(s, width/3, ascii)
	if Width(s) <= width || width < 1 {
		return Cut(s, width, ascii)
	}
	room := width - Width(head)
	tail := ""
	for i := range s {
		if tail = s[i:]; Width(tail) <= room {
			break
		}
	}
	return head + tail
}

// Pad fills a line up to width columns on its right.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// Fold breaks a line into lines of at most width columns, after a space where
// there is one in the second half, else wherever the width ends. Nothing but the
// space at a break is lost, and the paint of a line that has to be folded. A
// width below 1 folds nothing.
func Fold(s string, width int) []string {
	if width < 1 || Width(s) <= width {
		return []string{s}
	}
	s = unpainted(s)
	var lines []string
	for Width(s) > width {
		head := columns().Truncate(s, width, "")
		if head == "" { // a character wider than the width stands alone
			head = firstRune(s)
		}
		rest := s[len(head):]
		if at := strings.LastIndexByte(head, ' '); at*2 > len(head) && !strings.HasPrefix(rest, " ") {
			head, rest = head[:at], s[at:]
		}
		lines = append(lines, head)
		s = strings.TrimPrefix(rest, " ")
	}
	if s == "" {
		return lines
	}
	return append(lines, s)
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

// Pack puts items into as few lines of at most width columns as their order
// allows, gap blanks between neighbours. An item wider than the width has a line
// of its own.
func Pack(items []string, gap, width int) []string {
	var lines []string
	for _, item := range items {
		last := len(lines) - 1
		if last >= 0 && (width < 1 || Width(lines[last])+gap+Width(item) <= width) {
			lines[last] += strings.Repeat(" ", gap) + item
		} else {
			lines = append(lines, item)
		}
	}
	return lines
}
