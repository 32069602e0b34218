package shell

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

// eachOperand runs a function for every operand, of which there has to be one.
func (p *proc) eachOperand(o options, one func(name string, o options) int) int {
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	return worst(o.rest, func(name string) int { return one(name, o) })
}

// worst is the greatest exit code of what is done with each thing.
func worst[T any](all []T, do func(T) int) (code int) {
	for _, one := range all {
		code = max(code, do(one))
	}
	return code
}

// runRm is rm [-dfrRv] FILE...
func runRm(p *proc, o options) int {
	if len(o.rest) == 0 && o.has("f") {
		return 0
	}
	return p.eachOperand(o, p.remove)
}

func (p *proc) remove(name string, o options) int {
	if base := path.Base(strings.TrimRight(name, "/")); base == "." || base == ".." {
		return p.fail(exitFailure, "refusing to remove '.' or '..' directory: skipping '%s'", name)
	}
	if p.Files.Abs(name) == "/" {
		return p.fail(exitFailure, "it is dangerous to operate recursively on '/'")
	}
	info, err := p.Files.Lstat(name)
	switch {
	case err != nil && o.has("f") && (errors.Is(err, fs.ErrNotExist) || reason(err) == "Not a directory"):
		return 0
	case err != nil:
		return p.fail(exitFailure, "cannot remove '%s': %s", name, reason(err))
	case !info.IsDir():
		return p.removeOne(name, "", o)
	case o.has("r"):
		return p.removeTree(name, o)
	case o.has("d"):
		return p.removeOne(name, "directory ", o)
	}
	return p.fail(exitFailure, "cannot remove '%s': Is a directory", name)
}

func (p *proc) removeTree(name string, o options) int {
	list, err := p.Files.List(name)
	if err != nil {
		return p.fail(exitFailure, "cannot remove '%s': %s", name, reason(err))
	}
	remove := func(e fs.FileInfo) int { return p.remove(below(name, e.Name()), o) }
	if code := worst(list, remove); code != 0 {
		return code
	}
	return p.removeOne(name, "directory ", o)
}

func (p *proc) removeOne(name, kind string, o options) int {
	if err := p.Files.Remove(name); err != nil {
		return p.fail(exitFailure, "cannot remove '%s': %s", name, reason(err))
	}
	return p.report(o, "removed "+kind+"'%s'\n", name)
}

func (p *proc) makeDir(name string, o options) int {
	made := func(name string) { p.report(o, "mkdir: created directory '%s'\n", name) }
	var err error
	if o.has("p") {
		err = p.Files.MkdirAll(name, made)
	} else if err = p.Files.Mkdir(name); err == nil {
		made(name)
	}
	if err != nil {
		return p.fail(exitFailure, "cannot create directory '%s': %s", name, reason(err))
	}
	return 0
}

// runTouch is touch [-cm] [-d TIME] [-r FILE] FILE...; access times are not kept.
func runTouch(p *proc, o options) int {
	at, err := p.timeOf(o)
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	return p.eachOperand(o, func(name string, o options) int {
		if !p.Files.Exists(name) {
			if o.has("c") {
				return 0
			}
			if err := p.Files.WriteFile(name, nil); err != nil {
				return p.fail(exitFailure, "cannot touch '%s': %s", name, reason(err))
			}
		}
		if _, isDevice := p.Files.device(name); isDevice {
			return 0
		}
		if err := p.Files.FS.Chtimes(p.Files.Abs(name), at, at); err != nil {
			return p.fail(exitFailure, "setting times of '%s': %s", name, reason(err))
		}
		return 0
	})
}

// runTee is tee [-a] [FILE...], which copies standard input to standard output and to each file.
func runTee(p *proc, o options) int {
	in, err := io.ReadAll(p.Stdin)
	if err != nil {
		return p.failure("-", err)
	}
	code := 0
	for _, name := range o.rest {
		w, err := p.Files.Create(name, o.has("a"))
		if err == nil {
			_, err = w.Write(in)
			err = cmp.Or(err, w.Close())
		}
		if err != nil {
			code = p.failure(name, err)
		}
	}
	return max(code, p.printed(string(in)))
}

// transfer finds where each source goes: into a directory, or to a new name.
func (p *proc) transfer(o options, one func(from, to string, o options) int) int {
	n := len(o.rest) - 1
	switch n {
	case -1:
		return p.fail(exitFailure, "missing file operand")
	case 0:
		return p.fail(exitFailure, "missing destination file operand after '%s'", o.rest[0])
	}
	sources, target := o.rest[:n], o.rest[n]
	into := p.Files.IsDir(target)
	if !into && n > 1 {
		return p.fail(exitFailure, "target '%s' is not a directory", target)
	}
	return worst(sources, func(from string) int {
		if into {
			return one(from, below(target, baseName(from)), o)
		}
		return one(from, target, o)
	})
}

// collides reports why a file cannot go where another one is, "" if it can.
func (p *proc) collides(from, to string, source, target fs.FileInfo) string {
	switch {
	case p.Files.Abs(from) == p.Files.Abs(to):
		return "'" + from + "' and '" + to + "' are the same file"
	case target.IsDir() && !source.IsDir():
		return "cannot overwrite directory '" + to + "' with non-directory"
	case source.IsDir() && !target.IsDir():
		return "cannot overwrite non-directory '" + to + "' with directory '" + from + "'"
	}
	return ""
}

