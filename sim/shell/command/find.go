package command

import (
	"fmt"
	"io/fs"
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
