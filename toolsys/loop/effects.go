package loop

import (
	"slices"

	"toolbench/toolsys/footprint"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// What follows serves the policy Effects (J8), under which calls overtake each other:
// each is to see the state that it would see if all before it had run one by one.

// view is the state for call i: what was committed, and then, in call order, what the
// calls before it left behind that have ended but wait for their turn to be let out.
// Those that have not ended are none that i could see.
func (ex *execution) view(i int) tool.State {
	state := ex.s.State()
	for k := len(ex.emitted); k < i; k++ {
		r := ex.job(k).ended
		if r == nil {
			continue
		}
		if r.Modify != nil {
			state, _ = modified(state, r.Modify) // the trace says so when it is applied
		}
		state = learned(state, *r)
	}
	return state
}

// ended keeps a result until it is let out.
func (ex *execution) ended(i int, r pipeline.Result) { ex.job(i).ended = &r }

// touches asks call i what it reads and writes as things stand.
func (ex *execution) touches(i int) *schedule.Footprint {
	j := ex.job(i)
	state := ex.view(i)
	j.env.Context = ex.s.context(state, ex)
	j.touches = ex.s.pipe.Effects(j.pre, j.env)
	if slices.Contains(j.touches.Writes, footprint.Order) && state.Files.Len()+i >= tool.FileCacheLimit {
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
		e = ex.s.pipe.Effects(j.pre, j.env)
	}
	return trace.Touches{Reads: e.Reads, Writes: e.Writes, Everything: e.Everything}
}
