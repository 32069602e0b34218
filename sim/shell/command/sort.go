package command

import (
	"slices"
	"strings"
)

// sort [-bcdfghiMnrsuVz] [-k KEY] [-t CHAR] [-o FILE] [FILE...]
func runSort(p *Proc) int {
	o, ok := p.parse("bcCdfghinrsuVzk:t:o:m", "ignore-leading-blanks>b", "check>c", "dictionary-order>d", "ignore-case>f", "general-numeric-sort>g",
		"human-numeric-sort>h", "numeric-sort>n", "reverse>r", "stable>s", "unique>u", "version-sort>V", "zero-terminated>z", "key=>k", "field-separator=>t", "output=>o", "merge>m")
	if !ok {
		return exitUsage
	}
	s, err := newSorter(o)
	if err != nil {
		return p.usage("%v", err)
	}
	lines, code := p.lines(o.rest, s.end)
	if code != 0 {
		return exitUsage
	}
	if o.has("c") || o.has("C") {
		return s.check(p, lines, o)
	}
	slices.SortStableFunc(lines, s.compare)
	if o.has("u") {
		lines = slices.CompactFunc(lines, func(a, b string) bool { return s.byKeys(a, b) == 0 })
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte(s.end)
	}
	if o.has("o") {
		if err := p.Files.WriteFile(o.get("o", ""), []byte(b.String())); err != nil {
			return p.fail(exitUsage, "open failed: %s: %s", o.get("o", ""), Reason(err))
		}
		return 0
	}
	if p.print(b.String()) != nil {
		return exitUsage
	}
	return 0
}

type sorter struct {
	keys      []sortKey
	global    sortFlags
	separator string // empty: runs of blanks
	stable    bool
	unique    bool
	end       byte
}

func (s *sorter) check(p *Proc, lines []string, o options) int {
	for i := 1; i < len(lines); i++ {
		c := s.compare(lines[i-1], lines[i])
		if c > 0 || c == 0 && s.unique {
			if o.has("c") {
				name := "-"
				if len(o.rest) > 0 {
					name = o.rest[0]
				}
				p.complain("%s:%d: disorder: %s", name, i+1, lines[i])
			}
			return exitFailure
		}
	}
	return 0
}

// compare is the whole order: keys, then the line's bytes unless -s or -u.
func (s *sorter) compare(a, b string) int {
	c := s.byKeys(a, b)
	if c != 0 || s.stable || s.unique {
		return c
	}
	c = strings.Compare(a, b)
	if s.global.reverse {
		return -c
	}
	return c
}

func (s *sorter) byKeys(a, b string) int {
	if len(s.keys) == 0 {
		return s.global.compare(a, b)
	}
	for _, k := range s.keys {
		flags := k.flags
		if flags == (sortFlags{}) {
			flags = s.global
		}
		if c := flags.compare(k.of(a, s.separator, flags), k.of(b, s.separator, flags)); c != 0 {
			return c
		}
	}
	return 0
}
