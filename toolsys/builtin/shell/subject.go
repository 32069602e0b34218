package shell

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

// maxFiles bounds how many matches of a glob are looked at; beyond it, what a command
// touches counts as unknown.
const maxFiles = 1000

// script reads the command by itself, without knowing where it will run. Repositories
// are taken as trusted; [bash.subject], which permission asks, knows better.
func (d bash) script(in BashIn) *shellcmd.Script {
	if s := d.memo.Load(); s != nil && s.Source == in.Command {
		return s
	}
	s := shellcmd.Read(in.Command, shellcmd.Env{Plain: d.Plain, Repository: func(string) bool { return true }})
	d.memo.Store(s)
	return s
}

// scriptIn reads the command as it will run in this context.
func (d bash) scriptIn(in BashIn, c *tool.Context) *shellcmd.Script {
	home := cmp.Or(c.State.Env["HOME"], c.Home)
	return shellcmd.Read(in.Command, shellcmd.Env{Plain: d.Plain, Dir: c.State.Dir, Home: home, Straight: d.straight, Repository: func(dir string) bool { return d.trusts(dir, c) }})
}

// straight reports whether .. behind a folder leads to the one above it.
func (d bash) straight(dir string) bool {
	return !permission.IsUNC(dir) && path.Clean(d.resolve(dir+"/..")) == d.resolve(path.Dir(dir))
}

// subject describes the command in the terms of rules: its parts (F4) and the files
// they touch (F2, F5).
func (d bash) subject(in BashIn, c *tool.Context) tool.Subject {
	s := d.scriptIn(in, c)
	shell := &permission.Shell{Command: s.Source, Known: s.Err == nil}
	cdpath := c.State.Env["CDPATH"] != "" && s.Changes.Dir
	for i := range s.Steps {
		shell.Parts = append(shell.Parts, d.part(&s.Steps[i], c, cdpath, s.ReadOnly))
		shell.Parts[i].ReadOnly = s.Steps[i].ReadOnly && !(s.Steps[i].Name == "npm" && d.npmrc(s, c))
	}
	return tool.Subject{Shell: shell}
}

// npmrc reports whether npm may find settings of a project: in the folder that a script starts in or above it, or
// wherever the script goes. Npm 8 makes the folders that they name, even for npm --version.
func (d bash) npmrc(s *shellcmd.Script, c *tool.Context) bool {
	found := slices.ContainsFunc(s.Steps, func(st shellcmd.Step) bool { return st.Name == "cd" })
	for dir := c.State.Dir; dir != path.Dir(dir) && dir != c.Home; dir = path.Dir(dir) {
		found = found || d.holds(dir, ".npmrc")
	}
	return found
}

// part is one step, with the files that its patterns mean and what links lead to. settled reports whether no
// folder is made before the step runs.
func (d bash) part(st *shellcmd.Step, c *tool.Context, cdpath, settled bool) permission.Part {
	p := permission.Part{
		Text: st.Text, Readings: st.Readings, Commands: commandsOf(st), ReadOnly: st.ReadOnly, Construct: st.Construct, Opaque: st.Opaque, Foreign: st.Foreign,
		Leaf: st.Leaf, Input: strings.Join(append([]string{st.Input}, st.Set...), "\n"), FilesUnknown: st.FilesUnknown || cdpath,
	}
	for _, launched := range st.Launched() {
		p.Launched = append(p.Launched, commandsOf(&launched)...)
	}
	for _, f := range st.Files {
		if f.Repository {
			p.FilesUnknown = p.FilesUnknown || !permission.Within(f.Path, c.Roots)
			f.Path = outermost(f.Path, c.Roots)
		}
		plain := !f.Glob && (f.Tree || f.Entries || f.Names) && (d.plainFile(f.Path) || settled && f.Entries && permission.Within(f.Path, c.Roots) && !d.holds(f.Path, "."))
		found, ok := d.files(permission.File{Path: f.Path, Glob: f.Glob, Tree: f.Tree && !plain, Write: f.Write, Named: f.Named, Names: f.Names && !plain}, f.Spelled, c)
		ok = ok && !(f.Parts && slices.ContainsFunc(found, func(m permission.File) bool {
			return strings.ContainsAny(strings.TrimPrefix(m.Path, path.Dir(f.Path[:strings.IndexAny(f.Path+"*", "*?[{")]+"x")), " \t\n")
		}))
		if ok && f.Entries && !plain {
			pattern := f.Path
			if !f.Glob {
				pattern = permission.Plainly.Replace(strings.TrimSuffix(f.Path, "/"))
			}
			entries, listed := d.files(permission.File{Path: pattern + "/*", Glob: true}, f.Spelled, c)
			found, ok = append(found, entries...), listed
		}
		if ok && (f.Links || f.Split) {
			linked, walked := d.linked(f, c)
			found, ok = append(found, linked...), walked
		}
		p.Files = append(p.Files, found...)
		p.FilesUnknown = p.FilesUnknown || !ok
	}
	return p
}

// commandsOf are a step's words for rules that forbid, and those of what it may run.
func commandsOf(st *shellcmd.Step) (all [][]string) {
	for _, st := range append([]shellcmd.Step{*st}, st.Supposed...) {
		pushes := st.Name == "git" && slices.ContainsFunc(st.Words, func(f shellcmd.Word) bool { return f.Text == "push" })
		words := tool.Each(st.Implied(), func(forms []string) string { return strings.Join(forms, permission.OtherForm) })
		forms := st.Forms()
		for i, f := range st.Words[min(1, len(st.Words)):] {
			word, any := permission.MadeWord+f.Text+"*", permission.MadeWord+"**"
			if pushes && shellcmd.Whichever(f.Text) {
				words = append(words, any, any)
			}
			switch {
			case f.Kind == shellcmd.Literal:
				word = strings.Join(forms[i+1], permission.OtherForm)
			case f.Undashed:
				word = any
			case f.Kind == shellcmd.Many:
				word = permission.AnyWords
			case f.Bound != "" && !f.Below:
				word = permission.MadeWord + signs.ReplaceAllLiteralString(f.Bound, "*")
			}
			words = append(words, word)
		}
		all = append(all, tool.Each(st.Names(), func(name string) []string { return append(strings.Fields(name), words...) })...)
	}
	return all
}

