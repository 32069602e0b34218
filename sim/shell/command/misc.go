package command

import (
	"strings"
)

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

// whoami, hostname, id [-u], uname [-s]
func runWho(p *Proc) int {
	text := map[string]string{"whoami": p.System.User, "hostname": p.System.Host, "id": "1000", "uname": "Linux"}[p.Name]
	if p.Name == "id" && len(p.Args) == 0 {
		text = "uid=1000(" + p.System.User + ") gid=1000(" + p.System.User + ") groups=1000(" + p.System.User + ")"
	}
	p.print(text + "\n")
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
