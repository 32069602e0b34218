package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolbench/sim/scenario"
	simshell "toolbench/sim/shell"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
)

// hooks makes the scenario's hooks: scripted ones, and commands that run in the
// world's shell.
func (r *runner) hooks() (hook.Set, error) {
	var all []hook.Hook
	if r.o.Own != nil {
		all = slices.Clone(r.o.Own.Hooks)
	}
	for i, h := range r.sc.Hooks {
		made := hook.Hook{Name: cmp.Or(h.Name, fmt.Sprintf("hook-%d", i+1)), Event: hook.Event(h.Event), Matcher: h.Matcher, If: h.If, Timeout: h.Timeout.D()}
		made, err := r.script(made, h)
		if err != nil {
			return hook.Set{}, r.sc.ErrorAt(fmt.Sprintf("hooks.%d", i), err.Error(), "")
		}
		all = append(all, made)
	}
	set, err := hook.New(r.clock(), all...)
	if err != nil {
		return set, r.sc.ErrorAt("hooks", err.Error(), "")
	}
	return set, nil
}

// script gives a hook the work that its script describes.
func (r *runner) script(made hook.Hook, h scenario.HookScript) (hook.Hook, error) {
	out, err := outputOf(h)
	if err != nil {
		return made, err
	}
	if h.OnFailure != "" {
		made.OnFailure, err = permission.ParseBehaviour(h.OnFailure)
		if err != nil || made.OnFailure == permission.Passthrough {
			return made, fmt.Errorf("on_failure: %q is nothing a failure can mean; write allow, ask or deny", h.OnFailure)
		}
	}
	made.Run = func(context.Context, hook.Input) (hook.Output, error) { return out, nil }
	if h.Command != "" {
		made = hook.Command(made, h.Command, r.exec)
	}
	made.Run = r.delayed(made, h)
	return made, nil
}

// delayed is a hook's work with the delay and the failure of its script.
func (r *runner) delayed(made hook.Hook, h scenario.HookScript) func(context.Context, hook.Input) (hook.Output, error) {
	return func(ctx context.Context, in hook.Input) (hook.Output, error) {
		actor := "hook-run/" + in.Agent + in.Call + "/" + made.Name + h.Event
		wait := h.After.D()
		if h.Fails == "hang" {
			wait = hang
		}
		if err := r.gate.Sleep(ctx, actor, wait); err != nil {
			return hook.Output{}, err
		}
		switch h.Fails {
		case "error":
			return hook.Output{}, errors.New("the scripted hook failed")
		case "panic":
			panic("the scripted hook panicked")
		}
		return made.Run(ctx, in)
	}
}

func outputOf(h scenario.HookScript) (hook.Output, error) {
	out := hook.Output{Reason: h.Reason, Stop: h.Stop, Context: h.Context}
	if h.Decision != "" {
		b, err := permission.ParseBehaviour(h.Decision)
		if err != nil {
			return out, err
		}
		out.Decision = b
	}
	if h.Input != nil {
		raw, err := json.Marshal(h.Input)
		if err != nil {
			return out, err
		}
		out.Input = raw
	}
	if h.Output != "" {
		out.Output = []message.Block{message.Text(h.Output)}
	}
	return out, nil
}

// exec runs a hook's command in the world's shell.
func (r *runner) exec(ctx context.Context, command string, stdin []byte, dir string, env []string) (stdout, stderr []byte, code int, err error) {
	var out, errs bytes.Buffer
	vars := maps.Clone(r.session.State().Env)
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	exit, err := r.simulated("hook").Run(ctx, simshell.Command{
		Script: command, Dir: dir, Env: vars, Stdin: bytes.NewReader(stdin), Stdout: &out, Stderr: &errs,
	})
	return out.Bytes(), errs.Bytes(), exit.Code, err
}
