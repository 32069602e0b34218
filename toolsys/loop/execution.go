package loop

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// execution is one message's calls: what came in, what goes out. The driver calls
// its hooks one at a time; calls run beside the stream that adds more, so the list
// of jobs is reached through job. Emitted is read when the driver is done.
type execution struct {
	s      *Session
	snap   *pool.Snapshot
	driver *schedule.Driver[*pipeline.Result]
	// running ends, by over, when the calls have.
	running context.Context
	over    context.CancelCauseFunc
	blocks  message.Assembler
	reply   message.Reply
	repeats bool // a call was dropped for its id
	history []message.Message
	// What all calls of the message share is made once.
	ways    tool.Extensions
	busy    func() []string
	nearest func(name string) []string

	mu      sync.Mutex
	places  places
	jobs    []*job
	said    []message.Block // what the model said so far
	spare   []job           // room for calls to come; only the stream's reader takes of it
	ids     map[string]bool // of the jobs, once there are many; the stream's reader's alone
	emitted []*pipeline.Result
	// ahead are the calls that have ended and are not let out yet, in call order; kept under the policy Effects only.
	ahead []int
}

// job is one call with what it runs in.
type job struct {
	pre *pipeline.Prepared
	env pipeline.Env
	// parent is the message up to the call itself.
	parent []message.Block
	// touches is what the call declared last that it reads and writes, ended its
	// result; both under the policy Effects only.
	touches tool.Effects
	ended   *pipeline.Result
	// Control is the driver's, as the call reaches it (see Alone).
	schedule.Control
	ex *execution
}

func (ex *execution) job(i int) *job {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.jobs[i]
}

func (s *Session) execute(ctx context.Context, snap *pool.Snapshot) (*execution, error) {
	ex := &execution{s: s, snap: snap, history: slices.Clip(s.history), ways: s.ways(snap), nearest: s.nearest(snap)}
	ex.busy = func() []string { return tool.Each(ex.driver.Running(), ex.callID) }
	ex.running, ex.over = context.WithCancelCause(context.WithoutCancel(ctx))
	hooks := schedule.Hooks[*pipeline.Result]{
		Verdict: func(r *pipeline.Result) schedule.Verdict {
			return schedule.Verdict{Fails: r.Fails, Modifies: r.Modify != nil}
		},
		Run: ex.run, Apply: ex.apply, Emit: ex.emit, Started: ex.started,
		Answer:    func(i int, cause schedule.Cause) *pipeline.Result { return s.pipe.Answer(ex.job(i).pre, cause) },
		Leave:     func(i int, cause schedule.Cause) *pipeline.Result { return s.pipe.Leave(ex.job(i).pre, cause) },
		Drop:      func(i int, _ *pipeline.Result) { ex.event(i, trace.Dropped{}) },
		Discard:   func(i int) { ex.event(i, trace.Discarded{}) },
		Cancelled: func(i int, cause schedule.Cause) { ex.event(i, trace.Cancel{Cause: cause.String()}) },
	}
	if s.traces() {
		hooks.Queued = func(i int, w schedule.Wait) {
			ex.event(i, trace.Queued{Reason: w.Reason, On: tool.Each(w.On, ex.callID)})
		}
	}
	if s.cfg.Policy == schedule.Effects {
		hooks.Touches, hooks.Ended = ex.touches, ex.ended
	}
	cfg := schedule.Config[*pipeline.Result]{Policy: s.cfg.Policy, Limit: s.cfg.Settings.MaxConcurrency, Hooks: hooks}
	if !s.cfg.Handlers.Clock.Unnamed {
		cfg.Go = func(i int, f func()) { s.cfg.Handlers.Clock.Go(s.actor(ex.job(i).pre.Call.ID), f) }
	}
	driver, err := schedule.NewDriver(ctx, cfg)
	ex.driver = driver
	return ex, err
}

// actor names a call to the clock; ids repeat between agents, not within one.
func (s *Session) actor(id string) string { return "call/" + s.cfg.Agent + "/" + id }

