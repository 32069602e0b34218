package command

import (
	"cmp"
	"io"
	"path"
	"strings"
)

// eachOperand runs a function for every operand, of which there has to be one.
func (p *Proc) eachOperand(o options, one func(name string, o options) int) int {
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	code := 0
	for _, name := range o.rest {
		code = max(code, one(name, o))
	}
	return code
}

// runRm is rm [-dfrRv] FILE...
func runRm(p *Proc) int {
	o, ok := p.parse("d|dir f|force r|R|recursive v|verbose")
	switch {
	case !ok:
		return exitUsage
	case len(o.rest) == 0 && o.has("f"):
		return 0
	}
	return p.eachOperand(o, p.remove)
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
	switch {
	case err != nil && o.has("f") && (missing(err) || Reason(err) == "Not a directory"):
		return 0
	case err != nil:
		return p.fail(exitFailure, "cannot remove '%s': %s", name, Reason(err))
	case !info.IsDir():
		return p.removeOne(name, "", o)
	case o.has("r"):
		return p.removeTree(name, o)
	case o.has("d"):
		return p.removeOne(name, "directory ", o)
	}
	return p.fail(exitFailure, "cannot remove '%s': Is a directory", name)
}

func (p *Proc) removeTree(name string, o options) int {
	list, err := p.Files.List(name)
	if err != nil {
		return p.fail(exitFailure, "cannot remove '%s': %s", name, Reason(err))
	}
	code := 0
	for _, e := range list {
		code = max(code, p.remove(below(name, e.Name()), o))
	}
	if code != 0 {
		return code
	}
	return p.removeOne(name, "directory ", o)
}

func (p *Proc) removeOne(name, kind string, o options) int {
	if err := p.Files.Remove(name); err != nil {
		return p.fail(exitFailure, "cannot remove '%s': %s", name, Reason(err))
	}
	return p.report(o, "removed "+kind+"'%s'\n", name)
}

// runMkdir is mkdir [-pv] DIR...
func runMkdir(p *Proc) int {
	o, ok := p.parse("p|parents v|verbose")
	if !ok {
		return exitUsage
	}
	return p.eachOperand(o, p.makeDir)
}

func (p *Proc) makeDir(name string, o options) int {
	made := func(name string) { p.report(o, "mkdir: created directory '%s'\n", name) }
	var err error
	if o.has("p") {
		err = p.Files.MkdirAll(name, made)
	} else if err = p.Files.Mkdir(name); err == nil {
		made(name)
	}
	if err != nil {
		return p.fail(exitFailure, "cannot create directory '%s': %s", name, Reason(err))
	}
	return 0
}

// runTouch is touch [-cm] [-d TIME] [-r FILE] FILE...; access times are not kept.
func runTouch(p *Proc) int {
	o, ok := p.parse("c|no-create m d|date= r|reference=")
	if !ok {
		return exitUsage
	}
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
				return p.fail(exitFailure, "cannot touch '%s': %s", name, Reason(err))
			}
		}
		if _, isDevice := p.Files.device(name); isDevice {
			return 0
		}
		if err := p.Files.FS.Chtimes(p.Files.Abs(name), at, at); err != nil {
			return p.fail(exitFailure, "setting times of '%s': %s", name, Reason(err))
		}
		return 0
	})
}

// runTee is tee [-a] [FILE...], which copies standard input to standard output and to each file.
func runTee(p *Proc) int {
	o, ok := p.parse("a|append")
	if !ok {
		return exitUsage
	}
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
