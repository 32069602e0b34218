package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Prepared is a call whose tool was looked up and whose input was checked: what
// the scheduler needs before the call may start.
type Prepared struct {
	Call Call
	// Safe and Cancellable are what the scheduler asks (I1, J4). An unknown tool,
	// an input that breaks the schema and a predicate that fails are exclusive.
	Safe, Cancellable bool
	// over is set once: by the call's own end, or when it is left (J4).
	over atomic.Uint32

	tool  *tool.Tool
	input tool.Input
	// failure is set when an early stage already decided the result.
	failure *failure
	// found and fits are the stages find and schema, where they were passed.
	found, fits note
	// run is the call's way through the stages, once it is on it, result what it came to.
	run    run
	result Result
}

// Activity is what the call does, in the words of its tool.
func (p *Prepared) Activity() string {
	if p.tool == nil || p.failure != nil {
		return p.Call.Name
	}
	return p.tool.Present.Activity(p.input)
}

// How a call is over.
const (
	ended uint32 = iota + 1
	left         // answered while it ran
)

// failure is an error result in the making.
type failure struct {
	status Status
	text   string
}

// note is a stage that was passed before the call started; it is traced when the call does.
type note struct {
	passed, ok bool
	took       time.Duration
}

// Prepare finds the tool and checks the input: the stages find and schema (H1). It is pure but for the time it takes.
// A panic, of a type's own decoding for one, is the call's result and not the stream's end (H2).
func (p *Pipeline) Prepare(call Call, env *Env) (pre *Prepared) {
	pre = &Prepared{Call: call}
	defer func() {
		if v := recover(); v != nil {
			pre.Safe = false
			pre.failure = &failure{Panicked, fmt.Sprintf("The tool system failed while it read this call: %v", v)}
		}
	}()
	if pre.failure = p.find(pre, env); pre.failure == nil {
		pre.failure = p.check(pre, env)
	}
	return pre
}

func callersText(callers []string) string {
	if len(callers) == 0 {
		return "call it directly"
	}
	return "only by " + strings.Join(callers, ", ")
}

func (p *Pipeline) find(pre *Prepared, env *Env) *failure {
	began := p.now()
	t, found := env.Snapshot.Pool.Find(pre.Call.Name)
	pre.found = note{true, found, p.now() - began}
	if !found {
		return &failure{Unknown, unknownText(pre.Call.Name, env)}
	}
	pre.tool = t
	pre.Cancellable = t.Behaviour.Interrupt == tool.Cancel
	return nil
}

func (p *Pipeline) check(pre *Prepared, env *Env) *failure {
	if caller := cmp.Or(pre.Call.Caller, message.Direct); !pre.tool.Wire.Takes(caller) {
		return &failure{Refused, fmt.Sprintf("%s may not be called by %s: %s", pre.tool.Name, caller, callersText(pre.tool.Wire.Callers))}
	}
	if pre.Call.Invalid != "" {
		return &failure{BadJSON, "The input of this call is not a JSON object and was not run: " + message.Excerpt(pre.Call.Invalid, 201)}
	}
	began := p.now()
	input, problems := pre.tool.Parse(pre.Call.Input)
	pre.fits = note{true, len(problems) == 0, p.now() - began}
	if len(problems) > 0 {
		return &failure{Invalid, problems.String() + hintFor(pre.tool, env)}
	}
	pre.input = p.reporting(tool.Input{Raw: pre.Call.Input, Value: input.Value}, pre)
	pre.Safe = pre.tool.Behaviour.Safe(pre.input)
	return nil
}

// Left reports whether the call was answered while it ran.
func (p *Prepared) Left() bool { return p.over.Load() == left }

// noted traces a stage that was passed before the call started.
func (r *run) noted(stage string, n note) {
	switch {
	case !n.passed:
	case n.ok:
		r.stage(stage, "ok", r.p.now(), n.took)
	default:
		r.stage(stage, "failed", r.p.now(), n.took)
	}
}

// reporting has the members of the tool that panic on this input named in the trace.
func (p *Pipeline) reporting(in tool.Input, pre *Prepared) tool.Input {
	if !p.traces() {
		return in
	}
	return in.Reporting(func(member string, err error) { p.predicateFailed(pre, member, err) })
}

func (p *Pipeline) predicateFailed(pre *Prepared, name string, err error) {
	p.trace(pre.Call, pre.tool.Name, trace.Predicate{Predicate: name, Error: err.Error()})
}

// Run takes a prepared call to its result, once. A panic anywhere becomes an error result.
func (p *Pipeline) Run(ctx context.Context, pre *Prepared, env *Env, control schedule.Control) (res *Result) {
	r := &pre.run
	res = &pre.result
	r.p, r.pre, r.context, r.control, r.pool = p, pre, &env.Context, control, env.Snapshot.Pool
	if p.traces() {
		r.traced = new([stagesOfCall]trace.Stage)
	}
	defer func() {
		if v := recover(); v != nil {
			r.came(r.fail(Panicked, fmt.Sprintf("The tool system failed while it handled this call: %v.%s", v, r.effects())))
		}
		r.end()
		res.Tool = r.name()
		p.traceEnd(pre, ended, res)
	}()
	r.came(r.stages(ctx))
	return res
}

// came is what the call came to, beside the decision on it, which was noted before.
func (r *run) came(out Result) {
	noted := &r.pre.result
	out.Why, out.Decided = noted.Why, noted.Decided
	*noted = out
}

// effects words which effects a failed call may have had, for the model.
func (r *run) effects() string {
	if r.performed {
		return " The call had run, and what it did stays done."
	}
	return " The call was not run."
}