// take reads one stream event and queues the calls it completed.
func (ex *execution) take(data []byte) error {
	done, err := ex.blocks.Add(data)
	for _, b := range done {
		if ex.s.traces() {
			ex.s.trace(trace.BlockDone{Type: b.Type, Chars: len(b.Text) + len(b.Input)})
		}
		if b.Type == message.TypeToolUse && ex.taken(b.ID) {
			ex.repeats = true
			ex.s.trace(trace.StreamCut{ID: b.ID, Name: b.Name, Input: string(b.Input), Reason: "its id is taken"})
			continue
		}
		ex.said = append(ex.said, b)
		if ex.s.cfg.Journal != nil {
			_ = ex.s.record(Entry{Kind: BlockDone, Block: &b}) // Send asks for the error
		}
		if found := b.ServerFound(); len(found) > 0 {
			ex.snap = ex.snap.With(found)
		}
		if b.Type == message.TypeToolUse {
			ex.add(b)
		}
	}
	return err
}

// taken reports whether the message has a call with that id already: a second one could not be
// answered apart from the first, and no API takes such a message back. It is dropped like one
// that was cut off: never run, not committed (H2, O7).
func (ex *execution) taken(id string) bool {
	if ex.ids != nil {
		return ex.ids[id]
	}
	return slices.ContainsFunc(ex.jobs, func(j *job) bool { return j.pre.Call.ID == id })
}

// fewCalls are looked through one by one for an id.
const fewCalls = 16

// enter notes the id of the last job, once there are too many to look through.
func (ex *execution) enter(id string) {
	switch {
	case ex.ids != nil:
		ex.ids[id] = true
	case len(ex.jobs) > fewCalls:
		ex.ids = make(map[string]bool, 2*len(ex.jobs))
		for _, j := range ex.jobs {
			ex.ids[j.pre.Call.ID] = true
		}
	}
}

// withoutRepeats drops the calls that were dropped for their id (see taken).
func withoutRepeats(blocks []message.Block) []message.Block {
	seen := map[string]bool{}
	return slices.DeleteFunc(blocks, func(b message.Block) bool {
		repeated := b.Type == message.TypeToolUse && seen[b.ID]
		seen[b.ID] = seen[b.ID] || b.Type == message.TypeToolUse
		return repeated
	})
}

func (ex *execution) add(b message.Block) {
	call := pipeline.Call{ID: b.ID, Name: b.Name, Input: b.Input, Invalid: b.Invalid, Turn: ex.s.turnNow(), Caller: b.Caller()}
	i := len(ex.jobs)
	j := ex.fresh(i)
	j.pre = ex.s.pipe.Prepare(call, &j.env)
	j.parent = slices.Clip(ex.said)
	ex.mu.Lock()
	ex.jobs = append(ex.jobs, j)
	ex.mu.Unlock()
	ex.enter(b.ID)
	if ex.s.traces() {
		ex.event(i, trace.Ready{Safe: j.pre.Safe, Input: string(b.Input)})
	}
	ex.driver.Add(j.pre.Safe, j.pre.Cancellable)
}

// fresh makes the job of call i. Room is made for several at once, the more the more there are.
func (ex *execution) fresh(i int) *job {
	if len(ex.spare) == 0 {
		ex.spare = make([]job, min(max(1, i), 16))
	}
	j := &ex.spare[0]
	ex.spare = ex.spare[1:]
	j.ex, j.env = ex, pipeline.Env{Snapshot: ex.snap, Nearest: ex.nearest, Gone: ex.s.gone}
	return j
}

func (ex *execution) run(ctx context.Context, i int, c schedule.Control) *pipeline.Result {
	j := ex.job(i)
	j.Control = c
	if err := ex.s.record(Entry{Kind: CallStarted, Call: j.pre.Call.ID}); err != nil {
		return ex.s.pipe.Answer(j.pre, err)
	}
	r := ex.s.pipe.Run(ctx, j.pre, &j.env, j)
	if ex.s.cfg.Journal != nil && !j.pre.Left() {
		_ = ex.s.record(Entry{Kind: CallEnded, Block: new(r.Block())}) // Send asks for the error
	}
	return r
}

