package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolbench/sim/scenario"
)

// MustFail gives what is wrong with a run: its failures or, in a case that must fail, that
// they are not those that it names. Under another policy than the scenario's own, where
// times are not checked, such a case may also find nothing wrong.
func MustFail(sc *scenario.Scenario, out *Result) []Failure {
	c := sc.Failing()
	switch {
	case c == nil:
		return out.Failures
	case len(out.Failures) == 0 && out.Policy != sc.PolicyName():
		return nil
	}
	var lines []string
	other := func(f Failure) bool { return f.Expectation != c.Failure }
	for _, f := range out.Failures {
		lines = append(lines, fmt.Sprintf("%s: expected %s, found %s", f.Expectation, short(f.Expected), short(f.Found)))
	}
	found := cmp.Or(strings.Join(lines, "\n"), "nothing fails")
	if len(lines) > 0 && !slices.ContainsFunc(out.Failures, other) && !slices.ContainsFunc(c.Words, func(w string) bool { return !strings.Contains(found, w) }) {
		return nil
	}
	want := "only " + c.Failure + " fails"
	if len(c.Words) > 0 {
		want += ", with " + strings.Join(c.Words, ", ")
	}
	return []Failure{{Expectation: "must_fail", Expected: want, Found: found, At: sc.At("must_fail")}}
}
