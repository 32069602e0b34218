package toolsys_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/render"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

type payment struct {
	ID string `json:"id"`
}

type payDef = tool.Def[payment, string]

// panicking is every member of a Def that is a function, with what its panic comes to:
// the call's status, a part of the result's text, and an event of the trace. A member
// that Send does not ask has no event.
var panicking = map[string]struct {
	status, text, event string
}{
	"Describe":           {"ok", "paid", ""},
	"Prompt":             {"ok", "paid", `call.predicate turn=1 predicate="prompt" tool="Pay" error="panic: boom"`},
	"Call":               {"panic", "the tool panicked: boom", "call.end"},
	"Block":              {"failed", "Pay ran, but its answer cannot be shown: panic: boom", `predicate="block"`},
	"Text":               {"failed", "Pay ran, but its answer cannot be shown: panic: boom", `predicate="block"`},
	"Validate":           {"panic", "boom", `call.end turn=1 call=c tool=Pay status="panic"`},
	"Permit":             {"denied", "the tool's permission check failed: panic: boom", `predicate="permit"`},
	"Subject":            {"panic", "boom", `status="panic"`},
	"Complete":           {"ok", "paid", `predicate="complete"`},
	"Traits.Enabled":     {"unknown_tool", `There is no tool named "Pay"`, "its enabled check failed: panic: boom"},
	"Traits.Safe":        {"ok", "paid", `predicate="safe" error="panic: boom"`},
	"Traits.ReadOnly":    {"ok", "paid", `predicate="read-only"`},
	"Traits.Destructive": {"ok", "paid", `predicate="destructive"`},
	"Traits.OpenWorld":   {"ok", "paid", `predicate="open-world"`},
	"Traits.NeedsUser":   {"ok", "paid", `predicate="needs-user"`},
	"Traits.Class":       {"ok", "paid", ""},
	"Traits.Effects":     {"ok", "paid", `predicate="effects"`},
	"Shaping.Backfill":   {"ok", "paid", `predicate="backfill"`},
	"Shaping.Equivalent": {"ok", "paid", ""},
	"Shaping.Classifier": {"ok", "paid", `predicate="classifier"`},
	"Limits.Timeout":     {"ok", "paid", `predicate="timeout"`},
	"View.Title":         {"ok", "paid", ""},
	"View.Summary":       {"ok", "paid", ""},
	"View.Activity":      {"ok", "paid", ""},
	"Draw.Use":           {"ok", "paid", ""},
	"Draw.Queued":        {"ok", "paid", ""},
	"Draw.Progress":      {"ok", "paid", ""},
	"Draw.Result":        {"ok", "paid", ""},
	"Draw.Rejected":      {"ok", "paid", ""},
	"Draw.Error":         {"ok", "paid", ""},
	"Draw.Tag":           {"ok", "paid", ""},
	"Draw.Grouped":       {"ok", "paid", ""},
	"Draw.Search":        {"ok", "paid", ""},
}

// pay is a sound tool with a function in every member.
func pay() payDef {
	no := func(payment) bool { return false }
	nodes := func(payment, tool.Outcome[string]) []render.Node { return nil }
	text := func(payment) string { return "pay" }
	return payDef{
		Name: "Pay", Description: "Pays an order.", Describe: text, Prompt: func(tool.PromptOptions) string { return "Pays." },
		Call: func(context.Context, payment, *tool.Context) (tool.Result[string], error) {
			return tool.Done("paid"), nil
		},
		Text:     func(string) string { return "paid" },
		Block:    func(s string) []message.Block { return []message.Block{message.Text(s)} },
		Validate: func(payment, *tool.Context) *tool.Refusal { return nil },
		Permit: func(payment, *tool.Context) permission.Opinion {
			return permission.Opinion{Behaviour: permission.Passthrough}
		},
		Internal: []string{"_note"},
		Complete: func(payment, *tool.Context) (json.RawMessage, bool) { return nil, false },
		Subject:  func(payment, *tool.Context) tool.Subject { return tool.Subject{} },
		Traits: tool.Traits[payment]{
			Enabled: func(settings.Settings) bool { return true }, Safe: no, ReadOnly: no, Destructive: no, OpenWorld: no, NeedsUser: no,
			Class:   func(payment) tool.Class { return tool.Class{} },
			Effects: func(payment, *tool.Context) tool.Effects { return tool.Effects{Everything: true} },
		},
		Shaping: tool.Shaping[payment]{
			Backfill: func(map[string]any, *tool.Context) {}, Equivalent: func(a, b payment) bool { return a == b }, Classifier: text,
		},
		Limits: tool.Limits[payment]{Timeout: func(payment) time.Duration { return time.Minute }},
		View:   tool.View[payment]{Title: text, Summary: text, Activity: text},
		Draw: tool.Drawing[payment, string]{
			Use: func(payment) []render.Node { return nil }, Queued: func(payment) []render.Node { return nil }, Tag: text,
			Progress: func(payment, []string) []render.Node { return nil }, Result: nodes, Rejected: nodes, Error: nodes,
			Grouped: func([]tool.Called[payment, string]) []render.Node { return nil },
			Search:  func(payment, tool.Outcome[string]) string { return "pay" },
		},
	}
}

