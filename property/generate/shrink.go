package generate

import (
	"slices"
	"strconv"
	"time"

	"toolbench/property/des"
)

// How many smaller cases are tried at most. A system case takes longer to run.
const (
	schedulerTries = 5_000
	systemTries    = 1_500
)

// shrinker makes a failing case small: it takes things away, as long as the case
// still fails, until nothing more can be taken. It is greedy and deterministic.
type shrinker[T interface{ Check() error }] struct {
	best  T
	clone func(T) T
	fails func(T) bool
	left  int
}

// try changes a copy of the best case and keeps it if it still fails.
func (s *shrinker[T]) try(change func(T) bool) bool {
	if s.left == 0 {
		return false
	}
	smaller := s.clone(s.best)
	if !change(smaller) || smaller.Check() != nil {
		return false
	}
	s.left--
	if !s.fails(smaller) {
		return false
	}
	s.best = smaller
	return true
}

// repeat applies passes, each in turn, as long as one of them makes the case smaller.
func (s *shrinker[T]) repeat(passes ...func() bool) {
	for again := true; again && s.left > 0; {
		again = false
		for _, pass := range passes {
			again = pass() || again
		}
	}
}

// unset sets a value to its zero value and reports whether that changed it.
func unset[T comparable](v *T) (changed bool) {
	var zero T
	changed = *v != zero
	*v = zero
	return changed
}

// empty removes all members of a list and reports whether there were any.
func empty[T any](s *[]T) (changed bool) {
	changed = len(*s) > 0
	*s = nil
	return changed
}

// drop removes member i of a list and reports whether there was one.
func drop[T any](s *[]T, i int) bool {
	if i >= len(*s) {
		return false
	}
	*s = slices.Delete(*s, i, i+1)
	return true
}

type schedulerShrinker struct {
	shrinker[*des.Case]
}

// ShrinkScheduler makes a scheduler case small that fails. The function fails is asked
// about each smaller case; the case given must fail, and is not changed.
func ShrinkScheduler(c *des.Case, fails func(*des.Case) bool) *des.Case {
	s := &schedulerShrinker{shrinker[*des.Case]{CloneScheduler(c), CloneScheduler, fails, schedulerTries}}
	s.repeat(s.turns, s.calls, s.traits, s.conversation, s.times)
	s.try(rename)
	return s.best
}

// rename counts the calls that are left.
func rename(c *des.Case) bool {
	for n := range c.Calls() {
		c.Call(n).ID = "c" + strconv.Itoa(n+1)
	}
	return true
}

// turns drops turns.
func (s *schedulerShrinker) turns() (smaller bool) {
	for i := len(s.best.Turns) - 1; i >= 0; i-- {
		smaller = s.try(func(c *des.Case) bool {
			c.Turns = slices.Delete(c.Turns, i, i+1)
			return len(c.Turns) > 0
		}) || smaller
	}
	return smaller
}

// calls drops calls: half of a turn's, then a quarter, then one by one.
func (s *schedulerShrinker) calls() (smaller bool) {
	for t := range s.best.Turns {
		for size := (len(s.best.Turns[t].Calls) + 1) / 2; size > 0; size /= 2 {
			for at := len(s.best.Turns[t].Calls) - size; at >= 0; at -= size {
				smaller = s.try(func(c *des.Case) bool {
					calls := &c.Turns[t].Calls
					if at+size > len(*calls) {
						return false
					}
					*calls = slices.Delete(*calls, at, at+size)
					return true
				}) || smaller
			}
		}
	}
	return smaller
}

// simplifications are the ways to make one call simpler.
var simplifications = []func(*des.Call) bool{
	func(k *des.Call) bool { return empty(&k.Hooks) },
	func(k *des.Call) bool { return len(k.Hooks) > 1 && drop(&k.Hooks, 0) },
	func(k *des.Call) bool { return len(k.Hooks) > 1 && drop(&k.Hooks, 1) },
	func(k *des.Call) bool { done := k.Ask != nil; k.Ask = nil; return done },
	func(k *des.Call) bool { return unset(&k.Failure) },
	func(k *des.Call) bool { return unset(&k.IgnoresCancel) },
	func(k *des.Call) bool { return unset(&k.StopsSiblings) },
	func(k *des.Call) bool { return unset(&k.Modifies) },
	func(k *des.Call) bool { return unset(&k.Limit) },
	func(k *des.Call) bool { return unset(&k.Chars) },
	func(k *des.Call) bool { return unset(&k.Empty) },
	func(k *des.Call) bool { return unset(&k.LateProgress) },
	func(k *des.Call) bool { return empty(&k.Reads) },
	func(k *des.Call) bool { return empty(&k.Writes) },
	func(k *des.Call) bool { return unset(&k.Cancel) },
	func(k *des.Call) bool { done := !k.Safe; k.Safe = true; return done },
	func(k *des.Call) bool { return len(k.Hooks) > 0 && unset(&k.Hooks[0].After) },
	func(k *des.Call) bool { return len(k.Hooks) > 0 && unset(&k.Hooks[0].Timeout) },
	func(k *des.Call) bool { return k.Ask != nil && unset(&k.Ask.After) },
	func(k *des.Call) bool { return k.Ask != nil && unset(&k.Ask.Never) },
	func(k *des.Call) bool { return k.Ask != nil && unset(&k.Ask.IgnoresCancel) },
	func(k *des.Call) bool { return unset(&k.For) },
}

