package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolbench/toolsys/trace"
)

// Variation is a further run of the same scenario: under another policy, or with the
// same bytes cut into other chunks.
type Variation struct {
	Policy string
	Chunk  int
}

// again checks what needs further runs.
func (j *checker) again(run func(Variation) Result) {
	for _, policy := range sorted(j.e.Policies) {
		other := run(Variation{Policy: policy})
		if b := j.e.Policies[policy]; !b.HoldsAt(other.Makespan) {
			found := other.orError(other.Makespan.String())
			j.offer("policies."+policy, b.String(), found, found)
		}
	}
	for i, policy := range j.e.SameUnder {
		j.alike(fmt.Sprintf("same_under.%d", i), run(Variation{Policy: policy}))
	}
	for i, size := range j.e.Chunks {
		j.alike(fmt.Sprintf("chunks.%d", i), run(Variation{Policy: j.out.Policy, Chunk: size}))
	}
}

// alike checks that another run had the same effect.
func (j *checker) alike(key string, other Result) {
	want, found := effect(j.out.Trace), other.orError(effect(other.Trace))
	if want != found {
		j.fail(key, want, found)
	}
}

// orError is a finding, or why there is none.
func (out Result) orError(found string) string {
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
