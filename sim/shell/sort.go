package shell

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// runSort is sort [-bfnrsu] [-k KEY] [-t CHAR] [-o FILE] [FILE...]
func runSort(p *proc, o options) int {
	s, err := newSorter(o)
	if err != nil {
		return p.usage("%v", err)
	}
	lines, code := p.lines(o.rest)
	if code != 0 {
		return exitUsage
	}
	slices.SortStableFunc(lines, s.compare)
	if o.has("u") {
		lines = slices.CompactFunc(lines, func(a, b string) bool { return s.byKeys(a, b) == 0 })
	}
	text := strings.Join(append(lines, ""), "\n")
	if !o.has("o") {
		return p.printed(text)
	}
	if err := p.Files.WriteFile(o.get("o", ""), []byte(text)); err != nil {
		return p.fail(exitUsage, "open failed: %s: %s", o.get("o", ""), reason(err))
	}
	return 0
}

type sorter struct {
	options
	keys      []sortKey
	separator string // empty: runs of blanks
}

// sortKey is -k F[.C][FLAGS][,F[.C][FLAGS]]; to is 0 for the line's end.
type sortKey struct {
	from, fromChar, to, toChar int
	flags                      string
}

// sortFlags are the ordering options, of a key or of the command.
const sortFlags = "bfnr"

func newSorter(o options) (*sorter, error) {
	s := &sorter{options: o}
	global := ""
	for _, x := range o.list {
		if strings.Contains(sortFlags, x.name) {
			global += x.name
		}
	}
	for _, text := range o.all("k") {
		k, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		k.flags = cmp.Or(k.flags, global)
		s.keys = append(s.keys, k)
	}
	if s.keys == nil {
		s.keys = []sortKey{{from: 1, flags: global}}
	}
	if s.separator = o.get("t", ""); o.has("t") && len(s.separator) != 1 {
		return nil, fmt.Errorf("multi-character tab '%s'", s.separator)
	}
	return s, nil
}

func parseKey(text string) (k sortKey, err error) {
	from, to, both := strings.Cut(text, ",")
	k.from, k.fromChar, err = k.position(from)
	if err == nil && both {
		k.to, k.toChar, err = k.position(to)
	}
	if err != nil {
		return k, fmt.Errorf("invalid key: '%s'", text)
	}
	return k, nil
}

// position reads one end of a key.
func (k *sortKey) position(s string) (field, char int, err error) {
	number := strings.TrimRight(s, sortFlags)
	k.flags += s[len(number):]
	f, c, dotted := strings.Cut(number, ".")
	if field, err = strconv.Atoi(f); err == nil && dotted {
		char, err = strconv.Atoi(c)
	}
	if field < 1 || char < 0 {
		err = errors.New("no such position")
	}
	return field, char, err
}

// compare is the complete order: keys, then the line's bytes unless -s or -u.
func (s *sorter) compare(a, b string) int {
	c := s.byKeys(a, b)
	if c != 0 || s.has("s", "u") {
		return c
	}
	return reversed(strings.Compare(a, b), s.has("r"))
}

// reversed turns the result of a comparison round, if so.
func reversed(c int, so bool) int {
	if so {
		return -c
	}
	return c
}

func (s *sorter) byKeys(a, b string) int {
	for _, k := range s.keys {
		if c := k.compare(k.of(a, s.separator), k.of(b, s.separator)); c != 0 {
			return c
		}
	}
	return 0
}

// has reports whether one of the key's ordering options is set.
func (k sortKey) has(flag string) bool { return strings.Contains(k.flags, flag) }

// of cuts the key out of a line.
func (k sortKey) of(line, separator string) string {
	spans := fieldSpans(line, separator)
	begin, end := len(line), len(line)
	if k.from <= len(spans) {
		begin = min(k.start(line, spans[k.from-1][0])+max(k.fromChar-1, 0), len(line))
	}
	if k.to > 0 && k.to <= len(spans) {
		end = spans[k.to-1][1]
		if k.toChar > 0 {
			end = min(k.start(line, spans[k.to-1][0])+k.toChar, len(line))
		}
	}
	return line[begin:max(begin, end)]
}

// start is where a field begins, with -b behind its blanks.
func (k sortKey) start(line string, at int) int {
	if k.has("b") {
		at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
	}
	return at
}

// fieldSpans gives begin and end of each field. Without a separator a field takes the blanks before it.
func fieldSpans(line, separator string) [][2]int {
	var out [][2]int
	if separator != "" {
		at := 0
		for part := range strings.SplitSeq(line, separator) {
			out = append(out, [2]int{at, at + len(part)})
			at += len(part) + 1
		}
		return out
	}
	for at := 0; at < len(line) || out == nil; {
		blanks := len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
		end := strings.IndexAny(line[at+blanks:]+" ", " \t") + at + blanks
		out = append(out, [2]int{at, end})
		at = end
	}
	return out
}

func (k sortKey) compare(a, b string) int {
	c := 0
	switch {
	case k.has("n"):
		c = compareDecimal(a, b)
	case k.has("f"):
		c = strings.Compare(capitals(a), capitals(b))
	default:
		c = strings.Compare(a, b)
	}
	return reversed(c, k.has("r"))
}

// compareDecimal compares by the number a text begins with, of any length, without rounding.
func compareDecimal(a, b string) int {
	negative, intA, fracA := decimal(a)
	negativeB, intB, fracB := decimal(b)
	switch {
	case negative && !negativeB:
		return -1
	case !negative && negativeB:
		return 1
	}
	c := cmp.Or(cmp.Compare(len(intA), len(intB)), strings.Compare(intA, intB), strings.Compare(fracA, fracB))
	return reversed(c, negative)
}

func decimal(s string) (negative bool, integer, fraction string) {
	s, negative = strings.CutPrefix(strings.TrimLeft(s, " \t"), "-")
	end := len(s) - len(strings.TrimLeft(s, "0123456789"))
	integer = strings.TrimLeft(s[:end], "0")
	if rest, ok := strings.CutPrefix(s[end:], "."); ok {
		fraction = strings.TrimRight(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))], "0")
	}
	return negative && integer+fraction != "", integer, fraction
}