func (p *proc) copy(from, to string, o options) int {
	get := p.Files.Stat
	if o.has("a", "r") {
		get = p.Files.Lstat // links are copied as links
	}
	info, err := get(from)
	if err != nil {
		return p.fail(exitFailure, "cannot stat '%s': %s", from, reason(err))
	}
	if info.IsDir() && !o.has("a", "r") {
		return p.fail(exitFailure, "-r not specified; omitting directory '%s'", from)
	}
	if target, err := p.Files.Stat(to); err == nil {
		if problem := p.collides(from, to, info, target); problem != "" {
			return p.fail(exitFailure, "%s", problem)
		}
		if !info.IsDir() && o.last("n", "f") == "n" {
			return 0
		}
	}
	if info.IsDir() {
		return p.copyTree(from, to, info, o)
	}
	if err := p.copyFile(from, to, info, o.has("a", "p")); err != nil {
		return p.fail(exitFailure, "cannot create regular file '%s': %s", to, reason(err))
	}
	return p.report(o, "'%s' -> '%s'\n", from, to)
}

// report prints what was done where -v asks for it.
func (p *proc) report(o options, format string, names ...any) int {
	if o.has("v") {
		p.printf(format, names...)
	}
	return 0
}

func (p *proc) copyTree(from, to string, info fs.FileInfo, o options) int {
	if strings.HasPrefix(p.Files.Abs(to)+"/", p.Files.Abs(from)+"/") {
		return p.fail(exitFailure, "cannot copy a directory, '%s', into itself, '%s'", from, to)
	}
	if !p.Files.IsDir(to) {
		if err := p.Files.Mkdir(to); err != nil {
			return p.fail(exitFailure, "cannot create directory '%s': %s", to, reason(err))
		}
		_ = p.Files.FS.Chmod(p.Files.Abs(to), info.Mode().Perm())
		p.report(o, "'%s' -> '%s'\n", from, to)
	}
	list, err := p.Files.List(from)
	if err != nil {
		return p.fail(exitFailure, "cannot access '%s': %s", from, reason(err))
	}
	return worst(list, func(e fs.FileInfo) int { return p.copy(below(from, e.Name()), below(to, e.Name()), o) })
}

// copyFile copies a file's bytes, or a link. The time is kept on demand, the mode also where a file is new.
func (p *proc) copyFile(from, to string, info fs.FileInfo, keep bool) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return p.copyLink(from, to)
	}
	in, err := p.Files.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	existed := p.Files.Exists(to)
	out, err := p.Files.Create(to, false)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := cmp.Or(err, out.Close()); err != nil {
		return err
	}
	if _, isDevice := p.Files.device(to); isDevice {
		return nil
	}
	if !existed || keep {
		err = p.Files.FS.Chmod(p.Files.Abs(to), info.Mode().Perm())
	}
	if keep {
		err = cmp.Or(err, p.Files.FS.Chtimes(p.Files.Abs(to), info.ModTime(), info.ModTime()))
	}
	return err
}

func (p *proc) copyLink(from, to string) error {
	target, err := p.Files.Readlink(from)
	if err != nil {
		return err
	}
	if p.Files.Exists(to) {
		if err := p.Files.Remove(to); err != nil {
			return err
		}
	}
	return p.Files.Symlink(target, to)
}

func (p *proc) move(from, to string, o options) int {
	info, err := p.Files.Lstat(from)
	if err != nil {
		return p.fail(exitFailure, "cannot stat '%s': %s", from, reason(err))
	}
	if target, err := p.Files.Lstat(to); err == nil {
		if problem := p.collides(from, to, info, target); problem != "" {
			return p.fail(exitFailure, "%s", problem)
		}
		if o.last("n", "f") == "n" {
			return 0
		}
	}
	switch err := p.Files.Rename(from, to); {
	case err == nil:
		return p.report(o, "renamed '%s' -> '%s'\n", from, to)
	case reason(err) == "Invalid argument":
		return p.fail(exitFailure, "cannot move '%s' to a subdirectory of itself, '%s'", from, to)
	default:
		return p.fail(exitFailure, "cannot move '%s' to '%s': %s", from, to, reason(err))
	}
}

// runLn is ln -s [-fnv] TARGET [NAME]; hard links are refused, the filesystem has none.
func runLn(p *proc, o options) int {
	switch {
	case !o.has("s"):
		return p.usage("hard links%s", lacking)
	case len(o.rest) == 0 || len(o.rest) > 2:
		return p.fail(exitFailure, "missing or extra file operand")
	}
	target, name := o.rest[0], path.Base(o.rest[0])
	if len(o.rest) == 2 {
		name = o.rest[1]
		info, err := p.Files.Lstat(name)
		if link := err == nil && info.Mode()&fs.ModeSymlink != 0; p.Files.IsDir(name) && !(o.has("n") && link) {
			name = below(name, path.Base(target))
		}
	}
	if o.has("f") && p.Files.Exists(name) {
		if err := p.Files.Remove(name); err != nil {
			return p.fail(exitFailure, "cannot remove '%s': %s", name, reason(err))
		}
	}
	if err := p.Files.Symlink(target, name); err != nil {
		return p.fail(exitFailure, "failed to create symbolic link '%s': %s", name, reason(err))
	}
	return p.report(o, "'%s' -> '%s'\n", name, target)
}
