package command

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// test EXPRESSION, [ EXPRESSION ]
func runTest(p *Proc) int {
	args := p.Args
	if p.Name == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			return p.usage("missing `]'")
		}
		args = args[:len(args)-1]
	}
	t := &testParser{p: p, args: args}
	ok, err := t.all()
	if err != nil {
		return p.usage("%v", err)
	}
	if ok {
		return 0
	}
	return exitFailure
}

// testParser follows POSIX where the number of arguments decides, and precedence beyond that.
type testParser struct {
	p    *Proc
	args []string
}

func (t *testParser) all() (bool, error) {
	switch n := len(t.args); {
	case n == 0:
		return false, nil
	case n == 1:
		return t.args[0] != "", nil
	case n == 2 && t.args[0] == "!":
		return t.args[1] == "", nil
	case n == 2:
		return t.unary(t.args[0], t.args[1])
	case n == 3 && isBinary(t.args[1]):
		return t.binary(t.args[0], t.args[1], t.args[2])
	}
	ok, err := t.or()
	if err == nil && len(t.args) > 0 {
		err = fmt.Errorf("too many arguments")
	}
	return ok, err
}

func (t *testParser) next() string {
	if len(t.args) == 0 {
		return ""
	}
	a := t.args[0]
	t.args = t.args[1:]
	return a
}

func (t *testParser) or() (bool, error) {
	ok, err := t.and()
	for err == nil && len(t.args) > 0 && t.args[0] == "-o" {
		t.next()
		var right bool
		right, err = t.and()
		ok = ok || right
	}
	return ok, err
}

func (t *testParser) and() (bool, error) {
	ok, err := t.not()
	for err == nil && len(t.args) > 0 && t.args[0] == "-a" {
		t.next()
		var right bool
		right, err = t.not()
		ok = ok && right
	}
	return ok, err
}

func (t *testParser) not() (bool, error) {
	if len(t.args) > 1 && t.args[0] == "!" {
		t.next()
		ok, err := t.not()
		return !ok, err
	}
	return t.primary()
}

func (t *testParser) primary() (bool, error) {
	switch {
	case len(t.args) == 0:
		return false, errors.New("argument expected")
	case len(t.args) >= 3 && isBinary(t.args[1]):
		a, op, b := t.next(), t.next(), t.next()
		return t.binary(a, op, b)
	case t.args[0] == "(":
		t.next()
		ok, err := t.or()
		if err == nil && t.next() != ")" {
			err = errors.New("`)' expected")
		}
		return ok, err
	case len(t.args) >= 2 && len(t.args[0]) == 2 && t.args[0][0] == '-':
		op := t.next()
		return t.unary(op, t.next())
	}
	return t.next() != "", nil
}

func isBinary(op string) bool {
	return strings.Contains(" = == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef ", " "+op+" ")
}

func (t *testParser) binary(a, op, b string) (bool, error) {
	switch op {
	case "=", "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	case "<":
		return a < b, nil
	case ">":
		return a > b, nil
	case "-nt", "-ot", "-ef":
		return t.files(a, op, b), nil
	}
	x, errX := strconv.ParseInt(strings.TrimSpace(a), 10, 64)
	y, errY := strconv.ParseInt(strings.TrimSpace(b), 10, 64)
	if errX != nil {
		return false, fmt.Errorf("%s: integer expression expected", a)
	}
	if errY != nil {
		return false, fmt.Errorf("%s: integer expression expected", b)
	}
	switch op {
	case "-eq":
		return x == y, nil
	case "-ne":
		return x != y, nil
	case "-lt":
		return x < y, nil
	case "-le":
		return x <= y, nil
	case "-gt":
		return x > y, nil
	}
	return x >= y, nil
}

func (t *testParser) files(a, op, b string) bool {
	x, errX := t.p.Files.Stat(a)
	y, errY := t.p.Files.Stat(b)
	switch op {
	case "-ef":
		left, _ := t.p.Files.Realpath(a)
		right, _ := t.p.Files.Realpath(b)
		return errX == nil && errY == nil && left == right
	case "-ot":
		x, y, errX, errY = y, x, errY, errX
	}
	return errX == nil && (errY != nil || x.ModTime().After(y.ModTime()))
}

func (t *testParser) unary(op, a string) (bool, error) {
	switch op {
	case "-n":
		return a != "", nil
	case "-z":
		return a == "", nil
	case "-t":
		return false, nil // no stream here is a terminal
	case "-v":
		return t.p.Getenv(a) != "", nil
	}
	if len(op) != 2 || strings.IndexByte("abcdefghkprsuwxLNSOG", op[1]) < 0 {
		return false, fmt.Errorf("%s: unary operator expected", op)
	}
	get := t.p.Files.Stat
	if op == "-L" || op == "-h" {
		get = t.p.Files.Lstat
	}
	info, err := get(a)
	return err == nil && fileTest(op, info), nil
}

func fileTest(op string, info fs.FileInfo) bool {
	mode := info.Mode()
	switch op {
	case "-f":
		return mode.IsRegular()
	case "-d":
		return mode.IsDir()
	case "-s":
		return size(info) > 0
	case "-L", "-h":
		return mode&fs.ModeSymlink != 0
	case "-r":
		return mode&0o444 != 0
	case "-w":
		return mode&0o222 != 0
	case "-x":
		return mode&0o111 != 0
	case "-p":
		return mode&fs.ModeNamedPipe != 0
	case "-S":
		return mode&fs.ModeSocket != 0
	case "-c":
		return mode&fs.ModeCharDevice != 0
	case "-b":
		return mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0
	case "-g":
		return mode&fs.ModeSetgid != 0
	case "-u":
		return mode&fs.ModeSetuid != 0
	case "-k":
		return mode&fs.ModeSticky != 0
	}
	return true // -e -a, and -N -O -G: there is one user, and no access times
}
