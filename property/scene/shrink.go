package scene

import (
	"slices"
	"time"
)

// maxTries bounds a shrinking: how many smaller scenes are tried at most.
const maxTries = 1_500

// Shrink makes a failing scene small, as mix.Shrink does a case: it takes things away
// as long as it still fails. Fails is asked about each smaller scene; the one given
// must fail, and is left as it is.
func Shrink(s *Scene, fails func(*Scene) bool) *Scene {
	k := &shrinking{best: Clone(s), fails: fails, left: maxTries}
	for again := true; again && k.left > 0; {
		again = k.turns()
		again = k.calls() || again
		again = k.lists() || again
		again = k.traits() || again
	}
	return k.best
}

type shrinking struct {
	best  *Scene
	fails func(*Scene) bool
	left  int
}

// try changes a copy of the best scene and keeps it if it still fails.
func (k *shrinking) try(change func(*Scene) bool) bool {
	if k.left == 0 {
		return false
	}
	smaller := Clone(k.best)
	if !change(smaller) || smaller.Check() != nil {
		return false
	}
	k.left--
	if !k.fails(smaller) {
		return false
	}
	k.best = smaller
	return true
}

func (k *shrinking) turns() (smaller bool) {
	for i := len(k.best.Turns) - 1; i >= 0; i-- {
		smaller = k.try(func(s *Scene) bool { return drop(&s.Turns, i) }) || smaller
	}
	return smaller
}

// calls drops calls: all of a sub-agent's or one, and one of a message.
func (k *shrinking) calls() (smaller bool) {
	for t := range k.best.Turns {
		for i := len(k.best.Turns[t].Calls) - 1; i >= 0; i-- {
			if k.try(func(s *Scene) bool { return drop(&s.Turns[t].Calls, i) }) {
				smaller = true
				continue
			}
			for n := len(k.best.Turns[t].Calls[i].Inside) - 1; n >= 0; n-- {
				smaller = k.try(func(s *Scene) bool { return drop(&s.Turns[t].Calls[i].Inside, n) }) || smaller
			}
		}
	}
	return smaller
}

// lists drops what stands around the calls, one by one.
func (k *shrinking) lists() (smaller bool) {
	most := max(len(k.best.Hooks), len(k.best.Tools), len(k.best.Servers), len(k.best.Allow), len(k.best.Ask), len(k.best.Deny), len(k.best.Known), len(k.best.Says), len(k.best.Faults))
	for i := most - 1; i >= 0; i-- {
		for _, change := range []func(*Scene) bool{
			func(s *Scene) bool { return drop(&s.Hooks, i) },
			func(s *Scene) bool { return drop(&s.Tools, i) },
			func(s *Scene) bool { return drop(&s.Servers, i) },
			func(s *Scene) bool { return drop(&s.Allow, i) },
			func(s *Scene) bool { return drop(&s.Ask, i) },
			func(s *Scene) bool { return drop(&s.Deny, i) },
			func(s *Scene) bool { return drop(&s.Known, i) },
			func(s *Scene) bool { return drop(&s.Says, i) },
			func(s *Scene) bool { return drop(&s.Faults, i) },
		} {
			smaller = k.try(change) || smaller
		}
	}
	return smaller
}

func (k *shrinking) traits() (smaller bool) {
	for n := range len(flags(k.best)) {
		smaller = k.try(func(s *Scene) bool { return off(flags(s)[n]) }) || smaller
	}
	for n := range len(words(k.best)) {
		smaller = k.try(func(s *Scene) bool { return off(words(s)[n]) }) || smaller
	}
	for n := range len(numbers(k.best)) {
		smaller = k.try(func(s *Scene) bool { return off(numbers(s)[n]) }) || smaller
	}
	for n := range len(times(k.best)) {
		smaller = k.try(func(s *Scene) bool { return off(times(s)[n]) }) || smaller
	}
	return k.try(func(s *Scene) bool { done := s.Policy != "serial"; s.Policy = "serial"; return done }) || smaller
}

// flags, words, numbers and times are what of a scene can be set to nothing.
func flags(s *Scene) []*bool {
	all := []*bool{&s.Small, &s.Person}
	for i := range s.Tools {
		t := &s.Tools[i]
		all = append(all, &t.Deferrable, &t.Always, &t.Fails, &t.Stops, &t.Notes, &t.Safe, &t.ReadOnly)
	}
	for i := range s.Hooks {
		all = append(all, &s.Hooks[i].Output, &s.Hooks[i].Stop)
	}
	s.each(func(c *Call, _ int, _ *Call) { all = append(all, &c.Bad) })
	return all
}

func words(s *Scene) []*string {
	all := []*string{&s.Search, &s.Style, &s.Mode}
	for i := range s.Servers {
		all = append(all, &s.Servers[i].Connect, &s.Servers[i].List)
	}
	for i := range s.Hooks {
		h := &s.Hooks[i]
		all = append(all, &h.Says, &h.Input, &h.Fails, &h.OnFailure)
	}
	s.each(func(c *Call, _ int, _ *Call) { all = append(all, &c.Person) })
	return all
}

func numbers(s *Scene) []*int {
	all := []*int{&s.Retries}
	for i := range s.Tools {
		all = append(all, &s.Tools[i].Chars, &s.Tools[i].Limit)
	}
	for i := range s.Servers {
		all = append(all, &s.Servers[i].From, &s.Servers[i].Until, &s.Servers[i].Relist)
	}
	return all
}

func times(s *Scene) []*time.Duration {
	var all []*time.Duration
	s.each(func(c *Call, _ int, _ *Call) { all = append(all, &c.At, &c.For) })
	for i := range s.Tools {
		all = append(all, &s.Tools[i].Timeout)
	}
	for i := range s.Says {
		all = append(all, &s.Says[i])
	}
	return all
}

// off sets a value to nothing and says whether that changed it.
func off[T comparable](v *T) (changed bool) {
	var nothing T
	changed = *v != nothing
	*v = nothing
	return changed
}

func drop[T any](s *[]T, i int) bool {
	if i >= len(*s) {
		return false
	}
	*s = slices.Delete(*s, i, i+1)
	return true
}

// Clone copies a scene whole.
func Clone(s *Scene) *Scene {
	d := *s
	d.Known, d.Allow, d.Ask, d.Deny = slices.Clone(s.Known), slices.Clone(s.Allow), slices.Clone(s.Ask), slices.Clone(s.Deny)
	d.Faults = slices.Clone(s.Faults)
	d.Servers, d.Tools, d.Hooks, d.Says = slices.Clone(s.Servers), slices.Clone(s.Tools), slices.Clone(s.Hooks), slices.Clone(s.Says)
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
