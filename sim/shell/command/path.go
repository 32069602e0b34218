package command

import (
	"io/fs"
	"path"
	"strings"
)

// basename NAME [SUFFIX], basename -a [-s SUFFIX] NAME...
func runBasename(p *Proc) int {
	o, ok := p.parse("+as:z", "multiple>a", "suffix=>s", "zero>z")
	if !ok {
		return exitUsage
	}
	names, suffix := o.rest, o.get("s", "")
	if len(names) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	if !o.has("a") && !o.has("s") {
		if len(names) > 2 {
			return p.fail(exitFailure, "extra operand '%s'", names[2])
		}
		if len(names) == 2 {
			names, suffix = names[:1], names[1]
		}
	}
	for _, name := range names {
		base := baseName(name)
		if name == "" {
			base = ""
		}
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
		p.print(base + map[bool]string{true: "\x00", false: "\n"}[o.has("z")])
	}
	return 0
}

// dirname NAME...
func runDirname(p *Proc) int {
	o, ok := p.parse("+z", "zero>z")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	for _, name := range o.rest {
		p.print(dirName(name) + "\n")
	}
	return 0
}

// dirName keeps a/./b and a/../b as they are, which path.Dir does not.
func dirName(name string) string {
	trimmed := strings.TrimRight(name, "/")
	if trimmed == "" {
		if name == "" {
			return "."
		}
		return "/"
	}
	i := strings.LastIndexByte(trimmed, '/')
	if i < 0 {
		return "."
	}
	if dir := strings.TrimRight(trimmed[:i], "/"); dir != "" {
		return dir
	}
	return "/"
}

// realpath [-emLPsqz] NAME...
func runRealpath(p *Proc) int {
	o, ok := p.parse("emsqz", "canonicalize-existing>e", "canonicalize-missing>m", "no-symlinks>s", "strip>s", "quiet>q", "zero>z", "relative-to=")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	code := 0
	for _, name := range o.rest {
		resolved, err := p.canonical(name, o.has("e"), o.has("m"))
		if err != nil {
			if !o.has("q") {
				p.failure(name, err)
			}
			code = exitFailure
			continue
		}
		if o.has("s") {
			resolved = p.Files.Abs(name)
		}
		if o.has("relative-to") {
			resolved = relativeTo(p.Files.Abs(o.get("relative-to", "")), resolved)
		}
		p.print(resolved + "\n")
	}
	return code
}

// canonical resolves name; without loose all but the last part must exist, with strict all of it.
func (p *Proc) canonical(name string, strict, loose bool) (string, error) {
	resolved, err := p.Files.Realpath(name)
	if err != nil {
		return "", err
	}
	if name == "" {
		return "", pathError("realpath", name, fs.ErrNotExist)
	}
	must := path.Dir(resolved)
	if strict {
		must = resolved
	}
	if _, err := p.Files.Stat(must); err != nil && !loose {
		return "", err
	}
	return resolved, nil
}

func relativeTo(from, to string) string {
	a, b := splitPath(from), splitPath(to)
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	out := strings.Repeat("../", len(a)-n) + strings.Join(b[n:], "/")
	if out == "" {
		return "."
	}
	return strings.TrimSuffix(out, "/")
}

func splitPath(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '/' })
}

// readlink [-fenmqz] NAME...
func runReadlink(p *Proc) int {
	o, ok := p.parse("femnqsvz", "canonicalize>f", "canonicalize-existing>e", "canonicalize-missing>m", "no-newline>n", "quiet>q", "verbose>v", "zero>z")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	code := 0
	for _, name := range o.rest {
		var target string
		var err error
		if o.has("f") || o.has("e") || o.has("m") {
			target, err = p.canonical(name, o.has("e"), o.has("m"))
		} else {
			target, err = p.Files.Readlink(name)
		}
		if err != nil {
			code = exitFailure
			if o.has("v") {
				p.failure(name, err)
			}
			continue
		}
		p.print(target + map[bool]string{false: "\n"}[o.has("n")])
	}
	return code
}

// pwd [-LP]
func runPwd(p *Proc) int {
	o, ok := p.parse("LP")
	if !ok {
		return exitUsage
	}
	dir := p.Files.Dir
	if o.last("L", "P") == "P" {
		if resolved, err := p.Files.Realpath(dir); err == nil {
			dir = resolved
		}
	}
	if p.print(dir+"\n") != nil {
		return exitFailure
	}
	return 0
}
