package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// compare is the complete order: keys, then the line's bytes unless -s or -u.
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

// sortFlags are the ordering options, of a key or of the command.
type sortFlags struct {
	blanks, dictionary, fold, general, human, numeric, reverse, version, printable bool
}

func (f *sortFlags) set(letter byte) bool {
	switch letter {
	case 'b':
		f.blanks = true
	case 'd':
		f.dictionary = true
	case 'f':
		f.fold = true
	case 'g':
		f.general = true
	case 'h':
		f.human = true
	case 'i':
		f.printable = true
	case 'n':
		f.numeric = true
	case 'r':
		f.reverse = true
	case 'V':
		f.version = true
	default:
		return false
	}
	return true
}

// sortKey is -k F[.C][OPTS][,F[.C][OPTS]]; to is 0 for the line's end.
type sortKey struct {
	from, fromChar, to, toChar int
	flags                      sortFlags
}

func newSorter(o options) (*sorter, error) {
	s := &sorter{end: '\n', stable: o.has("s"), unique: o.has("u")}
	if o.has("z") {
		s.end = 0
	}
	for _, x := range o.list {
		switch x.name {
		case "k":
			k, err := parseKey(x.value)
			if err != nil {
				return nil, err
			}
			s.keys = append(s.keys, k)
		case "t":
			if x.value == `\0` {
				x.value = "\x00"
			}
			if len(x.value) != 1 {
				return nil, fmt.Errorf("multi-character tab '%s'", x.value)
			}
			s.separator = x.value
		default:
			s.global.set(x.name[0])
		}
	}
	return s, nil
}

func parseKey(text string) (k sortKey, err error) {
	from, to, both := strings.Cut(text, ",")
	if k.from, k.fromChar, err = k.position(from); err != nil || k.from == 0 {
		return k, fmt.Errorf("invalid key: '%s'", text)
	}
	if both {
		if k.to, k.toChar, err = k.position(to); err != nil || k.to == 0 {
			return k, fmt.Errorf("invalid key: '%s'", text)
		}
	}
	return k, nil
}

func (k *sortKey) position(s string) (fieldNo, char int, err error) {
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end >= 0 {
		for i := end; i < len(s); i++ {
			if !k.flags.set(s[i]) {
				return 0, 0, fmt.Errorf("stray character in field spec")
			}
		}
		s = s[:end]
	}
	f, c, dotted := strings.Cut(s, ".")
	if fieldNo, err = strconv.Atoi(f); err == nil && dotted {
		char, err = strconv.Atoi(c)
	}
	return fieldNo, char, err
}

// of cuts the key out of a line.
func (k sortKey) of(line, separator string, flags sortFlags) string {
	spans := fieldSpans(line, separator)
	begin := len(line)
	if k.from <= len(spans) {
		begin = spans[k.from-1][0]
		if flags.blanks {
			begin += len(line[begin:]) - len(strings.TrimLeft(line[begin:], " \t"))
		}
		begin = min(begin+max(k.fromChar-1, 0), len(line))
	}
	end := len(line)
	if k.to > 0 && k.to <= len(spans) {
		end = spans[k.to-1][1]
		if k.toChar > 0 {
			at := spans[k.to-1][0]
			if flags.blanks {
				at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
			}
			end = min(at+k.toChar, len(line))
		}
	}
	return line[begin:max(begin, end)]
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
	for i := 0; i < len(line); {
		begin := i
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		out = append(out, [2]int{begin, i})
	}
	return out
}

func (f sortFlags) compare(a, b string) int {
	c := f.ascending(a, b)
	if f.reverse {
		return -c
	}
	return c
}

func (f sortFlags) ascending(a, b string) int {
	switch {
	case f.numeric:
		return compareDecimal(a, b)
	case f.general:
		return cmp.Compare(generalNumber(a), generalNumber(b))
	case f.human:
		return cmp.Compare(humanNumber(a), humanNumber(b))
	case f.version:
		return compareVersion(a, b)
	}
	return strings.Compare(f.fields(a), f.fields(b))
}

// fields drops what the order ignores.
func (f sortFlags) fields(s string) string {
	if f.blanks {
		s = strings.TrimLeft(s, " \t")
	}
	if f.dictionary || f.printable {
		s = strings.Map(func(r rune) rune {
			alnum := r == ' ' || r == '\t' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
			if f.dictionary && !alnum || f.printable && (r < 0x20 || r > 0x7e) {
				return -1
			}
			return r
		}, s)
	}
	if f.fold {
		s = strings.ToUpper(s)
	}
	return s
}

// compareDecimal compares by the number a text begins with, of any length, without rounding.
func compareDecimal(a, b string) int {
	negA, intA, fracA := decimal(a)
	negB, intB, fracB := decimal(b)
	if negA != negB {
		if negA {
			return -1
		}
		return 1
	}
	c := cmp.Compare(len(intA), len(intB))
	if c == 0 {
		c = strings.Compare(intA, intB)
	}
	if c == 0 {
		c = strings.Compare(fracA, fracB)
	}
	if negA {
		return -c
	}
	return c
}

func decimal(s string) (negative bool, integer, fraction string) {
	s = strings.TrimLeft(s, " \t")
	s, negative = strings.CutPrefix(s, "-")
	end := len(s) - len(strings.TrimLeft(s, "0123456789"))
	integer = strings.TrimLeft(s[:end], "0")
	if rest, ok := strings.CutPrefix(s[end:], "."); ok {
		fraction = strings.TrimRight(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))], "0")
	}
	return negative && integer+fraction != "", integer, fraction
}

func generalNumber(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	for end := len(s); end > 0; end-- {
		if n, err := strconv.ParseFloat(s[:end], 64); err == nil {
			return n
		}
	}
	return math.Inf(-1)
}

func humanNumber(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	end := len(s) - len(strings.TrimLeft(s, "-0123456789."))
	n, _ := strconv.ParseFloat(s[:end], 64)
	if end < len(s) {
		if power := strings.IndexByte("KMGTPE", s[end]&^0x20); power >= 0 {
			return n * math.Pow(1024, float64(power+1))
		}
	}
	return n
}

// compareVersion compares runs of digits as numbers and the rest as text.
func compareVersion(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		var p, q string
		p, x = versionRun(x)
		q, y = versionRun(y)
		isNumber := p[0] >= '0' && p[0] <= '9' && q[0] >= '0' && q[0] <= '9'
		c := strings.Compare(p, q)
		if isNumber {
			c = compareDecimal(p, q)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func versionRun(s string) (run, rest string) {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	n := 1
	for n < len(s) && isDigit(s[n]) == isDigit(s[0]) {
		n++
	}
	return s[:n], s[n:]
}
