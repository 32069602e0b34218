// Package check compares what a run left behind, its trace above all, with what a
// scenario expects. Its Result is all that reports read of a run.
package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/sim/scenario"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Check compares a run with the scenario's expectations; run gives a further run of the
// same scenario. Each check is a small function over the trace; what it finds is
// returned with the place in the file. Under another policy than the scenario's own, what it expects of times
// cannot hold and is not checked; what must come of the calls still is.
func Check(sc *scenario.Scenario, rec *Record, out *Result, run func(Variation) Result) []Failure {
	j := newChecker(sc, rec, out)
	if len(rec.Misses) > 0 && sc.Expect.Outcome == "" {
		for _, miss := range rec.Misses {
			j.fail("requests", "every request has a recorded answer", miss)
		}
		j.leftover() // the run ended there: what else was expected is not checked,
		j.called()   // but for what was called until then
		return j.failures
	}
	for _, check := range []func(){j.ending, j.requests, j.acceptable, j.called, j.loosely, j.batches, j.results, j.shown, j.state, j.files, j.pool, j.tokens, j.cache, j.hints, j.servers, j.gates} {
		check()
	}
	if out.Policy != sc.PolicyName() {
		return j.failures
	}
	for _, check := range []func(){j.times, j.order, j.waits, j.figures, j.events} {
		check()
	}
	j.again(run)
	return j.failures
}

type checker struct {
	sc  *scenario.Scenario
	rec *Record
	out *Result
	e   *scenario.Expect
	// emits are the results of the run.
	emits    []trace.Event
	failures []Failure
}

func newChecker(sc *scenario.Scenario, rec *Record, out *Result) *checker {
	return &checker{sc: sc, rec: rec, out: out, e: &sc.Expect, emits: results(rec.Events)}
}

// fail notes an expectation that did not hold; key is its path below expect.
func (j *checker) fail(key, expected, found string) {
	j.failures = append(j.failures, Failure{Expectation: key, Expected: expected, Found: found, At: j.sc.At("expect." + key)})
}

// offer is fail for what a file may simply be brought up to date with.
func (j *checker) offer(key, expected, found, instead string) {
	j.fail(key, expected, found)
	j.failures[len(j.failures)-1].instead = instead
}

func (j *checker) equal(key, expected, found string) {
	if expected != found {
		j.offer(key, expected, found, scenario.PlainText(found))
	}
}

// exact checks what is no text; nil expects nothing.
func exact[T comparable](j *checker, key string, want *T, found T) {
	if want != nil && *want != found {
		j.offer(key, fmt.Sprint(*want), fmt.Sprint(found), fmt.Sprint(found))
	}
}

// bound checks a number; form is how it is written.
func (j *checker) bound(key string, want scenario.Bound, found float64, form string) {
	text := fmt.Sprintf(form, found) // an exact figure has no more digits than are written
	if want.Set() && !want.Holds(found) && !(want.Exact() && text == want.String()) {
		j.miss(key, want, text)
	}
}

// miss notes a bound that does not hold. A figure may be brought up to date; a threshold
// is somebody's decision, and stays.
func (j *checker) miss(key string, want scenario.Bound, found string) {
	if want.Exact() {
		j.offer(key, want.String(), found, found)
		return
	}
	j.fail(key, want.String(), found)
	j.failures[len(j.failures)-1].stays = "it is a threshold, which stays until somebody moves it"
}

// moment checks a time.
func (j *checker) moment(key string, want scenario.Bound, found time.Duration) {
	if want.Set() && !want.HoldsNear(found, j.sc.Stream.Tolerance.D()) {
		j.miss(key, want, found.String())
	}
}

// ending checks how the conversation ended.
func (j *checker) ending() {
	found := "completed"
	if j.rec.Err != nil {
		found = j.rec.Err.Error()
	}
	if want := cmp.Or(j.e.Outcome, "completed"); !strings.Contains(found, want) {
		j.fail("outcome", want, found)
	}
}

// requests checks what was sent against the cassette and the expectations.
func (j *checker) requests() {
	if !j.sc.Stream.Leftover {
		j.leftover()
	}
	r := j.e.Requests
	exact(j, "requests.count", r.Count, len(j.rec.Requests))
	all := ""
	if len(r.Contains)+len(r.Lacks) > 0 {
		all = allOf(j.rec.Requests)
	}
	for _, text := range r.Contains {
		if !wasSent(all, text) {
			j.fail("requests.contains", strconv.Quote(text), "in no request")
		}
	}
	for _, text := range r.Lacks {
		if wasSent(all, text) {
			j.fail("requests.lacks", "not "+strconv.Quote(text), "it was sent")
		}
	}
	exact(j, "requests.grows", r.Grows, grows(j.rec.Requests))
	if want, found := fmt.Sprint(r.GivenUp), fmt.Sprint(j.rec.GivenUp); r.GivenUp != nil && want != found {
		j.offer("requests.given_up", want, found, strings.ReplaceAll(found, " ", ", "))
	}
}

func allOf(bodies []message.Body) string {
	var b strings.Builder
	for _, body := range bodies {
		b.Write(body.Bytes())
	}
	return b.String()
}

