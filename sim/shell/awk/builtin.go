package awk

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type builtin struct {
	fewest, most int
	call         func(m *machine, args []node) value
}

// builtins is the table of functions. It is filled once; the functions refer to it through the parser.
var builtins map[string]*builtin

func init() {
	math1 := func(f func(float64) float64) *builtin {
		return &builtin{1, 1, func(m *machine, a []node) value { return num(f(a[0].eval(m).toNum())) }}
	}
	text1 := func(f func(string) string) *builtin {
		return &builtin{1, 1, func(m *machine, a []node) value { return str(f(m.text(a[0].eval(m)))) }}
	}
	builtins = map[string]*builtin{
		"sin": math1(math.Sin), "cos": math1(math.Cos), "exp": math1(math.Exp), "log": math1(math.Log), "sqrt": math1(math.Sqrt), "int": math1(math.Trunc),
		"tolower": text1(strings.ToLower), "toupper": text1(strings.ToUpper),
		"length": {0, 1, length}, "substr": {2, 3, substr}, "split": {2, 3, split}, "match": {2, 2, matchAt},
		"sub":    {2, 3, func(m *machine, a []node) value { return substitute(m, a, false) }},
		"gsub":   {2, 3, func(m *machine, a []node) value { return substitute(m, a, true) }},
		"gensub": {3, 4, gensub},
		"index": {2, 2, func(m *machine, a []node) value {
			s := m.text(a[0].eval(m))
			return num(position(s, strings.Index(s, m.text(a[1].eval(m)))))
		}},
		"atan2": {2, 2, func(m *machine, a []node) value {
			y := a[0].eval(m).toNum()
			return num(math.Atan2(y, a[1].eval(m).toNum()))
		}},
		"sprintf": {1, math.MaxInt, func(m *machine, a []node) value {
			values := make([]value, len(a))
			for i, x := range a {
				values[i] = x.eval(m)
			}
			return str(sprintf(m.text(values[0]), values[1:], m.convfmt()))
		}},
		"system": {1, 1, func(m *machine, a []node) value {
			return num(float64(m.command(m.text(a[0].eval(m)), strings.NewReader(""), m.out)))
		}},
		"close":  {1, 1, func(m *machine, a []node) value { return num(m.close(m.text(a[0].eval(m)))) }},
		"fflush": {0, 1, func(m *machine, _ []node) value { m.out.Flush(); return num(0) }},
		"systime": {0, 0, func(m *machine, _ []node) value {
			if m.o.Now == nil {
				m.fail("systime is not available here")
			}
			return num(float64(m.o.Now().Unix()))
		}},
		"rand": {0, 0, func(m *machine, _ []node) value { return num(m.random.Float64()) }},
		"srand": {0, 1, func(m *machine, a []node) value {
			seed := float64(0)
			if len(a) > 0 {
				seed = a[0].eval(m).toNum()
			} else if m.o.Now != nil {
				seed = float64(m.o.Now().Unix())
			}
			old := m.seed
			m.reseed(seed)
			return num(old)
		}},
	}
}

// position is a byte's place in characters, from 1; 0 for none.
func position(s string, at int) float64 {
	if at < 0 {
		return 0
	}
	return float64(utf8.RuneCountInString(s[:at]) + 1)
}

func length(m *machine, a []node) value {
	switch {
	case len(a) == 0:
		return num(float64(utf8.RuneCountInString(m.line())))
	case a[0].ref != nil && a[0].ref(m).isArray():
		return num(float64(len(a[0].ref(m).table())))
	}
	return num(float64(utf8.RuneCountInString(m.text(a[0].eval(m)))))
}

func substr(m *machine, a []node) value {
	s := []rune(m.text(a[0].eval(m)))
	from, to := math.RoundToEven(a[1].eval(m).toNum()), math.Inf(1)
	if len(a) > 2 {
		to = from + math.RoundToEven(a[2].eval(m).toNum())
	}
	first, last := max(from, 1), min(to, float64(len(s)+1))
	if !(first < last) {
		return str("")
	}
	return str(string(s[int(first)-1 : int(last)-1]))
}

