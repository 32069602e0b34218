package schedule

// Wait says why call i has not been let go, and which calls it waits for.
type Wait struct {
	// Reason is "stream" (the policy waits for its end), "exclusive" (an exclusive
	// call runs or this one needs the floor), "limit", "order" (an earlier call
	// waits), or "effects" (it conflicts with earlier calls that have not ended).
	Reason string
	On     []int
}

// Waiting explains a queued call; ok is false when i is not queued.
func (c *Core) Waiting(i int) (w Wait, ok bool) {
	if i < c.next || i >= len(c.calls) || c.calls[i].status != queued {
		return Wait{}, false
	}
	switch {
	case c.rules.effects:
		return c.waitingByEffects(i), true
	case c.rules.holds && !c.streamEnded:
		return Wait{Reason: "stream"}, true
	case i > c.next:
		return Wait{Reason: "order", On: []int{c.next}}, true
	case c.calls[i].safe && !c.exclusive && c.suspended == 0:
		return Wait{Reason: "limit", On: c.running()}, true
	}
	return Wait{Reason: "exclusive", On: c.running()}, true
}

func (c *Core) running() []int {
	var on []int
	for i, k := range c.calls {
		if k.status == active || k.status == suspended {
			on = append(on, i)
		}
	}
	return on
}

// Reasons are what a Wait may give as its reason.
func Reasons() []string { return []string{"stream", "exclusive", "limit", "order", "effects"} }
