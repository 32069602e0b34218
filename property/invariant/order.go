package invariant

import (
	"fmt"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

// resumed is the place where an escalated call got the floor; none if it did not.
func (r *callRun) resumed() int {
	for _, place := range []int{r.asked, r.decided} {
		if place > r.escalated {
			return place
		}
	}
	return none
}

// segments are the stretches of the log in which a call ran: while it waits for the
// floor it does not.
func (r *callRun) segments() (first, second [2]int) {
	switch {
	case r.start == none:
		return [2]int{0, 0}, [2]int{0, 0}
	case r.escalated == none:
		return [2]int{r.start, r.ended}, [2]int{0, 0}
	case r.resumed() == none:
		return [2]int{r.start, r.escalated}, [2]int{0, 0}
	}
	return [2]int{r.start, r.escalated}, [2]int{r.resumed(), r.ended}
}

func overlap(a, b [2]int) bool { return a[0] < b[1] && b[0] < a[1] }

func (r *callRun) ranBeside(part [2]int) bool {
	first, second := r.segments()
	return overlap(first, part) || overlap(second, part)
}

func (v *View) exclusiveAlone() error {
	for i := range v.messages {
		runs := v.of(&v.messages[i])
		for a := range runs {
			part, alone := runs[a].segments()
			if !runs[a].exclusive(v.Case) {
				part = alone
			}
			if part[1]+alone[1] == 0 { // most calls never are
				continue
			}
			for b := range runs {
				if a != b && (runs[b].ranBeside(part) || runs[a].exclusive(v.Case) && runs[b].ranBeside(alone)) {
					return fmt.Errorf("call %s must be alone, and %s ran beside it", runs[a].call.ID, runs[b].call.ID)
				}
			}
		}
	}
	return nil
}

func (v *View) limit() error {
	return v.sweep(func(s *sweepState) error {
		if s.running > v.Case.Limit {
			return fmt.Errorf("%d calls run; the limit is %d", s.running, v.Case.Limit)
		}
		return nil
	}, nil)
}

func (v *View) noIdling() error {
	return v.sweep(nil, func(s *sweepState) error {
		held := v.Case.Policy != schedule.Streaming.String() && !v.byEffects() && !s.began
		switch {
		case s.running > 0, s.over:
		case s.holding > 0:
			return fmt.Errorf("nothing runs, and a call waits for the floor")
		case s.queued > 0 && !held:
			return fmt.Errorf("nothing runs, and %d calls are queued", s.queued)
		}
		return nil
	})
}

// sweepState is how things stand at one place of the log.
type sweepState struct {
	queued, running, holding int
	began, over              bool
	state                    []uint8 // of each call: 1 queued, 2 running, 3 holding
}

func (s *sweepState) move(call int16, to uint8) {
	counts := [4]*int{1: &s.queued, 2: &s.running, 3: &s.holding}
	if from := counts[s.state[call]]; from != nil {
		*from--
	}
	s.state[call] = to
	if into := counts[to]; into != nil {
		*into++
	}
}

// sweep walks through the log; entry is asked at each entry, instant at the end of
// each instant.
func (v *View) sweep(entry, instant func(*sweepState) error) error {
	v.state = append(v.state[:0], make([]uint8, v.Case.Calls())...)
	s := &sweepState{state: v.state}
	for i, e := range v.Log.Entries {
		if instant != nil && i > 0 && e.At > v.at(i-1) {
			if err := instant(s); err != nil {
				return fmt.Errorf("at %s: %w", v.at(i-1), err)
			}
		}
		s.take(e)
		if entry != nil {
			if err := entry(s); err != nil {
				return fmt.Errorf("at %s: %w", e.At, err)
			}
		}
	}
	return nil
}

func (s *sweepState) take(e des.Entry) {
	switch e.Kind {
	case des.Request:
		s.began, s.over = false, false
	case des.Ready:
		s.move(e.Call, 1)
	case des.Started:
		s.began = true
		s.move(e.Call, 2)
	case des.Escalated:
		s.move(e.Call, 3)
	case des.Asked, des.Decided:
		if s.state[e.Call] == 3 {
			s.move(e.Call, 2)
		}
	case des.Ended:
		s.move(e.Call, 0)
	case des.Discarded:
		s.over = true
		if s.state[e.Call] == 1 {
			s.move(e.Call, 0)
		}
	}
}

func (v *View) byEffects() bool { return v.Case.Policy == schedule.Effects.String() }

// conflictsWait: of two calls of which one writes what the other touches, the later
// starts when the earlier has ended.
func (v *View) conflictsWait() error {
	if !v.byEffects() {
		return nil
	}
	for i := range v.messages {
		runs := v.of(&v.messages[i])
		for b := range runs {
			for a := range b {
				if runs[b].start != none && runs[a].ended > runs[b].start && schedule.Conflict(runs[a].call.Footprint(), runs[b].call.Footprint()) {
					return fmt.Errorf("call %s started before %s had ended, and they conflict", runs[b].call.ID, runs[a].call.ID)
				}
			}
		}
	}
	return nil
}

func (v *View) noOvertaking() error {
	for i := range v.messages {
		runs := v.of(&v.messages[i])
		for b := range runs {
			for a := range b {
				first, second := &runs[a], &runs[b]
				if v.byEffects() && !schedule.Conflict(first.call.Footprint(), second.call.Footprint()) {
					continue
				}
				late := first.start > second.start || first.start == none && first.ended > second.start
				if second.start != none && late {
					return fmt.Errorf("call %s started before %s", second.call.ID, first.call.ID)
				}
			}
		}
	}
	return nil
}

func (v *View) waitsForTheStream() error {
	if v.Case.Policy == schedule.Streaming.String() || v.byEffects() {
		return nil
	}
	for i := range v.messages {
		runs := v.of(&v.messages[i])
		for _, r := range runs {
			if r.start != none && r.start < runs[len(runs)-1].ready {
				return fmt.Errorf("call %s started before %s was complete", r.call.ID, runs[len(runs)-1].call.ID)
			}
		}
	}
	return nil
}
