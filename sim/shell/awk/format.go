package awk

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

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

// formatFloat is %.<precision><verb> without the parsing.
func formatFloat(verb byte, precision int, n float64) string {
	s := fmt.Sprintf("%."+strconv.Itoa(precision)+string(rune(verb)), n)
	return s
}

func character(v value) string {
	if n, ok := v.numeric(); ok && v.kind == number {
		return string(rune(int(n)))
	}
	_, size := utf8.DecodeRuneInString(v.s)
	return v.s[:size]
}
