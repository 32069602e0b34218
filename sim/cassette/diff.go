package cassette

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	diffContext  = 3  // unchanged lines around a difference
	diffMaxLines = 80 // of a diff in an error message
)

// unified is the diff from the recorded to the live request, cut to what one
// can read in an error message.
func unified(recorded, live, was, is string) string {
	text, err := udiff.ToUnified(recorded, live, was, udiff.Lines(was, is), diffContext)
	if err != nil {
		return "no diff: " + err.Error()
	}
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= diffMaxLines {
		return text
	}
	return strings.Join(lines[:diffMaxLines], "") + fmt.Sprintf("... %d more lines\n", len(lines)-diffMaxLines)
}

// bag counts the lines of a text, without their indentation and commas.
type bag struct {
	lines map[string]int
	total int
}

func newBag(text string) bag {
	b := bag{lines: map[string]int{}}
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \n,")
		if line == "" || strings.Trim(line, `{}[]"`) == "" {
			continue // brackets are alike everywhere
		}
		b.lines[line]++
		b.total++
	}
	return b
}

// similarity is the share of lines two requests have in common, whatever their
// order: 0 for none, 1 for all (Dice's coefficient).
func similarity(a, b bag) float64 {
	if a.total+b.total == 0 {
		return 0
	}
	common := 0
	for line, n := range a.lines {
		common += min(n, b.lines[line])
	}
	return 2 * float64(common) / float64(a.total+b.total)
}
