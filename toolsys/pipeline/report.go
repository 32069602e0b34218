package pipeline

import (
	"time"

	"toolbench/toolsys/trace"
)

// traces reports whether stages are recorded; their times are taken for the
// trace alone.
func (p *Pipeline) traces() bool { return p.Handlers.Trace != nil }

func (p *Pipeline) now() time.Time {
	if !p.traces() {
		return time.Time{}
	}
	return p.Handlers.Clock.Now()
}

func (p *Pipeline) since(began time.Time) time.Duration {
	if !p.traces() {
		return 0
	}
	return p.Handlers.Clock.Now().Sub(began)
}

func (p *Pipeline) trace(call Call, name string, data trace.Data) {
	if !p.traces() {
		return
	}
	p.Handlers.Trace(trace.Event{
		At: p.Handlers.Since(), Turn: call.Turn, Call: call.ID, Tool: name, Data: data,
	})
}

func (r *run) stage(name, result string, took time.Duration) {
	if r.p.traces() {
		r.trace(trace.Stage{Stage: name, Result: result, Took: took})
	}
}

// trace reports what the call did. One that was left has its answer, and its id may by now
// be that of another call: of what it still does only its end is traced (J4).
func (r *run) trace(data trace.Data) {
	if !r.pre.Left() {
		r.p.trace(r.pre.Call, r.name(), data)
	}
}

// progress reports on the call while it runs, and never after its result: the lock
// is held while the report is made (H4).
func (r *run) progress(text string) {
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
type watch struct {
	r      *run
	began  time.Time
	waited time.Duration
}

func (r *run) watch() watch {
	if !r.p.traces() {
		return watch{r: r}
	}
	return watch{r, r.p.now(), r.personTook()}
}

func (w watch) took() time.Duration {
	if !w.r.p.traces() {
		return 0
	}
	return w.r.p.since(w.began) - (w.r.personTook() - w.waited)
}

func (r *run) personTook() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waited
}

// waitedSince notes that a person took from began until now.
func (r *run) waitedSince(began time.Time) time.Duration {
	took := r.p.since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waited += took
	return took
}
