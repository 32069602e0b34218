package shell

import (
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

// maxFiles bounds how many matches of a glob are looked at; beyond it, what a command
// touches counts as unknown.
const maxFiles = 1000

// memo keeps the last command as it was read: a call is asked half a dozen things
// about the same command, one after the other, and parsing it is what they cost.
type memo struct {
	last atomic.Pointer[shellcmd.Script]
}

// script reads the command by itself, without knowing where it will run. Repositories
// are taken as trusted; [bash.subject], which permission asks, knows better.
func (d bash) script(in BashIn) *shellcmd.Script {
	if s := d.memo.last.Load(); s != nil && s.Source == in.Command {
		return s
	}
	s := shellcmd.Read(in.Command, shellcmd.Env{Repository: func(string) bool { return true }})
	d.memo.last.Store(s)
	return s
}

// scriptIn reads the command as it will run in this context.
func (d bash) scriptIn(in BashIn, c *tool.Context) *shellcmd.Script {
	home := c.State.Env["HOME"]
	if home == "" {
		home = c.Home
	}
	return shellcmd.Read(in.Command, shellcmd.Env{Dir: c.State.Dir, Home: home, Repository: func(dir string) bool { return d.trusts(dir, c) }})
}

// subject describes the command in the terms of rules: its parts (F4) and the files
// they touch (F2, F5).
func (d bash) subject(in BashIn, c *tool.Context) tool.Subject {
	s := d.scriptIn(in, c)
	shell := &permission.Shell{Command: s.Source, Known: s.Err == nil}
	cdpath := c.State.Env["CDPATH"] != "" && s.Changes.Dir
	for i := range s.Steps {
		shell.Parts = append(shell.Parts, d.part(&s.Steps[i], c, cdpath))
	}
	return tool.Subject{Shell: shell}
}

// part is one step, with the files that its patterns mean and what links lead to.
func (d bash) part(st *shellcmd.Step, c *tool.Context, cdpath bool) permission.Part {
	p := permission.Part{
		Text: st.Text, Readings: st.Readings, ReadOnly: st.ReadOnly, Construct: st.Construct, Opaque: st.Opaque,
		Leaf: st.Leaf, Input: strings.Join(append([]string{st.Input}, st.Set...), "\n"), FilesUnknown: st.FilesUnknown || cdpath,
	}
	for _, f := range st.Files {
		found, ok := d.files(permission.File{Path: f.Path, Glob: f.Glob, Tree: f.Tree, Write: f.Write}, f.Spelled, c)
		p.Files = append(p.Files, found...)
		p.FilesUnknown = p.FilesUnknown || !ok
	}
	return p
}

// files is a file with what it leads to: a glob with its matches, since any of them
// may be a link that leads elsewhere (L6), and so may a folder before a .. in the name as
// it is spelled.
func (d bash) files(f permission.File, spelled string, c *tool.Context) (all []permission.File, ok bool) {
	all = []permission.File{f}
	if permission.IsUNC(f.Path) {
		return all, true
	}
	names := []string{f.Path}
	if f.Glob && !f.Tree {
		folder := path.Dir(f.Path[:strings.IndexAny(f.Path+"*", "*?[{")] + "x")
		if !permission.Within(folder, c.Roots) || spelled != "" {
			return all, false
		}
		found, err := afero.Glob(d.FS, f.Path)
		if err != nil || len(found) > maxFiles {
			return all, false
		}
		names = found
	}
	if spelled != "" {
		names = append(names, path.Clean(d.resolve(spelled)))
	}
	for _, name := range names {
		for _, to := range slices.Compact([]string{name, d.resolve(name)}) {
			if to != f.Path {
				all = append(all, permission.File{Path: to, Tree: f.Tree, Write: f.Write})
			}
		}
	}
	return all, true
}

// trusts reports whether git may read the configuration that it finds from a
// directory on: that of the repository that the roots belong to. A repository that
// lies below a root came with the files, and its configuration may name programs.
func (d bash) trusts(dir string, c *tool.Context) bool {
	if permission.IsUNC(dir) || !permission.Within(path.Clean(dir), c.Roots) {
		return false
	}
	dir, roots := path.Clean(d.resolve(dir)), d.resolved(c.Roots)
	if !permission.Within(dir, roots) {
		return false
	}
	for ; !slices.Contains(roots, dir); dir = path.Dir(dir) {
		info, err := d.FS.Stat(dir)
		if err != nil || !info.IsDir() || dir == "/" || d.holds(dir, ".git") || d.holds(dir, "HEAD") {
			return false
		}
	}
	return d.holds(dir, ".git") || !d.holds(dir, "HEAD")
}

// holds reports whether a folder has an entry. Git finds a repository where there is a
// .git, and, by its HEAD among others, where the folder itself is a bare one.
func (d bash) holds(dir, name string) bool {
	_, err := d.FS.Stat(path.Join(dir, name))
	return err == nil
}
