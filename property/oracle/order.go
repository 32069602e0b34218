package oracle

import (
	"fmt"
	"slices"

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

// segments are the stretches of the log in which a call ran: while it waits for the floor it does not.
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
		if n := s.running + s.alone; n > v.Case.Limit {
			return fmt.Errorf("%d calls run; the limit is %d", n, v.Case.Limit)
		}
		return nil
	}, nil)
}

func (v *View) noIdling() error {
	return v.sweep(nil, func(s *sweepState) error {
		held := v.Case.Policy != schedule.Streaming.String() && !v.byEffects() && !s.began
		switch {
		case s.running+s.alone > 0, s.over:
		case s.holding > 0:
			return fmt.Errorf("nothing runs, and a call waits for the floor")
		case s.queued > 0 && !held:
			return fmt.Errorf("nothing runs, and %d calls are queued", s.queued)
		}
		return nil
	})
}

// slotsAreUsed reads from the log alone what a slot lost to a time limit or a panic comes
// to: a call that could run beside those that do, and does not.
func (v *View) slotsAreUsed() error {
	if v.byEffects() || v.Case.Policy == schedule.Serial.String() {
		return nil
	}
	return v.sweep(nil, func(s *sweepState) error {
		if s.running == 0 || s.alone+s.holding > 0 || s.over || s.running >= v.Case.Limit {
			return nil
		}
		next := slices.Index(s.state, queued)
		if held := v.Case.Policy == schedule.Batch.String() && !s.began; next < 0 || held || !v.safe(next) {
			return nil
		}
		return fmt.Errorf("%d calls run, the limit is %d, and the safe call %s waits", s.running, v.Case.Limit, v.Case.Call(next).ID)
	})
}

// safe reports whether a call may run beside others as far as it stands in the case.
func (v *View) safe(call int) bool {
	k := v.Case.Call(call)
	return k.Safe && !k.CannotRun()
}

// The states of a call in a sweep.
const (
	queued uint8 = iota + 1
	running
	holding // it waits to run alone
	alone
)

// sweepState is how things stand at one place of the log.
type sweepState struct {
	queued, running, holding, alone int
	began, over                     bool
	state                           []uint8 // of each call, 0 when it is none of them
}

func (s *sweepState) move(call int16, to uint8) {
	counts := [...]*int{queued: &s.queued, running: &s.running, holding: &s.holding, alone: &s.alone}
	if from := counts[s.state[call]]; from != nil {
		*from--
	}
	s.state[call] = to
	if into := counts[to]; into != nil {
		*into++
	}
}

// sweep walks through the log; entry is asked at each entry, instant at the end of each instant.
func (v *View) sweep(entry, instant func(*sweepState) error) error {
	v.state = append(v.state[:0], make([]uint8, v.Case.Calls())...)
	s := &sweepState{state: v.state}
	for i, e := range v.Log.Entries {
		if instant != nil && i > 0 && e.At > v.at(i-1) {
			if err := instant(s); err != nil {
				return fmt.Errorf("at %s: %w", v.at(i-1), err)
			}
		}
		s.take(v, e)
		if entry != nil {
			if err := entry(s); err != nil {
				return fmt.Errorf("at %s: %w", e.At, err)
			}
		}
	}
	return nil
}

func (s *sweepState) take(v *View, e des.Entry) {
	switch e.Kind {
	case des.Request:
		s.began, s.over = false, false
	case des.Ready:
		s.move(e.Call, queued)
	case des.Started:
		s.began = true
		if s.move(e.Call, alone); v.safe(int(e.Call)) {
			s.move(e.Call, running)
		}
	case des.Escalated:
		s.move(e.Call, holding)
	case des.Asked, des.Decided:
		if s.state[e.Call] == holding {
			s.move(e.Call, alone)
		}
	case des.Ended:
		s.move(e.Call, 0)
	case des.Discarded:
		s.over = true
		if s.state[e.Call] == queued {
			s.move(e.Call, 0)
		}
	}
}

func (v *View) byEffects() bool { return v.Case.Policy == schedule.Effects.String() }

// pairs checks each two runs of a message, in call order; the first error counts.
func (v *View) pairs(f func(first, second *callRun) error) error {
	for i := range v.messages {
		runs := v.of(&v.messages[i])
		for b := range runs {
			for a := range b {
				if err := f(&runs[a], &runs[b]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// conflictsWait checks that of two calls of which one writes what the other touches, the
// later starts when the earlier has ended.
func (v *View) conflictsWait() error {
	if !v.byEffects() {
		return nil
	}
	return v.pairs(func(first, second *callRun) error {
		if second.start != none && first.ended > second.start && conflict(first, second) {
			return fmt.Errorf("call %s started before %s had ended, and they conflict", second.call.ID, first.call.ID)
		}
		return nil
	})
}

func conflict(a, b *callRun) bool { return schedule.Conflict(a.call.Footprint(), b.call.Footprint()) }

func (v *View) noOvertaking() error {
	return v.pairs(func(first, second *callRun) error {
		late := first.start > second.start || first.start == none && first.ended > second.start
		if second.start != none && late && (!v.byEffects() || conflict(first, second)) {
			return fmt.Errorf("call %s started before %s", second.call.ID, first.call.ID)
		}
		return nil
	})
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
