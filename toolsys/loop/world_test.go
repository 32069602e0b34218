package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// in is the input of every tool of these tests.
type in struct {
	Text string `json:"text,omitempty"`
}

type def = tool.Def[in, string]

func named(name string, change func(*def)) *tool.Tool {
	d := def{
		Name: name, Description: "Does " + name + ".",
		Call: func(_ context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
			return tool.Done(name + " " + in.Text), nil
		},
		Traits: tool.Traits[in]{ReadOnly: tool.Always[in], Safe: tool.Always[in]},
	}
	if change != nil {
		change(&d)
	}
	return tool.Must(d)
}

func exclusive(d *def) { d.Traits.Safe = nil }

func call(f func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error)) func(*def) {
	return func(d *def) { d.Call = f }
}

func all(changes ...func(*def)) func(*def) {
	return func(d *def) {
		for _, c := range changes {
			c(d)
		}
	}
}

// turn is the events of one stream.
type turn []string

var beginning = `{"type":"message_start","message":{"id":"m","model":"x","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`

func says(text string) turn {
	raw, _ := json.Marshal(text)
	return turn{beginning, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, raw),
		`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`}
}

// calls makes a message of calls, each written "Tool" or "Tool text"; their ids
// are c0, c1, ...
func calls(specs ...string) turn {
	t := turn{beginning}
	for i, spec := range specs {
		name, text, _ := strings.Cut(spec, " ")
		input, _ := json.Marshal(map[string]string{"text": text})
		part, _ := json.Marshal(string(input))
		t = append(t, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"c%d","name":%q,"input":{}}}`, i, i, name),
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, part),
			fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
	}
	return append(t, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`)
}

var errGone = errors.New("the script is over")

// script is a Model that plays turns, one a request, and keeps the requests. pause
// is the time between two events.
type script struct {
	turns []turn
	pause time.Duration
	// at runs before event i of turn n.
	at func(n, i int)

	mu       sync.Mutex
	requests []message.Request
}

func (s *script) model(ctx context.Context, req message.Request, on func([]byte) error) error {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	if n >= len(s.turns) {
		return errGone
	}
	for i, e := range s.turns[n] {
		if s.at != nil {
			s.at(n, i)
		}
		if s.pause > 0 {
			time.Sleep(s.pause)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := on([]byte(e)); err != nil {
			return err
		}
	}
	return nil
}

func clock() tool.Clock {
	return tool.Clock{
		Now: time.Now,
		Go:  func(_ string, f func()) { go f() },
		Sleep: func(ctx context.Context, _ string, d time.Duration) error {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
			return context.Cause(ctx)
		},
	}
}

// room is a session with what is heard of it.
type room struct {
	*loop.Session
	script *script
	log    *trace.Log
}

func open(t testing.TB, s *script, change func(*loop.Config), tools ...*tool.Tool) *room {
	var entries []pool.Entry
	for _, tl := range tools {
		entries = append(entries, pool.Entry{Name: tl.Name, Tool: tl})
	}
	catalogue, err := pool.NewCatalogue(entries)
	require.NoError(t, err)
	log, began := &trace.Log{}, time.Now()
	cfg := loop.Config{
		Model: s.model, ModelName: "claude-sonnet-4-5", Catalogue: catalogue, Settings: settings.External(), Policy: schedule.Streaming,
		Handlers: pipeline.Handlers{Clock: clock(), Trace: log.Add, Since: func() time.Duration { return time.Since(began) }},
		State:    tool.State{Root: "/repo", Dir: "/repo"},
	}
	if change != nil {
		change(&cfg)
	}
	session, err := loop.New(cfg)
	require.NoError(t, err)
	return &room{session, s, log}
}

func (r *room) send(t interface {
	require.TestingT
	Context() context.Context
}) loop.Completion {
	out, err := r.Send(t.Context(), message.UserText("go"))
	require.NoError(t, err)
	return out
}

// results are those that the model was sent in its n-th request, by call id.
func (s *script) results(n int) (ids []string, texts map[string]string) {
	texts = map[string]string{}
	messages := s.requests[n].Messages
	for _, b := range messages[len(messages)-1].Results() {
		ids = append(ids, b.ToolUseID)
		texts[b.ToolUseID] = message.PlainText(b.Content)
	}
	return ids, texts
}

func (r *room) kinds(kind trace.Kind, attr string) []string {
	var out []string
	for _, e := range r.log.Events() {
		if e.Kind() == kind {
			out = append(out, strings.TrimSpace(e.Call+" "+e.Get(attr)))
		}
	}
	return out
}

func toolNames(req message.Request) []string {
	var out []string
	for _, raw := range req.Tools {
		var d struct{ Name string }
		if json.Unmarshal(raw, &d) == nil {
			out = append(out, d.Name)
		}
	}
	return slices.Clip(out)
}
