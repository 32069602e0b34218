package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/toolsys/tool"
)

// replacement is an exact edit of a text (SPEC L): which text, by which, and
// whether everywhere.
type replacement struct {
	old, new string
	all      bool
}

// in finds the edits that make the replacement in body, as byte ranges of it.
// Line endings are the file's: where it has CRLF, a line feed in old means one,
// and line feeds in new become what the file has most of.
func (r replacement) in(body string) ([]udiff.Edit, *tool.Refusal) {
	e := endingsOf(body)
	old := unified(r.old)
	at := occurrences(e.flat, old)
	switch {
	case len(at) == 0:
		return nil, notFound(e.flat, old)
	case len(at) > 1 && !r.all:
		return nil, ambiguous(e.flat, at)
	}
	fresh := e.dress(unified(r.new))
	var edits []udiff.Edit
	end := 0
	for _, start := range at {
		if start < end { // overlaps the one before
			continue
		}
		end = start + len(old)
		edits = append(edits, udiff.Edit{Start: e.raw(start), End: e.raw(end), New: fresh})
	}
	return edits, nil
}

// occurrences are all places of old, those that overlap included: which of two
// overlapping ones is meant is as open as which of two that lie apart.
func occurrences(s, old string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(s[from:], old)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + 1
	}
}

// endings is a text with its CRLFs made line feeds, and where those were.
type endings struct {
	flat  string
	crlf  []int // places in flat, sorted
	plain int   // line feeds that stand alone
}

func endingsOf(body string) endings {
	if !strings.Contains(body, "\r\n") {
		return endings{flat: body, plain: strings.Count(body, "\n")}
	}
	var b strings.Builder
	var e endings
	for i, line := range strings.Split(body, "\r\n") {
		if i > 0 {
			e.crlf = append(e.crlf, b.Len())
			b.WriteByte('\n')
		}
		e.plain += strings.Count(line, "\n")
		b.WriteString(line)
	}
	e.flat = b.String()
	return e
}

// raw is the place in the body of a place in flat.
func (e endings) raw(at int) int {
	before, _ := slices.BinarySearch(e.crlf, at)
	return at + before
}

// dress gives a text the endings that the file has most of.
func (e endings) dress(s string) string {
	if len(e.crlf) > e.plain {
		return strings.ReplaceAll(s, "\n", "\r\n")
	}
	return s
}

func unified(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// maxLinesNamed is how many places an error lists.
const maxLinesNamed = 10

func ambiguous(flat string, at []int) *tool.Refusal {
	var lines []string
	for _, i := range at[:min(len(at), maxLinesNamed)] {
		lines = append(lines, fmt.Sprint(lineOf(flat, i)))
	}
	list := strings.Join(lines, ", ")
	if len(at) > maxLinesNamed {
		list += ", ..."
	}
	return refuse(CodeAmbiguous, "old_string occurs %d times, beginning at lines %s. "+
		"Include more of the surrounding text so that it occurs once, or set replace_all.", len(at), list)
}

// notFound names the likeliest reason.
func notFound(flat, old string) *tool.Refusal {
	hint := ""
	switch line := looseLine(flat, old); {
	case line > 0:
		hint = fmt.Sprintf(" At line %d stands a text that differs only in white space.", line)
	case numberedText(old):
		hint = " It looks as if it begins with a line number; those are not part of the file."
	case strings.ContainsRune(old, '�') || strings.ContainsRune(replaced(flat), '�'):
		hint = " The file has bytes that are not valid UTF-8; leave them out of old_string."
	}
	return refuse(CodeNotFound, "old_string was not found in the file. It must match exactly, with white space and line breaks.%s", hint)
}

// looseLine finds where old would stand if white space did not count around
// lines; 0 where nowhere.
func looseLine(flat, old string) int {
	want := trimmedLines(strings.TrimSpace(old))
	if len(want) == 1 && want[0] == "" {
		return 0
	}
	have := trimmedLines(flat)
	for i := 0; i+len(want) <= len(have); i++ {
		if slices.Equal(have[i:i+len(want)], want) {
			return i + 1
		}
	}
	return 0
}

func trimmedLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return lines
}

// numberedText tells text copied with the numbers that Read puts in front.
func numberedText(s string) bool {
	number, _, tab := strings.Cut(strings.TrimLeft(s, " "), "\t")
	return tab && number != "" && strings.Trim(number, "0123456789") == ""
}

func lineOf(s string, at int) int { return strings.Count(s[:at], "\n") + 1 }
