package reports

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"toolbench/toolsys/render"
)

// Safe is render.Safe: reports make texts harmless as all that is drawn is made.
func Safe(s string) string { return render.Safe(s) }

// SafeLines is render.SafeLines.
func SafeLines(s string) []string { return render.SafeLines(s) }

// Harmless is render.Harmless.
func Harmless(r rune) bool { return render.Harmless(r) }

// Paint is a colour in which a text is drawn.
type Paint string

// The paints there are; the zero value leaves a text as it is.
const (
	Plain  Paint = ""
	Red    Paint = "31"
	Green  Paint = "32"
	Yellow Paint = "33"
	Cyan   Paint = "36"
	Dim    Paint = "2"
	Bold   Paint = "1"
)

// On gives the text in this paint when colour is wanted.
func (p Paint) On(s string, colour bool) string {
	if !colour || p == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(p) + "m" + s + "\x1b[0m"
}

var painted = regexp.MustCompile("\x1b\\[[0-9;]*m")

func unpainted(s string) string { return painted.ReplaceAllLiteralString(s, "") }

// measure is how terminals measure in a Western locale do. The condition is spelled
// out because the library's default one reads the environment.
func measure() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// Width is the number of terminal columns a line takes, escape sequences of
// Paint apart.
func Width(s string) int { return measure().StringWidth(unpainted(s)) }

// cutMark stands wherever a text was cut.
func cutMark(ascii bool) string {
	if ascii {
		return "~"
	}
	return "…"
}

// Cut shortens a line to at most width columns, with a mark where it was cut.
// Below the width of the mark nothing is left of the line but what fits of it.
func Cut(s string, width int, ascii bool) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return measure().Truncate(s, width, cutMark(ascii))
}

// cutMiddle shortens a line as Cut does, but keeps more of its end than of its
// beginning: names differ at their ends.
func cutMiddle(s string, width int, ascii bool) string { return cutBehind(s, width/3, width, ascii) }

// Shorten gives names at most width columns. Each is cut in its middle; where two would then
// read alike, farther behind, for as long as they do.
func Shorten(names []string, width int, ascii bool) []string {
	short := each(names, func(name string) string { return cutMiddle(name, width, ascii) })
	for head := width/3 + 1; head < width; head++ {
		read, twice := map[string]string{}, map[string]bool{}
		for i, s := range short {
			if name, ok := read[s]; ok && name != names[i] {
				twice[s] = true
			}
			read[s] = names[i]
		}
		if len(twice) == 0 {
			break
		}
		for i, s := range short {
			if twice[s] {
				short[i] = cutBehind(names[i], head, width, ascii)
			}
		}
	}
	return short
}

// cutBehind shortens a line behind so many columns of its beginning, with the mark among
// them, and keeps its end.
func cutBehind(s string, begin, width int, ascii bool) string {
	head := Cut(s, begin, ascii)
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
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

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
		head := measure().Truncate(s, width, "")
		if head == "" { // a character wider than the width stands alone
			_, size := utf8.DecodeRuneInString(s)
			head = s[:size]
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

// pack puts items into as few lines of at most width columns as their order
// allows, gap blanks between neighbours. An item wider than the width has a line
// of its own.
func pack(items []string, gap, width int) []string {
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
