package trace

// Kind says what happened. The names are part of the trace format: they appear
// in digests, reports and scenarios.
type Kind string

// The kinds, in about the order in which one turn produces them.
const (
	TurnStart   Kind = "turn.start"   // a request is about to be made
	Compacted   Kind = "compacted"    // the history was cut and summed up (E6)
	PoolBuilt   Kind = "pool"         // the tools of this request; prefix hash, counts
	Request     Kind = "request"      // the request's bytes left
	FirstByte   Kind = "stream.open"  // the first stream event arrived
	BlockDone   Kind = "stream.block" // a content block completed
	StreamEnd   Kind = "stream.end"   // message_stop, or the end of the bytes
	StreamCut   Kind = "stream.cut"   // a call was cut off and will not run
	Fallback    Kind = "fallback"     // the stream was abandoned and is retried (J5)
	Ready       Kind = "call.ready"   // a call is complete and queued
	Queued      Kind = "call.queued"  // it cannot start yet; says what it waits for
	Started     Kind = "call.start"   // the scheduler let it go
	Stage       Kind = "call.stage"   // one stage of the pipeline ended (H1)
	Predicate   Kind = "call.predicate"
	Ask         Kind = "call.ask"      // a person is asked
	Decision    Kind = "call.decision" // permission, with its reason (F3)
	Hook        Kind = "call.hook"
	Progress    Kind = "call.progress"
	Escalate    Kind = "call.escalate" // a rewritten input is no longer safe
	Cancel      Kind = "call.cancel"   // asked to stop, with the cause
	Ended       Kind = "call.end"
	Persisted   Kind = "call.persisted" // the result went to a file (K1)
	Applied     Kind = "state.applied"  // a modifier acted
	Dropped     Kind = "state.dropped"  // a safe call's modifier in streaming mode (B3)
	Observed    Kind = "state.observed"
	StateNow    Kind = "state"        // the state after a turn
	Emitted     Kind = "call.emitted" // the result left, in call order (I3)
	Discarded   Kind = "call.discarded"
	Interrupt   Kind = "interrupt"
	Notice      Kind = "notice"
	TaskStarted Kind = "task.start"
	TaskEnded   Kind = "task.end"
	TurnEnd     Kind = "turn.end"
	RunEnd      Kind = "run.end"
	Killed      Kind = "world.kill" // the process was killed; another goes on (H6)
	File        Kind = "world.file" // the snapshot that ends a trace
)

// Kinds are all kinds of events, in the order of a call's way.
func Kinds() []Kind {
	return []Kind{
		TurnStart, Compacted, PoolBuilt, Request, FirstByte, BlockDone, StreamEnd, StreamCut,
		Fallback, Ready, Queued, Started, Stage, Predicate, Ask, Decision, Hook, Progress,
		Escalate, Cancel, Ended, Persisted, Applied, Dropped, Observed, StateNow, Emitted,
		Discarded, Interrupt, Notice, TaskStarted, TaskEnded, TurnEnd, RunEnd, Killed, File,
	}
}
