package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// errTimeout is the cause of a context that ran into the call's own limit.
var errTimeout = errors.New("the call's time limit passed")

// work runs the tool, then the stages after it: post hooks, budget, block.
func (r *run) work(ctx context.Context) Result {
	if res := r.complete(); res != nil {
		return *res
	}
	r.control.Begin()
	if ctx.Err() != nil {
		return *r.stopped(context.Cause(ctx))
	}
	r.context.Approved = r.approved
	w := r.watch()
	out, err := r.perform(ctx)
	r.end()
	res := r.resultOf(ctx, out, err)
	r.ends(&res)
	r.passed(&w, "run", string(res.Status))
	if stopped := slices.Contains([]Status{Cancelled, Interrupted, Aborted, Discarded}, res.Status); stopped || r.pre.Left() {
		return res
	}
	r.postHooks(ctx, &res)
	r.passed(&w, "post_hooks", "ok")
	if r.pre.Left() {
		return res
	}
	res.Content = Fit(res.Content)
	r.budget(&res)
	r.stage("block", "ok", r.p.now(), 0)
	return res
}

// perform runs the tool's own code under its own limit: the deadline counts the run
// alone, not the queue and not the person.
func (r *run) perform(ctx context.Context) (out tool.Output, err error) {
	ctx, done := r.limited(ctx, r.pre.tool.Limit.Timeout(r.pre.input))
	defer done()
	defer r.heartbeat(ctx)()
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v}
		}
	}()
	r.performed = true
	out, err = r.pre.tool.Call(ctx, r.pre.input, r.context)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // why it was stopped explains more than that it was
	}
	return out, err
}

type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("the tool panicked: %v", e.value) }

// heartbeat reports progress while the tool runs, as often as the tool asks for
// (L4). The function it gives back ends it.
func (r *run) heartbeat(ctx context.Context) (stop func()) {
	every := r.pre.tool.Limit.Heartbeat
	if every <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	clock := &r.p.Handlers.Clock
	began := clock.Now()
	actor := "heartbeat/" + r.pre.Call.ID
	clock.Go(actor, func() {
		for clock.Sleep(ctx, actor, every) == nil {
			r.Progress("running for " + clock.Now().Sub(began).Round(time.Second).String())
		}
	})
	return cancel
}

// resultOf turns what the tool gave back into a result, with a status for each way to end.
func (r *run) resultOf(ctx context.Context, out tool.Output, err error) Result {
	if err != nil {
		return r.unsuccessful(ctx, out, err)
	}
	status := OK
	if out.Failed {
		status = Failed
	}
	return Result{
		Status: status, CallID: r.pre.Call.ID, Limit: r.pre.limit(), Data: out.Data,
		Content: out.Blocks, Error: out.Failed,
		Fails:    out.Failed && r.pre.tool.Behaviour.FailureStopsSiblings,
		Modify:   out.Modify,
		Observed: out.Observed, Messages: out.Messages, Allowed: true,
	}
}

// unsuccessful is the result of a call whose tool gave an error.
func (r *run) unsuccessful(ctx context.Context, out tool.Output, err error) Result {
	switch p, is := errors.AsType[*panicError](err); {
	case is:
		return r.broke(Panicked, p.Error(), out)
	case errors.Is(err, errTimeout):
		return r.broke(TimedOut, r.exceeded(), out)
	case context.Cause(ctx) != nil:
		res := r.stopped(context.Cause(ctx))
		res.Observed = out.Observed
		return *res
	}
	return r.broke(Failed, err.Error(), out)
}

// broke is a failure of the call's own run, which for some tools stops the siblings (J3).
func (r *run) broke(status Status, text string, out tool.Output) Result {
	res := r.fail(status, text)
	res.Fails = r.pre.tool.Behaviour.FailureStopsSiblings
	res.Observed, res.Allowed = out.Observed, true
	res.Messages = nil
	r.add(out.Messages...)
	return res
}

// stopped is the result of a call that was stopped from outside, before it ran or while it did.
func (r *run) stopped(cause error) *Result { return new(r.fail(Halt(cause, r.name(), r.performed))) }

// Halt words why a call was stopped (running) or never run, each cause apart.
func Halt(cause error, name string, running bool) (Status, string) {
	did := "was not run"
	if running {
		did = "was stopped before it finished"
	}
	switch {
	case errors.Is(cause, schedule.SiblingFailed):
		return Cancelled, fmt.Sprintf("%s %s, because another call of the same message failed.", name, did)
	case errors.Is(cause, schedule.UserInterrupt):
		return Interrupted, fmt.Sprintf("%s %s: the user interrupted with a new message.", name, did)
	case errors.Is(cause, schedule.StreamAbandoned):
		return Discarded, fmt.Sprintf("%s %s: the response it belongs to was discarded.", name, did)
	case errors.Is(cause, schedule.Vanished):
		return Panicked, fmt.Sprintf("%s ended without a result.", name)
	}
	return Aborted, fmt.Sprintf("%s %s: the conversation was stopped.", name, did)
}

// Answer is the result of a call that never ran, or that vanished under way.
func (p *Pipeline) Answer(pre *Prepared, cause error) *Result {
	status, text := Halt(cause, pre.name(), false)
	return p.answer(pre, ended, status, text)
}

// Leave is the result of a call that was asked to stop for cause and still runs. Nothing
// more is done for the call; its end, when it comes, is traced as late (J4).
func (p *Pipeline) Leave(pre *Prepared, cause error) *Result {
	status, text := Halt(cause, pre.name(), true)
	return p.answer(pre, left, status, text+" It did not stop when it was asked to, and may still be at work.")
}

func (p *Pipeline) answer(pre *Prepared, over uint32, status Status, text string) *Result {
	res := &Result{
		Status: status, CallID: pre.Call.ID, Tool: pre.name(), Limit: pre.limit(),
		Content: []message.Block{message.Text(text)}, Error: true,
	}
	p.traceEnd(pre, over, res)
	return res
}

func (p *Prepared) name() string {
	if p.tool != nil {
		return p.tool.Name
	}
	return p.Call.Name
}

// traceEnd traces that a call is over, or, after it was left, that it came to its end.
func (p *Pipeline) traceEnd(pre *Prepared, over uint32, res *Result) {
	first := pre.over.CompareAndSwap(0, over)
	switch {
	case !p.traces():
	case first:
		data := trace.Ended{Status: string(res.Status)}
		if pre.Call.Inner {
			data.Answer = new(res.Emitted())
		}
		p.trace(pre.Call, pre.name(), data)
	case over == ended && pre.Left():
		p.trace(pre.Call, pre.name(), trace.Late{Status: string(res.Status)})
	}
}

// budget holds the result to the tool's own size (K1).
func (r *run) budget(res *Result) {
	if r.p.Handlers.Budget == nil {
		return
	}
	w := r.watch()
	content, d := r.p.Handlers.Budget.One(r.pre.Call.Turn, r.pre.Call.ID, r.pre.limit(), res.Content)
	res.Content = content
	if d.Verdict != Kept {
		res.Data = nil
	}
	r.passed(&w, "budget", d.Verdict.String())
	r.p.Persisted(r.pre.Call.Turn, r.name(), d)
}

// Persisted traces a decision of the budget that changed a result.
func (p *Pipeline) Persisted(turn int, name string, d Sizing) {
	if d.Verdict == Kept {
		return
	}
	p.trace(Call{ID: d.CallID, Turn: turn}, name, trace.Persisted{
		Verdict: d.Verdict.String(), Path: d.Path, Chars: d.Chars, Inline: d.Inline, Why: d.Why,
	})
}
