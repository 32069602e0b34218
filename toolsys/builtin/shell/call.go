package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"

	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

func (d bash) call(ctx context.Context, in BashIn, c *tool.Context) (tool.Result[BashOut], error) {
	switch problem := d.sandboxed(in, c); {
	case in.Edit != nil:
		return d.applyEdit(in, c)
	case problem != "":
		return tool.Result[BashOut]{}, fmt.Errorf("the sandbox does not let this command run: %s. "+
			"If it has to, call again with dangerouslyDisableSandbox; the user will be asked", problem)
	case in.RunInBackground:
		return d.start(in, c)
	}
	return d.run(ctx, in, c)
}

// sandboxed is the check before the run (L4).
func (d bash) sandboxed(in BashIn, c *tool.Context) string {
	if d.Sandbox == nil || in.unsandboxed(c) {
		return ""
	}
	return d.Sandbox(in.Command)
}

// unsandboxed reports whether the call, or the session as a whole, goes round the sandbox; a
// person agreed to either.
func (in BashIn) unsandboxed(c *tool.Context) bool {
	return in.DisableSandbox || c.State.Off(tool.OptionSandbox)
}

func (d bash) request(in BashIn, c *tool.Context) Request {
	return Request{
		Script: in.Command, Dir: c.State.Dir, Env: maps.Clone(c.State.Env), Unsandboxed: in.unsandboxed(c),
	}
}

func (d bash) run(ctx context.Context, in BashIn, c *tool.Context) (tool.Result[BashOut], error) {
	out, exit, err := d.execute(ctx, in, c)
	switch {
	case err != nil:
		return tool.Result[BashOut]{}, err
	case out.Interrupted:
		return tool.Result[BashOut]{Data: out, Failed: true}, nil
	}
	return d.finished(in, c, out, exit), nil
}

// execute runs the command to its end, or until its time is up.
func (d bash) execute(ctx context.Context, in BashIn, c *tool.Context) (BashOut, Exit, error) {
	stdout, stderr := d.capture(c.CallID, "stdout"), d.capture(c.CallID, "stderr")
	r := d.request(in, c)
	r.Stdout, r.Stderr = stdout, stderr
	if c.Progress != nil && c.Clock.Go != nil {
		running, end := context.WithCancel(ctx)
		defer end()
		l := &lines{ctx: running, context: c}
		r.Stdout, r.Stderr = l.from(stdout), l.from(stderr)
	}
	exit, err := d.Run(ctx, r)
	out := BashOut{ExitCode: exit.Code, Dir: c.State.Dir}
	out.take(stdout, stderr)
	switch {
	case err == nil:
		return out, exit, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return timedOut(in, out), exit, nil
	case ctx.Err() != nil:
		return BashOut{}, exit, context.Cause(ctx)
	}
	return BashOut{}, exit, fmt.Errorf("the command did not run: %w", err)
}

func (out *BashOut) take(stdout, stderr *capture) {
	var notes [2]string
	out.Stdout, notes[0] = stdout.text("stdout")
	out.Stderr, notes[1] = stderr.text("stderr")
	for _, n := range notes {
		if n != "" {
			out.Notes = append(out.Notes, n)
		}
	}
}

// finished is the result of a command that ran to its end.
func (d bash) finished(in BashIn, c *tool.Context, out BashOut, exit Exit) tool.Result[BashOut] {
	script := d.script(in)
	r := tool.Result[BashOut]{Failed: shellcmd.FailureExit(in.Command, exit.Code)}
	r.Modify = d.changes(script, exit, c, &out)
	if r.Failed && exit.Forbidden != "" && held.MatchString(out.Stdout+"\n"+out.Stderr) {
		out.Notes = append(out.Notes, fmt.Sprintf("the sandbox forbids %s; if that is why the command failed and it has to be, "+
			"call again with dangerouslyDisableSandbox; the user will be asked", exit.Forbidden))
	}
	out.notice(script)
	if out.Indexed && c.Notify != nil {
		c.Notify("code indexing is finished")
	}
	r.Data = out
	return r
}

// held is what commands print when the system refuses them something.
var held = regexp.MustCompile(`(?i)permission denied|operation not permitted|read-only file system|network is unreachable|` +
	`could not resolve|name resolution|name or service not known|connection refused`)

// timedOut keeps what the command printed until its time was up: often that shows
// why it took so long.
func timedOut(in BashIn, out BashOut) BashOut {
	out.Interrupted = true
	out.Notes = append(out.Notes, fmt.Sprintf("stopped: the time limit of %s was up; set timeout, or run it in the background", timeout(in)))
	return out
}

func (d bash) start(in BashIn, c *tool.Context) (tool.Result[BashOut], error) {
	if d.Start == nil {
		return tool.Result[BashOut]{}, errors.New("commands cannot run in the background here; call again without run_in_background")
	}
	r := d.request(in, c)
	id, err := d.Start(c, Job{
		Title: cmp.Or(in.Description, in.Command), Command: in.Command,
		Run: func(ctx context.Context, out io.Writer) (int, error) {
			r.Stdout, r.Stderr = out, out
			exit, err := d.Run(ctx, r)
			return exit.Code, err
		},
	})
	if err != nil {
		return tool.Result[BashOut]{}, fmt.Errorf("the command did not start: %w", err)
	}
	return tool.Result[BashOut]{
		Data: BashOut{
			Dir: c.State.Dir, TaskID: id,
			Notes: []string{fmt.Sprintf("running in the background as %s; read its output with TaskOutput, end it with TaskStop", id)},
		},
		Observed: []tool.Observation{{Task: id}},
	}, nil
}
