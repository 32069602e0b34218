package pipeline_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// five is an input of five members.
type five struct {
	Path   string   `json:"path"`
	Offset int      `json:"offset,omitempty"`
	Limit  int      `json:"limit,omitempty"`
	Exact  bool     `json:"exact,omitempty"`
	Globs  []string `json:"globs,omitempty"`
}

type empty struct{}

var (
	noop = tool.Must(tool.Def[empty, string]{
		Name: "Noop", Description: "Does nothing.",
		Call:   func(context.Context, empty, *tool.Context) (tool.Result[string], error) { return tool.Done("ok"), nil },
		Traits: tool.Traits[empty]{Safe: tool.Always[empty], ReadOnly: tool.Always[empty]},
	})
	fiveMembers = tool.Must(tool.Def[five, string]{
		Name: "Five", Description: "Takes five members.",
		Call:    func(context.Context, five, *tool.Context) (tool.Result[string], error) { return tool.Done("ok"), nil },
		Subject: func(in five, c *tool.Context) tool.Subject { return tool.Subject{Paths: []string{in.Path}} },
		Traits:  tool.Traits[five]{Safe: tool.Always[five], ReadOnly: tool.Always[five]},
	})
)

const fiveInput = `{"path":"/repo/a.go","offset":10,"limit":200,"exact":true,"globs":["*.go","*.md"]}`

// benchmark does work with a pipeline that has rules, a budget, and what change
// adds.
func benchmark[B testing.TB](b B, name, input string, change func(*pipeline.Handlers), work func(B, *pipeline.Pipeline, *pipeline.Env, pipeline.Call)) {
	catalogue, err := pool.NewCatalogue([]pool.Entry{{Name: "Noop", Tool: noop}, {Name: "Five", Tool: fiveMembers}})
	if err != nil {
		b.Fatal(err)
	}
	rules, err := permission.Rules{}.Parse(permission.Project, permission.Deny, "Bash", "mcp__slack")
	if err != nil {
		b.Fatal(err)
	}
	handlers := pipeline.Handlers{Clock: clock(), Budget: pipeline.NewLedger(pipeline.ResultStore{Dir: "/r"})}
	if change != nil {
		change(&handlers)
	}
	p := &pipeline.Pipeline{Handlers: handlers}
	snap := catalogue.Assemble(pool.Inputs{Settings: settings.External()}).Look(pool.View{Settings: settings.External()})
	env := &pipeline.Env{Snapshot: snap, Context: tool.Context{Security: tool.Security{Rules: rules, Roots: []string{"/repo"}}, State: tool.State{Dir: "/repo"}}}
	work(b, p, env, pipeline.Call{ID: "toolu_1", Name: name, Input: json.RawMessage(input), Turn: 1})
}

// oneByOne runs the call over and over.
func oneByOne(b *testing.B, p *pipeline.Pipeline, env *pipeline.Env, call pipeline.Call) {
	b.ReportAllocs()
	for b.Loop() {
		if r := p.Run(b.Context(), p.Prepare(call, env), env, schedule.Direct{}); r.Status != pipeline.OK {
			b.Fatal(r.Status, message.PlainText(r.Content))
		}
	}
}

// driven runs messages of a hundred calls through the streaming driver, each call
// in a goroutine and through the whole pipeline.
func driven(b *testing.B, p *pipeline.Pipeline, env *pipeline.Env, call pipeline.Call) {
	const calls = 100
	b.ReportAllocs()
	for b.Loop() {
		drive(b, p, env, call, calls)
	}
	b.ReportMetric(calls*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// drive runs one message of many calls.
func drive(tb testing.TB, p *pipeline.Pipeline, env *pipeline.Env, call pipeline.Call, calls int) {
	prepared := make([]*pipeline.Prepared, calls)
	emitted := 0
	driver, err := schedule.NewDriver(tb.Context(), schedule.Config[*pipeline.Result]{
		Policy: schedule.Streaming, Limit: schedule.DefaultLimit,
		Hooks: schedule.Hooks[*pipeline.Result]{
			Run: func(ctx context.Context, i int, control schedule.Control) *pipeline.Result {
				return p.Run(ctx, prepared[i], env, control)
			},
			Verdict: func(r *pipeline.Result) schedule.Verdict { return schedule.Verdict{Fails: r.Fails} },
			Emit:    func(int, *pipeline.Result) { emitted++ },
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range calls {
		prepared[i] = p.Prepare(call, env)
		driver.Add(prepared[i].Safe, false)
	}
	driver.EndStream()
	driver.Wait()
	if emitted != calls {
		tb.Fatal(emitted)
	}
}

func BenchmarkCall(b *testing.B) {
	traced := func(d *pipeline.Handlers) {
		began := d.Clock.Now()
		d.Since = func() time.Duration { return d.Clock.Now().Sub(began) }
		d.Trace = func(trace.Event) {}
	}
	hooked := func(d *pipeline.Handlers) {
		hooks, err := hook.New(d.Clock, hook.Hook{Name: "silent", Event: hook.PreToolUse,
			Run: func(context.Context, hook.Input) (hook.Output, error) { return hook.Output{}, nil }})
		if err != nil {
			b.Fatal(err)
		}
		d.Hooks = hooks
	}
	for _, c := range []struct{ name, tool, input string }{{"noop", "Noop", `{}`}, {"five", "Five", fiveInput}} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c.tool, c.input, nil, oneByOne) })
		b.Run(c.name+"/without-budget", func(b *testing.B) {
			benchmark(b, c.tool, c.input, func(d *pipeline.Handlers) { d.Budget = nil }, oneByOne)
		})
		b.Run(c.name+"/traced", func(b *testing.B) { benchmark(b, c.tool, c.input, traced, oneByOne) })
		b.Run(c.name+"/hooked", func(b *testing.B) { benchmark(b, c.tool, c.input, hooked, oneByOne) })
		b.Run(c.name+"/driven", func(b *testing.B) { benchmark(b, c.tool, c.input, nil, driven) })
	}
}

// BenchmarkDecodeAndValidate is what of BenchmarkCall is not the pipeline's own.
func BenchmarkDecodeAndValidate(b *testing.B) {
	for _, c := range []struct {
		name, input string
		tool        *tool.Tool
	}{{"noop", `{}`, noop}, {"five", fiveInput, fiveMembers}} {
		b.Run(c.name, func(b *testing.B) {
			raw := json.RawMessage(c.input)
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := c.tool.Parse(raw); len(problems) > 0 {
					b.Fatal(problems)
				}
			}
		})
	}
}
