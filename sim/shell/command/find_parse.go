package command

//lint:file-ignore ST1005 messages are worded as GNU find words them

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"toolbench/toolsys/shellcmd/posixre"
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

// test builds the primaries that only look.
func (fp *findParser) test(name, value string) (findTest, error) {
	switch name {
	case "-name", "-iname":
		re, err := globRegexp(value, name[1] == 'i')
		if err != nil {
			return nil, err
		}
		return func(f *found) bool { return re.MatchString(baseName(f.path)) }, nil
	case "-path", "-wholename", "-ipath", "-iwholename":
		re, err := globRegexp(value, name[1] == 'i')
		if err != nil {
			return nil, err
		}
		return func(f *found) bool { return re.MatchString(f.path) }, nil
	case "-regex", "-iregex":
		re, err := posixre.Compile("^("+value+")$", posixre.Extended, name[1] == 'i')
		if err != nil {
			return nil, err
		}
		return func(f *found) bool { return re.MatchString(f.path) }, nil
	case "-type":
		return typeTest(value)
	case "-size":
		return sizeTest(value)
	}
	return fp.timeTest(name, value)
}

func baseName(name string) string {
	if trimmed := strings.TrimRight(name, "/"); trimmed != "" {
		return path.Base(trimmed)
	}
	return "/"
}

func typeTest(value string) (findTest, error) {
	want := map[string]func(fs.FileMode) bool{
		"f": fs.FileMode.IsRegular, "d": fs.FileMode.IsDir,
		"l": func(m fs.FileMode) bool { return m&fs.ModeSymlink != 0 },
	}
	var tests []func(fs.FileMode) bool
	for kind := range strings.SplitSeq(value, ",") {
		test, ok := want[kind]
		if !ok {
			return nil, fmt.Errorf("Unknown argument to -type: %s", value)
		}
		tests = append(tests, test)
	}
	return func(f *found) bool {
		for _, t := range tests {
			if t(f.info.Mode()) {
				return true
			}
		}
		return false
	}, nil
}

// compared reads +N, -N or N, and gives a test for a number.
func compared(value string) (func(int64) bool, error) {
	n, ok := natural(strings.TrimLeft(value, "+-"))
	if !ok {
		return nil, fmt.Errorf("invalid argument `%s'", value)
	}
	switch value[0] {
	case '+':
		return func(x int64) bool { return x > n }, nil
	case '-':
		return func(x int64) bool { return x < n }, nil
	}
	return func(x int64) bool { return x == n }, nil
}

// sizeTest counts in units, rounded up: blocks of 512 bytes, or c, w, k, M, G.
func sizeTest(value string) (findTest, error) {
	unit := int64(512)
	if value != "" {
		if u, ok := map[byte]int64{'c': 1, 'w': 2, 'b': 512, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[value[len(value)-1]]; ok {
			unit, value = u, value[:len(value)-1]
		}
	}
	if value == "" {
		return nil, errors.New("invalid argument to `-size'")
	}
	ok, err := compared(value)
	if err != nil {
		return nil, err
	}
	return func(f *found) bool { return ok((size(f.info) + unit - 1) / unit) }, nil
}

func (fp *findParser) timeTest(name, value string) (findTest, error) {
	now := fp.p.System.Now()
	switch name {
	case "-newer":
		info, err := fp.p.Files.Stat(value)
		if err != nil {
			return nil, fmt.Errorf("'%s': %s", value, Reason(err))
		}
		return func(f *found) bool { return f.info.ModTime().After(info.ModTime()) }, nil
	}
	unit := 24 * time.Hour
	if strings.HasSuffix(name, "min") {
		unit = time.Minute
	}
	ok, err := compared(value)
	if err != nil {
		return nil, err
	}
	return func(f *found) bool {
		age := now.Sub(f.info.ModTime())
		if unit == time.Minute && age%unit != 0 {
			age += unit // -mmin counts begun minutes, -mtime full days
		}
		return ok(int64(age / unit))
	}, nil
}

func emptyFound(f *found) bool {
	if f.info.IsDir() {
		list, err := f.w.p.Files.List(f.path)
		return err == nil && len(list) == 0
	}
	return f.info.Mode().IsRegular() && f.info.Size() == 0
}
