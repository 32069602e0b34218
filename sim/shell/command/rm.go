package command

import (
	"path"
	"strings"
)

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
