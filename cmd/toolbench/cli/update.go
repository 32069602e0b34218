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
func (a *app) update(ctx context.Context, p *pool, results []result) error {
	for i, r := range results {
		if r.outcome.Status != scenario.Failed {
			continue
		}
		changed, err := a.rewrite(r.entry, r.outcome)
		if err != nil {
			return harness(fmt.Errorf("updating %s: %w", r.entry.File, err))
		}
		if !changed {
			continue
		}
		again, err := a.resolve(r.entry.target, nil)
		if err != nil {
			return err
		}
		results[i].outcome = p.one(ctx, again[0])
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
