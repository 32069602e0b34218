package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolbench/toolsys/trace"
)

// again checks what needs further runs of the same scenario: other policies and
// other chunks of the same bytes.
func (j *judgement) again(ctx context.Context, o Options) {
	o.nested = true
	for _, policy := range sortedKeys(j.e.Policies) {
		o.Policy = policy
		other := Run(ctx, j.sc, o)
		if b := j.e.Policies[policy]; !b.HoldsAt(other.Makespan) {
			found := other.said(other.Makespan.String())
			j.offer("policies."+policy, b.String(), found, found)
		}
	}
	for i, policy := range j.e.SameUnder {
		o.Policy = policy
		other := Run(ctx, j.sc, o)
		j.alike(fmt.Sprintf("same_under.%d", i), other)
	}
	o.Policy = j.out.Policy
	for i, size := range j.e.Chunks {
		o.chunk = size
		other := Run(ctx, j.sc, o)
		j.alike(fmt.Sprintf("chunks.%d", i), other)
	}
}

// alike checks that another run had the same effect.
func (j *judgement) alike(key string, other Outcome) {
	want, found := effect(j.out.Trace), other.said(effect(other.Trace))
	if want != found {
		j.fail(key, want, found)
	}
}

// said is a finding, or why there is none.
func (out Outcome) said(found string) string {
	if out.Err != nil {
		return out.Err.Error()
	}
	return found
}

// effect is what a run did, without when: every result, the state, the files.
func effect(events []trace.Event) string {
	var b strings.Builder
	for _, said := range byAgent(results(events)) {
		b.WriteString(said)
	}
	for _, e := range events {
		if e.Kind == trace.File {
			fmt.Fprintf(&b, "%s%s %s\n", e.Get("path"), e.Get("tree"), e.Get("is"))
		}
	}
	last := ""
	for _, e := range events {
		if e.Kind == trace.StateNow && e.Agent == "" {
			last = e.Get("state")
		}
	}
	return b.String() + last
}

// byAgent gives each conversation's results in its own order. Sub-agents that work
// beside each other are numbered as they begin and end in any order, which is no
// effect: theirs are sorted by what they hold.
func byAgent(results []trace.Event) []string {
	said := map[string]string{}
	for _, e := range results {
		said[e.Agent] += fmt.Sprintf("%s %s: %s\n", e.Call, e.Get("status"), e.Get("text"))
	}
	main := said[""]
	delete(said, "")
	return append([]string{main}, slices.Sorted(maps.Values(said))...)
}
