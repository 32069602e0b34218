package shell

//lint:file-ignore ST1005 messages are worded as GNU find words them

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/pattern"
)

// runFind is find [-P] [PATH...] [EXPRESSION]. Entries come in name order.
func runFind(p *proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "-P" {
		args = args[1:]
	}
	n := slices.IndexFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "-") && len(a) > 1 || a == "(" || a == "!" || a == ")"
	})
	if n < 0 {
		n = len(args)
	}
	roots := args[:n]
	if len(roots) == 0 {
		roots = []string{"."}
	}
	w := &findWalk{proc: p, maxDepth: math.MaxInt}
	if err := w.parse(args[n:]); err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	for _, root := range roots {
		info, err := p.Files.Lstat(root)
		if err != nil {
			w.code = p.fail(exitFailure, "'%s': %s", root, reason(err))
			continue
		}
		w.visit(root, info, 0)
	}
	for _, batch := range w.batches {
		if len(batch.paths) > 0 && p.System.Exec(p.child(batch.command[0], append(batch.command[1:], batch.paths...))) != 0 {
			w.code = exitFailure
		}
	}
	return w.code
}

type findWalk struct {
	*proc
	match              findTest
	minDepth, maxDepth int
	depthFirst         bool
	batches            []*execBatch
	code               int
	quit               bool
}

// findTest decides about an entry; actions are tests with a side effect.
type findTest func(*found) bool

// found is one visited entry.
type found struct {
	path  string
	info  fs.FileInfo
	prune bool
}

// execBatch is -exec ... {} +: it collects, and runs at the end.
type execBatch struct{ command, paths []string }

func (w *findWalk) visit(path string, info fs.FileInfo, depth int) {
	if w.quit || w.Ctx.Err() != nil {
		return
	}
	f := &found{path: path, info: info}
	wanted := depth >= w.minDepth
	if wanted && !w.depthFirst {
		w.match(f)
	}
	if info.IsDir() && depth < w.maxDepth && !f.prune {
		w.descend(path, depth)
	}
	if wanted && w.depthFirst && !w.quit {
		w.match(f)
	}
}

func (w *findWalk) descend(path string, depth int) {
	list, err := w.Files.List(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.code = w.fail(exitFailure, "'%s': %s", path, reason(err))
		}
		return
	}
	for _, c := range list {
		w.visit(below(path, c.Name()), c, depth+1)
	}
}

// findParser reads: expr = and {-o and}; and = not {[-a] not}; not = [!|-not] primary.
type findParser struct {
	*findWalk
	args   arguments
	action bool // some action stands in the expression: no implied -print
}

func (w *findWalk) parse(args []string) error {
	fp := &findParser{findWalk: w, args: args}
	match := findTest(func(*found) bool { return true })
	if len(args) > 0 {
		var err error
		if match, err = fp.or(); err != nil {
			return err
		}
		if len(fp.args) > 0 {
			return fmt.Errorf("paths must precede expression: `%s'", fp.args[0])
		}
	}
	w.match = match
	if !fp.action {
		w.match = func(f *found) bool { return match(f) && w.show(f, "\n") }
	}
	return nil
}

// take removes the next word if it is one of names.
func (fp *findParser) take(names ...string) bool {
	if len(fp.args) == 0 || !slices.Contains(names, fp.args[0]) {
		return false
	}
	fp.args = fp.args[1:]
	return true
}

func (fp *findParser) or() (findTest, error) {
	left, err := fp.and()
	if err != nil || !fp.take("-o", "-or") {
		return left, err
	}
	right, err := fp.or()
	return func(f *found) bool { return left(f) || right(f) }, err
}

func (fp *findParser) and() (findTest, error) {
	left, err := fp.not()
	if err != nil || len(fp.args) == 0 || slices.Contains([]string{"-o", "-or", ")"}, fp.args[0]) {
		return left, err
	}
	fp.take("-a", "-and")
	right, err := fp.and()
	return func(f *found) bool { return left(f) && right(f) }, err
}

