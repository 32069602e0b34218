package awk

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (m *machine) builtin(b builtin) value {
	switch b.name {
	case "length":
		return m.length(b)
	case "split":
		return m.splitInto(b)
	case "sub", "gsub":
		return m.sub(b)
	case "match":
		return m.matchFunc(b)
	}
	args := m.evalAll(b.args)
	switch b.name {
	case "substr":
		return str(substr(m.text(args[0]), args[1:]))
	case "index":
		s := m.text(args[0])
		i := strings.Index(s, m.text(args[1]))
		return num(float64(utf8.RuneCountInString(s[:max(i, 0)]) + map[bool]int{true: 1}[i >= 0]))
	case "sprintf":
		return str(sprintf(m.text(args[0]), args[1:], m.convfmt()))
	case "tolower":
		return str(strings.ToLower(m.text(args[0])))
	case "toupper":
		return str(strings.ToUpper(m.text(args[0])))
	case "gensub":
		return str(m.gensub(b, args))
	case "system":
		return m.system(m.text(args[0]))
	case "close":
		return num(m.close(m.text(args[0])))
	case "fflush":
		m.out.Flush()
		return num(0)
	case "systime":
		if m.o.Now == nil {
			m.fail("systime: %w", errNoDoor)
		}
		return num(float64(m.o.Now().Unix()))
	case "rand":
		return num(m.random())
	case "srand":
		return num(m.srand(args))
	}
	return num(mathFunc(b.name, args))
}

func mathFunc(name string, args []value) float64 {
	x := args[0].toNum()
	switch name {
	case "sin":
		return math.Sin(x)
	case "cos":
		return math.Cos(x)
	case "atan2":
		return math.Atan2(x, args[1].toNum())
	case "exp":
		return math.Exp(x)
	case "log":
		return math.Log(x)
	case "sqrt":
		return math.Sqrt(x)
	}
	return math.Trunc(x)
}

func (m *machine) length(b builtin) value {
	if len(b.args) == 0 {
		return num(float64(utf8.RuneCountInString(m.whole())))
	}
	if v, ok := b.args[0].(variable); ok {
		if c := m.cell(v); c.array != nil || c.origin != nil && c.origin.array != nil {
			return num(float64(len(c.table())))
		}
	}
	return num(float64(utf8.RuneCountInString(m.text(m.eval(b.args[0])))))
}

// substr counts characters from 1; what lies outside the string is cut off, after rounding.
func substr(s string, args []value) string {
	runes := []rune(s)
	begin := math.RoundToEven(args[0].toNum())
	end := math.Inf(1)
	if len(args) > 1 {
		end = begin + math.RoundToEven(args[1].toNum())
	}
	begin = max(begin, 1)
	end = min(end, float64(len(runes)+1))
	if !(begin < end) {
		return ""
	}
	return string(runes[int(begin)-1 : int(end)-1])
}

func (m *machine) splitInto(b builtin) value {
	s := m.text(m.eval(b.args[0]))
	parts := []string(nil)
	switch {
	case len(b.args) < 3:
		parts = m.splitBy(s, m.global(slotFS))
	case isRegex(b.args[2]):
		if s != "" {
			parts = splitRegexp(b.args[2].(regexLit).re, s)
		}
	default:
		parts = m.splitBy(s, m.text(m.eval(b.args[2])))
	}
	table := m.cell(b.args[1].(variable)).table()
	clear(table)
	for i, part := range parts {
		v := fromIn(part)
		table[strconv.Itoa(i+1)] = &v
	}
	return num(float64(len(parts)))
}

func (m *machine) regexArg(x expr) *regexp.Regexp {
	if lit, ok := x.(regexLit); ok {
		return lit.re
	}
	return m.regex(m.text(m.eval(x)))
}

