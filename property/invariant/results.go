package invariant

import (
	"fmt"
	"slices"

	"toolbench/property/des"
)

func (v *View) timeGoesOn() error {
	last := len(v.Log.Entries) - 1
	for i, e := range v.Log.Entries {
		switch {
		case i > 0 && e.At < v.at(i-1):
			return fmt.Errorf("%s comes after %s", e, v.Log.Entries[i-1])
		case (e.Kind == des.Over) != (i == last):
			return fmt.Errorf("entry %d of %d is %s", i, last, e)
		}
	}
	return nil
}

// each looks at every run with its message; the first error counts.
func (v *View) each(f func(m *message, r *callRun) error) error {
	for i := range v.messages {
		m := &v.messages[i]
		for j := range v.of(m) {
			r := &v.of(m)[j]
			if err := f(m, r); err != nil {
				return fmt.Errorf("call %s: %w", r.call.ID, err)
			}
		}
	}
	return nil
}

func (v *View) oneResult() error {
	return v.each(func(m *message, r *callRun) error {
		switch {
		case r.ends > 1, r.ends == 0 && !(m.abandoned && r.start == none):
			return fmt.Errorf("it ended %d times", r.ends)
		case m.abandoned && r.results > 1, !m.abandoned && r.results != 1:
			return fmt.Errorf("it has %d results", r.results)
		case !m.abandoned && r.discarded != none:
			return fmt.Errorf("it was discarded, and the message was not")
		case m.abandoned && r.discarded == none:
			return fmt.Errorf("it was not discarded with its message")
		}
		return nil
	})
}

func (v *View) callOrder() error {
	for i := range v.messages {
		before := -1
		missing := ""
		for j := range v.of(&v.messages[i]) {
			r := &v.of(&v.messages[i])[j]
			switch {
			case r.emitted == none:
				missing = r.call.ID
			case missing != "":
				return fmt.Errorf("the result of %s left, that of %s before it did not", r.call.ID, missing)
			case r.emitted < before:
				return fmt.Errorf("the result of %s left before one of an earlier call", r.call.ID)
			}
			before = max(before, r.emitted)
		}
	}
	return nil
}

func (v *View) resultAfterEnd() error {
	return v.each(func(_ *message, r *callRun) error {
		if r.emitted == none {
			return nil
		}
		if r.emitted < r.ended || r.emittedStatus != r.status {
			return fmt.Errorf("it left as %s, and ended as %s", r.emittedStatus, r.status)
		}
		return nil
	})
}

func (v *View) askedOnce() error {
	return v.each(func(_ *message, r *callRun) error {
		if r.cancels > 1 {
			return fmt.Errorf("it was asked to stop %d times", r.cancels)
		}
		return nil
	})
}

func (v *View) discardedIsGone() error {
	if err := v.each(func(_ *message, r *callRun) error {
		if r.discarded != none && r.emitted > r.discarded {
			return fmt.Errorf("its result left after it was discarded")
		}
		return nil
	}); err != nil {
		return err
	}
	return v.stateIsCommitted()
}

// stateIsCommitted: the state at the end is made of the modifiers of committed
// messages, in the order in which they acted.
func (v *View) stateIsCommitted() error {
	if v.Log.Entries[len(v.Log.Entries)-1].Code != 0 {
		return nil
	}
	var want []int16
	acted := map[int]int16{}
	var places []int
	for i := range v.messages {
		for _, r := range v.of(&v.messages[i]) {
			if r.applied != none && !v.messages[i].abandoned {
				places, acted[r.applied] = append(places, r.applied), r.number
			}
		}
	}
	slices.Sort(places)
	for _, p := range places {
		want = append(want, acted[p])
	}
	if !slices.Equal(want, v.Log.State) {
		return fmt.Errorf("the state is made of calls %v; committed were %v", v.Log.State, want)
	}
	return nil
}