// run is one call on its way. Its members change only as the stages go on.
type run struct {
	p       *Pipeline
	pre     *Prepared
	context *tool.Context
	control schedule.Control
	verdict func(context.Context) permission.Verdict
	// checked: the input as the tool's own check rewrote it was taken; exclusive:
	// the call asked for an exclusive turn (G2); approved: a person allowed it.
	checked, exclusive, approved bool
	// performed: the tool's own code began, so that the call may have had its effect.
	performed bool
	// classified counts the classifier's runs, one for each input; it is small, as a Prepared just fits 576 bytes.
	classified int32
	// opinion is the hooks'; nil where none matched.
	opinion *permission.Opinion
	// pool is the conversation's.
	pool  *pool.Pool
	added []message.Message
	// ending is the refusal of a further call at which a hook ended the turn; nil where none did.
	ending *Result
	// clock is the call's time limit; nil without one.
	clock *limit
	// waited is the time a person took, a [time.Duration]; no stage is charged for it (H1).
	waited atomic.Int64

	mu sync.Mutex
	// traced is room for the stages that are passed, as many as passes counts; nil without a trace.
	traced *[stagesOfCall]trace.Stage
	passes atomic.Int32
	// quiet closes the way for progress (H4).
	quiet bool
}

func (r *run) name() string { return r.pre.name() }

// steps are the stages between Prepare and the run, in order (H1).
var steps = [...]struct {
	name string
	do   func(*run, context.Context) *Result
}{
	{"validate", (*run).validate},
	{"classify", (*run).classify},
	{"strip", (*run).strip},
	{"pre_hooks", (*run).preHooks},
	{"permission", (*run).permission},
}

// stages runs what is left after Prepare; the first stage that has a result ends the call.
func (r *run) stages(ctx context.Context) Result {
	r.noted("find", r.pre.found)
	r.noted("schema", r.pre.fits)
	if f := r.pre.failure; f != nil {
		return r.fail(f.status, f.text)
	}
	r.bind()
	w := r.watch()
	for _, step := range steps {
		if res := step.do(r, ctx); res != nil {
			r.passed(&w, step.name, string(res.Status))
			return *res
		}
		r.passed(&w, step.name, "ok")
	}
	return r.work(ctx)
}

// bind fills the parts of the context that belong to this call.
func (r *run) bind() {
	c := r.context
	c.CallID, c.Turn = r.pre.Call.ID, r.pre.Call.Turn
	c.Running = r
	if ask := r.p.Handlers.AskUser; ask != nil && !c.NonInteractive {
		c.AskUser = func(ctx context.Context, q []tool.Question) ([]tool.Answer, error) {
			defer r.waitedSince(r.p.now())
			defer r.hold()()
			return ask(ctx, r.pre.Call.ID, q)
		}
	}
	if r.pre.tool.Origin != nil {
		c.Elicit = r.elicit
	}
	c.Notify = r.p.Handlers.Notify
	if c.Notify == nil {
		c.Notify = func(string) {}
	}
}

// fail makes an error result. Every failure describes in words what happened, for
// the model, and by its status what kind it was, for everybody else.
func (r *run) fail(status Status, text string) Result {
	r.mu.Lock()
	added := slices.Clip(r.added)
	r.mu.Unlock()
	return Result{
		Status: status, CallID: r.pre.Call.ID, Tool: r.name(), Limit: r.pre.limit(), Messages: added,
		Content: []message.Block{message.Text(text)}, Error: true,
	}
}

func (r *run) failed(status Status, format string, args ...any) *Result {
	return new(r.fail(status, fmt.Sprintf(format, args...)))
}

// limit is how long the result may be.
func (p *Prepared) limit() int {
	if p.tool == nil {
		return tool.DefaultResultChars
	}
	return p.tool.Limit.ResultChars
}

// Effects gives what a prepared call will read and write (J8), given the state in env.Context. Where anybody but the
// tool takes part in the call - a person, a hook, a classifier, somebody who rewrites its input - it is everything,
// so that they are asked in call order. A call that already failed touches nothing. It is pure.
func (p *Pipeline) Effects(pre *Prepared, env *Env) (e tool.Effects) {
	defer func() {
		if recover() != nil {
			e = tool.Effects{Everything: true}
		}
	}()
	if pre.failure != nil {
		return tool.Effects{}
	}
	e = pre.tool.Behaviour.Effects(pre.input, &env.Context)
	if e.Everything || p.Handlers.Hooks.Matches("", pre.tool.Name, pre.tool.OtherNames()) || p.othersDecide(pre, env) {
		return tool.Effects{Everything: true}
	}
	return e
}

// othersDecide reports whether what becomes of the call does not follow from its input and the state.
func (p *Pipeline) othersDecide(pre *Prepared, env *Env) bool {
	if _, internal := without(pre.input.Raw, pre.tool.Internal); internal {
		return true
	}
	quiet := Pipeline{Handlers: p.Handlers}
	quiet.Handlers.Trace = nil // nothing happens yet
	r := &run{p: &quiet, pre: pre, context: &env.Context}
	var in permission.Inputs
	r.describe(&in)
	if in.Query.Interactive || in.Check.UpdatedInput != nil {
		return true
	}
	if in.Mode == permission.Auto {
		return p.Handlers.Classify != nil && pre.tool.Shape.Classifier(pre.input) != "" || !certain(in)
	}
	return in.Resolve().Behaviour == permission.Ask
}

// certain reports whether the decision is the same however many calls were denied before, and
// nobody is asked. No classifier takes part in it.
func certain(in permission.Inputs) bool {
	in.Denials = permission.Denials{}
	fresh := in.Resolve().Behaviour
	in.Denials = permission.Denials{InRow: permission.MaxDenialsInRow, Total: permission.MaxDenials}
	return fresh != permission.Ask && in.Resolve().Behaviour == fresh
}
