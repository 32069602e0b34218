package des

import (
	"cmp"
	"strconv"
	"time"

	"toolbench/toolsys/schedule"
)

// call is one call on its way through the pipeline.
type call struct {
	*Call
	// gen is the number of its latest wait: waiters with another are stale.
	gen uint32
	at  actor // what it waits for
	// hook is the one that is asked.
	hook int
	// stopped is why it was asked to stop; late: its time limit passed. What came first
	// counts.
	stopped schedule.Cause
	late    bool
	// exclusive: a hook rewrote it so that it must run alone; hasTurn: it may; awaitsTurn:
	// it waits to. turnRefused: it was stopped before it might.
	exclusive, hasTurn, awaitsTurn, turnRefused bool
	// denied and stoppedByHook are what hooks decided.
	denied, stoppedByHook bool
	// left: it was answered while it ran.
	left   bool
	status Status
}

// await makes a call wait until a time, as an actor of the gate.
func (e *Engine) await(i int, who actor, at time.Duration, rank uint64) {
	k := &e.calls[i]
	k.gen++
	k.at = who
	e.wait(waiter{at: at, rank: rank, gen: k.gen, index: int16(i), actor: who})
}

// cancel asks a call to stop: what it waits for is over, unless that ignores it.
func (e *Engine) cancel(i int, cause schedule.Cause) {
	k := &e.calls[i]
	if k.stopped != schedule.NoCause {
		return
	}
	k.stopped = cause
	switch {
	case k.awaitsTurn:
		k.awaitsTurn, k.turnRefused = false, true
		e.queueTurn(i)
	case k.at == tool && !k.IgnoresCancel && !k.late: // late ones are on their way already
		e.await(i, tool, e.now, e.toolRank(i))
	case k.at == permit && !k.Ask.IgnoresCancel:
		e.await(i, permit, e.now, e.rank("user/permit/", k.ID))
	case k.at == hookRun, k.at == hooked, k.at == hookEnd:
		// whoever waits for the hook is cancelled too
		e.await(i, hookEnd, e.now, e.hookEndRank(i))
	}
}

func (e *Engine) toolRank(i int) uint64 { return e.rank("tool//", e.calls[i].ID) }

// advance takes a call further when its wait is over.
func (e *Engine) advance(i int, who actor) {
	k := &e.calls[i]
	switch who {
	case begin:
		e.begin(i)
	case hooked, hookRun, hookEnd:
		e.advanceHook(i, who)
	case turns:
		e.exclusiveTurn(i)
	case permit:
		e.userAnswered(i)
	case timer:
		k.late = k.stopped == schedule.NoCause
		if !k.IgnoresCancel {
			e.await(i, tool, e.now, e.toolRank(i))
		}
	case tool:
		e.toolDone(i)
	case toolEnd:
		e.toolEnded(i)
	}
}

// queueTurn makes a call go on that may run alone, or was stopped while it waited to.
func (e *Engine) queueTurn(i int) {
	e.await(i, turns, e.now, e.rank("call//", e.calls[i].ID, "/floor"))
}

// exclusiveTurn goes on with a call that asked to run alone.
func (e *Engine) exclusiveTurn(i int) {
	if k := &e.calls[i]; k.turnRefused {
		e.finish(i, stoppedStatus(k.stopped), false, false)
		return
	}
	e.permission(i)
}

func (e *Engine) begin(i int) {
	switch e.calls[i].Failure {
	case Unknown:
		e.finish(i, NoSuchTool, false, false)
	case NotJSON:
		e.finish(i, BadJSON, false, false)
	default:
		e.hooks(i)
	}
}

// permission asks a person, where what hooks and rules decided does not settle it.
func (e *Engine) permission(i int) {
	k := &e.calls[i]
	switch {
	case k.denied:
		e.note(Decided, i, 1)
		e.finish(i, Denied, false, false)
	case k.Ask != nil:
		e.note(Asked, i, 0)
		at := e.now
		if k.stopped == schedule.NoCause || k.Ask.IgnoresCancel {
			at += k.Ask.Takes()
		}
		e.await(i, permit, at, e.rank("user/permit/", k.ID))
	default:
		e.note(Decided, i, 0)
		e.work(i)
	}
}

// userAnswered takes the person's answer, unless the call was stopped meanwhile.
func (e *Engine) userAnswered(i int) {
	k := &e.calls[i]
	switch {
	case k.stopped != schedule.NoCause:
		e.finish(i, stoppedStatus(k.stopped), false, false)
	case k.Ask.Allow:
		e.note(Decided, i, 0)
		e.work(i)
	default:
		e.note(Decided, i, 1)
		e.finish(i, Denied, false, false)
	}
}

// work begins the tool's run, under its own time limit: only the run counts.
func (e *Engine) work(i int) {
	k := &e.calls[i]
	if k.stopped != schedule.NoCause {
		e.finish(i, stoppedStatus(k.stopped), false, false)
		return
	}
	e.step(schedule.Event{Kind: schedule.Began, Index: i - e.s.first})
	takes := k.Takes()
	e.await(i, tool, e.now+takes, e.toolRank(i))
	if k.Limit > 0 && k.Limit <= takes {
		e.wait(waiter{at: e.now + k.Limit, gen: k.gen, index: int16(i), actor: timer})
	}
}