func (fp *findParser) not() (findTest, error) {
	if fp.take("!", "-not") {
		inner, err := fp.not()
		return func(f *found) bool { return !inner(f) }, err
	}
	if len(fp.args) == 0 {
		return nil, errors.New("expected an expression")
	}
	name := fp.args.next()
	switch {
	case name == "(":
		inner, err := fp.or()
		if err == nil && !fp.take(")") {
			err = errors.New("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
		}
		return inner, err
	case name == "-exec":
		return fp.exec()
	case slices.Contains(findValued, name):
		if len(fp.args) == 0 {
			return nil, fmt.Errorf("missing argument to `%s'", name)
		}
		return fp.valued(name, fp.args.next())
	}
	return fp.plain(name)
}

// findValued are the primaries with an argument, -exec apart.
var findValued = []string{"-iname", "-maxdepth", "-mindepth", "-name", "-newer", "-path", "-type"}

// plain are the primaries without an argument.
func (fp *findParser) plain(name string) (findTest, error) {
	fp.action = fp.action || slices.Contains([]string{"-print", "-print0", "-delete", "-quit"}, name)
	switch name {
	case "-print":
		return func(f *found) bool { return fp.show(f, "\n") }, nil
	case "-print0":
		return func(f *found) bool { return fp.show(f, "\x00") }, nil
	case "-delete":
		fp.depthFirst = true
		return fp.delete, nil
	case "-prune":
		return func(f *found) bool { f.prune = true; return true }, nil
	case "-quit":
		return func(*found) bool { fp.quit = true; return true }, nil
	case "-depth":
		fp.depthFirst = true
		return func(*found) bool { return true }, nil
	case "-empty":
		return fp.empty, nil
	}
	if !strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("paths must precede expression: `%s'", name)
	}
	return nil, fmt.Errorf("unknown predicate `%s'%s", name, lacking)
}

func (w *findWalk) show(f *found, end string) bool {
	w.quit = w.print(f.path+end) != nil || w.quit
	return true
}

func (w *findWalk) delete(f *found) bool {
	if f.path == "." {
		return true // as find does
	}
	if err := w.Files.Remove(f.path); err != nil {
		w.code = w.fail(exitFailure, "cannot delete '%s': %s", f.path, reason(err))
		return false
	}
	return true
}

func (w *findWalk) empty(f *found) bool {
	if f.info.IsDir() {
		list, err := w.Files.List(f.path)
		return err == nil && len(list) == 0
	}
	return f.info.Mode().IsRegular() && f.info.Size() == 0
}

// exec reads a command up to ; (one run for each entry) or {} + (one run for all).
func (fp *findParser) exec() (findTest, error) {
	fp.action = true
	for end, mark := range fp.args {
		many := mark == "+" && end > 1 && fp.args[end-1] == "{}"
		if mark != ";" && !many || end == 0 {
			continue
		}
		command := slices.Clone(fp.args[:end])
		fp.args = fp.args[end+1:]
		if !many {
			return func(f *found) bool {
				args := each(command, func(a string) string { return strings.ReplaceAll(a, "{}", f.path) })
				return fp.System.Exec(fp.child(args[0], args[1:])) == 0
			}, nil
		}
		batch := &execBatch{command: command[:end-1]}
		fp.batches = append(fp.batches, batch)
		return func(f *found) bool { batch.paths = append(batch.paths, f.path); return true }, nil
	}
	return nil, errors.New("missing argument to `-exec'")
}

func (fp *findParser) valued(name, value string) (findTest, error) {
	switch name {
	case "-maxdepth", "-mindepth":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("Expected a positive decimal integer argument to %s, but got '%s'", name, value)
		}
		if name == "-maxdepth" {
			fp.maxDepth = n
		} else {
			fp.minDepth = n
		}
		return func(*found) bool { return true }, nil
	case "-name", "-iname", "-path":
		re, err := globRegexp(value, name == "-iname")
		if err != nil {
			return nil, err
		}
		if name == "-path" {
			return func(f *found) bool { return re.MatchString(f.path) }, nil
		}
		return func(f *found) bool { return re.MatchString(baseName(f.path)) }, nil
	case "-newer":
		info, err := fp.Files.Stat(value)
		if err != nil {
			return nil, fmt.Errorf("'%s': %s", value, reason(err))
		}
		return func(f *found) bool { return f.info.ModTime().After(info.ModTime()) }, nil
	}
	kind, ok := map[string]fs.FileMode{"f": 0, "d": fs.ModeDir, "l": fs.ModeSymlink}[value]
	if !ok {
		return nil, fmt.Errorf("Unknown argument to -type: %s", value)
	}
	return func(f *found) bool { return f.info.Mode().Type() == kind }, nil
}

// globRegexp is a shell pattern for all of a name as fnmatch has it: * crosses slashes and leading dots.
func globRegexp(pat string, ignoreCase bool) (*regexp.Regexp, error) {
	mode := pattern.EntireString
	if ignoreCase {
		mode |= pattern.NoGlobCase
	}
	text, err := pattern.Regexp(pat, mode)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(text)
}
