package check

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"toolbench/sim/scenario"
	"toolbench/toolsys/trace"
)

// Outside compares what a program did that was seen from outside, through its requests and
// its files alone, with the scenario's expectations. It gives the keys of the expectations
// that cannot be checked so: what goes on inside is known of our own system only. Slack is
// how far times may be off, which passed on a real clock.
func Outside(sc *scenario.Scenario, rec *Record, out *Result, slack time.Duration) (failures []Failure, unchecked []string) {
	j := &checker{sc: sc, rec: rec, out: out, e: &sc.Expect}
	outside := sc.Expect
	outside.Results = map[string]scenario.Answer{}
	for id, want := range sc.Expect.Results {
		outside.Results[id] = seen(want)
	}
	j.e = &outside
	checks, checked := []func(){j.requests, j.called, j.results, j.order}, []string{"requests", "called", "results", "order", "calls"}
	if j.any(func(e trace.Event) bool { return e.Kind() == trace.KindFile }) {
		checks, checked = append(checks, j.files), append(checked, "files")
	}
	for _, check := range checks {
		check()
	}
	j.count("calls", j.e.Calls, len(results(j.rec.Events)))
	if len(sc.Durations) == 0 { // what calls take is the program's own business
		checked = append(checked, "makespan")
		if b := j.e.Makespan; b.Set() && !b.HoldsNear(out.Makespan, slack) {
			j.fail("makespan", fmt.Sprintf("%s, give or take %s", b, slack.Round(time.Millisecond)), out.Makespan.Round(time.Millisecond).String())
		}
	}
	return j.failures, given(&sc.Expect, checked...)
}

// seen is what of an answer can be seen from outside: that it is an error, not which.
func seen(want scenario.Answer) scenario.Answer {
	if want.Status != "" {
		failed := want.Status != "ok"
		want.Error, want.Status = &failed, ""
	}
	return want
}

// given are the keys of what is expected, but for some.
func given(e *scenario.Expect, but ...string) (keys []string) {
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if !v.Field(i).IsZero() && !slices.Contains(but, key) {
			keys = append(keys, key)
		}
	}
	return keys
}