func (m *machine) matchFunc(b builtin) value {
	s := m.text(m.eval(b.args[0]))
	start, length := 0, -1
	if loc := m.regexArg(b.args[1]).FindStringIndex(s); loc != nil {
		start = utf8.RuneCountInString(s[:loc[0]]) + 1
		length = utf8.RuneCountInString(s[loc[0]:loc[1]])
	}
	m.globals[slotRSTART].v, m.globals[slotRLENGTH].v = num(float64(start)), num(float64(length))
	return num(float64(start))
}

// sub is sub and gsub: replaces in the target, $0 without one, and counts.
func (m *machine) sub(b builtin) value {
	re := m.regexArg(b.args[0])
	with := m.text(m.eval(b.args[1]))
	target := expr(field{numberLit(0)})
	if len(b.args) == 3 {
		target = b.args[2]
	}
	s := m.text(m.eval(target))
	limit := 1
	if b.name == "gsub" {
		limit = -1
	}
	matches := re.FindAllStringIndex(s, limit)
	if len(matches) == 0 {
		return num(0)
	}
	var out strings.Builder
	at := 0
	for _, loc := range matches {
		out.WriteString(s[at:loc[0]])
		out.WriteString(ampersand(with, s[loc[0]:loc[1]]))
		at = loc[1]
	}
	out.WriteString(s[at:])
	m.assign(target, str(out.String()))
	return num(float64(len(matches)))
}

// ampersand puts the matched text for &, a plain & for \&.
func ampersand(with, matched string) string {
	if !strings.ContainsAny(with, `&\`) {
		return with
	}
	var b strings.Builder
	for i := 0; i < len(with); i++ {
		switch {
		case with[i] == '\\' && i+1 < len(with) && (with[i+1] == '&' || with[i+1] == '\\'):
			i++
			b.WriteByte(with[i])
		case with[i] == '&':
			b.WriteString(matched)
		default:
			b.WriteByte(with[i])
		}
	}
	return b.String()
}

// gensub is gawk's: gives the result, knows \1..\9, and which match to replace.
func (m *machine) gensub(b builtin, args []value) string {
	re := m.regexArg(b.args[0])
	target := m.whole()
	if len(args) == 4 {
		target = m.text(args[3])
	}
	how := m.text(args[2])
	which := int(parseNumber(how))
	var out strings.Builder
	at := 0
	for i, loc := range re.FindAllStringSubmatchIndex(target, -1) {
		if !strings.HasPrefix(strings.ToLower(how), "g") && i+1 != max(which, 1) {
			continue
		}
		out.WriteString(target[at:loc[0]])
		out.WriteString(groups(m.text(args[1]), target, loc))
		at = loc[1]
	}
	return out.String() + target[at:]
}

func groups(with, s string, loc []int) string {
	var b strings.Builder
	for i := 0; i < len(with); i++ {
		n := -1
		switch {
		case with[i] == '&':
			n = 0
		case with[i] == '\\' && i+1 < len(with):
			i++
			if digit(with[i]) {
				n = int(with[i] - '0')
			}
		}
		if n < 0 {
			b.WriteByte(with[i])
		} else if 2*n+1 < len(loc) && loc[2*n] >= 0 {
			b.WriteString(s[loc[2*n]:loc[2*n+1]])
		}
	}
	return b.String()
}

func (m *machine) system(line string) value {
	code, err := m.command(line, m.o.Stdin, m.out)
	if err != nil {
		m.fail("system: %w", err)
	}
	m.out.Flush()
	return num(float64(code))
}

// random is a linear congruential generator: the same program gives the same numbers everywhere.
func (m *machine) random() float64 {
	m.rng = m.rng*6364136223846793005 + 1442695040888963407
	return float64(m.rng>>11) / (1 << 53)
}

func (m *machine) reseed(seed float64) {
	m.lastSeed, m.seed = m.seed, seed
	m.rng = math.Float64bits(seed) ^ 0x9e3779b97f4a7c15
	m.random()
}

func (m *machine) srand(args []value) float64 {
	switch {
	case len(args) > 0:
		m.reseed(args[0].toNum())
	case m.o.Now != nil:
		m.reseed(float64(m.o.Now().Unix()))
	}
	return m.lastSeed
}
