package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"toolbench/sim/scenario"
)

// update brings the expectations of failed scenarios up to date in their files and
// runs those scenarios again: what then still fails, only a person can settle.
func (a *app) update(ctx context.Context, p *pool, plan *plan, outcomes []scenario.Outcome) error {
	for i, o := range outcomes {
		if o.Status != scenario.Failed {
			continue
		}
		changed, err := a.rewrite(plan.entries[i], o)
		if err != nil {
			return harness(fmt.Errorf("updating %s: %w", o.File, err))
		}
		if !changed {
			continue
		}
		again, err := a.resolve(plan.entries[i].target, nil)
		if err != nil {
			return err
		}
		outcomes[i] = p.one(ctx, again[0])
	}
	return nil
}

// rewrite updates one file and says what it did.
func (a *app) rewrite(e entry, o scenario.Outcome) (changed bool, err error) {
	file := a.path(e.File)
	data, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	updated, left, err := a.bench.Update(data, o.Failures)
	if err != nil || bytes.Equal(updated, data) {
		return false, err
	}
	a.say("updated %s: %d of %d expectations", e.File, len(o.Failures)-len(left), len(o.Failures))
	return true, writeWhole(file, updated)
}
