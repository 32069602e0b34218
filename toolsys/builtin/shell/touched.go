package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

// Bounds beyond which what a command touches counts as unknown.
const (
	maxDirs  = 8
	maxFiles = 1000
)

// touched collects the files that a command's reading parts name. Doubt makes
// them unknown, and unknown is never within the roots.
type touched struct {
	fs      afero.Fs
	context *tool.Context
	// dirs are where the command may be by now: cd may or may not have worked.
	dirs    []string
	vars    variables
	paths   []string
	unknown bool
}

func (d bash) touched(s *study, c *tool.Context) touched {
	t := touched{
		fs: d.FS, context: c, dirs: []string{c.State.Dir}, unknown: !s.class.Parsed || s.sight.unknown,
		vars: variables{env: c.State.Env, changed: slices.Concat(s.class.Changes.Vars, s.sight.loops)},
	}
	for i, p := range s.class.Parts {
		switch {
		case p.Name == "cd" || p.Name == "pushd":
			t.moves(p)
		case s.reads[i]:
			t.reads(p)
		}
	}
	for _, file := range s.sight.reads {
		t.file(file)
	}
	slices.Sort(t.paths)
	t.paths = slices.Compact(t.paths)
	return t
}

// moves follows a cd to a folder that is written out; where it leads elsewhere,
// all that follows is unknown.
func (t *touched) moves(p shellcmd.Part) {
	args, words := arguments(p, t.vars)
	p.Args = args
	if p.Name != "cd" || !p.Literal || slices.ContainsFunc(words, func(w looseness) bool { return w != fixed }) || len(p.Args) != 1 || strings.HasPrefix(p.Args[0], "-") || len(t.dirs) > maxDirs || t.context.State.Env["CDPATH"] != "" {
		t.unknown = true
		return
	}
	t.file(p.Args[0])
	for _, dir := range slices.Clone(t.dirs) {
		if next := t.abs(dir, p.Args[0]); !slices.Contains(t.dirs, next) {
			t.dirs = append(t.dirs, next)
		}
	}
}

// reads takes in the operands of a part that only reads. Even one that reads no
// files shows which there are, if the shell makes names of its words.
func (t *touched) reads(p shellcmd.Part) {
	args, words := arguments(p, t.vars)
	p.Args = args
	if readsNothing[p.Name] {
		for i, word := range words {
			t.unknown = t.unknown || word == open
			if word == pattern {
				t.file(p.Args[i])
			}
		}
		return
	}
	if !p.Literal || readsMore(p) || slices.Contains(words, open) {
		t.unknown = true
		return
	}
	for _, operand := range operands(p, words) {
		t.file(operand)
	}
}

// file takes in one name, from wherever the command may be.
func (t *touched) file(name string) {
	if name == "" || name == "-" {
		return
	}
	if strings.HasPrefix(name, "~") && name != "~" && !strings.HasPrefix(name, "~/") {
		t.unknown = true // somebody else's home
		return
	}
	for _, dir := range t.dirs {
		t.expand(t.abs(dir, name))
	}
}

// abs is a name's path from dir. ~ is the shell's HOME, which may differ from ours.
func (t *touched) abs(dir, name string) string {
	if home := t.context.State.Env["HOME"]; home != "" && (name == "~" || strings.HasPrefix(name, "~/")) {
		return path.Join(home, name[1:])
	}
	from := *t.context
	from.State.Dir = dir
	return from.Abs(name)
}

// expand adds what a path means: itself and, if it is a glob, the files it finds,
// since any of them may be a link that leads elsewhere (L6).
func (t *touched) expand(name string) {
	t.paths = append(t.paths, name)
	if permission.IsUNC(name) || !strings.ContainsAny(name, "*?[{") {
		return
	}
	fixed := name[:strings.IndexAny(name, "*?[{")]
	if strings.Contains(name, "{") || !permission.Within(path.Dir(fixed+"x"), t.context.Roots) || t.fs == nil {
		t.unknown = true
		return
	}
	found, err := afero.Glob(t.fs, name)
	if err != nil || len(found) > maxFiles {
		t.unknown = true
		return
	}
	t.paths = append(t.paths, found...)
}
