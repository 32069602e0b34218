package cassette

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// wrapAt is the width in runes at which long texts are broken for reading.
const wrapAt = 100

// pretty renders a request for people to compare: method and target, then the
// body with a member a line, sorted, and texts broken at their own line breaks
// so that a difference shows the words around it and not the whole prompt.
func (r request) pretty() string {
	var p printer
	p.line(0, r.method+" "+r.target)
	if s, ok := r.body.(string); ok {
		p.text(0, s)
	} else {
		p.value(0, "", r.body, "")
	}
	return p.b.String()
}

type printer struct{ b strings.Builder }

func (p *printer) line(depth int, s string) {
	p.b.WriteString(strings.Repeat("  ", depth))
	p.b.WriteString(s)
	p.b.WriteByte('\n')
}

// value prints a JSON value: lead is "name: " or "", tail "," or "".
func (p *printer) value(depth int, lead string, v any, tail string) {
	switch v := v.(type) {
	case map[string]any:
		p.object(depth, lead, v, tail)
	case []any:
		p.array(depth, lead, v, tail)
	case string:
		p.str(depth, lead, v, tail)
	default:
		p.line(depth, lead+canonical(v)+tail)
	}
}

func (p *printer) object(depth int, lead string, m map[string]any, tail string) {
	if len(m) == 0 {
		p.line(depth, lead+"{}"+tail)
		return
	}
	p.line(depth, lead+"{")
	names := slices.Sorted(maps.Keys(m))
	for i, name := range names {
		p.value(depth+1, canonical(name)+": ", m[name], comma(i, len(names)))
	}
	p.line(depth, "}"+tail)
}

func (p *printer) array(depth int, lead string, list []any, tail string) {
	if len(list) == 0 {
		p.line(depth, lead+"[]"+tail)
		return
	}
	p.line(depth, lead+"[")
	for i, v := range list {
		p.value(depth+1, "", v, comma(i, len(list)))
	}
	p.line(depth, "]"+tail)
}

func (p *printer) str(depth int, lead, s, tail string) {
	if !strings.Contains(s, "\n") && utf8.RuneCountInString(s) <= wrapAt {
		p.line(depth, lead+canonical(s)+tail)
		return
	}
	p.line(depth, lead+`"""`)
	p.text(depth+1, s)
	p.line(depth, `"""`+tail)
}

// text prints a text line by line. Control characters are escaped: the text is
// a stranger's and ends up on a terminal.
func (p *printer) text(depth int, s string) {
	for line := range strings.SplitSeq(s, "\n") {
		for len(line) > 0 {
			n := wrapPoint(line)
			p.line(depth, printable(line[:n]))
			line = line[n:]
		}
	}
}

// wrapPoint is how much of the line fits, broken behind a blank if it can be.
func wrapPoint(line string) int {
	n := 0
	for i := range line {
		if n == wrapAt {
			if blank := strings.LastIndexByte(line[:i], ' '); blank > i/2 {
				return blank + 1
			}
			return i
		}
		n++
	}
	return len(line)
}

func printable(s string) string {
	clean := true
	for _, r := range s {
		clean = clean && r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f)
	}
	if clean {
		return s
	}
	return strings.Trim(fmt.Sprintf("%q", s), `"`)
}

func comma(i, n int) string {
	if i < n-1 {
		return ","
	}
	return ""
}
