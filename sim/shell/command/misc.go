package command

import (
	"io/fs"
	"strconv"
	"strings"
)

var errNoEntry = fs.ErrNotExist

func trimFloat(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) }

// true
func runTrue(*Proc) int { return 0 }

// false
func runFalse(*Proc) int { return exitFailure }

// yes [TEXT...]: until nobody reads any more
func runYes(p *Proc) int {
	line := strings.Join(p.Args, " ")
	if line == "" {
		line = "y"
	}
	block := strings.Repeat(line+"\n", max(1, 8192/(len(line)+1)))
	for p.Ctx.Err() == nil {
		if p.print(block) != nil {
			break
		}
	}
	return exitFailure
}

// whoami
func runWhoami(p *Proc) int {
	p.print(p.System.User + "\n")
	return 0
}

// hostname [-s] [-f]; it cannot be set
func runHostname(p *Proc) int {
	o, ok := p.parse("sf", "short>s", "fqdn>f")
	if !ok {
		return exitUsage
	}
	if len(o.rest) > 0 {
		return p.fail(exitFailure, "you must be root to change the host name")
	}
	p.print(p.System.Host + "\n")
	return 0
}

// id [-u] [-g] [-n] [-un] [-gn]
func runID(p *Proc) int {
	o, ok := p.parse("ugnGr", "user>u", "group>g", "name>n", "groups>G", "real>r")
	if !ok {
		return exitUsage
	}
	user := p.System.User
	switch {
	case o.has("n") && len(o.list) > 1:
		p.print(user + "\n")
	case len(o.list) > 0:
		p.print("1000\n")
	default:
		p.printf("uid=1000(%s) gid=1000(%s) groups=1000(%s)\n", user, user, user)
	}
	return 0
}

// uname [-asnrvmo]
func runUname(p *Proc) int {
	o, ok := p.parse("asnrvmpio", "all>a", "kernel-name>s", "nodename>n", "kernel-release>r", "kernel-version>v", "machine>m", "operating-system>o")
	if !ok {
		return exitUsage
	}
	if len(o.list) == 0 {
		o.list = []option{{name: "s"}}
	}
	var out []string
	for _, part := range []struct{ opt, text string }{{"s", "Linux"}, {"n", p.System.Host}, {"r", "6.0.0"}, {"v", "#1 SMP"}, {"m", "x86_64"}, {"o", "GNU/Linux"}} {
		if o.has(part.opt) || o.has("a") {
			out = append(out, part.text)
		}
	}
	p.print(strings.Join(out, " ") + "\n")
	return 0
}

// nproc [--all]
func runNproc(p *Proc) int {
	if _, ok := p.parse("", "all", "ignore="); !ok {
		return exitUsage
	}
	p.print("1\n")
	return 0
}

// kill: there are no processes
func runKill(p *Proc) int {
	for _, a := range p.Args {
		if !strings.HasPrefix(a, "-") {
			return p.fail(exitFailure, "(%s) - No such process", a)
		}
	}
	return p.usage("there are no processes in the in-process shell")
}

// which [-a] NAME...
func runWhich(p *Proc) int {
	o, ok := p.parse("as")
	if !ok {
		return exitUsage
	}
	code := 0
	for _, name := range o.rest {
		if strings.Contains(name, "/") || !p.System.Known(name) {
			code = exitFailure
			continue
		}
		p.print("/usr/bin/" + name + "\n")
	}
	return code
}

// git has no repository to work on here
func runGit(p *Proc) int {
	return p.fail(exitNotFound, "not available in the in-process shell")
}

// sh, bash [-c SCRIPT [NAME [ARG...]]] [-e] [-x] [-u] [-l] [FILE [ARG...]]
func runShell(p *Proc) int {
	o, ok := p.parse("+cexulio:s", "norc", "noprofile", "login>l", "posix")
	if !ok {
		return exitUsage
	}
	preset := ""
	for _, x := range o.list {
		switch x.name {
		case "e", "x", "u":
			preset += "set -" + x.name + "\n"
		case "o":
			preset += "set -o " + Quote(x.value) + "\n"
		}
	}
	if o.has("c") {
		if len(o.rest) == 0 {
			return p.usage("-c: option requires an argument")
		}
		args := o.rest[1:]
		if len(args) == 0 {
			args = []string{p.Name}
		}
		return p.System.Script(p, preset+o.rest[0], args)
	}
	name := "/dev/stdin"
	if len(o.rest) > 0 && !o.has("s") {
		name = o.rest[0]
	}
	script, err := p.Files.ReadFile(name)
	if err != nil {
		return p.fail(exitNotFound, "%s: %s", name, Reason(err))
	}
	args := o.rest
	if len(args) == 0 || o.has("s") {
		args = append([]string{p.Name}, args...)
	}
	return p.System.Script(p, preset+string(script), args)
}