// toolDone is the end of the tool's time.
func (e *Engine) toolDone(i int) {
	k := &e.calls[i]
	stopped := k.stopped != schedule.NoCause || k.late
	gaveUp := stopped && (!k.IgnoresCancel || k.Failure == Error)
	switch {
	case k.Failure == Panic && (!stopped || k.IgnoresCancel):
		e.finish(i, Panicked, k.StopsSiblings, false)
	case gaveUp && k.late:
		e.finish(i, TimedOut, k.StopsSiblings, false)
	case gaveUp:
		e.finish(i, stoppedStatus(k.stopped), false, false)
	case k.Failure == Error:
		e.finish(i, RunFailed, k.StopsSiblings, false)
	default:
		e.await(i, toolEnd, e.now, e.rank("tool//", k.ID, "/end"))
	}
}

func (e *Engine) toolEnded(i int) {
	k := &e.calls[i]
	if k.Failure == Failed {
		e.finish(i, RunFailed, k.StopsSiblings, k.Modifies)
		return
	}
	e.finish(i, OK, false, k.Modifies)
}

// finish ends a call.
func (e *Engine) finish(i int, s Status, fails, modifies bool) {
	k := &e.calls[i]
	k.gen++
	if k.left {
		return
	}
	k.status = s
	e.note(Ended, i, uint8(s))
	e.step(schedule.Event{Kind: schedule.Finished, Index: i - e.s.first, Fails: fails, Modifies: modifies})
}

// hookTimeout is the time of a hook that names none.
const hookTimeout = time.Minute

// hooks runs the hook that is next, or goes on when all have run.
func (e *Engine) hooks(i int) {
	if k := &e.calls[i]; k.stopped == schedule.NoCause && k.hook < len(k.Hooks) {
		e.await(i, hooked, e.now, e.rank("hook//", k.ID, "/PreToolUse/", strconv.Itoa(e.hookNumber(i))))
		return
	}
	e.afterHooks(i)
}

// hookNumber is the place of the call's hook among all hooks of the case.
func (e *Engine) hookNumber(i int) int {
	n := e.calls[i].hook
	for j := range i {
		n += len(e.calls[j].Hooks)
	}
	return n
}

func (e *Engine) hookEndRank(i int) uint64 {
	return e.rank("hook//", e.calls[i].ID, "/PreToolUse/", strconv.Itoa(e.hookNumber(i)), "/timeout")
}

// HookName is the name of a call's hook, in traces and scenarios.
func HookName(id string, n int) string { return "hook-" + id + "-" + strconv.Itoa(n) }

// advanceHook takes a hook further: its goroutine begins, works, is waited for. A
// hook that takes longer than its time is given up at that time.
func (e *Engine) advanceHook(i int, who actor) {
	k := &e.calls[i]
	h := &k.Hooks[k.hook]
	switch who {
	case hooked:
		takes, limit := h.Takes(), cmp.Or(h.Timeout, hookTimeout)
		// In the instant of its timeout the two come in the order of their ranks.
		run, end := e.rank("hook-run/", k.ID, "/", HookName(k.ID, k.hook), "PreToolUse"), e.hookEndRank(i)
		if takes < limit || takes == limit && run < end {
			e.await(i, hookRun, e.now+takes, run)
		} else {
			k.late = true
			e.await(i, hookEnd, e.now+limit, end)
		}
	case hookRun:
		e.await(i, hookEnd, e.now, e.hookEndRank(i))
	case hookEnd:
		e.hookAnswered(i, h)
	}
}

// hookAnswered takes what the hook decided, if it ended in time.
func (e *Engine) hookAnswered(i int, h *Hook) {
	k := &e.calls[i]
	if !k.late && k.stopped == schedule.NoCause {
		switch h.Action {
		case Deny:
			k.denied = true
		case MakeExclusive:
			k.exclusive = true
		case Stop:
			k.stoppedByHook = true
		}
	}
	k.late = false
	k.hook++
	e.hooks(i)
}

// afterHooks is the pipeline behind the hooks.
func (e *Engine) afterHooks(i int) {
	k := &e.calls[i]
	switch {
	case len(k.Hooks) > 0 && k.stopped != schedule.NoCause:
		e.finish(i, stoppedStatus(k.stopped), false, false)
	case k.stoppedByHook:
		e.finish(i, Stopped, false, false)
	case k.exclusive && k.Safe:
		e.escalate(i)
	default:
		e.permission(i)
	}
}

// escalate asks to run alone (G2).
func (e *Engine) escalate(i int) {
	k := &e.calls[i]
	e.note(Escalated, i, 0)
	k.hasTurn = false
	e.step(schedule.Event{Kind: schedule.Escalated, Index: i - e.s.first})
	if k.hasTurn {
		e.queueTurn(i)
		return
	}
	k.awaitsTurn = true
}

// resume lets a call run that asked to run alone.
func (e *Engine) resume(i int) {
	k := &e.calls[i]
	k.hasTurn = true
	if k.awaitsTurn {
		k.awaitsTurn = false
		e.queueTurn(i)
	}
}
