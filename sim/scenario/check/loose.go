package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"toolbench/sim/scenario"
	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// loosely checks the calls of an agent that is not deterministic. A note names the way of
// comparing, so that nobody takes it for the exact one.
func (j *checker) loosely() {
	want := j.e.Loosely
	if len(want.Calls) == 0 {
		return
	}
	j.out.Notes = append(j.out.Notes, "calls were compared loosely: "+want.Match)
	found := calledIn(j.rec.Events)
	fits := func(call, event int) bool { return isLooseCall(want.Calls[call], found[event]) }
	switch want.Match {
	case "in_order":
		j.inOrder(want.Calls, found)
	case "at_most":
		j.surplus(found, paired(len(found), len(want.Calls), func(e, c int) bool { return fits(c, e) }))
	default:
		pairs := paired(len(want.Calls), len(found), fits)
		for i, at := range pairs {
			if at < 0 {
				j.fail(fmt.Sprintf("loosely.calls.%d", i), describeLoose(want.Calls[i]), "no such call in "+listedCalls(found))
				return
			}
		}
		if want.Match == "any_order" && len(found) > len(pairs) {
			taken := slices.Repeat([]int{-1}, len(found))
			for c, e := range pairs {
				taken[e] = c
			}
			j.surplus(found, taken)
		}
	}
}

// inOrder finds each wanted call behind the one before it. The first that fits is the
// best: it leaves most for those after it.
func (j *checker) inOrder(want []scenario.LooseCall, found []trace.Event) {
	next := 0
	for i, c := range want {
		at := slices.IndexFunc(found[next:], func(e trace.Event) bool { return isLooseCall(c, e) })
		if at < 0 {
			j.fail(fmt.Sprintf("loosely.calls.%d", i), describeLoose(c), "no such call in "+listedCalls(found[next:]))
			return
		}
		next += at + 1
	}
}

// surplus reports the first call that nothing was found for.
func (j *checker) surplus(found []trace.Event, pairs []int) {
	if e := slices.Index(pairs, -1); e >= 0 {
		j.fail("loosely", "no further call", describe(found[e]))
	}
}

// paired gives each of n a partner of its own among m, or -1: as many as can have one do
// (augmenting paths).
func paired(n, m int, fits func(i, k int) bool) []int {
	of, partner := slices.Repeat([]int{-1}, m), slices.Repeat([]int{-1}, n)
	var find func(i int, seen []bool) bool
	find = func(i int, seen []bool) bool {
		for k := range m {
			if seen[k] || !fits(i, k) {
				continue
			}
			seen[k] = true
			if of[k] < 0 || find(of[k], seen) {
				of[k] = i
				return true
			}
		}
		return false
	}
	for i := range n {
		find(i, make([]bool, m))
	}
	for k, i := range of {
		if i >= 0 {
			partner[i] = k
		}
	}
	return partner
}

func isLooseCall(c scenario.LooseCall, e trace.Event) bool {
	if ok, err := path.Match(c.Tool, e.Tool); c.Tool != "" && (err != nil || !ok) {
		return false
	}
	raw := trace.As[trace.Ready](e).Input
	var input map[string]json.RawMessage
	_ = json.Unmarshal([]byte(raw), &input) // what is no object has no members
	for name, want := range c.Input {
		text, err := json.Marshal(want)
		if has, ok := input[name]; err != nil || !ok || !jsonscan.Equal(text, has) {
			return false
		}
	}
	for name, pattern := range c.Matches {
		var has any
		ok := json.Unmarshal(input[name], &has) == nil
		text, isText := has.(string)
		if !isText {
			other, err := jsonscan.Marshal(has)
			ok, text = ok && err == nil, string(other)
		}
		if re, err := regexp.Compile(pattern); err != nil || !ok || !re.MatchString(text) {
			return false
		}
	}
	fits, err := c.Fits()
	return err == nil && (fits == nil || len(fits.Validate(json.RawMessage(raw))) == 0)
}

// describeLoose words what a call must have.
func describeLoose(c scenario.LooseCall) string {
	words := []string{cmp.Or(c.Tool, "any tool")}
	part := func(name string, value any) {
		if text, err := jsonscan.Marshal(value); err == nil && string(text) != "null" {
			words = append(words, name+" "+short(string(text)))
		}
	}
	part("with", c.Input)
	part("matching", c.Matches)
	part("of the schema", c.Schema)
	return strings.Join(words, " ")
}

// listedCalls are the first of some calls.
func listedCalls(found []trace.Event) string {
	const most = 5
	words := tool.Each(found[:min(len(found), most)], describe)
	if more := len(found) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
