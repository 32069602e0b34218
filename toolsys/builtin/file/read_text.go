package file

import (
	"fmt"
)

const (
	// defaultLines is how many lines are shown where no limit is given.
	defaultLines = 2000
	// maxShownBytes is what one Read may show: 25,000 tokens at four bytes each.
	maxShownBytes = 100_000
)

// viewText shows a range of lines with their numbers.
func viewText(p place, content []byte, in ReadIn) (viewed, error) {
	t, ok := decode(content)
	if !ok {
		return viewed{}, failure(refuse(CodeKind, "%s is a binary file of %d bytes and cannot be shown as text.", p.abs, len(content)))
	}
	lines := t.lines()
	r := rangeOf(len(lines), in.Offset, in.Limit, defaultLines)
	v := viewed{partial: !r.whole(), out: ReadOut{
		Kind: "text", First: r.first, Shown: r.shown, Total: r.total,
		Text: numbered(lines[r.first-1:r.first-1+r.shown], r.first),
	}}
	v.out.Notes = textNotes(t, r)
	return v, fits(v.out.Text, r, "line")
}

func textNotes(t text, r span) []string {
	var notes []string
	if t.body == "" {
		notes = append(notes, "The file exists but is empty.")
	} else if note := r.note("line"); note != "" {
		notes = append(notes, note)
	}
	if n := t.foreign(); n > 0 {
		notes = append(notes, fmt.Sprintf("The file is not valid UTF-8: %s shown as �.", count(n, "byte")))
	}
	return notes
}

// span is a range of a file's lines, cells or pages; first counts from 1.
type span struct{ first, shown, total int }

// rangeOf keeps a wanted range within what there is. Offset 0 means the start,
// limit 0 as many as usual.
func rangeOf(total, offset, limit, usual int) span {
	first := min(max(offset, 1), total+1)
	if limit == 0 {
		limit = usual
	}
	return span{first: first, shown: min(limit, total-first+1), total: total}
}

func (r span) whole() bool { return r.shown == r.total }

// note says what is not shown and how to see it.
func (r span) note(unit string) string {
	switch {
	case r.whole():
		return ""
	case r.shown == 0:
		return fmt.Sprintf("The offset is beyond the end: the file has %s.", count(r.total, unit))
	}
	return fmt.Sprintf("Shown: %ss %d to %d of %d. Use offset and limit for others.", unit, r.first, r.first+r.shown-1, r.total)
}

// fits refuses what would flood the conversation (K1).
func fits(shown string, r span, unit string) error {
	if len(shown) <= maxShownBytes {
		return nil
	}
	return failure(refuse(CodeRange,
		"The %ss %d to %d hold about %d tokens, more than the %d that one Read may show. "+
			"Use offset and limit for a smaller part, or search with Grep.",
		unit, r.first, r.first+r.shown-1, len(shown)/4, maxShownBytes/4))
}
