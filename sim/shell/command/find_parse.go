package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// findTest decides about an entry; actions are tests with a side effect.
type findTest func(*found) bool

type findExpr struct {
	match              findTest
	minDepth, maxDepth int
	depthFirst         bool
	batches            []*execBatch
}

// findParser reads: expr = and {-o and}; and = not {[-a] not}; not = [!|-not] primary.
type findParser struct {
	p      *Proc
	args   []string
	e      *findExpr
	action bool // some action stands in the expression: no implied -print
}

func parseFind(p *Proc, args []string) (*findExpr, error) {
	fp := &findParser{p: p, args: args, e: &findExpr{maxDepth: math.MaxInt}}
	match := findTest(func(*found) bool { return true })
	if len(args) > 0 {
		var err error
		if match, err = fp.or(); err != nil {
			return nil, err
		}
		if len(fp.args) > 0 {
			return nil, fmt.Errorf("paths must precede expression: `%s'", fp.args[0])
		}
	}
	fp.e.match = match
	if !fp.action {
		fp.e.match = func(f *found) bool { return match(f) && printPath(f, "\n") }
	}
	return fp.e, nil
}

func (fp *findParser) peek(names ...string) bool {
	for _, name := range names {
		if len(fp.args) > 0 && fp.args[0] == name {
			return true
		}
	}
	return false
}

func (fp *findParser) next() string {
	a := fp.args[0]
	fp.args = fp.args[1:]
	return a
}

func (fp *findParser) or() (findTest, error) {
	left, err := fp.and()
	for err == nil && fp.peek("-o", "-or") {
		fp.next()
		var right findTest
		a := left
		if right, err = fp.and(); err == nil {
			left = func(f *found) bool { return a(f) || right(f) }
		}
	}
	return left, err
}

func (fp *findParser) and() (findTest, error) {
	left, err := fp.not()
	for err == nil && len(fp.args) > 0 && !fp.peek("-o", "-or", ")") {
		if fp.peek("-a", "-and") {
			fp.next()
		}
		var right findTest
		a := left
		if right, err = fp.not(); err == nil {
			left = func(f *found) bool { return a(f) && right(f) }
		}
	}
	return left, err
}

func (fp *findParser) not() (findTest, error) {
	if fp.peek("!", "-not") {
		fp.next()
		inner, err := fp.not()
		return func(f *found) bool { return !inner(f) }, err
	}
	return fp.primary()
}

func (fp *findParser) primary() (findTest, error) {
	if len(fp.args) == 0 {
		return nil, errors.New("expected an expression")
	}
	name := fp.next()
	if name == "(" {
		inner, err := fp.or()
		if err != nil {
			return nil, err
		}
		if !fp.peek(")") {
			return nil, errors.New("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
		}
		fp.next()
		return inner, nil
	}
	if test, ok := fp.plain(name); ok {
		return test, nil
	}
	if name == "-exec" || name == "-execdir" || name == "-ok" {
		fp.action = true
		return fp.exec(name)
	}
	if !strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("paths must precede expression: `%s'", name)
	}
	if !findTakesValue(name) {
		return nil, fmt.Errorf("unknown predicate `%s'", name)
	}
	if len(fp.args) == 0 {
		return nil, fmt.Errorf("missing argument to `%s'", name)
	}
	return fp.valued(name, fp.next())
}

// plain are the primaries without an argument.
func (fp *findParser) plain(name string) (findTest, bool) {
	yes := func(*found) bool { return true }
	switch name {
	case "-print":
		fp.action = true
		return func(f *found) bool { return printPath(f, "\n") }, true
	case "-print0":
		fp.action = true
		return func(f *found) bool { return printPath(f, "\x00") }, true
	case "-delete":
		fp.action, fp.e.depthFirst = true, true
		return deleteFound, true
	case "-prune":
		return func(f *found) bool { f.prune = true; return true }, true
	case "-quit":
		fp.action = true
		return func(f *found) bool { f.w.quit = true; return true }, true
	case "-depth", "-d":
		fp.e.depthFirst = true
		return yes, true
	case "-empty":
		return emptyFound, true
	case "-true":
		return yes, true
	case "-false":
		return func(*found) bool { return false }, true
	case "-executable":
		return func(f *found) bool { return f.info.IsDir() || f.info.Mode()&0o111 != 0 }, true
	}
	return nil, false
}

func findTakesValue(name string) bool {
	return strings.Contains(" -name -iname -path -ipath -wholename -iwholename -regex -iregex -type -maxdepth -mindepth -size -newer -mtime -mmin ", " "+name+" ")
}

func (fp *findParser) valued(name, value string) (findTest, error) {
	switch name {
	case "-maxdepth", "-mindepth":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("Expected a positive decimal integer argument to %s, but got '%s'", name, value)
		}
		if name == "-maxdepth" {
			fp.e.maxDepth = n
		} else {
			fp.e.minDepth = n
		}
		return func(*found) bool { return true }, nil
	}
	return fp.test(name, value)
}
