package command

//lint:file-ignore ST1005 messages are worded as the utility words them

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// mkdir [-pv] [-m MODE] DIR...
func runMkdir(p *Proc) int {
	o, ok := p.parse("pvm:", "parents>p", "verbose>v", "mode=>m")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	made := func(name string) {
		if o.has("v") {
			p.printf("mkdir: created directory '%s'\n", name)
		}
	}
	code := 0
	for _, name := range o.rest {
		err := p.makeDir(name, o, made)
		if err != nil {
			code = p.fail(exitFailure, "cannot create directory '%s': %s", name, Reason(err))
		}
	}
	return code
}

func (p *Proc) makeDir(name string, o options, made func(string)) error {
	var err error
	if o.has("p") {
		err = p.Files.MkdirAll(name, made)
	} else if err = p.Files.Mkdir(name); err == nil {
		made(name)
	}
	if err != nil || !o.has("m") {
		return err
	}
	mode, err := parseMode(o.get("m", ""), 0o777, true)
	if err != nil {
		return err
	}
	return p.Files.FS.Chmod(p.Files.Abs(name), mode)
}

// rmdir [-pv] DIR...
func runRmdir(p *Proc) int {
	o, ok := p.parse("pv", "parents>p", "verbose>v", "ignore-fail-on-non-empty")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	code := 0
	for _, name := range o.rest {
		for dir := strings.TrimRight(name, "/"); dir != "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if err := p.removeDir(dir); err != nil {
				if !o.has("ignore-fail-on-non-empty") || Reason(err) != "Directory not empty" {
					code = p.fail(exitFailure, "failed to remove '%s': %s", dir, Reason(err))
				}
				break
			}
			if o.has("v") {
				p.printf("rmdir: removing directory, '%s'\n", dir)
			}
			if !o.has("p") {
				break
			}
		}
	}
	return code
}

func (p *Proc) removeDir(name string) error {
	if info, err := p.Files.Lstat(name); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("Not a directory")
	}
	return p.Files.Remove(name)
}

// chmod [-Rv] MODE FILE...
func runChmod(p *Proc) int {
	args := p.Args
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "rwxXst,+-=ugoa") == "" {
		p.Args = append([]string{"--"}, args...) // a mode such as -x
	}
	o, ok := p.parse("Rvcf", "recursive>R", "verbose>v", "changes>c", "quiet>f", "silent>f")
	if !ok {
		return exitUsage
	}
	if len(o.rest) < 2 {
		return p.fail(exitFailure, "missing operand")
	}
	if _, err := parseMode(o.rest[0], 0, false); err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	code := 0
	for _, name := range o.rest[1:] {
		code = max(code, p.changeMode(name, o))
	}
	return code
}

func (p *Proc) changeMode(name string, o options) int {
	info, err := p.Files.Stat(name)
	if err != nil {
		if o.has("f") {
			return exitFailure
		}
		return p.fail(exitFailure, "cannot access '%s': %s", name, Reason(err))
	}
	mode, _ := parseMode(o.rest[0], info.Mode(), info.IsDir())
	if err := p.Files.FS.Chmod(p.Files.Abs(name), mode); err != nil {
		return p.fail(exitFailure, "changing permissions of '%s': %s", name, Reason(err))
	}
	if o.has("v") || o.has("c") && mode != info.Mode().Perm() {
		p.printf("mode of '%s' changed from %04o (%s) to %04o (%s)\n", name, info.Mode().Perm(), info.Mode().Perm().String()[1:], mode, mode.String()[1:])
	}
	code := 0
	if o.has("R") && info.IsDir() {
		list, _ := p.Files.List(name)
		for _, e := range list {
			code = max(code, p.changeMode(path.Join(name, e.Name()), o))
		}
	}
	return code
}

// parseMode applies an octal or symbolic mode to an old one.
func parseMode(s string, old fs.FileMode, dir bool) (fs.FileMode, error) {
	if n, err := strconv.ParseUint(s, 8, 12); err == nil {
		return fs.FileMode(n).Perm(), nil
	}
	mode := old.Perm()
	for clause := range strings.SplitSeq(s, ",") {
		who := clause[:len(clause)-len(strings.TrimLeft(clause, "ugoa"))]
		rest := clause[len(who):]
		if rest == "" {
			return 0, fmt.Errorf("invalid mode: '%s'", s)
		}
		for rest != "" {
			op := rest[0]
			body := rest[1:]
			end := len(body) - len(strings.TrimLeft(body, "rwxXst"))
			if strings.IndexByte("+-=", op) < 0 || end < len(body) && strings.IndexByte("+-=", body[end]) < 0 {
				return 0, fmt.Errorf("invalid mode: '%s'", s)
			}
			mode = applyMode(mode, who, op, body[:end], dir)
			rest = body[end:]
		}
	}
	return mode, nil
}

func applyMode(mode fs.FileMode, who string, op byte, perms string, dir bool) fs.FileMode {
	bits := fs.FileMode(0)
	for i := range len(perms) {
		switch {
		case perms[i] == 'r':
			bits |= 0o444
		case perms[i] == 'w':
			bits |= 0o222
		case perms[i] == 'x' || perms[i] == 'X' && (dir || mode&0o111 != 0):
			bits |= 0o111
		}
	}
	mask := fs.FileMode(0)
	for i := range len(who) {
		mask |= map[byte]fs.FileMode{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}[who[i]]
	}
	if who == "" {
		mask = 0o777
		bits &^= 0o022 // the umask
	}
	switch op {
	case '+':
		return mode | bits&mask
	case '-':
		return mode &^ (bits & mask)
	}
	return mode&^mask | bits&mask
}