// Alone waits as the driver has it. One step may wake several: like all that wait, they go on one after the other.
func (j *job) Alone(ctx context.Context) error {
	err := j.Control.Alone(ctx)
	_ = j.ex.s.cfg.Handlers.Clock.Sleep(context.WithoutCancel(ctx), j.ex.s.actor(j.pre.Call.ID)+"/floor", 0)
	return err
}

// started gives the call the state of this moment: all that must be applied before it has been (B3).
func (ex *execution) started(i int) {
	j := ex.job(i)
	j.env.Context = ex.s.context(ex.view(i), ex)
	j.env.Context.Inner = ex.inner(i)
	ex.s.begins(&j.env.Context, j.pre.Call.ID)
	j.env.Context.Parent = message.Message{Role: message.Assistant, Content: j.parent}
	if ex.s.cfg.progress != nil {
		ex.s.cfg.progress(j.pre.Activity())
	}
	if ex.s.traces() {
		ex.event(i, trace.Started{Touches: ex.traced(j)})
	}
}

// apply lets a modifier act. One that panics changes nothing.
func (ex *execution) apply(i int, r *pipeline.Result) {
	if err := ex.s.Change(r.Modify); err != nil {
		ex.event(i, trace.Dropped{Error: err.Error()})
		return
	}
	ex.event(i, trace.Applied{})
}

// emit commits what the call learned and lets its result out, in call order (B5, I3).
func (ex *execution) emit(i int, r *pipeline.Result) {
	ex.s.commitResult(r)
	ex.emitted = append(ex.emitted, r)
	if len(ex.ahead) > 0 {
		ex.ahead = slices.Delete(ex.ahead, 0, 1)
	}
	if ex.s.traces() {
		for _, o := range r.Observed {
			ex.event(i, observation(o))
		}
		ex.event(i, r.Emitted())
	}
}

func observation(o tool.Observation) trace.Observed {
	if o.Read != nil {
		return trace.Observed{Read: o.Read.Path, Hash: o.Read.Hash[:min(12, len(o.Read.Hash))]}
	}
	return trace.Observed{Discovered: o.Discovered, Task: o.Task}
}

// wait lets the calls end; when the conversation is stopped meanwhile they are stopped one by one.
func (ex *execution) wait(ctx context.Context) {
	unhook := context.AfterFunc(ctx, ex.aborter())
	defer unhook()
	ex.driver.Wait()
	ex.over(nil)
}

// aborter stops the calls. Those of a sub-agent wait for their turn: it is stopped while
// its parent is in the middle of stopping others, and there is to be one order of both (O4).
func (ex *execution) aborter() func() {
	s := ex.s
	abort := func() { ex.stop(ex.driver.Abort) }
	if s.cfg.Depth == 0 {
		return abort
	}
	return func() { s.cfg.Handlers.Clock.Go("abort/"+s.cfg.Agent, abort) }
}

// stop asks calls to stop. Those that have not when the grace is over are left (J4).
func (ex *execution) stop(ask func() int) {
	stop := ask()
	clock, actor := ex.s.cfg.Handlers.Clock, "grace/"+ex.s.cfg.Agent
	clock.Go(actor, func() {
		if clock.Sleep(ex.running, actor, ex.s.cfg.Grace) == nil {
			ex.driver.Leave(stop)
		}
	})
}

// abandon gives up the message and waits for what is in flight (J5).
func (ex *execution) abandon() {
	if ex == nil || ex.driver == nil {
		return
	}
	ex.stop(ex.driver.Abandon)
	ex.driver.Wait()
	ex.over(nil)
}

func (ex *execution) event(i int, data trace.Data) {
	if ex.s.traces() {
		ex.s.traceCall(ex.job(i).pre.Call, data)
	}
}

// What follows serves the policy Effects (J8), under which calls overtake each other:
// each is to see the state that it would see if all before it had run one by one.

// view is the state for call i: what was committed, and then, in call order, what the calls before it left behind
// that have ended but wait for their turn to be let out. Those that have not ended are none that i could see. Under
// other policies none is held back, and nothing is looked through.
func (ex *execution) view(i int) tool.State {
	state := ex.s.State()
	if ex.s.cfg.Policy != schedule.Effects {
		return state
	}
	for _, k := range ex.ahead {
		if k >= i {
			break
		}
		r := ex.job(k).ended
		if r.Modify != nil {
			state, _ = modified(state, r.Modify) // the trace has it when it is applied
		}
		state = learned(state, r)
	}
	return state
}

