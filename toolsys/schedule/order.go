package schedule

import (
	"slices"
	"strings"
)

// Footprint is what a call reads and writes, as keys: paths and names (J8). A key
// that ends in "/**" stands for all below it. No footprint at all (nil) is that of a
// call that declares nothing: it counts as reading and writing everything.
type Footprint struct {
	Reads, Writes []string
	// Shifts are those of Writes that may stand for something else afterwards (a name
	// was removed, moved or linked): calls that touch one have to declare anew what they
	// touch when this one has ended.
	Shifts []string
}

// Conflict reports whether two calls must keep their order: one writes what the other
// reads or writes.
func Conflict(a, b *Footprint) bool {
	return a == nil || b == nil || overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads) || overlap(a.Reads, b.Writes)
}

// shifts reports whether by may change what the keys of a call stand for that declares it
// touches e.
func shifts(by, e *Footprint) bool {
	switch {
	case by == nil:
		return true
	case len(by.Shifts) == 0:
		return false
	}
	return e == nil || overlap(by.Shifts, e.Reads) || overlap(by.Shifts, e.Writes)
}

func overlap(some, others []string) bool {
	return slices.ContainsFunc(some, func(a string) bool {
		return slices.ContainsFunc(others, func(b string) bool { return overlaps(a, b) })
	})
}

// overlaps reports whether two keys may stand for the same thing.
func overlaps(a, b string) bool {
	if a == b {
		return true
	}
	rootA, treeA := strings.CutSuffix(a, "/**")
	rootB, treeB := strings.CutSuffix(b, "/**")
	switch {
	case treeA && treeB:
		return rootA == rootB || below(rootA, rootB) || below(rootB, rootA)
	case treeA:
		return below(b, rootA)
	case treeB:
		return below(a, rootB)
	}
	return false
}

// below reports whether key lies in the tree under root.
func below(key, root string) bool {
	return len(key) > len(root) && key[len(root)] == '/' && key[:len(root)] == root
}

// What follows is the order of calls under the policy Effects (J8): a call starts
// when nothing before it that has not ended conflicts with it.

// track is what the core holds of one call's footprint.
type track struct {
	touches *Footprint
	// settled: no call before it can change what its keys stand for. Until then it
	// counts as one that touches everything; asked records that it was asked anew.
	settled, asked bool
	// behind is a call that was in its way when it was last looked at.
	behind int
}

// place notes the effects of the call that was just added.
func (c *Core) place(ev Event) {
	i := len(c.calls) - 1
	c.tracks = append(c.tracks, track{touches: ev.Touches, behind: -1})
	c.tracks[i].settled = c.inTheWay(i, c.shifts) < 0
}

// declare takes what a call declares anew of its effects, now that what its keys stand
// for is settled. The answer may bring it behind a call it was not behind before.
func (c *Core) declare(ev Event) {
	if !c.rules.effects || c.calls[ev.Index].status != queued {
		return
	}
	p := &c.tracks[ev.Index]
	p.touches, p.asked, p.behind = ev.Touches, false, -1
	p.settled = c.inTheWay(ev.Index, c.shifts) < 0
}

// touches is what call i counts as: everything, unless its keys are settled.
func (c *Core) touches(i int) *Footprint {
	if !c.tracks[i].settled {
		return nil
	}
	return c.tracks[i].touches
}

// shifts reports whether call j may change what the keys of a call stand for that declares it
// touches e.
func (c *Core) shifts(j int, e *Footprint) bool { return shifts(c.touches(j), e) }

// blocks reports whether call j must end before one that touches e begins.
func (c *Core) blocks(j int, e *Footprint) bool { return Conflict(c.touches(j), e) }

// inTheWay finds a call before i that has not ended and is in its way, or -1. The
// one found last is looked at first: most steps change nothing about it.
func (c *Core) inTheWay(i int, is func(j int, e *Footprint) bool) int {
	p := &c.tracks[i]
	if j := p.behind; j >= 0 && c.calls[j].status != finished && is(j, p.touches) {
		return j
	}
	for j := c.emitted; j < i; j++ {
		if c.calls[j].status != finished && is(j, p.touches) {
			p.behind = j
			return j
		}
	}
	p.behind = -1
	return -1
}

// admitByEffects lets go what nothing stands in the way of, in call order, up to the
// limit, and has calls declare anew what they touch where that is settled now. At the limit
// neither matters: what a call touches is asked for when one may start.
func (c *Core) admitByEffects(out []Action) []Action {
	out, last := c.resumeAlone(out)
	for i := c.next; i < last && c.active < c.limit; i++ {
		switch {
		case c.calls[i].status != queued:
			continue
		case !c.tracks[i].settled:
			out = c.ask(i, out)
		case c.inTheWay(i, c.blocks) < 0:
			c.calls[i].status = active
			c.active++
			out = append(out, Action{Kind: Start, Index: i})
		}
		if c.calls[i].status != finished && c.touches(i) == nil {
			break // it touches everything, so all that follow wait for it
		}
	}
	for c.next < len(c.calls) && c.calls[c.next].status != queued {
		c.next++
	}
	return out
}

// ask has call i declare what it touches as soon as nothing can change it any more.
func (c *Core) ask(i int, out []Action) []Action {
	p := &c.tracks[i]
	if p.asked || c.inTheWay(i, c.shifts) >= 0 {
		return out
	}
	p.asked = true
	return append(out, Action{Kind: Declare, Index: i})
}

// resumeAlone lets go on an escalated call when all before it has ended and
// nothing runs; meanwhile only calls before it may start.
func (c *Core) resumeAlone(out []Action) (_ []Action, last int) {
	if c.suspended == 0 {
		return out, len(c.calls)
	}
	i, free := 0, c.active == 0
	for ; c.calls[i].status != suspended; i++ {
		free = free && c.calls[i].status == finished
	}
	if !free {
		return out, i
	}
	c.calls[i].status = active
	c.suspended--
	c.active = 1
	return append(out, Action{Kind: Resume, Index: i}), i
}

// unsettle makes an escalated call count as one that touches everything, and those
// behind it declare anew what they touch when it has ended.
func (c *Core) unsettle(i int) {
	if !c.rules.effects {
		return
	}
	c.tracks[i].touches = nil
	for k := i + 1; k < len(c.calls); k++ {
		c.tracks[k].settled = c.calls[k].status != queued
	}
}

// waitingByEffects explains a queued call: what it conflicts with, or that there is
// no free place.
func (c *Core) waitingByEffects(i int) Wait {
	var on []int
	settled := c.tracks[i].settled
	for j := c.emitted; j < i; j++ {
		if c.calls[j].status != finished && (c.blocks(j, c.tracks[i].touches) || !settled && c.shifts(j, c.tracks[i].touches)) {
			on = append(on, j)
		}
	}
	if len(on) == 0 {
		return Wait{Reason: "limit", On: c.running()}
	}
	return Wait{Reason: "effects", On: on}
}
