package run

import (
	"context"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
)

// compact answers the session when it asks whether to cut; nil when the scenario
// never does.
func (r *runner) compact() func(context.Context, []message.Message) (loop.Summary, bool, error) {
	all := r.sc.World.Compactions
	if len(all) == 0 {
		return nil
	}
	return func(context.Context, []message.Message) (loop.Summary, bool, error) {
		r.mu.Lock()
		turn := r.turn
		r.mu.Unlock()
		for _, c := range all {
			if c.Turn == turn {
				return loop.Summary{Text: c.Summary, Keep: c.Keep}, true, nil
			}
		}
		return loop.Summary{}, false, nil
	}
}
