package command

import (
	"context"
	"errors"
	"time"

	"toolbench/toolsys/shellcmd"
)

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
