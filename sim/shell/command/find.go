package command

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// find [PATH...] [EXPRESSION]; see find_parse.go for the expressions. Entries come in name order.
func runFind(p *Proc) int {
	args := p.Args
	for len(args) > 0 && (args[0] == "-L" || args[0] == "-P" || args[0] == "-H") {
		if args[0] == "-L" {
			return p.usage("option '-L' is not supported in the in-process shell")
		}
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
	e, err := parseFind(p, args[n:])
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	w := &findWalk{p: p, e: e}
	for _, root := range roots {
		info, err := p.Files.Lstat(root)
		if err != nil {
			w.code = p.fail(exitFailure, "'%s': %s", root, Reason(err))
			continue
		}
		w.visit(root, info, 0)
	}
	for _, batch := range e.batches {
		batch.run(w)
	}
	return w.code
}

type findWalk struct {
	p    *Proc
	e    *findExpr
	code int
	quit bool
}

// found is one visited entry.
type found struct {
	w     *findWalk
	path  string
	info  fs.FileInfo
	depth int
	prune bool
}

func (w *findWalk) visit(path string, info fs.FileInfo, depth int) {
	if w.quit || w.p.Ctx.Err() != nil {
		return
	}
	f := &found{w: w, path: path, info: info, depth: depth}
	wanted := depth >= w.e.minDepth
	if wanted && !w.e.depthFirst {
		w.e.match(f)
	}
	if info.IsDir() && depth < w.e.maxDepth && !f.prune {
		w.descend(path, depth)
	}
	if wanted && w.e.depthFirst && !w.quit {
		w.e.match(f)
	}
}

func (w *findWalk) descend(path string, depth int) {
	list, err := w.p.Files.List(path)
	if err != nil {
		if !missing(err) {
			w.code = w.p.fail(exitFailure, "'%s': %s", path, Reason(err))
		}
		return
	}
	for _, c := range list {
		w.visit(strings.TrimSuffix(path, "/")+"/"+c.Name(), c, depth+1)
	}
}

func (w *findWalk) fail(format string, a ...any) {
	w.code = w.p.fail(exitFailure, "%s", fmt.Sprintf(format, a...))
}

func printPath(f *found, end string) bool {
	if f.w.p.print(f.path+end) != nil {
		f.w.quit = true
	}
	return true
}

func deleteFound(f *found) bool {
	if f.path == "." {
		return true // as find does
	}
	if err := f.w.p.Files.Remove(f.path); err != nil {
		f.w.fail("cannot delete '%s': %s", f.path, Reason(err))
		return false
	}
	return true
}

// exec reads a command up to ; (one run for each entry) or {} + (one run for all).
func (fp *findParser) exec(name string) (findTest, error) {
	if name == "-ok" {
		return nil, errors.New("-ok: nobody is there to answer")
	}
	end := slices.IndexFunc(fp.args, func(a string) bool { return a == ";" || a == "+" })
	for end > 0 && fp.args[end] == "+" && fp.args[end-1] != "{}" {
		next := slices.IndexFunc(fp.args[end+1:], func(a string) bool { return a == ";" || a == "+" })
		if next < 0 {
			end = -1
			break
		}
		end += 1 + next
	}
	if end < 1 {
		return nil, fmt.Errorf("missing argument to `%s'", name)
	}
	command, mark := fp.args[:end], fp.args[end]
	fp.args = fp.args[end+1:]
	inDir := name == "-execdir"
	if mark == "+" {
		batch := &execBatch{command: command[:len(command)-1]}
		fp.e.batches = append(fp.e.batches, batch)
		return func(f *found) bool { batch.paths = append(batch.paths, f.path); return true }, nil
	}
	return func(f *found) bool { return f.exec(command, inDir) }, nil
}

func (f *found) exec(command []string, inDir bool) bool {
	p, name := f.w.p, f.path
	if inDir {
		files := *p.Files
		files.Dir = p.Files.Abs(path.Dir(f.path))
		p = p.child(p.Name, nil)
		p.Files = &files
		name = "./" + path.Base(f.path)
	}
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = strings.ReplaceAll(a, "{}", name)
	}
	return p.exec(args[0], args[1:]) == 0
}

// execBatch is -exec ... {} +: it collects, and runs at the end.
type execBatch struct {
	command []string
	paths   []string
}

func (b *execBatch) run(w *findWalk) {
	if len(b.paths) == 0 {
		return
	}
	if w.p.exec(b.command[0], append(slices.Clone(b.command[1:]), b.paths...)) != 0 {
		w.code = exitFailure
	}
}
