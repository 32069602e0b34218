package run

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toolbench/sim/scenario"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// ownTools builds the tools a scenario brings, through the same door as any.
func ownTools(sc *scenario.Scenario) ([]*tool.Tool, error) {
	var all []*tool.Tool
	for i, o := range sc.World.Tools {
		t, err := tool.Build(ownTool{o}.def())
		if err != nil {
			return nil, sc.ErrorAt(fmt.Sprintf("world.tools.%d", i), err.Error(), "")
		}
		all = append(all, t)
	}
	return all, nil
}

// looseSchema lets any object through: what a scenario's tool takes is its own
// business.
var looseSchema = json.RawMessage(`{"type":"object"}`)

// ownTool is a tool of the scenario as the system runs it.
type ownTool struct{ scenario.OwnTool }

func (o ownTool) def() tool.Def[json.RawMessage, string] {
	type in = json.RawMessage
	about := o.About
	if about == "" {
		about = "A tool of the scenario's own."
	}
	d := tool.Def[in, string]{
		Name: o.Name, Description: about, Hint: o.Hint, InputSchema: looseSchema, Call: o.call,
		Traits: tool.Traits[in]{
			Safe:     o.safe,
			ReadOnly: func(in) bool { return o.ReadOnly },
		},
		Loading: tool.Loading{Deferrable: o.Deferrable, Always: o.Always},
		Limits:  tool.Limits[in]{ResultChars: o.ResultChars, Timeout: func(in) time.Duration { return o.Timeout.D() }},
	}
	if len(o.Schema) > 0 {
		d.InputSchema = o.inputSchema()
	}
	if o.Alias != "" {
		d.Aliases = []string{o.Alias}
	}
	if o.Interrupt == "cancel" {
		d.Traits.Interrupt = tool.Cancel
	}
	d.Traits.FailureStopsSiblings = o.StopsSiblings
	if len(o.Reads)+len(o.Writes) > 0 {
		d.Traits.Effects = func(in, *tool.Context) tool.Effects { return tool.Effects{Reads: o.Reads, Writes: o.Writes} }
	}
	if o.Internal != "" {
		d.Internal = []string{o.Internal}
	}
	if len(o.Derived) > 0 {
		d.Shaping.Backfill = func(raw map[string]any, _ *tool.Context) {
			for k, v := range o.Derived {
				raw[k] = v
			}
		}
	}
	return d
}

func (o ownTool) safe(raw json.RawMessage) bool {
	if o.SafePanics {
		panic("the predicate failed")
	}
	return o.Safe && (o.ExclusiveIf == "" || !strings.Contains(string(raw), o.ExclusiveIf))
}

func (o ownTool) call(_ context.Context, raw json.RawMessage, c *tool.Context) (tool.Result[string], error) {
	if text, ok := o.Answers[c.CallID]; ok {
		return tool.Result[string]{Data: text, Failed: slices.Contains(o.FailedCalls, c.CallID)}, nil
	}
	answer := o.Answer
	if answer == "" {
		answer = o.Name + " done"
	}
	answer = strings.ReplaceAll(answer, "$input", string(raw))
	r := tool.Result[string]{Data: strings.Repeat(answer, max(1, o.Repeat)), Failed: o.Failed}
	if o.SetCWD != "" || o.SetEnv != nil {
		r.Modify = func(s tool.State) tool.State {
			if o.SetCWD != "" {
				s = s.WithDir(strings.ReplaceAll(o.SetCWD, "$cwd", s.Dir))
			}
			if o.SetEnv != nil {
				env := maps.Clone(s.Env)
				for k, v := range o.SetEnv {
					env[k] = strings.ReplaceAll(v, "$old", s.Env[k])
				}
				s = s.WithEnv(env)
			}
			return s
		}
	}
	return r, nil
}

// history is what was said before the run.
func history(sc *scenario.Scenario) []message.Message {
	var out []message.Message
	for _, said := range sc.World.History {
		m := message.Message{Role: said.Role}
		if said.Text != "" {
			m.Content = append(m.Content, message.Text(said.Text))
		}
		if len(said.Discovered) > 0 {
			m.Content = append(m.Content, discovery(slices.Clone(said.Discovered)))
		}
		out = append(out, m)
	}
	return out
}

// inputSchema is the input's schema, as JSON.
func (o ownTool) inputSchema() json.RawMessage {
	raw, err := json.Marshal(o.Schema)
	if err != nil {
		return json.RawMessage(`"` + err.Error() + `"`) // no schema: building the tool says so
	}
	return raw
}
