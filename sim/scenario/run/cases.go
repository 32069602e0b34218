package run

import (
	"context"
	"sync"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
)

// Case is a scenario, or one of its cases that must fail.
type Case struct {
	*scenario.Scenario
	played *played
}

// Cases are a scenario and its cases that must fail. Where only what is expected differs,
// they are checked against one and the same run.
func Cases(sc *scenario.Scenario) []Case {
	shared := &played{base: sc, runs: map[Options]func() (*record, error){}}
	all := []Case{{sc, shared}}
	for _, c := range sc.Cases() {
		if c.RunsAs(sc) {
			all = append(all, Case{c, shared})
		} else {
			all = append(all, Case{c, nil})
		}
	}
	return all
}

// Run runs the case, as Scenario does.
func (c Case) Run(ctx context.Context, o Options) check.Result {
	if c.played == nil || c.Failing() == nil && len(c.MustFail) == 0 {
		return Scenario(ctx, c.Scenario, o)
	}
	return checked(ctx, c.Scenario, o, func() (*record, error) { return c.played.with(ctx, c.Scenario, o) })
}

// played are the runs of a scenario, by their options. It is always the scenario itself
// that runs, whichever of its cases come first or alone: what a case expects may be less.
type played struct {
	base *scenario.Scenario
	mu   sync.Mutex
	runs map[Options]func() (*record, error)
}

// with gives the run with these options. The scenario itself is always run, so that a
// difference between two runs of it shows.
func (p *played) with(ctx context.Context, sc *scenario.Scenario, o Options) (*record, error) {
	p.mu.Lock()
	play, known := p.runs[o]
	if !known || sc.Failing() == nil {
		play = sync.OnceValues(func() (*record, error) { return guarded(ctx, p.base, o) })
		p.runs[o] = play
	}
	p.mu.Unlock()
	return play()
}
