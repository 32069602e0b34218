package fuzz

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"toolbench/property/des"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/tool"
)

// toolShape is what is fixed in a tool; all else it reads from its call when it runs.
type toolShape struct {
	name          string
	cancel, stops bool
}

// setUp gives each call its tool. All tools are allowed by two rules, which what is to
// be asked about overrides: a rule for each would be looked through at each call.
func (s *caseRun) setUp() (entries []pool.Entry, rules permission.Rules, err error) {
	var asked []string
	for n := range s.c.Calls() {
		k := s.c.Call(n)
		if k.Failure == des.Unknown {
			continue
		}
		name := des.ToolName(k)
		s.calls[name] = k
		t, err := s.toolOf(toolShape{name, k.Cancel, k.StopsSiblings})
		if err != nil {
			return nil, rules, err
		}
		entries = append(entries, pool.Entry{Name: name, Tool: t})
		if k.Ask != nil {
			asked = append(asked, name)
		}
	}
	if rules, err = rules.Parse(permission.Project, permission.Allow, "Look_*", "Change_*"); err == nil {
		rules, err = rules.Parse(permission.Project, permission.Ask, asked...)
	}
	return entries, rules, err
}

// toolOf is the tool of a shape, built once.
func (s *caseRun) toolOf(is toolShape) (*tool.Tool, error) {
	if t, ok := s.tools[is]; ok {
		return t, nil
	}
	type in = json.RawMessage
	call := func() *des.Call { return s.calls[is.name] }
	d := tool.Def[in, string]{
		Name: is.name, Description: "A tool of the case's own.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Call: func(ctx context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
			return s.work(ctx, call(), c.Progress)
		},
		Traits: tool.Traits[in]{
			Safe:                 func(raw in) bool { return call().Safe && !strings.Contains(string(raw), "alone") },
			FailureStopsSiblings: is.stops,
			Effects: func(in, *tool.Context) tool.Effects {
				k := call()
				return tool.Effects{Reads: k.Reads, Writes: k.Writes, Everything: len(k.Reads)+len(k.Writes) == 0}
			},
		},
		Limits: tool.Limits[in]{Timeout: func(in) time.Duration { return call().Limit }},
	}
	if is.cancel {
		d.Traits.Interrupt = tool.Cancel
	}
	t, err := tool.Build(d)
	s.tools[is] = t
	return t, err
}

// work is what every tool does: it takes the time of the call and ends as the case has it.
// Before it returns it passes the gate once more, so that tools which are woken in one
// instant go on in a fixed order.
func (s *caseRun) work(ctx context.Context, k *des.Call, progress func(string)) (tool.Result[string], error) {
	actor := "tool//" + k.ID
	defer s.progressAfter(k.LateProgress, actor, progress)
	cancels := ctx
	if k.IgnoresCancel {
		cancels = context.WithoutCancel(ctx)
	}
	if err := s.gate.Sleep(cancels, actor, k.Takes()); err != nil {
		return tool.Result[string]{}, err
	}
	switch k.Failure {
	case des.Panic:
		panic("boom")
	case des.Error:
		return tool.Result[string]{}, errors.New("it broke")
	}
	r := tool.Result[string]{Data: "done", Failed: k.Failure == des.Failed}
	if k.Chars > 0 {
		r.Data = longText(k.Chars)
	}
	if k.Empty {
		r.Data = ""
	}
	if k.Modifies {
		r.Modify = func(st tool.State) tool.State {
			env := maps.Clone(st.Env)
			env["LOG"] += " " + k.ID
			return st.WithEnv(env)
		}
	}
	// The context cannot end, so there is no error.
	_ = s.gate.Sleep(context.WithoutCancel(ctx), actor+"/end", 0)
	return r, nil
}

// progressAfter reports progress when d has passed after a call's end; never where d is 0.
func (s *caseRun) progressAfter(d time.Duration, actor string, progress func(string)) {
	if d <= 0 {
		return
	}
	gate := s.gate
	gate.Go(actor+"/late", func() {
		_ = gate.Sleep(context.Background(), actor+"/late", d) // closing the gate ends the wait
		progress("still here")
	})
}

// letters are what long results are cut from.
var letters = strings.Repeat("x", 1<<19)

func longText(chars int) string {
	if chars > len(letters) {
		return strings.Repeat("x", chars)
	}
	return letters[:chars]
}

// ask is the person who decides on a call.
func (s *caseRun) ask(ctx context.Context, q pipeline.Question) (pipeline.Reply, error) {
	a := s.calls[q.Tool].Ask
	if a == nil {
		return pipeline.Reply{}, errors.New("nobody was to be asked about this call")
	}
	if a.IgnoresCancel {
		ctx = context.WithoutCancel(ctx)
	}
	if err := s.gate.Sleep(ctx, "user/permit/"+q.CallID, a.Takes()); err != nil {
		return pipeline.Reply{}, err
	}
	return pipeline.Reply{Allow: a.Allow}, nil
}

// hooks are those of all calls.
func (s *caseRun) hooks() (hook.Set, error) {
	var all []hook.Hook
	for n := range s.c.Calls() {
		k := s.c.Call(n)
		for i := range k.Hooks {
			name := des.HookName(k.ID, i)
			all = append(all, hook.Hook{
				Name: name, Event: hook.PreToolUse, Matcher: des.ToolName(k), Timeout: k.Hooks[i].Timeout,
				Run: func(ctx context.Context, in hook.Input) (hook.Output, error) {
					return s.hook(ctx, &k.Hooks[i], name, in)
				},
			})
		}
	}
	return hook.New(s.clock(), all...)
}

func (s *caseRun) hook(ctx context.Context, h *des.Hook, name string, in hook.Input) (out hook.Output, err error) {
	if err := s.gate.Sleep(ctx, "hook-run/"+in.Call+"/"+name+string(in.Event), h.Takes()); err != nil {
		return out, err
	}
	switch h.Action {
	case des.Error:
		return out, errors.New("the hook failed")
	case des.Panic:
		panic("the hook panicked")
	case des.Deny:
		out.Decision = permission.Deny
	case des.Allow:
		out.Decision = permission.Allow
	case des.Stop:
		out.Stop = true
	case des.MakeExclusive:
		out.Input = json.RawMessage(`{"alone":true}`)
	}
	return out, nil
}