// signs are those of a pattern that are not its stars.
var signs = regexp.MustCompile(`\?|\[.*`)

// outermost is the root that a path lies in, which no repository that is trusted reaches beyond.
func outermost(p string, roots []string) string {
	for _, root := range roots {
		if permission.Within(p, []string{root}) {
			p = root
		}
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
	sign := strings.IndexAny(f.Path+"*", "*?[{")
	if f.Glob && (!f.Tree || sign < len(f.Path) || strings.ContainsAny(spelled, "*?[")) {
		folder := path.Dir(f.Path[:sign] + "x")
		if !permission.Within(folder, c.Roots) || spelled != "" {
			return all, false
		}
		found, err := afero.Glob(d.FS, f.Path)
		if err != nil || len(found) > maxFiles {
			return all, false
		}
		names = found
		up, known := leadsUp(f.Path, f.Tree || f.Names)
		if up != "" {
			above := f
			above.Path, above.Glob = up, strings.ContainsAny(up, "*?[")
			all, known = d.files(above, "", c)
			all = append(all, f)
		}
		if !known {
			return all, false
		}
	}
	if spelled != "" {
		names = append(names, path.Clean(d.resolve(spelled)))
	}
	for _, name := range names {
		for _, to := range slices.Compact([]string{name, d.resolve(name)}) {
			if to != f.Path {
				all = append(all, permission.File{Path: to, Tree: f.Tree, Write: f.Write, Named: f.Named, Names: f.Names})
			}
		}
	}
	return all, true
}

// leadsUp is what a pattern means of the folder above where a part of it matches "..", as .* does before Bash 5.2 and in other
// shells: "" where none does, and not ok where several do. Of the last part that counts where deep is set.
func leadsUp(pattern string, deep bool) (up string, ok bool) {
	names := strings.Split(pattern, "/")
	for i, name := range names {
		if above, _ := path.Match(name, ".."); above && name[0] == '.' && (deep || i < len(names)-1) {
			if up != "" {
				return "", false
			}
			up = path.Join("/", path.Join(names[:i]...), "..", path.Join(names[i+1:]...))
		}
	}
	return up, true
}

// plainFile reports whether a path is that of a file, below which there is nothing.
func (d bash) plainFile(name string) bool {
	if permission.IsUNC(name) || !path.IsAbs(name) {
		return false
	}
	info, err := d.FS.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// maxBelow bounds how many entries of a folder are looked at for links; beyond it, where they lead counts
// as unknown.
const maxBelow = 50_000

// linked are the files that links below a folder lead to. One that leads to a file below the folder is none:
// that is read anyhow. It is not ok where a name would be taken for others.
func (d bash) linked(f shellcmd.File, c *tool.Context) (all []permission.File, ok bool) {
	dir := f.Path
	if sign := strings.IndexAny(dir, "*?["); sign >= 0 {
		dir = path.Dir(dir[:sign] + "x")
	}
	if permission.IsUNC(dir) || !permission.Within(dir, c.Roots) {
		return nil, true // nothing there is read unasked
	}
	seen := 0
	err := afero.Walk(d.FS, dir, func(name string, info fs.FileInfo, err error) error {
		seen++
		switch {
		case err != nil:
			return nil
		case seen > maxBelow, f.Split && strings.ContainsAny(strings.TrimPrefix(name, dir), " \t\n\v\f\r'\"\\"):
			return fs.ErrInvalid
		case f.Links && info.Mode()&fs.ModeSymlink != 0:
			if to := d.resolve(name); !permission.Within(to, []string{dir}) {
				all = append(all, permission.File{Path: to, Tree: true})
			}
		}
		return nil
	})
	return all, err == nil
}

// trusts reports whether git may read the configuration that it finds from a
// directory on: that of the repository that the roots belong to. A repository that
// lies below a root came with the files, and its configuration may name programs.
func (d bash) trusts(dir string, c *tool.Context) bool {
	if permission.IsUNC(dir) || !permission.Within(path.Clean(dir), c.Roots) {
		return false
	}
	dir, roots := path.Clean(d.resolve(dir)), d.resolved(c.Roots)
	for ; !slices.Contains(roots, dir); dir = path.Dir(dir) {
		info, err := d.FS.Stat(dir)
		if err != nil || !info.IsDir() || dir == "/" || d.holds(dir, ".git") || d.holds(dir, "HEAD") {
			return false
		}
	}
	_, err := d.FS.Stat(path.Join(dir, ".git"))
	return err == nil || !d.holds(dir, "HEAD")
}

// holds reports whether a folder may have an entry. Git finds a repository where there is a
// .git, and, by its HEAD among others, a link that leads nowhere for one, where the folder itself is a bare one.
func (d bash) holds(dir, name string) bool {
	_, err := d.FS.Stat(path.Join(dir, name))
	if links, ok := d.FS.(afero.Lstater); ok {
		_, _, err = links.LstatIfPossible(path.Join(dir, name))
	}
	return !errors.Is(err, fs.ErrNotExist)
}
