package cli

import (
	"slices"
	"strings"

	"toolbench/reports"
	"toolbench/sim/scenario"
)

// plan is what will run.
type plan struct {
	entries []entry
	state   *lastFailed
}

// plan chooses the scenarios and checks the flags that say how to run them.
func (a *app) plan(args []string, f runFlags) (*plan, error) {
	if err := a.sane(f); err != nil {
		return nil, err
	}
	filter, err := f.filter()
	if err != nil {
		return nil, err
	}
	entries, err := a.find(args)
	if err != nil {
		return nil, err
	}
	p := &plan{state: a.lastFailed()}
	if p.entries = filter.choose(entries); len(p.entries) == 0 {
		return nil, usage("no scenario matches; see `toolbench list`")
	}
	if f.lastFailed {
		p.entries = a.onlyFailed(p)
	}
	p.entries = filter.deal(p.entries)
	if f.update && slices.ContainsFunc(p.entries, func(e entry) bool { return e.embedded }) {
		return nil, usage("--update cannot change the embedded suite: name the files, as in `toolbench run -u ./scenarios`")
	}
	return p, nil
}

func (a *app) sane(f runFlags) error {
	switch {
	case f.jobs < 0:
		return usage("--jobs is %d; it must be 0 or more", f.jobs)
	case f.repeat < 1:
		return usage("--repeat-each is %d; it must be 1 or more", f.repeat)
	case f.width < 0:
		return usage("--width is %d; it must be 0 or more", f.width)
	case f.update && (f.policy != "" || f.repeat > 1):
		return usage("--update takes the scenarios as they are: leave out --policy and --repeat-each")
	case f.policy != "" && !slices.Contains(a.bench.Policies, f.policy):
		return usage("--policy %q is unknown: use %s", f.policy, strings.Join(a.bench.Policies, ", "))
	}
	return nil
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
func (p *plan) remember(outcomes []scenario.Outcome) {
	failed, err := p.state.read()
	if err != nil {
		failed = map[string]bool{}
	}
	for i, o := range outcomes {
		delete(failed, p.entries[i].target)
		if o.Status != scenario.Passed {
			failed[p.entries[i].target] = true
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
		return reports.Again(o)
	}
}
