package cli

import (
	"fmt"

	"toolbench/reports"
	"toolbench/sim/scenario"
)

// plan is what will run.
type plan struct {
	entries []entry
	state   *lastFailed
}

// plan chooses the scenarios.
func (a *app) plan(args []string, s selection) (*plan, error) {
	entries, err := a.find(args)
	if err != nil {
		return nil, err
	}
	p := &plan{state: a.lastFailed()}
	if p.entries = s.choose(entries); len(p.entries) == 0 {
		return nil, usage("no scenario matches; see `toolbench list`")
	}
	if s.lastFailed {
		p.entries = a.onlyFailed(p)
	}
	p.entries = s.deal(p.entries)
	return p, nil
}

// onlyFailed keeps what did not pass last time; when there is nothing of the kind,
// it says so and keeps all.
func (a *app) onlyFailed(p *plan) []entry {
	failed, err := p.state.read()
	if err != nil {
		a.say("--last-failed: %s; running all", err)
		return p.entries
	}
	var kept []entry
	for _, e := range p.entries {
		if failed[e.target] {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		a.say("--last-failed: none of these failed when they last ran here; running all")
		return p.entries
	}
	return kept
}

// remember keeps what did not pass for --last-failed. That it cannot be kept is
// no reason to fail a run.
func (p *plan) remember(results []result) {
	failed, err := p.state.read()
	if err != nil {
		failed = map[string]bool{}
	}
	for _, r := range results {
		delete(failed, r.entry.target)
	}
	for _, r := range results { // a file may be sound and still clash with another
		if r.outcome.Status != scenario.Passed {
			failed[r.entry.target] = true
		}
	}
	p.state.write(failed)
}

// again names the command that shows an outcome again: the report knows its name
// only, and a scenario on disk is named by its path.
func (p *plan) again(f runFlags) func(scenario.Outcome) string {
	targets := map[string]string{}
	for _, e := range p.entries {
		targets[e.File+"\x00"+e.Name] = e.target
	}
	return func(o scenario.Outcome) string {
		if target, ok := targets[o.File+"\x00"+o.Name]; ok {
			o.Name = target
		}
		if f.policy == "" {
			o.Policy = "" // the scenario's own
		}
		command := reports.Again(o)
		if f.repeat > 1 {
			command += fmt.Sprintf(" --repeat-each %d", f.repeat)
		}
		return command
	}
}
