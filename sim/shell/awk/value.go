package awk

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

type valueKind uint8

const (
	unset  valueKind = iota
	number           // n
	text             // s
	input            // s, compared as a number where it looks like one: fields, getline, split, -v
)

type value struct {
	kind valueKind
	n    float64
	s    string
}

func num(n float64) value   { return value{kind: number, n: n} }
func str(s string) value    { return value{kind: text, s: s} }
func fromIn(s string) value { return value{kind: input, s: s} }
func boolean(b bool) value {
	if b {
		return num(1)
	}
	return num(0)
}

func (v value) toNum() float64 {
	switch v.kind {
	case number:
		return v.n
	case text, input:
		return parseNumber(v.s)
	}
	return 0
}

// toStr formats integers as such, others by format (CONVFMT or OFMT).
func (v value) toStr(format string) string {
	if v.kind != number {
		return v.s
	}
	switch {
	case math.IsNaN(v.n):
		return "nan"
	case math.IsInf(v.n, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v.n, 'f', -1, 64)), "+")
	case v.n == math.Trunc(v.n) && math.Abs(v.n) < 1e18:
		return strconv.FormatInt(int64(v.n), 10)
	case v.n == math.Trunc(v.n):
		return strconv.FormatFloat(v.n, 'f', 0, 64)
	case format == "%.6g":
		return fmt.Sprintf("%.6g", v.n)
	}
	return sprintf(format, []value{v}, format)
}

func (v value) truth() bool {
	switch v.kind {
	case number:
		return v.n != 0
	case text:
		return v.s != ""
	case input:
		if n, ok := looksNumeric(v.s); ok {
			return n != 0
		}
		return v.s != ""
	}
	return false
}

// numeric reports whether v takes part in a comparison as a number.
func (v value) numeric() (float64, bool) {
	switch v.kind {
	case unset, number:
		return v.n, true
	case input:
		return looksNumeric(v.s)
	}
	return 0, false
}

func looksNumeric(s string) (float64, bool) {
	s = strings.Trim(s, " \t\n\r\f\v")
	if s == "" || numberPrefix(s) != len(s) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil || math.IsInf(n, 0)
}

func parseNumber(s string) float64 {
	s = strings.TrimLeft(s, " \t\n\r\f\v")
	n, _ := strconv.ParseFloat(s[:numberPrefix(s)], 64)
	return n
}

// numberPrefix gives the length of the decimal number s begins with, 0 if it begins with none.
func numberPrefix(s string) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	begin, digits := i, 0
	for i < len(s) && (digit(s[i]) || s[i] == '.' && !strings.Contains(s[begin:i], ".")) {
		if s[i] != '.' {
			digits++
		}
		i++
	}
	if digits == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && digit(s[j]) {
			for j < len(s) && digit(s[j]) {
				j++
			}
			i = j
		}
	}
	return i
}

func compare(a, b value, convfmt string) int {
	x, ok := a.numeric()
	y, ok2 := b.numeric()
	if ok && ok2 {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return strings.Compare(a.toStr(convfmt), b.toStr(convfmt))
}

// sprintf formats as printf does. Missing arguments are empty. convfmt turns numbers into text for %s.
func sprintf(format string, args []value, convfmt string) string {
	var b strings.Builder
	take := func() value {
		if len(args) == 0 {
			return value{}
		}
		v := args[0]
		args = args[1:]
		return v
	}
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			b.WriteString(format)
			return b.String()
		}
		b.WriteString(format[:i])
		format = format[i+1:]
		if format[0] == '%' {
			b.WriteByte('%')
			format = format[1:]
			continue
		}
		flags, verb, rest := directive(format, take)
		if verb == 0 {
			b.WriteString("%" + format)
			return b.String()
		}
		b.WriteString(one(flags, verb, take, convfmt))
		format = rest
	}
}

// directive splits flags, width and precision from the verb; a star takes an argument.
func directive(s string, take func() value) (flags string, verb byte, rest string) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '*':
			flags += strconv.Itoa(int(take().toNum()))
		case strings.IndexByte("-+ #0123456789.", c) >= 0:
			flags += string(rune(c))
		case c == 'l' || c == 'h':
		default:
			return flags, c, s[i+1:]
		}
	}
	return "", 0, ""
}

func one(flags string, verb byte, take func() value, convfmt string) string {
	switch verb {
	case 'd', 'i':
		return integer(flags, take().toNum())
	case 'o', 'x', 'X', 'u':
		return fmt.Sprintf("%"+goFlags(flags)+string(strings.Replace(string(rune(verb)), "u", "d", 1)), uint64(int64(take().toNum())))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return float(flags, verb, take().toNum())
	case 'c':
		return fmt.Sprintf("%"+flags+"s", character(take()))
	case 's':
		return fmt.Sprintf("%"+goFlags(flags)+"s", take().toStr(convfmt))
	}
	return "%" + flags + string(rune(verb))
}

// goFlags drops the zero flag where C ignores it, beside a minus.
func goFlags(flags string) string {
	if strings.HasPrefix(flags, "-") {
		return "-" + strings.TrimLeft(flags, "-0")
	}
	return flags
}

func integer(flags string, n float64) string {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Sprintf("%"+strings.TrimLeft(flags, "0")+"s", num(n).toStr("%.6g"))
	}
	return fmt.Sprintf("%"+goFlags(flags)+"d", int64(n))
}

// float gives C's default precision of six, which Go's %g lacks.
func float(flags string, verb byte, n float64) string {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Sprintf("%"+strings.TrimLeft(flags, "0")+"s", num(n).toStr("%.6g"))
	}
	if !strings.Contains(flags, ".") {
		flags += ".6"
	}
	return fmt.Sprintf("%"+goFlags(flags)+string(rune(verb)), n)
}

func character(v value) string {
	if n, ok := v.numeric(); ok && v.kind == number {
		return string(rune(int(n)))
	}
	_, size := utf8.DecodeRuneInString(v.s)
	return v.s[:size]
}
