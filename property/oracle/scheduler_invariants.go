package oracle

import (
	"time"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

// schedulerInvariants are those of both engines, that which makes others meaningless first. They see the log alone.
var schedulerInvariants = [...]condition[*View]{
	{"time-goes-on", "time never runs backwards, and a log ends with the end of the conversation", (*View).timeGoesOn},
	{"one-result", "every committed call has exactly one result, every other one none (H2)", ofEach((*View).oneResult)},
	{"call-order", "results leave in call order (I3)", (*View).callOrder},
	{"result-after-end", "a result leaves after its call ended, with the status it ended with", ofEach((*View).resultAfterEnd)},
	{"exclusive-alone", "an exclusive call overlaps nothing (J1)", (*View).exclusiveAlone},
	{"limit", "at most so many safe calls run at once (I2)", (*View).limit},
	{"no-overtaking", "calls start in call order (J1), under effects those that conflict (J8)", (*View).noOvertaking},
	{"conflicts-wait", "under effects a call waits for all before it that write what it touches or touch what it writes (J8)", (*View).conflictsWait},
	{"waits-for-the-stream", "under serial and batch nothing starts before the stream ended (J8)", (*View).waitsForTheStream},
	{"nothing-after-a-stop", "no call of a message starts after the user's new message or a stop of the conversation (J4)", ofEach((*View).nothingAfterAStop)},
	{"siblings-stop", "a failure that stops siblings leaves none queued and stops all that run (J3)", ofEach((*View).siblingsStop)},
	{"others-go-on", "a failure that stops nobody stops nobody (J3)", ofEach((*View).othersGoOn)},
	{"interrupt-spares", "a running call that may not be cancelled is not asked to stop by the user's message (J4)", ofEach((*View).interruptSpares)},
	{"causes-apart", "a call that was stopped has the reason: a sibling, the user, a stop, an abandoned stream (J3-J5)", ofEach((*View).causesApart)},
	{"asked-once", "a call is asked to stop at most once", ofEach((*View).askedOnce)},
	{"discarded-is-gone", "an abandoned stream lets nothing out, and its calls' effects on the state are undone (J5)", (*View).discardedIsGone},
	{"deadlines", "a time limit ends a run exactly, counts the run alone, and nothing that can be cancelled outlasts it", ofEach((*View).deadlines)},
	{"run-time", "a call that nothing goes wrong with runs exactly as long as it takes", ofEach((*View).runTime)},
	{"allowed-first", "nothing runs without being allowed, and what was denied never runs (F2)", ofEach((*View).allowedFirst)},
	{"deny-wins", "what a hook denies is denied, whatever else allows it (F2)", ofEach((*View).denyWins)},
	{"modifiers-in-order", "an exclusive call's modifier acts before the next call starts; safe ones' act in call order after their batch or are dropped when streaming (B3)", (*View).modifiersInOrder},
	{"slots-are-used", "no safe call waits while fewer than the limit run and nothing before it waits to run alone (I2)", (*View).slotsAreUsed},
	{"no-idling", "a call waits only for a reason: with nothing running, the first that waits starts (J1)", (*View).noIdling},
}

// View is a log in order: what became of each call, attempt by attempt.
type View struct {
	Case *des.Case
	Log  *des.Log
	// runs are the calls' ways, in the order in which they became ready; a retried answer brings a call again.
	runs []callRun
	// messages are the attempts: a request and its calls.
	messages []message
	latest   []int // the run of each call
	state    []uint8
}

// CheckScheduler gives the first invariant that a log breaks, or nil.
func CheckScheduler(v *View) *Violation {
	b := first(schedulerInvariants[:], v)
	if b != nil {
		b.Log = v.Log.String()
	}
	return b
}

// none is the place of an entry that is not there.
const none = -1

// callRun is one call's way. Its members are places in the log; none if it did not come to that.
type callRun struct {
	v                     *View
	call                  *des.Call
	number                int16
	message               int
	ready, start          int
	ended, emitted        int
	discarded, cancelled  int
	applied               int
	dropped               int
	decided, asked        int
	escalated             int
	status, emittedStatus des.Status
	cause                 schedule.Cause
	allowed               bool
	results, ends         int
	cancels               int
}

// message is one attempt at an answer.
type message struct {
	over        int // the place of the fallback, the commit, or the end
	first, n    int // its runs
	abandoned   bool
	interrupted int // the first that stopped it
}

// Read takes a log in. A view may be used for one log after the other, which keeps its
// buffers; each holds until the next.
func (v *View) Read(c *des.Case, log *des.Log) {
	v.Case, v.Log = c, log
	v.runs, v.messages, v.latest = v.runs[:0], v.messages[:0], v.latest[:0]
	for range c.Calls() {
		v.latest = append(v.latest, none)
	}
	for i, e := range log.Entries {
		v.entry(i, e)
	}
}

func (v *View) entry(i int, e des.Entry) {
	if e.Call < 0 {
		v.conversation(i, e)
		return
	}
	if e.Kind == des.Ready {
		v.latest[e.Call] = len(v.runs)
		r := callRun{v: v, call: v.Case.Call(int(e.Call)), number: e.Call, message: len(v.messages) - 1, ready: i, start: none, ended: none, emitted: none,
			discarded: none, cancelled: none, applied: none, dropped: none, decided: none, asked: none, escalated: none}
		v.runs = append(v.runs, r)
		m := &v.messages[len(v.messages)-1]
		if m.n++; m.n == 1 {
			m.first = len(v.runs) - 1
		}
		return
	}
	if n := v.latest[e.Call]; n != none {
		v.runs[n].take(i, e)
	}
}

func (r *callRun) take(i int, e des.Entry) {
	switch e.Kind {
	case des.Started:
		r.start = i
	case des.Cancelled:
		r.cancelled, r.cause = i, schedule.Cause(e.Code)
		r.cancels++
	case des.Escalated:
		r.escalated = i
	case des.Asked:
		r.asked = i
	case des.Decided:
		r.decided, r.allowed = i, e.Code == 0
	case des.Ended:
		r.ended, r.status = i, des.Status(e.Code)
		r.ends++
	case des.Applied:
		r.applied = i
	case des.Dropped:
		r.dropped = i
	case des.Emitted:
		r.emitted, r.emittedStatus = i, des.Status(e.Code)
		r.results++
	case des.Discarded:
		r.discarded = i
	}
}

func (v *View) conversation(i int, e des.Entry) {
	if e.Kind == des.Request {
		v.messages = append(v.messages, message{over: none, interrupted: none})
		return
	}
	if len(v.messages) == 0 {
		return
	}
	m := &v.messages[len(v.messages)-1]
	switch e.Kind {
	case des.Interrupt:
		if m.over == none && m.interrupted == none {
			m.interrupted = i
		}
	case des.Fallback, des.Committed, des.Over:
		if m.over == none {
			m.over = i
			m.abandoned = e.Kind != des.Committed
		}
	}
}

func (v *View) at(i int) time.Duration { return v.Log.Entries[i].At }

// attempt is the message that the call belongs to, siblings are its runs.
func (r *callRun) attempt() *message   { return &r.v.messages[r.message] }
func (r *callRun) siblings() []callRun { return r.v.of(r.attempt()) }

// of are the runs of a message.
func (v *View) of(m *message) []callRun { return v.runs[m.first : m.first+m.n] }

// exclusive reports whether the call must run alone, under the policy.
func (r *callRun) exclusive(c *des.Case) bool {
	k := r.call
	if c.Policy == schedule.Effects.String() {
		return k.Footprint() == nil
	}
	return c.Policy == schedule.Serial.String() || !k.Safe || k.CannotRun()
}
