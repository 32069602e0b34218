package pipeline

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Prepared is a call whose tool was looked up and whose input was checked: what
// the scheduler needs to know before the call may start.
type Prepared struct {
	Call Call
	// Safe and Cancellable are what the scheduler asks (I1, J4). An unknown tool,
	// an input that breaks the schema and a predicate that fails are exclusive.
	Safe, Cancellable bool

	tool  *tool.Tool
	input tool.Input
	// failure is set when an early stage already decided the result.
	failure *failure
	notes   []note
}

// failure is an error result in the making.
type failure struct {
	status Status
	text   string
}

// note is a stage that was passed before the call started; it is traced when the
// call does.
type note struct {
	stage, result string
	took          time.Duration
}

// Prepare finds the tool and checks the input: the stages find and schema (H1).
// It is pure but for the time it takes.
func (p *Pipeline) Prepare(call Call, env Env) *Prepared {
	pre := &Prepared{Call: call}
	began := p.Doors.Clock.Now()
	t, found := env.Snapshot.Pool.Find(call.Name)
	pre.note("find", found, p.since(began))
	if !found {
		pre.failure = &failure{Unknown, unknownText(call.Name, env)}
		return pre
	}
	pre.tool = t
	pre.Cancellable = t.Behaviour.Interrupt == tool.Cancel
	if call.Invalid != "" {
		pre.failure = &failure{BadJSON, badJSONText(call)}
		return pre
	}
	began = p.Doors.Clock.Now()
	input, problems := t.Parse(call.Input)
	pre.note("schema", len(problems) == 0, p.since(began))
	if len(problems) > 0 {
		pre.failure = &failure{Invalid, problems.String() + hintFor(t, env)}
		return pre
	}
	pre.input = tool.Input{Raw: call.Input, Value: input.Value}
	pre.Safe = p.safe(pre.Call, t, pre.input)
	return pre
}

func (p *Prepared) note(stage string, ok bool, took time.Duration) {
	result := "ok"
	if !ok {
		result = "failed"
	}
	p.notes = append(p.notes, note{stage, result, took})
}

// Schema says whether the input fits the schema; with the tool it decides safety.
func (p *Prepared) Schema() bool { return p.failure == nil }

// safe asks the tool; a predicate that fails counts as exclusive, and the trace
// says so (A5).
func (p *Pipeline) safe(call Call, t *tool.Tool, in tool.Input) bool {
	safe, err := t.Behaviour.Safe(in)
	p.predicateFailed(call, t, "safe", err)
	return safe
}

func (p *Pipeline) predicateFailed(call Call, t *tool.Tool, name string, err error) {
	if err != nil {
		p.trace(call, t.Name, trace.Predicate, trace.S("predicate", name), trace.S("error", err.Error()))
	}
}

// Run takes a prepared call to its result. Alone waits until the call has the
// floor to itself, for an input that was rewritten into an exclusive one (G2). A
// panic anywhere becomes an error result.
func (p *Pipeline) Run(ctx context.Context, pre *Prepared, env Env, alone func(context.Context) error) (res Result) {
	r := &run{p: p, pre: pre, env: env, call: pre.Call, tool: pre.tool, input: pre.input, alone: alone}
	r.context = env.Context
	defer func() {
		if v := recover(); v != nil {
			res = r.fail(Panicked, fmt.Sprintf("The tool system failed while it handled this call: %v", v))
		}
		res.Tool = r.name()
		p.trace(r.call, r.name(), trace.Ended, trace.S("status", string(res.Status)))
	}()
	return r.stages(ctx)
}

// run is one call on its way. Its members change only as the stages go on.
type run struct {
	p       *Pipeline
	pre     *Prepared
	env     Env
	call    Call
	tool    *tool.Tool
	input   tool.Input
	context tool.Context
	alone   func(context.Context) error
	verdict func(context.Context) permission.Verdict
	// rewritten: a hook or permission replaced the model's input (G2).
	rewritten bool
	approved  bool
	// waited is the time a person took; no stage is charged for it (H1).
	waited  time.Duration
	opinion permission.Opinion
	added   []message.Message
	// ended closes the way for progress.
	ended atomic.Bool
}

func (r *run) name() string {
	if r.tool != nil {
		return r.tool.Name
	}
	return r.call.Name
}

// stages runs what is left after Prepare, in order; the first that has a result
// ends the call.
func (r *run) stages(ctx context.Context) Result {
	for _, n := range r.pre.notes {
		r.stage(n.stage, n.result, n.took)
	}
	if f := r.pre.failure; f != nil {
		return r.fail(f.status, f.text)
	}
	r.bind()
	for _, step := range []struct {
		name string
		do   func(context.Context) *Result
	}{
		{"validate", r.validate},
		{"classify", r.classify},
		{"strip", r.strip},
		{"pre_hooks", r.preHooks},
		{"permission", r.permission},
	} {
		if res := r.timed(ctx, step.name, step.do); res != nil {
			return *res
		}
	}
	return r.work(ctx)
}

// bind fills the parts of the context that belong to this call.
func (r *run) bind() {
	c := &r.context
	c.CallID, c.Turn = r.call.ID, r.call.Turn
	c.Progress = func(text string) {
		if !r.ended.Load() { // never after the result (H4)
			r.p.trace(r.call, r.name(), trace.Progress, trace.S("text", text))
		}
	}
	if ask := r.p.Doors.AskUser; ask != nil && !c.NonInteractive {
		c.AskUser = func(ctx context.Context, q []tool.Question) ([]tool.Answer, error) {
			began := r.p.Doors.Clock.Now()
			defer func() { r.waited += r.p.since(began) }()
			return ask(ctx, r.call.ID, q)
		}
	}
	c.Notify = r.p.Doors.Notify
	if c.Notify == nil {
		c.Notify = func(string) {}
	}
}

func (r *run) timed(ctx context.Context, name string, do func(context.Context) *Result) *Result {
	took := r.watch()
	res := do(ctx)
	result := "ok"
	if res != nil {
		result = string(res.Status)
	}
	r.stage(name, result, took())
	return res
}

// watch measures a stage from here on, less what a person took of it.
func (r *run) watch() (took func() time.Duration) {
	began, waited := r.p.Doors.Clock.Now(), r.waited
	return func() time.Duration { return r.p.since(began) - (r.waited - waited) }
}

func (r *run) stage(name, result string, took time.Duration) {
	r.p.trace(r.call, r.name(), trace.Stage, trace.S("stage", name), trace.S("result", result), trace.D("took", took))
}

// fail makes an error result. Every failure says in words what happened, for
// the model, and by its status what kind it was, for everybody else.
func (r *run) fail(status Status, text string) Result {
	return Result{
		Status: status, Tool: r.name(), Limit: r.limit(), Messages: r.added,
		Block: message.ToolResult(r.call.ID, true, message.Text(text)),
	}
}

func (r *run) failed(status Status, format string, args ...any) *Result {
	res := r.fail(status, fmt.Sprintf(format, args...))
	return &res
}

func (r *run) limit() int {
	if r.tool == nil {
		return tool.DefaultResultChars
	}
	return r.tool.Limit.ResultChars
}

func (p *Pipeline) since(began time.Time) time.Duration { return p.Doors.Clock.Now().Sub(began) }

func (p *Pipeline) trace(call Call, name string, kind trace.Kind, attrs ...trace.Attr) {
	if p.Doors.Trace == nil {
		return
	}
	p.Doors.Trace(trace.Event{
		At: p.Doors.Since(), Kind: kind, Turn: call.Turn, Call: call.ID, Tool: name, Attrs: attrs,
	})
}
