package des

import (
	"strconv"
	"time"

	"toolbench/toolsys/schedule"
)

// hookTimeout is the time of a hook that names none.
const hookTimeout = time.Minute

// hooks asks the hook that is next, or goes on when all have been asked.
func (e *Engine) hooks(i int) {
	k := &e.calls[i]
	if k.stopped == schedule.NoCause && k.hook < len(k.Hooks) {
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

// hookGoesOn takes a hook further: its goroutine begins, works, is waited for. A
// hook that takes longer than its time is given up at that time.
func (e *Engine) advanceHook(i int, who actor) {
	k := &e.calls[i]
	h := &k.Hooks[k.hook]
	switch who {
	case hooked:
		takes, limit := h.After, h.Timeout
		if h.Action == Hang {
			takes = Forever
		}
		if limit == 0 {
			limit = hookTimeout
		}
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

// hookSaid takes what the hook wants, if it lived to say it.
func (e *Engine) hookAnswered(i int, h *Hook) {
	k := &e.calls[i]
	if timedOut := k.late; !timedOut && k.stopped == schedule.NoCause {
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

// heardHooks is the pipeline behind the hooks.
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

// escalate asks for the floor (G2).
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

// resume gives a call the floor.
func (e *Engine) resume(i int) {
	k := &e.calls[i]
	k.hasTurn = true
	if k.awaitsTurn {
		k.awaitsTurn = false
		e.queueTurn(i)
	}
}