func split(m *machine, a []node) value {
	if a[1].ref == nil {
		m.fail("split: the second argument is no array")
	}
	s := m.text(a[0].eval(m))
	var parts []string
	switch {
	case len(a) < 3:
		parts = m.splitBy(s, m.global(slotFS))
	case a[2].pattern != nil:
		parts = m.splitRegexp(*a[2].pattern, s)
	default:
		parts = m.splitBy(s, m.text(a[2].eval(m)))
	}
	table := a[1].ref(m).table()
	clear(table)
	for i, part := range parts {
		v := fromIn(part)
		table[strconv.Itoa(i+1)] = &v
	}
	return num(float64(len(parts)))
}

func matchAt(m *machine, a []node) value {
	s := m.text(a[0].eval(m))
	start, size := float64(0), float64(-1)
	if loc := m.pattern(a[1]).FindStringIndex(s); loc != nil {
		start, size = position(s, loc[0]), float64(utf8.RuneCountInString(s[loc[0]:loc[1]]))
	}
	m.globals[slotRSTART].v, m.globals[slotRLENGTH].v = num(start), num(size)
	return num(start)
}

// substitute is sub and gsub.
func substitute(m *machine, a []node, all bool) value {
	target := node{eval: func(m *machine) value { return str(m.line()) }, assign: func(m *machine, v value) { m.setField(0, v) }}
	if len(a) > 2 {
		target = a[2]
	}
	re, with := m.pattern(a[0]), m.text(a[1].eval(m))
	s := m.text(target.eval(m))
	n := 1
	if all {
		n = -1
	}
	out, count := replace(re.FindAllStringSubmatchIndex(s, n), s, with, false, func(int) bool { return true })
	if count > 0 && target.assign != nil {
		target.assign(m, str(out))
	}
	return num(float64(count))
}

func gensub(m *machine, a []node) value {
	re, with, how := m.pattern(a[0]), m.text(a[1].eval(m)), m.text(a[2].eval(m))
	s := m.line()
	if len(a) > 3 {
		s = m.text(a[3].eval(m))
	}
	which := int(max(1, parseNumber(how)))
	out, _ := replace(re.FindAllStringSubmatchIndex(s, -1), s, with, true, func(i int) bool { return strings.HasPrefix(strings.ToLower(how), "g") || i == which })
	return str(out)
}

// replace puts text in the place of the matches that are chosen by their number. An empty match directly
// behind another is none.
func replace(matches [][]int, s, with string, groups bool, chosen func(i int) bool) (string, int) {
	var b strings.Builder
	at, count := 0, 0
	for i, loc := range matches {
		if loc[0] == loc[1] && i > 0 && loc[0] == matches[i-1][1] || !chosen(i+1) {
			continue
		}
		b.WriteString(s[at:loc[0]])
		expand(&b, with, s, loc, groups)
		at = loc[1]
		count++
	}
	b.WriteString(s[at:])
	return b.String(), count
}

// expand resolves & and \&, and with groups also \0 to \9.
func expand(b *strings.Builder, with, s string, loc []int, groups bool) {
	for i := 0; i < len(with); i++ {
		group := -1
		switch c := with[i]; {
		case c == '&':
			group = 0
		case c == '\\' && i+1 < len(with):
			i++
			if groups && digit(with[i]) {
				group = int(with[i] - '0')
				break
			}
			if with[i] != '&' && with[i] != '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(with[i])
			continue
		default:
			b.WriteByte(c)
			continue
		}
		if 2*group+1 < len(loc) && loc[2*group] >= 0 {
			b.WriteString(s[loc[2*group]:loc[2*group+1]])
		}
	}
}

// command runs a shell command line and gives its exit code.
func (m *machine) command(line string, stdin io.Reader, stdout io.Writer) int {
	if m.o.Command == nil {
		m.fail("commands cannot run here")
	}
	m.out.Flush()
	return m.o.Command(line, stdin, stdout)
}

// sortedKeys are an array's keys in a fixed order: numbers first, ascending, then text.
func sortedKeys(table map[string]*value) []string {
	keys := make([]string, 0, len(table))
	for k := range table {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, isX := looksNumeric(a)
		y, isY := looksNumeric(b)
		switch {
		case isX && isY && x != y:
			if x < y {
				return -1
			}
			return 1
		case isX != isY:
			if isX {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return keys
}
