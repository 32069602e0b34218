package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// runTest is test EXPRESSION, [ EXPRESSION ]
func runTest(p *proc) int {
	args := p.Args
	if p.Name == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			return p.usage("missing `]'")
		}
		args = args[:len(args)-1]
	}
	t := &testParser{proc: p, args: args}
	ok, err := t.all()
	switch {
	case err != nil:
		return p.usage("%v", err)
	case !ok:
		return exitFailure
	}
	return 0
}

// testParser follows POSIX where the number of arguments decides, and precedence beyond that.
type testParser struct {
	*proc
	args arguments
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
		err = errors.New("too many arguments")
	}
	return ok, err
}

func (t *testParser) or() (bool, error) { return t.chain("-o", t.and, true) }

func (t *testParser) and() (bool, error) { return t.chain("-a", t.not, false) }

// chain is decided by the first part that gives what settles it; all are read.
func (t *testParser) chain(word string, part func() (bool, error), settles bool) (bool, error) {
	ok, err := part()
	for err == nil && len(t.args) > 0 && t.args[0] == word {
		t.args.next()
		var right bool
		if right, err = part(); ok != settles {
			ok = right
		}
	}
	return ok, err
}

func (t *testParser) not() (bool, error) {
	switch {
	case len(t.args) == 0:
		return false, errors.New("argument expected")
	case len(t.args) > 1 && t.args[0] == "!":
		t.args.next()
		ok, err := t.not()
		return !ok, err
	case len(t.args) >= 3 && isBinary(t.args[1]):
		a, op, b := t.args.next(), t.args.next(), t.args.next()
		return t.binary(a, op, b)
	case t.args[0] == "(":
		t.args.next()
		ok, err := t.or()
		if err == nil && t.args.next() != ")" {
			err = errors.New("`)' expected")
		}
		return ok, err
	case len(t.args) >= 2 && len(t.args[0]) == 2 && t.args[0][0] == '-':
		op := t.args.next()
		return t.unary(op, t.args.next())
	}
	return t.args.next() != "", nil
}

// numberTests are the comparisons of numbers.
var numberTests = map[string]func(x, y int64) bool{
	"-eq": func(x, y int64) bool { return x == y }, "-ne": func(x, y int64) bool { return x != y },
	"-lt": func(x, y int64) bool { return x < y }, "-le": func(x, y int64) bool { return x <= y },
	"-gt": func(x, y int64) bool { return x > y }, "-ge": func(x, y int64) bool { return x >= y },
}

func isBinary(op string) bool {
	return numberTests[op] != nil || slices.Contains([]string{"=", "==", "!=", "<", ">", "-nt", "-ot"}, op)
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
	case "-nt":
		return t.newer(a, b), nil
	case "-ot":
		return t.newer(b, a), nil
	}
	var numbers [2]int64
	for i, s := range []string{a, b} {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil {
			return false, fmt.Errorf("%s: integer expression expected", s)
		}
		numbers[i] = n
	}
	return numberTests[op](numbers[0], numbers[1]), nil
}

// newer reports whether a is there and b is older, or missing.
func (t *testParser) newer(a, b string) bool {
	x, errX := t.Files.Stat(a)
	y, errY := t.Files.Stat(b)
	return errX == nil && (errY != nil || x.ModTime().After(y.ModTime()))
}

// fileTests are the tests of a file that is there. There is one user, and no access times.
var fileTests = map[string]func(fs.FileInfo) bool{
	"-e": func(fs.FileInfo) bool { return true },
	"-f": func(i fs.FileInfo) bool { return i.Mode().IsRegular() },
	"-d": fs.FileInfo.IsDir,
	"-s": func(i fs.FileInfo) bool { return size(i) > 0 },
	"-L": func(i fs.FileInfo) bool { return i.Mode()&fs.ModeSymlink != 0 },
	"-h": func(i fs.FileInfo) bool { return i.Mode()&fs.ModeSymlink != 0 },
	"-r": func(i fs.FileInfo) bool { return i.Mode()&0o444 != 0 },
	"-w": func(i fs.FileInfo) bool { return i.Mode()&0o222 != 0 },
	"-x": func(i fs.FileInfo) bool { return i.Mode()&0o111 != 0 },
	"-O": func(fs.FileInfo) bool { return true },
	"-G": func(fs.FileInfo) bool { return true },
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
		return t.Getenv(a) != "", nil
	}
	test, ok := fileTests[op]
	if !ok {
		return false, fmt.Errorf("%s: unary operator expected", op)
	}
	get := t.Files.Stat
	if op == "-L" || op == "-h" {
		get = t.Files.Lstat
	}
	info, err := get(a)
	return err == nil && test(info), nil
}