func (s *schedulerShrinker) traits() (smaller bool) {
	for n := range s.best.Calls() {
		for _, change := range simplifications {
			smaller = s.try(func(c *des.Case) bool { return change(c.Call(n)) }) || smaller
		}
	}
	return smaller
}

// conversation drops what happens to the conversation.
func (s *schedulerShrinker) conversation() (smaller bool) {
	for i := len(s.best.Interrupts) - 1; i >= 0; i-- {
		smaller = s.try(func(c *des.Case) bool { return drop(&c.Interrupts, i) }) || smaller
	}
	for i := range s.best.Turns {
		smaller = s.try(func(c *des.Case) bool { return unset(&c.Turns[i].End) }) || smaller
	}
	for i := len(s.best.Faults) - 1; i >= 0; i-- {
		smaller = s.try(func(c *des.Case) bool { return drop(&c.Faults, i) }) || smaller
	}
	for _, change := range []func(*des.Case) bool{
		func(c *des.Case) bool { return unset(&c.AbortAt) },
		func(c *des.Case) bool { return unset(&c.Disk) },
		func(c *des.Case) bool { return unset(&c.Idle) },
		func(c *des.Case) bool { return unset(&c.Retries) },
		func(c *des.Case) bool { return unset(&c.Seed) },
		func(c *des.Case) bool { done := c.Limit != 10; c.Limit = 10; return done },
	} {
		smaller = s.try(change) || smaller
	}
	return smaller
}

// times makes times round and short.
func (s *schedulerShrinker) times() (smaller bool) {
	for k := range len(schedulerTimes(s.best)) {
		for _, unit := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Millisecond} {
			smaller = s.try(func(c *des.Case) bool {
				at := schedulerTimes(c)[k]
				return shorten(at, max(unit, at.Round(unit)))
			}) || smaller
		}
		smaller = s.try(func(c *des.Case) bool {
			at := schedulerTimes(c)[k]
			return shorten(at, (*at / 2).Truncate(time.Millisecond))
		}) || smaller
	}
	return smaller
}

func shorten(at *time.Duration, to time.Duration) bool {
	if to >= *at || to <= 0 {
		return false
	}
	*at = to
	return true
}

// schedulerTimes are all times of a case that are not 0.
func schedulerTimes(c *des.Case) []*time.Duration {
	var all []*time.Duration
	add := func(d *time.Duration) {
		if *d > 0 {
			all = append(all, d)
		}
	}
	for t := range c.Turns {
		for i := range c.Turns[t].Calls {
			k := &c.Turns[t].Calls[i]
			add(&k.At)
			add(&k.For)
			add(&k.Limit)
			add(&k.LateProgress)
			for h := range k.Hooks {
				add(&k.Hooks[h].After)
				add(&k.Hooks[h].Timeout)
			}
			if k.Ask != nil {
				add(&k.Ask.After)
			}
		}
		add(&c.Turns[t].End)
	}
	for i := range c.Interrupts {
		add(&c.Interrupts[i])
	}
	for i := range c.Faults {
		add(&c.Faults[i].For)
	}
	add(&c.AbortAt)
	return all
}

// CloneScheduler copies a case.
func CloneScheduler(c *des.Case) *des.Case {
	d := *c
	d.Interrupts, d.Faults, d.Turns = slices.Clone(c.Interrupts), slices.Clone(c.Faults), slices.Clone(c.Turns)
	for t := range d.Turns {
		calls := slices.Clone(d.Turns[t].Calls)
		for i := range calls {
			calls[i].Hooks = slices.Clone(calls[i].Hooks)
			if calls[i].Ask != nil {
				ask := *calls[i].Ask
				calls[i].Ask = &ask
			}
		}
		d.Turns[t].Calls = calls
	}
	return &d
}

type systemShrinker struct {
	shrinker[*SystemCase]
}

// ShrinkSystem makes a system case small that fails, as ShrinkScheduler does.
func ShrinkSystem(c *SystemCase, fails func(*SystemCase) bool) *SystemCase {
	s := &systemShrinker{shrinker[*SystemCase]{CloneSystem(c), CloneSystem, fails, systemTries}}
	s.repeat(s.turns, s.calls, s.lists, s.traits)
	return s.best
}

func (s *systemShrinker) turns() (smaller bool) {
	for i := len(s.best.Turns) - 1; i >= 0; i-- {
		smaller = s.try(func(c *SystemCase) bool { return drop(&c.Turns, i) }) || smaller
	}
	return smaller
}

