package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/property/generate"
	"toolbench/toolsys/trace"
)

// epoch is when the clock of a run begins, which is that of testing/synctest.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// worked holds what the tools did against the models of them.
func worked(v *SystemView) error {
	var fired []Fired
	for _, e := range v.out.Trace {
		if m := trace.As[trace.MailSent](e); m.From == "cron" {
			fired = append(fired, Fired{At: epoch.Add(e.At), Job: m.About})
		}
	}
	for i := range v.work {
		v.work[i].Name = v.nameOf(v.work[i].Agent)
	}
	return CheckWork(v.s, v.work, fired)
}

// nameOf is what the others call an agent.
func (v *SystemView) nameOf(agent string) string {
	p := v.agents[agent]
	switch {
	case agent == "":
		return "main"
	case p != nil && p.call.Name != "":
		return p.call.Name
	}
	return agent
}

// guarded checks the calls whose end is not predicted: none runs that a rule, a hook or its
// schema forbids, and none ends without a run as if it had had one.
func guarded(v *SystemView) error {
	for _, p := range v.calls {
		if p.asked == nil || p.repeated || p.tries > 1 || !p.want.Unknown && p.call.Tool != "Agent" {
			continue
		}
		switch {
		case p.ran && p.want.BadInput && !p.want.Rewritten && !p.asked.garbled: // a piece that came twice may mend it
			return fmt.Errorf("call %s of %s ran with an input that breaks its schema", p.call.ID, p.call.Tool)
		case p.ran && slices.Contains(v.s.Deny, p.call.Tool):
			return fmt.Errorf("call %s of %s ran; a rule denies the tool", p.call.ID, p.call.Tool)
		case p.ran && p.call.Tool == "Agent" && p.parent != nil && (v.s.Forks || p.depth() >= max(1, v.s.Depth)):
			return fmt.Errorf("call %s starts an agent at depth %d; forks: %t", p.call.ID, p.depth(), v.s.Forks)
		case p.ran && (p.hookDecides("deny") || p.hookStops()):
			return fmt.Errorf("call %s of %s ran; a hook denies it", p.call.ID, p.call.Tool)
		case p.settled() && !p.ran && (p.status == "ok" || p.status == "failed" || p.status == "timeout" || p.status == "panic"):
			return fmt.Errorf("call %s of %s ended as %s, and never ran", p.call.ID, p.call.Tool, p.status)
		}
	}
	return nil
}

// depth is how many agents there are above a call.
func (p *systemCall) depth() int {
	if p.parent == nil {
		return 0
	}
	return 1 + p.parent.depth()
}

// watchedOnce checks that a watch that is to report once does so once.
func watchedOnce(v *SystemView) error {
	wrote := map[string]int{}
	for _, e := range v.out.Trace {
		if m := trace.As[trace.MailSent](e); m.From == "monitor" && strings.Contains(m.Text, " wrote:") {
			wrote[m.About]++
		}
	}
	for i := range v.work {
		var in struct{ Once bool }
		var out struct {
			Task string `json:"task_id"`
		}
		w := &v.work[i]
		if w.Tool == "Monitor" && json.Unmarshal(w.Input, &in) == nil && json.Unmarshal(w.Data, &out) == nil && in.Once && wrote[out.Task] > 1 {
			return fmt.Errorf("call %s: the watch %s reported %d times; it is to report once", w.Call, out.Task, wrote[out.Task])
		}
	}
	return nil
}

// hookStops reports whether a hook before the run stops the call.
func (p *systemCall) hookStops() bool {
	return slices.ContainsFunc(p.v.s.Hooks, func(h generate.Hook) bool {
		return h.Event == "PreToolUse" && h.Stop && h.Fails == "" && (h.Tool == "" || h.Tool == p.call.Tool)
	})
}

// secretToken is that of the service that cases configure.
const secretToken = "tok-0123456789"

func secret(v *SystemView) error {
	for n := range v.out.Requests {
		if bytes.Contains(v.out.Requests[n].Bytes(), []byte(secretToken)) {
			return fmt.Errorf("request %d has the token of a service", n+1)
		}
	}
	return nil
}

