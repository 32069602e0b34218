package command

import (
	"io"
	"io/fs"
	"path"
	"strings"
)

// cp [-adfnprRTuvL] [-t DIR] SOURCE... DEST
func runCp(p *Proc) int {
	o, ok := p.parse("adfnprRt:TuvLP", "archive>a", "force>f", "no-clobber>n", "recursive>r", "target-directory=>t", "no-target-directory>T", "update>u", "verbose>v", "preserve?>p", "dereference>L", "no-dereference>P")
	if !ok {
		return exitUsage
	}
	return p.transfer(o, func(from, to string) int { return p.copy(from, to, o) })
}

// mv [-fnTuv] [-t DIR] SOURCE... DEST
func runMv(p *Proc) int {
	o, ok := p.parse("fnt:Tuv", "force>f", "no-clobber>n", "target-directory=>t", "no-target-directory>T", "update>u", "verbose>v")
	if !ok {
		return exitUsage
	}
	return p.transfer(o, func(from, to string) int { return p.move(from, to, o) })
}

// transfer finds where each source goes: into a directory, or to a new name.
func (p *Proc) transfer(o options, one func(from, to string) int) int {
	sources, target := o.rest, o.get("t", "")
	if !o.has("t") {
		if len(sources) == 0 {
			return p.fail(exitFailure, "missing file operand")
		}
		if len(sources) == 1 {
			return p.fail(exitFailure, "missing destination file operand after '%s'", sources[0])
		}
		sources, target = sources[:len(sources)-1], sources[len(sources)-1]
	}
	into := p.Files.IsDir(target) && !o.has("T")
	if !into && (len(sources) > 1 || o.has("t")) {
		return p.fail(exitFailure, "target '%s' is not a directory", target)
	}
	code := 0
	for _, from := range sources {
		to := target
		if into {
			to = strings.TrimRight(target, "/") + "/" + path.Base(strings.TrimRight(from, "/"))
			if target == "/" {
				to = "/" + path.Base(from)
			}
		}
		code = max(code, one(from, to))
	}
	return code
}

// skips reports whether -n or -u spare the target.
func (p *Proc) skips(o options, from, to fs.FileInfo) bool {
	return o.last("n", "f") == "n" || o.has("u") && !from.ModTime().After(to.ModTime())
}

func (p *Proc) copy(from, to string, o options) int {
	info, err := p.copyInfo(from, o)
	if err != nil {
		return p.fail(exitFailure, "cannot stat '%s': %s", from, Reason(err))
	}
	recursive := o.has("r") || o.has("R") || o.has("a")
	if info.IsDir() && !recursive {
		return p.fail(exitFailure, "-r not specified; omitting directory '%s'", from)
	}
	if target, err := p.Files.Stat(to); err == nil {
		switch {
		case p.Files.Abs(from) == p.Files.Abs(to):
			return p.fail(exitFailure, "'%s' and '%s' are the same file", from, to)
		case !info.IsDir() && target.IsDir():
			return p.fail(exitFailure, "cannot overwrite directory '%s' with non-directory", to)
		case info.IsDir() && !target.IsDir():
			return p.fail(exitFailure, "cannot overwrite non-directory '%s' with directory '%s'", to, from)
		case !info.IsDir() && p.skips(o, info, target):
			return 0
		}
	}
	if info.IsDir() {
		return p.copyTree(from, to, info, o)
	}
	if err := p.copyFile(from, to, info, o); err != nil {
		return p.fail(exitFailure, "cannot create regular file '%s': %s", to, Reason(err))
	}
	if o.has("v") {
		p.printf("'%s' -> '%s'\n", from, to)
	}
	return 0
}

// copyInfo follows links unless -a, -P or -r without -L keep them.
func (p *Proc) copyInfo(from string, o options) (fs.FileInfo, error) {
	if o.has("a") || o.has("d") || o.has("P") || (o.has("r") || o.has("R")) && !o.has("L") {
		return p.Files.Lstat(from)
	}
	return p.Files.Stat(from)
}

func (p *Proc) copyTree(from, to string, info fs.FileInfo, o options) int {
	if strings.HasPrefix(p.Files.Abs(to)+"/", p.Files.Abs(from)+"/") {
		return p.fail(exitFailure, "cannot copy a directory, '%s', into itself, '%s'", from, to)
	}
	if !p.Files.IsDir(to) {
		if err := p.Files.Mkdir(to); err != nil {
			return p.fail(exitFailure, "cannot create directory '%s': %s", to, Reason(err))
		}
		_ = p.Files.FS.Chmod(p.Files.Abs(to), info.Mode().Perm())
		if o.has("v") {
			p.printf("'%s' -> '%s'\n", from, to)
		}
	}
	list, err := p.Files.List(from)
	if err != nil {
		return p.fail(exitFailure, "cannot access '%s': %s", from, Reason(err))
	}
	code := 0
	for _, e := range list {
		code = max(code, p.copy(strings.TrimRight(from, "/")+"/"+e.Name(), strings.TrimRight(to, "/")+"/"+e.Name(), o))
	}
	return code
}

