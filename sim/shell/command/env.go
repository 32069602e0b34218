package command

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/shellcmd"
)

// env [-i] [-0] [-u NAME] [-C DIR] [NAME=VALUE...] [COMMAND [ARG...]]
func runEnv(p *Proc) int {
	o, ok := p.parse("+i0u:C:", "ignore-environment>i", "null>0", "unset=>u", "chdir=>C")
	if !ok {
		return 125
	}
	vars := p.environment()
	args := o.rest
	if len(args) > 0 && args[0] == "-" {
		vars, args = map[string]string{}, args[1:]
	}
	if o.has("i") {
		vars = map[string]string{}
	}
	for _, name := range o.all("u") {
		delete(vars, name)
	}
	for len(args) > 0 && strings.Index(args[0], "=") > 0 {
		name, value, _ := strings.Cut(args[0], "=")
		vars[name] = value
		args = args[1:]
	}
	if len(args) == 0 {
		return p.printEnviron(sortedEnviron(vars), o.has("0"))
	}
	c := p.child(args[0], args[1:])
	c.setEnviron(vars)
	if o.has("C") {
		if !p.Files.IsDir(o.get("C", "")) {
			return p.fail(125, "cannot change directory to '%s': No such file or directory", o.get("C", ""))
		}
		files := *p.Files
		files.Dir = p.Files.Abs(o.get("C", ""))
		c.Files = &files
	}
	return p.System.Exec(c)
}

func (p *Proc) setEnviron(vars map[string]string) {
	p.Getenv = func(name string) string { return vars[name] }
	p.Environ = func() []string { return sortedEnviron(vars) }
}

func sortedEnviron(vars map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}

func (p *Proc) printEnviron(list []string, null bool) int {
	end := "\n"
	if null {
		end = "\x00"
	}
	for _, kv := range list {
		if p.print(kv+end) != nil {
			return exitFailure
		}
	}
	return 0
}

// printenv [-0] [NAME...]
func runPrintenv(p *Proc) int {
	o, ok := p.parse("+0", "null>0")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 {
		return p.printEnviron(p.Environ(), o.has("0"))
	}
	vars := p.environment()
	code := 0
	for _, name := range o.rest {
		value, ok := vars[name]
		if !ok {
			code = exitFailure
			continue
		}
		p.print(value + "\n")
	}
	return code
}

// nohup COMMAND [ARG...]
func runNohup(p *Proc) int {
	if len(p.Args) == 0 {
		return p.fail(125, "missing operand")
	}
	return p.exec(p.Args[0], p.Args[1:])
}

// sleep N[smhd]...
func runSleep(p *Proc) int {
	if len(p.Args) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	total := time.Duration(0)
	for _, a := range p.Args {
		d, err := shellcmd.Seconds(a)
		if err != nil {
			return p.fail(exitFailure, "%v", err)
		}
		total += d
	}
	if p.System.Sleep(p.Ctx, total) != nil {
		return exitTimedOut
	}
	return 0
}

const exitTimedOut = 124

// errTimeout is why a command under timeout stopped.
var errTimeout = errors.New("timed out")

// timeout [-k N] [-s SIGNAL] [--preserve-status] [--foreground] N COMMAND [ARG...]
//
// The limit is measured on the shell's own clock: a command's sleeps end at it. A command that computes
// without sleeping takes no time and is not cut short.
func runTimeout(p *Proc) int {
	o, ok := p.parse("+k:s:v", "kill-after=>k", "signal=>s", "verbose>v", "preserve-status", "foreground")
	if !ok {
		return 125
	}
	if len(o.rest) < 2 {
		p.complain("missing operand")
		return 125
	}
	limit, err := shellcmd.Seconds(o.rest[0])
	if err != nil {
		p.complain("%v", err)
		return 125
	}
	c := p.child(o.rest[1], o.rest[2:])
	if limit == 0 {
		return p.System.Exec(c)
	}
	ctx, cancel := context.WithCancelCause(p.Ctx)
	defer cancel(nil)
	c.Ctx = ctx
	c.System = p.System.limited(limit, cancel)
	code := p.System.Exec(c)
	if errors.Is(context.Cause(ctx), errTimeout) && p.Ctx.Err() == nil {
		if o.has("preserve-status") {
			return 143
		}
		return exitTimedOut
	}
	return code
}

// limited is s with sleeps that end, and cancel, when the limit is reached.
func (s *System) limited(limit time.Duration, cancel context.CancelCauseFunc) *System {
	end := s.Now().Add(limit)
	out := *s
	out.Sleep = func(ctx context.Context, d time.Duration) error {
		left := end.Sub(s.Now())
		if d < left {
			return s.Sleep(ctx, d)
		}
		if err := s.Sleep(ctx, max(left, 0)); err != nil {
			return err
		}
		cancel(errTimeout)
		return errTimeout
	}
	return &out
}