// ended keeps a result until it is let out.
func (ex *execution) ended(i int, r *pipeline.Result) {
	ex.job(i).ended = r
	at, _ := slices.BinarySearch(ex.ahead, i)
	ex.ahead = slices.Insert(ex.ahead, at, i)
}

// touches asks call i what it reads and writes as things stand.
func (ex *execution) touches(i int) *schedule.Footprint {
	j := ex.job(i)
	state := ex.view(i)
	j.env.Context = ex.s.context(state, ex)
	j.touches = ex.s.pipe.Effects(j.pre, &j.env)
	if slices.Contains(j.touches.Writes, schedule.OrderKey) && state.Files.Len()+i >= tool.FileCacheLimit {
		// Files that calls before it read may push out the one it wants to change (B5).
		j.touches = tool.Effects{Everything: true}
	}
	e := j.touches
	if e.Everything {
		return nil
	}
	return &schedule.Footprint{Reads: e.Reads, Writes: e.Writes, Shifts: e.Shifts}
}

// traced is what a call that starts touches, for the trace.
func (ex *execution) traced(j *job) trace.Touches {
	e := j.touches
	if ex.s.cfg.Policy != schedule.Effects {
		e = ex.s.pipe.Effects(j.pre, &j.env)
	}
	return touched(e)
}

func touched(e tool.Effects) trace.Touches {
	return trace.Touches{Reads: e.Reads, Writes: e.Writes, Everything: e.Everything}
}

// inner gives call i, which has started, the means to make calls of its own (C3). Each goes
// through the whole pipeline, so that schema, hooks, rules and people decide upon it as upon any other; it sees
// what those before it changed, and what all changed is one modifier of call i.
func (ex *execution) inner(i int) func(context.Context, func([]tool.InnerResult) (tool.InnerCall, bool)) tool.InnerReport {
	return func(ctx context.Context, next func([]tool.InnerResult) (tool.InnerCall, bool)) (report tool.InnerReport) {
		wrapped := ex.snap.Pool.Wrapped().Look(pool.View{Settings: ex.s.cfg.Settings})
		j := ex.job(i)
		outer, state := j.pre.Call, j.env.Context.State
		for ctx.Err() == nil {
			c, more := next(report.Results)
			if !more {
				return report
			}
			call := pipeline.Call{ID: fmt.Sprintf("%s.%d", outer.ID, len(report.Results)+1), Name: c.Tool, Input: c.Input, Turn: outer.Turn, Inner: true}
			r := ex.runInner(ctx, call, wrapped, state)
			after := func(s tool.State) tool.State {
				if r.Modify != nil {
					s, _ = modified(s, r.Modify) // one that panics changes nothing
				}
				return learned(s, r)
			}
			state = after(state)
			report.Modify = report.Modify.Then(after)
			report.Messages = append(report.Messages, r.Messages...)
			report.Results = append(report.Results, tool.InnerResult{Tool: r.Tool, Status: string(r.Status), Blocks: r.Content, Failed: r.Error})
			if r.StopTurn {
				return report
			}
		}
		return report
	}
}

func (ex *execution) runInner(ctx context.Context, call pipeline.Call, wrapped *pool.Snapshot, state tool.State) *pipeline.Result {
	env := &pipeline.Env{Snapshot: wrapped, Nearest: ex.s.nearest(wrapped), Context: ex.s.context(state, ex)}
	ex.s.begins(&env.Context, call.ID)
	pre := ex.s.pipe.Prepare(call, env)
	if ex.s.traces() {
		e := ex.s.pipe.Effects(pre, env)
		ex.s.traceCall(call, trace.Ready{Safe: pre.Safe, Input: string(call.Input)})
		ex.s.traceCall(call, trace.Started{Touches: touched(e)})
	}
	r := ex.s.pipe.Run(ctx, pre, env, schedule.Direct{})
	if r.Content == nil {
		r.Content = []message.Block{}
	}
	return r
}
