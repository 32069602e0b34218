package screen

import "regexp"

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