func (p *Proc) copyFile(from, to string, info fs.FileInfo, o options) error {
	if info.Mode()&fs.ModeSymlink != 0 {
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
	if err := firstError(err, out.Close()); err != nil {
		return err
	}
	return p.copyTraits(to, info, existed, o)
}

func (p *Proc) copyTraits(to string, info fs.FileInfo, existed bool, o options) error {
	if _, isDevice := p.Files.device(to); isDevice {
		return nil
	}
	keep := o.has("p") || o.has("a")
	if !existed || keep {
		if err := p.Files.FS.Chmod(p.Files.Abs(to), info.Mode().Perm()); err != nil {
			return err
		}
	}
	if keep {
		return p.Files.FS.Chtimes(p.Files.Abs(to), info.ModTime(), info.ModTime())
	}
	return nil
}

func (p *Proc) move(from, to string, o options) int {
	info, err := p.Files.Lstat(from)
	if err != nil {
		return p.fail(exitFailure, "cannot stat '%s': %s", from, Reason(err))
	}
	if target, err := p.Files.Lstat(to); err == nil {
		switch {
		case p.Files.Abs(from) == p.Files.Abs(to):
			return p.fail(exitFailure, "'%s' and '%s' are the same file", from, to)
		case p.skips(o, info, target):
			return 0
		case !target.IsDir() && info.IsDir():
			return p.fail(exitFailure, "cannot overwrite non-directory '%s' with directory '%s'", to, from)
		case target.IsDir() && !info.IsDir():
			return p.fail(exitFailure, "cannot overwrite directory '%s' with non-directory", to)
		}
	}
	if err := p.Files.Rename(from, to); err != nil {
		if Reason(err) == "Invalid argument" {
			return p.fail(exitFailure, "cannot move '%s' to a subdirectory of itself, '%s'", from, to)
		}
		return p.fail(exitFailure, "cannot move '%s' to '%s': %s", from, to, Reason(err))
	}
	if o.has("v") {
		p.printf("renamed '%s' -> '%s'\n", from, to)
	}
	return 0
}

// ln -s [-fnTv] TARGET [NAME]; hard links are refused, the filesystem has none.
func runLn(p *Proc) int {
	o, ok := p.parse("sfnTv", "symbolic>s", "force>f", "no-dereference>n", "no-target-directory>T", "verbose>v")
	if !ok {
		return exitUsage
	}
	if !o.has("s") {
		return p.usage("hard links are not supported in the in-process shell")
	}
	if len(o.rest) == 0 || len(o.rest) > 2 {
		return p.fail(exitFailure, "missing or extra file operand")
	}
	target, name := o.rest[0], path.Base(o.rest[0])
	if len(o.rest) == 2 {
		name = o.rest[1]
		if p.Files.IsDir(name) && !o.has("T") && !(o.has("n") && p.isLink(name)) {
			name = strings.TrimRight(name, "/") + "/" + path.Base(target)
		}
	}
	if o.has("f") && p.Files.Exists(name) {
		if err := p.Files.Remove(name); err != nil {
			return p.fail(exitFailure, "cannot remove '%s': %s", name, Reason(err))
		}
	}
	if err := p.Files.Symlink(target, name); err != nil {
		return p.fail(exitFailure, "failed to create symbolic link '%s': %s", name, Reason(err))
	}
	if o.has("v") {
		p.printf("'%s' -> '%s'\n", name, target)
	}
	return 0
}

func (p *Proc) isLink(name string) bool {
	info, err := p.Files.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// rm [-dfirRv] FILE...
func runRm(p *Proc) int {
	o, ok := p.parse("dfrRv", "dir>d", "force>f", "recursive>r", "verbose>v")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 && !o.has("f") {
		return p.fail(exitFailure, "missing operand")
	}
	code := 0
	for _, name := range o.rest {
		code = max(code, p.remove(name, o))
	}
	return code
}

func (p *Proc) remove(name string, o options) int {
	base := path.Base(strings.TrimRight(name, "/"))
	if base == "." || base == ".." {
		return p.fail(exitFailure, "refusing to remove '.' or '..' directory: skipping '%s'", name)
	}
	if p.Files.Abs(name) == "/" {
		return p.fail(exitFailure, "it is dangerous to operate recursively on '/'")
	}
	info, err := p.Files.Lstat(name)
	if err != nil {
		if o.has("f") && (missing(err) || Reason(err) == "Not a directory") {
			return 0
		}
		return p.fail(exitFailure, "cannot remove '%s': %s", name, Reason(err))
	}
	if info.IsDir() && !o.has("r") && !o.has("R") && !o.has("d") {
		return p.fail(exitFailure, "cannot remove '%s': Is a directory", name)
	}
	if info.IsDir() && (o.has("r") || o.has("R")) {
		return p.removeTree(name, o)
	}
	return p.removeOne(name, o, "removed '%s'\n")
}

func (p *Proc) removeTree(name string, o options) int {
	list, err := p.Files.List(name)
	if err != nil {
		return p.fail(exitFailure, "cannot remove '%s': %s", name, Reason(err))
	}
	code := 0
	for _, e := range list {
		code = max(code, p.remove(strings.TrimRight(name, "/")+"/"+e.Name(), o))
	}
	if code != 0 {
		return code
	}
	return p.removeOne(name, o, "removed directory '%s'\n")
}

func (p *Proc) removeOne(name string, o options, told string) int {
	if err := p.Files.Remove(name); err != nil {
		return p.fail(exitFailure, "cannot remove '%s': %s", name, Reason(err))
	}
	if o.has("v") {
		p.printf(told, name)
	}
	return 0
}
