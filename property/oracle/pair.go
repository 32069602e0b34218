package oracle

import (
	"errors"
	"fmt"
	"strings"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

// Pair is the scheduler's core with its definition beside it: the core decides, and
// whatever it decides is held against the machine, action for action. So one run of a
// case shows what else would take two. It keeps its buffers from message to message.
type Pair struct {
	core       schedule.Core
	machine    Scheduler
	want       []schedule.Action
	next       int
	difference string
}

// Begin makes the pair that of a new message, where an engine wants one.
func (p *Pair) Reset(policy schedule.Policy, limit int) (des.Stepper, error) {
	if err := errors.Join(p.core.Reset(policy, limit), p.machine.reset(policy, limit)); err != nil {
		return nil, err
	}
	p.want, p.next = p.want[:0], 0
	return p, nil
}

// Differs says where the two decided differently since it was asked last, first of
// all; "" is nowhere.
func (p *Pair) Difference() string {
	found := p.difference
	p.difference = ""
	return found
}

// Step is the core's; the machine has done all at once when the core still asks what
// calls touch.
func (p *Pair) Step(ev schedule.Event, out []schedule.Action) []schedule.Action {
	if ev.Kind != schedule.Declared {
		p.want, p.next = p.machine.Step(ev, p.want[:0]), 0
	}
	asks := false
	from := len(out)
	out = p.core.Step(ev, out)
	for _, a := range out[from:] {
		if a.Kind == schedule.Declare {
			asks = true
			continue
		}
		if p.next >= len(p.want) || p.want[p.next] != a {
			p.note(ev, a)
		}
		p.next++
	}
	if !asks && p.next < len(p.want) {
		p.note(ev, p.want[p.next])
	}
	return out
}

func (p *Pair) note(ev schedule.Event, a schedule.Action) {
	if p.difference != "" {
		return
	}
	var want []string
	for _, w := range p.want {
		want = append(want, fmt.Sprintf("%s %d", w.Kind, w.Index))
	}
	p.difference = fmt.Sprintf("after event %d of call %d the definition says [%s]; action %d, %s %d, is not decided alike",
		ev.Kind, ev.Index, strings.Join(want, ", "), p.next+1, a.Kind, a.Index)
}