// functions lists the members of a struct that are functions, and those of the structs
// in it, by name.
func functions(v reflect.Value, prefix string) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := range v.NumField() {
		name, f := prefix+v.Type().Field(i).Name, v.Field(i)
		switch f.Kind() {
		case reflect.Func:
			all[name] = f
		case reflect.Struct:
			maps.Copy(all, functions(f, name+"."))
		}
	}
	return all
}

func TestNoMemberOfAToolTakesTheHostDown(t *testing.T) {
	sound := pay()
	members := functions(reflect.ValueOf(&sound).Elem(), "")
	for name := range members {
		assert.Contains(t, panicking, name, "a new member needs a line in the table")
	}
	require.Len(t, members, len(panicking))
	for name, want := range panicking {
		t.Run(name, func(t *testing.T) {
			d := pay()
			f := functions(reflect.ValueOf(&d).Elem(), "")[name]
			require.False(t, f.IsNil())
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { panic("boom") }))
			mode := permission.Auto // in which the classifier is asked
			switch name {
			case "Complete", "Shaping.Backfill":
				mode = permission.Default // in which a person is
			case "Traits.Effects":
				mode = permission.Bypass // in which nobody is
			case "Text":
				d.Block = nil // which comes first
			}
			results, log := sendOne(t, tool.Must(d), hook.Set{}, mode)
			require.Len(t, results, 1, "exactly one result")
			assert.Contains(t, log, fmt.Sprintf(`call.emitted turn=1 call=c tool=Pay status="%s"`, want.status))
			assert.Contains(t, message.PlainText(results[0].Content), want.text)
			if want.event != "" {
				assert.Contains(t, strings.ReplaceAll(log, `\"`, `"`), want.event)
			}
		})
	}
}

func TestNoHookTakesTheHostDown(t *testing.T) {
	for _, event := range []hook.Event{hook.PreToolUse, hook.PostToolUse} {
		hooks, err := hook.New(toolsys.RealClock(), hook.Hook{Name: "h", Event: event, If: "Pay(", Run: func(context.Context, hook.Input) (hook.Output, error) {
			panic("boom")
		}})
		require.NoError(t, err)
		results, log := sendOne(t, tool.Must(pay()), hooks, permission.Auto)
		require.Len(t, results, 1)
		assert.Equal(t, "paid", message.PlainText(results[0].Content))
		assert.Contains(t, log, `trouble="panic: boom"`)
	}
}

// sendOne has a model call Pay once, by way of New, Open and Send, and gives the
// results it was sent and the trace.
func sendOne(t *testing.T, paying *tool.Tool, hooks hook.Set, mode permission.Mode) ([]message.Block, string) {
	log := &trace.Log{}
	s, err := toolsys.New(toolsys.Config{Tools: []*tool.Tool{paying}, Trace: log.Add})
	require.NoError(t, err)
	var results []message.Block
	requests := 0
	model := func(_ context.Context, req message.Request, on func([]byte) error) error {
		results = req.Messages[len(req.Messages)-1].Results()
		stop, block := "end_turn", `{"type":"text","text":"Done."}`
		if requests++; requests == 1 {
			stop, block = "tool_use", `{"type":"tool_use","id":"c","name":"Pay","input":{"id":"o1"}}`
		}
		for _, e := range []string{
			`{"type":"message_start","message":{"id":"m","content":[]}}`,
			`{"type":"content_block_start","index":0,"content_block":` + block + `}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"` + stop + `"}}`, `{"type":"message_stop"}`,
		} {
			if err := on([]byte(e)); err != nil {
				return err
			}
		}
		return nil
	}
	session, err := s.Open(loop.Config{
		Model: model, Policy: schedule.Effects, State: tool.State{Root: "/repo", Dir: "/repo", Mode: mode},
		Handlers: pipeline.Handlers{
			Hooks: hooks,
			Ask: func(context.Context, pipeline.Question) (pipeline.Reply, error) {
				return pipeline.Reply{Allow: true}, nil
			},
			Classify: func(context.Context, string, string) (permission.Verdict, error) {
				return permission.Verdict{Ruling: permission.Clears}, nil
			},
		},
	})
	require.NoError(t, err)
	_, err = session.Send(t.Context(), message.UserText("Pay o1."))
	require.NoError(t, err)
	require.Equal(t, 2, requests)
	var lines strings.Builder
	_, err = log.WriteTo(&lines)
	require.NoError(t, err)
	return results, lines.String()
}