// grows reports whether each request begins with the messages of the one before, in
// the same bytes.
func grows(bodies []message.Body) bool {
	for i, body := range bodies {
		if !body.Whole() || i > 0 && body.Shared(bodies[i-1]) < bodies[i-1].Messages() {
			return false
		}
	}
	return true
}

// leftover reports what was recorded and not asked for.
func (j *checker) leftover() {
	if len(j.rec.Leftover) > 0 {
		j.fail("requests", "every recorded interaction is used", "left over: "+strings.Join(j.rec.Leftover, ", "))
	}
}

// wasSent reports whether a text stands in requests: as it is, or inside a JSON string, with the
// signs of HTML escaped or not.
func wasSent(all, text string) bool {
	if strings.Contains(all, text) {
		return true
	}
	for _, html := range []bool{false, true} {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		_ = enc.Encode(text) // a text always has JSON
		quoted := strings.TrimSuffix(b.String(), "\n")
		if strings.Contains(all, quoted[1:len(quoted)-1]) {
			return true
		}
	}
	return false
}

// text checks a text against what it must and must not hold.
func (j *checker) text(key, text string, has, lacks []string, equals *string) {
	j.holds(key+".contains", text, has)
	for _, t := range lacks {
		if strings.Contains(text, t) {
			j.fail(key+".lacks", "not "+strconv.Quote(t), short(text))
		}
	}
	if equals != nil && strings.TrimRight(*equals, "\n") != strings.TrimRight(text, "\n") {
		j.fail(key+".equals", *equals, text)
	}
}

func (j *checker) holds(key, text string, has []string) {
	for _, t := range has {
		if !strings.Contains(text, t) {
			j.fail(key, strconv.Quote(t), short(text))
		}
	}
}

const shown = 400

func short(s string) string {
	if r := []rune(s); len(r) > shown {
		return string(r[:shown]) + fmt.Sprintf("… (%d characters)", len(r))
	}
	return s
}

// sorted are a map's keys in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

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
		switch b := j.e.Policies[policy]; {
		case other.Err != nil:
			j.fail("policies."+policy, b.String(), other.Err.Error())
		case !b.HoldsNear(other.Makespan, j.sc.Stream.Tolerance.D()):
			j.miss("policies."+policy, b, other.Makespan.String())
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
	want, found := effect(j.out.Trace), effect(other.Trace)
	if other.Err != nil {
		found = other.Err.Error()
	}
	if want != found {
		j.fail(key, want, found)
	}
}

// effect is what a run did, without when: every result, the state, the files.
func effect(events []trace.Event) string {
	var b strings.Builder
	b.WriteString(byAgent(results(events)))
	last := ""
	for _, e := range events {
		switch data := e.Data.(type) {
		case trace.File:
			fmt.Fprintf(&b, "%s %s\n", data.Path, data.Is)
		case trace.Tree:
			fmt.Fprintf(&b, "%s\n", data.Tree)
		case trace.State:
			if e.Agent == "" {
				last = e.Get("state")
			}
		}
	}
	return b.String() + last
}

// byAgent gives each conversation's results in its own order. Sub-agents that work
// beside each other are numbered as they begin and end in any order, which is no
// effect: theirs are sorted by what they hold.
func byAgent(results []trace.Event) string {
	texts := map[string]string{}
	for _, e := range results {
		emitted := trace.As[trace.Emitted](e)
		texts[e.Agent] += fmt.Sprintf("%s %s: %s\n", e.Call, emitted.Status, emitted.Text)
	}
	main := texts[""]
	delete(texts, "")
	return main + strings.Join(slices.Sorted(maps.Values(texts)), "")
}

// Outside compares what a program did that was seen from outside, through its requests and
// its files alone, with the scenario's expectations. It gives the keys of the expectations
// that cannot be checked so: what goes on inside is known of our own system only. Slack is
// how far times may be off, which passed on a real clock.
func Outside(sc *scenario.Scenario, rec *Record, out *Result, slack time.Duration) (failures []Failure, unchecked []string) {
	j := newChecker(sc, rec, out)
	outside := sc.Expect
	outside.Results = map[string]scenario.Answer{}
	for id, want := range sc.Expect.Results {
		outside.Results[id] = seen(want)
	}
	j.e = &outside
	checks, checked := []func(){j.requests, j.called, j.results, j.order}, []string{"requests", "called", "results", "order", "calls"}
	if slices.ContainsFunc(rec.Events, func(e trace.Event) bool { return e.Kind() == trace.KindFile }) {
		checks, checked = append(checks, j.files), append(checked, "files")
	}
	for _, check := range checks {
		check()
	}
	exact(j, "calls", j.e.Calls, len(j.emits))
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
		want.Error, want.Status = new(want.Status != "ok"), ""
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
	other := func(f Failure) bool { return f.Expectation != c.Failure }
	lines := tool.Each(out.Failures, func(f Failure) string {
		return fmt.Sprintf("%s: expected %s, found %s", f.Expectation, short(f.Expected), short(f.Found))
	})
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
