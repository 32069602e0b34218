package pipeline

import (
	"time"

	"toolbench/toolsys/trace"
)

// traces reports whether stages are recorded; their times are taken for the trace alone.
func (p *Pipeline) traces() bool { return p.Handlers.Trace != nil }

// now is the time of the trace.
func (p *Pipeline) now() time.Duration {
	if !p.traces() {
		return 0
	}
	return p.Handlers.Since()
}

func (p *Pipeline) trace(call Call, name string, data trace.Data) {
	if p.traces() {
		p.Handlers.Trace(trace.Event{At: p.Handlers.Since(), Turn: call.Turn, Call: call.ID, Tool: name, Data: data})
	}
}

// stage traces that a stage ended at an instant.
func (r *run) stage(name, result string, at, took time.Duration) {
	if !r.p.traces() || r.pre.Left() {
		return
	}
	passed := r.slot()
	*passed = trace.Stage{Stage: name, Result: result, Took: took}
	r.p.Handlers.Trace(trace.Event{At: at, Turn: r.pre.Call.Turn, Call: r.pre.Call.ID, Tool: r.name(), Data: passed})
}

// slot gives room for a stage. A server's question may pass one beside the call's own.
func (r *run) slot() *trace.Stage {
	if i := int(r.passes.Add(1)) - 1; r.traced != nil && i < len(r.traced) {
		return &r.traced[i]
	}
	return new(trace.Stage)
}

// stagesOfCall is how many stages most calls pass.
const stagesOfCall = 11

// trace reports what the call did. One that was left has its answer, and its id may by now
// be that of another call: of what it still does only its end is traced (J4).
func (r *run) trace(data trace.Data) {
	if !r.pre.Left() {
		r.p.trace(r.pre.Call, r.name(), data)
	}
}

// Progress reports on the call while it runs, and never after its result: the lock
// is held while the report is made (H4).
func (r *run) Progress(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quiet || r.pre.Left() {
		return
	}
	r.clock.progressed()
	if r.p.traces() {
		r.trace(trace.Progress{Text: text})
	}
}

// end closes the way for progress.
func (r *run) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quiet = true
}

// watch measures a stage from here on, less what a person took of it (H1).
type watch struct{ began, waited time.Duration }

func (r *run) watch() watch { return watch{r.p.now(), time.Duration(r.waited.Load())} }

// passed traces the stage that was measured, and measures the next from here on.
func (r *run) passed(w *watch, name, result string) {
	next := r.watch()
	r.stage(name, result, next.began, next.began-w.began-(next.waited-w.waited))
	*w = next
}

// waitedSince notes that a person took from began until now.
func (r *run) waitedSince(began time.Duration) time.Duration {
	took := r.p.now() - began
	r.waited.Add(int64(took))
	return took
}
