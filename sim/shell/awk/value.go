package awk

import (
	"math"
	"strconv"
	"strings"
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
func boolean(b bool) value  { return num(map[bool]float64{true: 1}[b]) }
func (v value) toNum() float64 {
	switch v.kind {
	case number:
		return v.n
	case text, input:
		return parseNumber(v.s)
	}
	return 0
}

// toStr formats numbers that are whole as integers, others by format (CONVFMT or OFMT).
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
		return formatFloat('g', 6, v.n)
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

// numeric says whether v takes part in a comparison as a number.
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
