package reports

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Live draws a conversation that goes on: what will not change any more is printed for
// good and, on a terminal, what may is drawn below it over and over.
type Live struct {
	W io.Writer
	// Height is the number of lines of the terminal; 0 draws nothing over.
	Height     int
	Screen     Terminal
	Transcript *Transcript
	// Status, where it is not empty, stands below all as long as the conversation goes on.
	Status string

	// parts is how many parts of the transcript are printed and stay, lines how many lines of
	// the next part. below are the lines after those, which may still change.
	parts, lines int
	below        []string
}

func (l *Live) grouped() bool { return !l.Screen.Verbose }

// Draw brings the terminal to what is known of the conversation, and reports whether it
// shows anything new.
func (l *Live) Draw() bool {
	fixed := l.fix(l.Transcript.settled(l.parts, l.grouped()))
	if l.Height > 0 {
		fixed = append(fixed, l.steady()...)
	}
	rest := l.rest()
	if len(fixed) == 0 && slices.Equal(rest, l.below) {
		return false
	}
	l.write(l.erased() + asLines(fixed) + asLines(rest))
	l.below = rest
	return true
}

// Waits reports whether there is something to print for good.
func (l *Live) Waits() bool { return l.Transcript.settled(l.parts, l.grouped()) > l.parts }

// Clear takes away what may change, so that something else can be printed.
func (l *Live) Clear() {
	l.write(l.erased())
	l.below = nil
}

// Entered notes that a person typed a line below all, which took so many rows.
func (l *Live) Entered(rows int) {
	if len(l.below) > 0 {
		l.below = append(l.below, make([]string, rows)...)
	}
}

// End prints all that is left for good.
func (l *Live) End() {
	fixed := l.fix(len(l.Transcript.parts))
	l.write(l.erased() + asLines(fixed))
	l.below = nil
}

// Forget ends what was drawn, and forgets it.
func (l *Live) Forget() {
	l.End()
	l.Transcript.Forget()
	l.parts, l.lines = 0, 0
}

// fix gives the lines of the parts up to one that were not printed yet.
func (l *Live) fix(to int) (lines []string) {
	if to > l.parts {
		lines = l.Screen.parts(l.Transcript.shown(l.parts, to, l.grouped()))
		lines = lines[min(l.lines, len(lines)):]
		l.parts, l.lines = to, 0
	}
	return lines
}

// steady gives the lines of a text that goes on which are whole and were not printed yet:
// a long answer would not fit what is drawn over.
func (l *Live) steady() (lines []string) {
	t := l.Transcript
	if l.parts >= len(t.parts) || t.parts[l.parts].tool != nil || t.parts[l.parts].speaks != model {
		return nil
	}
	p := *t.parts[l.parts]
	p.text = p.text[:bytes.LastIndexByte(p.text, '\n')+1]
	whole := &Transcript{parts: []*part{&p}, Blank: t.Blank, Wordless: t.Wordless}
	all := l.Screen.parts(whole.shown(0, 1, false))
	if len(all) <= l.lines || bytes.Count(p.text, []byte("\n")) > steadyLines {
		return nil
	}
	lines = all[l.lines:]
	l.lines = len(all)
	return lines
}

// steadyLines are those of a text that cannot be among the ones that are cut.
const steadyLines = 1000

// rest are the lines that may change, as many as the terminal has room for.
func (l *Live) rest() []string {
	if l.Height < 1 {
		return nil
	}
	lines := l.Screen.parts(l.Transcript.shown(l.parts, len(l.Transcript.parts), l.grouped()))
	lines = lines[min(l.lines, len(lines)):]
	lines = lines[max(len(lines)-max(l.Height-3, 1), 0):]
	if l.Status != "" {
		lines = append(lines, Dim.On(Cut(l.Status, max(l.Screen.Width, 1), l.Screen.ASCII), l.Screen.Colour))
	}
	return lines
}

func (l *Live) erased() string {
	if len(l.below) == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", len(l.below))
}

func (l *Live) write(text string) {
	if text != "" {
		io.WriteString(l.W, text) // a screen that is gone ends the program elsewhere
	}
}

func asLines(lines []string) string { return strings.Join(slices.Concat(lines, []string{""}), "\n") }