// calls drops calls: all of a sub-agent's or one, and one of a message.
func (s *systemShrinker) calls() (smaller bool) {
	for t := range s.best.Turns {
		for i := len(s.best.Turns[t].Calls) - 1; i >= 0; i-- {
			if s.try(func(c *SystemCase) bool { return drop(&c.Turns[t].Calls, i) }) {
				smaller = true
				continue
			}
			for n := len(s.best.Turns[t].Calls[i].Inside) - 1; n >= 0; n-- {
				smaller = s.try(func(c *SystemCase) bool { return drop(&c.Turns[t].Calls[i].Inside, n) }) || smaller
			}
		}
	}
	return smaller
}

// lists drops what stands around the calls, one by one.
func (s *systemShrinker) lists() (smaller bool) {
	most := max(len(s.best.Hooks), len(s.best.Tools), len(s.best.Servers), len(s.best.Allow), len(s.best.Ask), len(s.best.Deny), len(s.best.Discovered), len(s.best.Interrupts), len(s.best.Faults))
	for i := most - 1; i >= 0; i-- {
		for _, change := range []func(*SystemCase) bool{
			func(c *SystemCase) bool { return drop(&c.Hooks, i) },
			func(c *SystemCase) bool { return drop(&c.Tools, i) },
			func(c *SystemCase) bool { return drop(&c.Servers, i) },
			func(c *SystemCase) bool { return drop(&c.Allow, i) },
			func(c *SystemCase) bool { return drop(&c.Ask, i) },
			func(c *SystemCase) bool { return drop(&c.Deny, i) },
			func(c *SystemCase) bool { return drop(&c.Discovered, i) },
			func(c *SystemCase) bool { return drop(&c.Interrupts, i) },
			func(c *SystemCase) bool { return drop(&c.Faults, i) },
		} {
			smaller = s.try(change) || smaller
		}
	}
	return smaller
}

func (s *systemShrinker) traits() (smaller bool) {
	for n := range len(removals(s.best)) {
		smaller = s.try(func(c *SystemCase) bool { return removals(c)[n]() }) || smaller
	}
	return s.try(func(c *SystemCase) bool { done := c.Policy != "serial"; c.Policy = "serial"; return done }) || smaller
}

// removals are the ways to set one value of a case to nothing: flags, then texts, then
// numbers, then times. Each reports whether it changed the case.
func removals(s *SystemCase) []func() bool {
	flags, texts, numbers := []*bool{&s.Small, &s.Person}, []*string{&s.Search, &s.Style, &s.Mode}, []*int{&s.Retries}
	var times []*time.Duration
	s.Each(func(c *Call, _ int, _ *Call) { times = append(times, &c.At, &c.For) })
	for i := range s.Tools {
		t := &s.Tools[i]
		flags = append(flags, &t.Deferrable, &t.Always, &t.Fails, &t.Stops, &t.WritesEnv, &t.Safe, &t.ReadOnly)
		numbers, times = append(numbers, &t.Chars, &t.Limit), append(times, &t.Timeout)
	}
	for i := range s.Servers {
		v := &s.Servers[i]
		texts, numbers = append(texts, &v.Connect, &v.List), append(numbers, &v.From, &v.Until, &v.Relist)
	}
	for i := range s.Hooks {
		h := &s.Hooks[i]
		flags, texts = append(flags, &h.Output, &h.Stop), append(texts, &h.Decision, &h.Input, &h.Fails, &h.OnFailure)
	}
	s.Each(func(c *Call, _ int, _ *Call) { flags, texts = append(flags, &c.Bad), append(texts, &c.Answer) })
	for i := range s.Interrupts {
		times = append(times, &s.Interrupts[i])
	}
	return slices.Concat(unsets(flags), unsets(texts), unsets(numbers), unsets(times))
}

func unsets[T comparable](values []*T) (all []func() bool) {
	for _, v := range values {
		all = append(all, func() bool { return unset(v) })
	}
	return all
}

// CloneSystem copies a case.
func CloneSystem(s *SystemCase) *SystemCase {
	d := *s
	d.Discovered, d.Allow, d.Ask, d.Deny = slices.Clone(s.Discovered), slices.Clone(s.Allow), slices.Clone(s.Ask), slices.Clone(s.Deny)
	d.Faults = slices.Clone(s.Faults)
	d.Servers, d.Tools, d.Hooks, d.Interrupts = slices.Clone(s.Servers), slices.Clone(s.Tools), slices.Clone(s.Hooks), slices.Clone(s.Interrupts)
	d.Turns = slices.Clone(s.Turns)
	for t := range d.Turns {
		calls := slices.Clone(d.Turns[t].Calls)
		for i := range calls {
			calls[i].Inside = slices.Clone(calls[i].Inside)
		}
		d.Turns[t].Calls = calls
	}
	return &d
}