// answeredInside checks that an agent in the background that came to its end has a result for
// each of its calls, as any has.
func answeredInside(v *SystemView) error {
	ended := map[string]bool{}
	for _, e := range v.out.Trace {
		if end, ok := e.Data.(trace.RunEnd); ok && e.Agent != "" {
			ended[e.Agent] = end.Error == ""
		}
	}
	for _, p := range v.calls {
		if p.parent != nil && p.made && ended[p.agent] && !p.emitted {
			return fmt.Errorf("call %s of %s has no result, and the agent came to its end", p.call.ID, p.agent)
		}
	}
	return nil
}

// stateKept checks that the state at the end has the settings and the to-do list as the main
// conversation's last calls left them.
func stateKept(v *SystemView) error {
	options := map[string]string{}
	var todos *int
	for i := range v.work {
		w := &v.work[i]
		p := v.byID[w.Call]
		if w.Agent != "" || p == nil || w.Err != "" || w.Failed || p.status != "ok" {
			continue
		}
		switch w.Tool {
		case "Config":
			var in struct {
				Setting string
				Value   any
			}
			if json.Unmarshal(w.Input, &in) == nil && in.Value != nil && in.Setting != "permissionMode" {
				options[in.Setting] = fmt.Sprint(in.Value)
			}
		case "TodoWrite":
			var in struct{ Todos []any }
			if json.Unmarshal(w.Input, &in) == nil {
				todos = new(len(in.Todos))
			}
		}
	}
	if v.state.Mode == "" || v.failed || v.repeats() || slices.ContainsFunc(v.calls, func(p *systemCall) bool { return p.tries > 1 || p.status == "discarded" }) {
		return nil
	}
	for name, want := range options {
		if got := v.state.Options[name]; got != want {
			return fmt.Errorf("the setting %s is %q at the end; it was set to %q", name, got, want)
		}
	}
	if todos != nil && len(v.state.Todos) != *todos {
		return fmt.Errorf("the to-do list has %d items at the end; %d were written", len(v.state.Todos), *todos)
	}
	return nil
}

// kitGoals are those of the built-ins beyond the usual ones: that each did its work, and what
// agents and jobs can come to.
func kitGoals() []systemGoal {
	var all []systemGoal
	for _, name := range generate.KitNames() {
		if name != "PowerShell" { // there is none in the simulated world
			all = append(all, systemGoal{name + " did its work", countWork(func(w *Work) bool { return w.Tool == name && w.Err == "" && !w.Failed })})
		}
	}
	return append(all,
		systemGoal{"PowerShell was run, and was not there", countWork(func(w *Work) bool { return w.Tool == "PowerShell" })},
		systemGoal{"an agent worked in the background", countCalls(func(p *systemCall) bool { return p.call.Background && p.status == "ok" })},
		systemGoal{"an agent went on from its parent's conversation", countCalls(func(p *systemCall) bool {
			return p.v.s.Forks && p.call.Tool == "Agent" && p.status == "ok"
		})},
		systemGoal{"a call was made at the third level", countCalls(func(p *systemCall) bool { return p.parent != nil && p.parent.parent != nil && p.emitted })},
		systemGoal{"an agent was refused for its depth", countCalls(func(p *systemCall) bool {
			return p.call.Tool == "Agent" && p.parent != nil && p.status == "refused"
		})},
		systemGoal{"an agent began again with a message", countEvents(func(e trace.Event) bool {
			return e.Tool == "SendMessage" && strings.Contains(trace.As[trace.Emitted](e).Text, "had ended and goes on")
		})},
		systemGoal{"a message of another agent was read", countEvents(func(e trace.Event) bool { return trace.As[trace.MailTaken](e).Is == "message" })},
		systemGoal{"a job fired", countEvents(func(e trace.Event) bool { return trace.As[trace.MailSent](e).From == "cron" })},
		systemGoal{"a watch reported", countEvents(func(e trace.Event) bool { return trace.As[trace.MailSent](e).From == "monitor" })},
		systemGoal{"a call that only reads was alone, and changed nothing", countWork(func(w *Work) bool { return w.Alone })},
		systemGoal{"a task could not begin, since it waits for another", countWork(func(w *Work) bool {
			return w.Tool == "TaskUpdate" && strings.Contains(w.Err, "cannot begin before")
		})},
	)
}

func countWork(is func(*Work) bool) func(*SystemView) int {
	return func(v *SystemView) int { return howMany(v.work, func(w Work) bool { return is(&w) }) }
}

func countEvents(is func(trace.Event) bool) func(*SystemView) int {
	return func(v *SystemView) int { return howMany(v.out.Trace, is) }
}
