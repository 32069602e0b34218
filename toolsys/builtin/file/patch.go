package file

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	contextLines = 3
	// maxPatchEdits bounds the patch that is kept for display; the library's time
	// grows with edits times file size.
	maxPatchEdits = 500
	// maxSnippetLines is how much of a change the model is shown.
	maxSnippetLines = 60
)

// Hunk is one stretch of a change with three lines of context around it. Starts
// count from 1. Each line begins with a space, - or +, and has no line feed; a
// line "\ No newline at end of file" follows one that the file ends in without.
type Hunk struct {
	OldStart int      `json:"old_start"`
	OldLines int      `json:"old_lines"`
	NewStart int      `json:"new_start"`
	NewLines int      `json:"new_lines"`
	Lines    []string `json:"lines"`
}

const noNewline = `\ No newline at end of file`

// patchOf turns edits of a text into hunks. cut says that there were more edits
// than are kept.
func patchOf(before string, edits []udiff.Edit) (hunks []Hunk, cut bool) {
	if len(edits) > maxPatchEdits {
		edits, cut = edits[:maxPatchEdits], true
	}
	diff, err := udiff.ToUnifiedDiff("", "", before, edits, contextLines)
	if err != nil { // only edits that overlap or lie outside give one
		return nil, false
	}
	shift := 0
	for _, h := range diff.Hunks {
		hunk := hunkOf(h.FromLine, h.Lines)
		// The library's own new line numbers lose count after joined edits.
		hunk.NewStart = hunk.OldStart + shift
		shift += hunk.NewLines - hunk.OldLines
		hunks = append(hunks, hunk)
	}
	return hunks, cut
}

func hunkOf(start int, lines []udiff.Line) Hunk {
	h := Hunk{OldStart: start}
	for _, l := range lines {
		sign := " "
		switch l.Kind {
		case udiff.Delete:
			sign = "-"
			h.OldLines++
		case udiff.Insert:
			sign = "+"
			h.NewLines++
		default:
			h.OldLines++
			h.NewLines++
		}
		content, ended := strings.CutSuffix(l.Content, "\n")
		h.Lines = append(h.Lines, sign+replaced(content))
		if !ended {
			h.Lines = append(h.Lines, noNewline)
		}
	}
	return h
}

// difference finds a short patch between two texts.
func difference(before, after string) ([]Hunk, bool) {
	return patchOf(before, udiff.Lines(before, after))
}

// snippet shows the lines around a change as they are now, numbered.
func snippet(hunks []Hunk) string {
	var parts []string
	room := maxSnippetLines
	for _, h := range hunks {
		lines := h.after()
		if len(lines) > room {
			lines = lines[:room]
		}
		if len(lines) > 0 {
			parts = append(parts, numbered(lines, h.NewStart))
		}
		if room -= len(lines); room <= 0 {
			parts = append(parts, "[more of the change is not shown]")
			break
		}
	}
	return strings.Join(parts, "\n   ...\n")
}

// after are the hunk's lines as they are after the change.
func (h Hunk) after() []string {
	var lines []string
	for _, l := range h.Lines {
		if l[0] == ' ' || l[0] == '+' {
			lines = append(lines, strings.TrimSuffix(l[1:], "\r"))
		}
	}
	return lines
}
