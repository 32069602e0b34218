package mix

import (
	"slices"
	"strconv"
	"time"

	"toolbench/sim/des"
)

// MaxTries bounds a shrinking: how many smaller cases are tried at most.
const MaxTries = 5_000

// Shrink makes a failing case small: it takes things away, as long as the case still
// fails, until nothing more can be taken. It is greedy and deterministic. Fails is
// asked about each smaller case; the case given must fail. The original is untouched.
func Shrink(c *des.Case, fails func(*des.Case) bool) *des.Case {
	s := &shrinking{best: Clone(c), fails: fails, left: MaxTries}
	for again := true; again && s.left > 0; {
		again = s.turns()
		again = s.calls() || again
		again = s.traits() || again
		again = s.world() || again
		again = s.times() || again
	}
	s.try(rename)
	return s.best
}

type shrinking struct {
	best  *des.Case
	fails func(*des.Case) bool
	left  int
}

// try changes a copy of the best case and keeps it if it still fails.
func (s *shrinking) try(change func(*des.Case) bool) bool {
	if s.left == 0 {
		return false
	}
	smaller := Clone(s.best)
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

// rename counts the calls that are left.
func rename(c *des.Case) bool {
	for n := range c.Calls() {
		c.Call(n).ID = "c" + strconv.Itoa(n+1)
	}
	return true
}

// turns drops whole turns.
func (s *shrinking) turns() (smaller bool) {
	for i := len(s.best.Turns) - 1; i >= 0; i-- {
		smaller = s.try(func(c *des.Case) bool {
			c.Turns = slices.Delete(c.Turns, i, i+1)
			return len(c.Turns) > 0
		}) || smaller
	}
	return smaller
}

// calls drops calls: half of a turn's, then a quarter, then one by one.
func (s *shrinking) calls() (smaller bool) {
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

// plainer are the ways to make one call plainer.
var plainer = []func(*des.Call) bool{
	func(k *des.Call) bool { return none(&k.Hooks) },
	func(k *des.Call) bool { return len(k.Hooks) > 1 && drop(&k.Hooks, 0) },
	func(k *des.Call) bool { return len(k.Hooks) > 1 && drop(&k.Hooks, 1) },
	func(k *des.Call) bool { done := k.Ask != nil; k.Ask = nil; return done },
	func(k *des.Call) bool { return zero(&k.Goes) },
	func(k *des.Call) bool { return zero(&k.Deaf) },
	func(k *des.Call) bool { return zero(&k.Stops) },
	func(k *des.Call) bool { return zero(&k.Modifies) },
	func(k *des.Call) bool { return zero(&k.Limit) },
	func(k *des.Call) bool { return zero(&k.Chars) },
	func(k *des.Call) bool { return zero(&k.Empty) },
	func(k *des.Call) bool { return zero(&k.Late) },
	func(k *des.Call) bool { return none(&k.Reads) },
	func(k *des.Call) bool { return none(&k.Writes) },
	func(k *des.Call) bool { return zero(&k.Cancel) },
	func(k *des.Call) bool { done := !k.Safe; k.Safe = true; return done },
	func(k *des.Call) bool { return len(k.Hooks) > 0 && zero(&k.Hooks[0].After) },
	func(k *des.Call) bool { return len(k.Hooks) > 0 && zero(&k.Hooks[0].Timeout) },
	func(k *des.Call) bool { return k.Ask != nil && zero(&k.Ask.After) },
	func(k *des.Call) bool { return k.Ask != nil && zero(&k.Ask.Never) },
	func(k *des.Call) bool { return k.Ask != nil && zero(&k.Ask.Deaf) },
	func(k *des.Call) bool { return zero(&k.For) },
}

func (s *shrinking) traits() (smaller bool) {
	for n := range s.best.Calls() {
		for _, change := range plainer {
			smaller = s.try(func(c *des.Case) bool { return change(c.Call(n)) }) || smaller
		}
	}
	return smaller
}

// world drops what happens to the conversation.
func (s *shrinking) world() (smaller bool) {
	for i := len(s.best.Says) - 1; i >= 0; i-- {
		smaller = s.try(func(c *des.Case) bool { return drop(&c.Says, i) }) || smaller
	}
	for i := range s.best.Turns {
		smaller = s.try(func(c *des.Case) bool { return zero(&c.Turns[i].End) }) || smaller
	}
	for i := len(s.best.Faults) - 1; i >= 0; i-- {
		smaller = s.try(func(c *des.Case) bool { return drop(&c.Faults, i) }) || smaller
	}
	for _, change := range []func(*des.Case) bool{
		func(c *des.Case) bool { return zero(&c.Leaves) },
		func(c *des.Case) bool { return zero(&c.Disk) },
		func(c *des.Case) bool { return zero(&c.Idle) },
		func(c *des.Case) bool { return zero(&c.Retries) },
		func(c *des.Case) bool { return zero(&c.Seed) },
		func(c *des.Case) bool { done := c.Limit != 10; c.Limit = 10; return done },
	} {
		smaller = s.try(change) || smaller
	}
	return smaller
}

// times makes times round and short.
func (s *shrinking) times() (smaller bool) {
	for k := range len(times(s.best)) {
		for _, unit := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Millisecond} {
			smaller = s.try(func(c *des.Case) bool {
				at := times(c)[k]
				return shorten(at, max(unit, at.Round(unit)))
			}) || smaller
		}
		smaller = s.try(func(c *des.Case) bool {
			at := times(c)[k]
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

// times are all times of a case that are not 0.
func times(c *des.Case) []*time.Duration {
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
			add(&k.Late)
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
	for i := range c.Says {
		add(&c.Says[i])
	}
	for i := range c.Faults {
		add(&c.Faults[i].For)
	}
	add(&c.Leaves)
	return all
}

// Clone copies a case whole.
func Clone(c *des.Case) *des.Case {
	d := *c
	d.Says, d.Faults, d.Turns = slices.Clone(c.Says), slices.Clone(c.Faults), slices.Clone(c.Turns)
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

func zero[T comparable](v *T) (changed bool) {
	var nothing T
	changed = *v != nothing
	*v = nothing
	return changed
}

func none[T any](s *[]T) (changed bool) {
	changed = len(*s) > 0
	*s = nil
	return changed
}

func drop[T any](s *[]T, i int) bool {
	if i >= len(*s) {
		return false
	}
	*s = slices.Delete(*s, i, i+1)
	return true
}
