package command

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// tree [-adf] [-L N] [-I PATTERN] [-P PATTERN] [--noreport] [--dirsfirst] [DIR...]
func runTree(p *Proc) int {
	o, ok := p.parse("adfL:I:P:FinC", "noreport", "dirsfirst", "nocolor>n")
	if !ok {
		return exitUsage
	}
	level, err := strconv.Atoi(o.get("L", "1000"))
	if err != nil || level < 1 {
		return p.fail(exitFailure, "Invalid level, must be greater than 0.")
	}
	t := &treeWalk{p: p, o: o, level: level}
	names := o.rest
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, name := range names {
		if !p.Files.IsDir(name) {
			p.printf("%s  [error opening dir]\n", name)
			t.code = exitUsage
			continue
		}
		p.print(name + "\n")
		t.walk(name, "", 1)
	}
	if !o.has("noreport") {
		t.report()
	}
	return t.code
}

type treeWalk struct {
	p           *Proc
	o           options
	level       int
	dirs, files int
	code        int
}

func (t *treeWalk) walk(dir, indent string, depth int) {
	list := t.entries(dir)
	for i, e := range list {
		branch, below := "├── ", "│   "
		if i == len(list)-1 {
			branch, below = "└── ", "    "
		}
		name := e.name
		if t.o.has("f") {
			name = e.path
		}
		if t.o.has("F") && e.IsDir() {
			name += "/"
		}
		if t.o.has("i") {
			branch, below = "", ""
		}
		t.p.print(indent + branch + name + "\n")
		if !e.IsDir() {
			t.files++
			continue
		}
		t.dirs++
		if depth < t.level {
			t.walk(e.path, indent+below, depth+1)
		}
	}
}

func (t *treeWalk) entries(dir string) []entry {
	list, err := t.p.Files.List(dir)
	if err != nil {
		t.code = exitUsage
		return nil
	}
	var dirs, files []entry
	for _, info := range list {
		e := entry{info.Name(), path.Join(dir, info.Name()), info}
		switch {
		case strings.HasPrefix(e.name, ".") && !t.o.has("a"), t.o.has("d") && !e.IsDir(), t.o.has("I") && matchesAny(t.o.get("I", ""), e.name),
			t.o.has("P") && !e.IsDir() && !matchesAny(t.o.get("P", ""), e.name):
		case t.o.has("dirsfirst") && !e.IsDir():
			files = append(files, e)
		default:
			dirs = append(dirs, e)
		}
	}
	return append(dirs, files...)
}

// matchesAny matches a name against patterns separated by bars.
func matchesAny(patterns, name string) bool {
	for pattern := range strings.SplitSeq(patterns, "|") {
		if glob(strings.TrimSuffix(pattern, "/"), name) {
			return true
		}
	}
	return false
}

func (t *treeWalk) report() {
	dirs := fmt.Sprintf("%d director%s", t.dirs+1, map[bool]string{true: "y", false: "ies"}[t.dirs == 0])
	if t.o.has("d") {
		t.p.printf("\n%s\n", dirs)
		return
	}
	t.p.printf("\n%s, %d file%s\n", dirs, t.files, map[bool]string{false: "s"}[t.files == 1])
}
