package command

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

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

func decimal(s string) (negative bool, whole, fraction string) {
	s = strings.TrimLeft(s, " \t")
	s, negative = strings.CutPrefix(s, "-")
	end := len(s) - len(strings.TrimLeft(s, "0123456789"))
	whole = strings.TrimLeft(s[:end], "0")
	if rest, ok := strings.CutPrefix(s[end:], "."); ok {
		fraction = strings.TrimRight(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))], "0")
	}
	return negative && whole+fraction != "", whole, fraction
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
