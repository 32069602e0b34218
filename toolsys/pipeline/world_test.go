package pipeline_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// in is the input of every tool of these tests.
type in struct {
	Path string `json:"path"`
	Mode string `json:"mode,omitempty"`
}

type def = tool.Def[in, string]

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

// world is a pipeline with one tool called Look, and what is after of it.
type world struct {
	t        testing.TB
	def      def
	handlers pipeline.Handlers
	env      tool.Context
	// deferring puts the tool behind ToolSearch; discovered are the ones loaded.
	deferring  bool
	discovered []string
	nearest    func(string) []string
	alone      func(context.Context) error
	begin      func()
	hooks      []hook.Hook

	log *trace.Log
	// got are the inputs the tool was called with.
	got []in
	mu  sync.Mutex
}

// newWorld: Look is read-only, so nobody needs asking, and gives what it saw.
func newWorld(t testing.TB) *world {
	w := &world{t: t, log: &trace.Log{}}
	w.def = def{
		Name: "Look", Description: "Looks.",
		Call: func(_ context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.got = append(w.got, in)
			return tool.Done("saw " + in.Path), nil
		},
		Traits: tool.Traits[in]{ReadOnly: tool.Always[in], Safe: tool.Always[in]},
	}
	began := time.Now()
	w.handlers = pipeline.Handlers{Clock: clock(), Trace: w.log.Add, Since: func() time.Duration { return time.Since(began) }}
	w.alone = func(context.Context) error { return nil }
	w.begin = func() {}
	return w
}

func (w *world) rule(b permission.Behaviour, texts ...string) {
	rules, err := w.env.Rules.Parse(permission.Project, b, texts...)
	require.NoError(w.t, err)
	w.env.Rules = rules
}

// onPre adds a hook before the call, onPost one after it.
func (w *world) onPre(out hook.Output) {
	w.hook(hook.PreToolUse, func(hook.Input) hook.Output { return out })
}

func (w *world) hook(event hook.Event, run func(hook.Input) hook.Output) {
	w.hooks = append(w.hooks, hook.Hook{Name: "h" + string(rune('1'+len(w.hooks))), Event: event,
		Run: func(_ context.Context, in hook.Input) (hook.Output, error) { return run(in), nil }})
}

func (w *world) snapshot() *pool.Snapshot {
	look, err := tool.Build(w.def)
	require.NoError(w.t, err)
	catalogue, err := pool.NewCatalogue([]pool.Entry{{Name: look.Name, Tool: look}})
	require.NoError(w.t, err)
	return catalogue.Assemble(pool.Inputs{Settings: settings.External()}).
		Look(pool.View{Settings: settings.External(), Deferring: w.deferring, Discovered: w.discovered})
}

func (w *world) pipeline() (*pipeline.Pipeline, *pipeline.Env) {
	hooks, err := hook.New(w.handlers.Clock, w.hooks...)
	require.NoError(w.t, err)
	handlers := w.handlers
	handlers.Hooks = hooks
	return &pipeline.Pipeline{Handlers: handlers}, &pipeline.Env{Snapshot: w.snapshot(), Nearest: w.nearest, Context: w.env}
}

// control is a call's way to a driver, as functions.
type control struct {
	alone func(context.Context) error
	begin func()
}

func (c control) Alone(ctx context.Context) error { return c.alone(ctx) }
func (c control) Begin()                          { c.begin() }

func (w *world) callIn(ctx context.Context, call pipeline.Call) *pipeline.Result {
	p, env := w.pipeline()
	return p.Run(ctx, p.Prepare(call, env), env, control{alone: w.alone, begin: w.begin})
}

// call runs Look with an input.
func (w *world) call(input string) *pipeline.Result {
	return w.callIn(w.t.Context(), pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(input), Turn: 1})
}

func text(r *pipeline.Result) string { return message.PlainText(r.Content) }

// events lists the kinds after, with an attribute where one is asked for.
func (w *world) events(kind trace.Kind, attr string) []string {
	var out []string
	for _, e := range w.log.Events() {
		if e.Kind() == kind {
			out = append(out, e.Get(attr))
		}
	}
	return out
}

func (w *world) stages() string {
	var out []string
	for _, e := range w.log.Events() {
		if e.Kind() == trace.KindStage {
			out = append(out, e.Get("stage")+":"+e.Get("result"))
		}
	}
	return strings.Join(out, " ")
}
