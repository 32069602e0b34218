package command

import (
	"errors"
	"strconv"
	"strings"

	"toolbench/toolsys/shellcmd/posixre"
)

// expr EXPRESSION: | & comparisons + - * / % : match substr index length
func runExpr(p *Proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return p.usage("missing operand")
	}
	e := &exprParser{args: args}
	v, err := e.level(0)
	if err == nil && len(e.args) > 0 {
		err = errors.New("syntax error: unexpected argument '" + e.args[0] + "'")
	}
	if err != nil {
		return p.usage("%v", err)
	}
	if p.print(v+"\n") != nil {
		return 3
	}
	if falsy(v) {
		return exitFailure
	}
	return 0
}

func falsy(v string) bool {
	n, err := strconv.ParseInt(v, 10, 64)
	return v == "" || err == nil && n == 0
}

type exprParser struct{ args []string }

// exprLevels are the operators, loosest first.
var exprLevels = [...]string{"|", "&", "< <= = == != >= >", "+ -", "* / %", ":"}

func (e *exprParser) level(n int) (string, error) {
	if n == len(exprLevels) {
		return e.primary()
	}
	left, err := e.level(n + 1)
	for err == nil && len(e.args) > 0 && strings.Contains(" "+exprLevels[n]+" ", " "+e.args[0]+" ") {
		op := e.args[0]
		e.args = e.args[1:]
		var right string
		if right, err = e.level(n + 1); err == nil {
			left, err = exprApply(left, op, right)
		}
	}
	return left, err
}

func (e *exprParser) take() (string, error) {
	if len(e.args) == 0 {
		return "", errors.New("syntax error: missing argument")
	}
	a := e.args[0]
	e.args = e.args[1:]
	return a, nil
}

func (e *exprParser) primary() (string, error) {
	a, err := e.take()
	if err != nil {
		return "", err
	}
	switch {
	case a == "(":
		v, err := e.level(0)
		if err != nil {
			return "", err
		}
		if end, err := e.take(); err != nil || end != ")" {
			return "", errors.New("syntax error: expecting ')'")
		}
		return v, nil
	case a == "+" && len(e.args) > 0:
		return e.take()
	case a == "length" && len(e.args) > 0:
		v, err := e.primary()
		return strconv.Itoa(len([]rune(v))), err
	case a == "match" && len(e.args) > 1:
		return e.two(func(x, y string) (string, error) { return exprMatch(x, y) })
	case a == "index" && len(e.args) > 1:
		return e.two(func(x, y string) (string, error) { return strconv.Itoa(strings.IndexAny(x, y) + 1), nil })
	case a == "substr" && len(e.args) > 2:
		return e.substr()
	}
	return a, nil
}

func (e *exprParser) two(f func(x, y string) (string, error)) (string, error) {
	x, err := e.primary()
	if err != nil {
		return "", err
	}
	y, err := e.primary()
	if err != nil {
		return "", err
	}
	return f(x, y)
}

func (e *exprParser) substr() (string, error) {
	s, err := e.primary()
	if err != nil {
		return "", err
	}
	return e.two(func(x, y string) (string, error) {
		from, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX != nil || errY != nil || from < 1 || n < 1 || from > len(s) {
			return "", nil
		}
		return s[from-1 : min(from-1+n, len(s))], nil
	})
}

func exprApply(a, op, b string) (string, error) {
	switch op {
	case "|":
		if !falsy(a) {
			return a, nil
		}
		if !falsy(b) {
			return b, nil
		}
		return "0", nil
	case "&":
		if falsy(a) || falsy(b) {
			return "0", nil
		}
		return a, nil
	case ":":
		return exprMatch(a, b)
	}
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	numbers := errX == nil && errY == nil
	if strings.Contains("< <= = == != >= >", op) {
		c := strings.Compare(a, b)
		if numbers {
			c = int(min(max(x-y, -1), 1))
		}
		return map[bool]string{true: "1", false: "0"}[exprCompare(op, c)], nil
	}
	if !numbers {
		return "", errors.New("non-integer argument")
	}
	return exprArithmetic(x, op, y)
}

func exprCompare(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case "!=":
		return c != 0
	case ">=":
		return c >= 0
	case ">":
		return c > 0
	}
	return c == 0
}

func exprArithmetic(x int64, op string, y int64) (string, error) {
	switch op {
	case "+":
		x += y
	case "-":
		x -= y
	case "*":
		x *= y
	default:
		if y == 0 {
			return "", errors.New("division by zero")
		}
		if op == "/" {
			x /= y
		} else {
			x %= y
		}
	}
	return strconv.FormatInt(x, 10), nil
}

// exprMatch is anchored; it gives the first group's text, or the length of the match.
func exprMatch(s, pattern string) (string, error) {
	re, err := posixre.Compile("^"+strings.TrimPrefix(pattern, "^"), posixre.Basic, false)
	if err != nil {
		return "", err
	}
	m := re.FindStringSubmatch(s)
	if re.NumSubexp() > 0 {
		if m == nil {
			return "", nil
		}
		return m[1], nil
	}
	if m == nil {
		return "0", nil
	}
	return strconv.Itoa(len([]rune(m[0]))), nil
}
