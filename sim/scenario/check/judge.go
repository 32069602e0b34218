package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toolbench/sim/scenario"
	"toolbench/toolsys/trace"
)

// Check compares a run with the scenario's expectations; run gives a further run of the
// same scenario. Each check is a small function over the trace; what it finds is
// returned with the place in the file. Under another policy than the scenario's own, what it expects of times
// cannot hold and is not checked; what must come of the calls still is.
func Check(sc *scenario.Scenario, rec *Record, out *Result, run func(Variation) Result) []Failure {
	j := &checker{sc: sc, rec: rec, out: out, e: &sc.Expect}
	if len(rec.Misses) > 0 && sc.Expect.Outcome == "" {
		j.missed() // the run ended there: what else was expected says nothing,
		j.called() // but for what was called until then
		return j.failures
	}
	for _, check := range []func(){j.ending, j.requests, j.called, j.batches, j.results, j.state, j.files, j.pool, j.tokens, j.cache, j.hints, j.gates} {
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
	sc       *scenario.Scenario
	rec      *Record
	out      *Result
	e        *scenario.Expect
	failures []Failure
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

// ending checks how the conversation ended.
func (j *checker) ending() {
	found := "completed"
	if j.rec.Err != nil {
		found = j.rec.Err.Error()
	}
	want := j.e.Outcome
	if want == "" {
		want = "completed"
	}
	if !strings.Contains(found, want) {
		j.fail("outcome", want, found)
	}
}

// requests checks what was sent against the cassette and the expectations.
func (j *checker) requests() {
	if len(j.rec.Leftover) > 0 && !j.sc.Stream.Leftover {
		j.fail("requests", "every recorded interaction is used", "left over: "+strings.Join(j.rec.Leftover, ", "))
	}
	r := j.e.Requests
	if r.Count != nil && *r.Count != len(j.rec.Requests) {
		found := fmt.Sprint(len(j.rec.Requests))
		j.offer("requests.count", fmt.Sprint(*r.Count), found, found)
	}
	all := string(slices.Concat(j.rec.Requests...))
	for _, text := range r.Contains {
		if !strings.Contains(all, text) && !strings.Contains(all, escaped(text)) {
			j.fail("requests.contains", quoted(text), "in no request")
		}
	}
	for _, text := range r.Lacks {
		if strings.Contains(all, text) || strings.Contains(all, escaped(text)) {
			j.fail("requests.lacks", "not "+quoted(text), "it was sent")
		}
	}
	if r.Grows != nil {
		j.equal("requests.grows", fmt.Sprint(*r.Grows), fmt.Sprint(grows(j.rec.Requests)))
	}
}

// grows says whether each request begins with the messages of the one before, in
// the same bytes.
func grows(bodies [][]byte) bool {
	var before []json.RawMessage
	for _, body := range bodies {
		var req struct {
			Messages []json.RawMessage `json:"messages"`
		}
		if json.Unmarshal(body, &req) != nil || len(req.Messages) < len(before) {
			return false
		}
		for i, m := range before {
			if !bytes.Equal(m, req.Messages[i]) {
				return false
			}
		}
		before = req.Messages
	}
	return true
}

// missed tells of requests that have no recorded answer, and of what was recorded
// and not asked for.
func (j *checker) missed() {
	for _, miss := range j.rec.Misses {
		j.fail("requests", "every request has a recorded answer", miss)
	}
	if len(j.rec.Leftover) > 0 {
		j.fail("requests", "every recorded interaction is used", "left over: "+strings.Join(j.rec.Leftover, ", "))
	}
}

// escaped is a text as it stands inside a JSON string.
func escaped(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return strings.Trim(string(raw), `"`)
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

func (j *checker) batches() {
	if j.e.Batches != nil {
		if want, found := nested(j.e.Batches), nested(j.out.Batches); want != found {
			var lists []string
			for _, b := range j.out.Batches {
				lists = append(lists, scenario.FlowText(b))
			}
			j.offer("batches", want, found, "["+strings.Join(lists, ", ")+"]")
		}
	}
	if j.e.Calls != nil {
		j.equal("calls", fmt.Sprint(*j.e.Calls), fmt.Sprint(len(results(j.rec.Events))))
	}
}

func nested(batches [][]string) string {
	parts := make([]string, len(batches))
	for i, b := range batches {
		parts[i] = "[" + strings.Join(b, " ") + "]"
	}
	return strings.Join(parts, " ")
}

// call finds a call by id; the last of that id counts.
func (j *checker) call(id string) (Call, bool) {
	for _, c := range slices.Backward(j.out.Calls) {
		if c.ID == id {
			return c, true
		}
	}
	return Call{}, false
}

func (j *checker) times() {
	for _, list := range []struct {
		key   string
		want  map[string]scenario.Bound
		found func(Call) time.Duration
	}{
		{"starts", j.e.Starts, func(c Call) time.Duration { return c.Started }},
		{"ends", j.e.Ends, func(c Call) time.Duration { return c.Ended }},
		{"emits", j.e.Emits, func(c Call) time.Duration { return c.Emitted }},
	} {
		for _, id := range sorted(list.want) {
			c, ok := j.call(id)
			switch at := list.found(c); {
			case !ok:
				j.fail(list.key+"."+id, list.want[id].String(), "there is no such call")
			case !list.want[id].HoldsAt(at):
				j.offer(list.key+"."+id, list.want[id].String(), at.String(), at.String())
			}
		}
	}
	for i, id := range j.e.NotStarted {
		if j.any(func(e trace.Event) bool { return e.Call == id && e.Kind == trace.Stage && e.Get("stage") == "run" }) {
			j.fail(fmt.Sprintf("not_started.%d", i), id+" never runs", "it ran")
		}
	}
	if b := j.e.MaxRunning; b.Set() {
		if most := maxRunning(j.out.Calls); !b.Holds(float64(most)) {
			j.offer("max_running", b.String(), fmt.Sprint(most), fmt.Sprint(most))
		}
	}
}

func (j *checker) any(match func(trace.Event) bool) bool {
	return slices.ContainsFunc(j.rec.Events, match)
}

func (j *checker) order() {
	if j.e.Order == nil {
		return
	}
	var found []string
	for _, e := range results(j.rec.Events) {
		found = append(found, e.Call)
	}
	j.list("order", j.e.Order, found)
}

func (j *checker) results() {
	for _, id := range sorted(j.e.Results) {
		want, key := j.e.Results[id], "results."+id
		found := j.emitted(id)
		if found == nil {
			c, ok := j.call(id)
			if !ok || want.Status != c.Status {
				j.fail(key, "a result ("+want.Status+")", "none was emitted")
			}
			continue
		}
		j.result(key, want, *found)
	}
}

func (j *checker) emitted(id string) *trace.Event {
	for _, e := range results(j.rec.Events) {
		if e.Call == id {
			return &e
		}
	}
	return nil
}

func (j *checker) result(key string, want scenario.Answer, e trace.Event) {
	text := e.Get("text")
	if want.Status != "" {
		j.equal(key+".status", want.Status, e.Get("status"))
	}
	if want.Error != nil {
		j.equal(key+".error", fmt.Sprint(*want.Error), e.Get("error"))
	}
	j.text(key, text, want.Contains, want.Lacks, want.Equals)
	if n := len([]rune(text)); want.Chars.Set() && !want.Chars.Holds(float64(n)) {
		j.fail(key+".chars", want.Chars.String(), fmt.Sprint(n))
	}
}

// text checks a text against what it must and must not hold.
func (j *checker) text(key, text string, has, lacks []string, equals *string) {
	for _, t := range has {
		if !strings.Contains(text, t) {
			j.fail(key+".contains", quoted(t), short(text))
		}
	}
	for _, t := range lacks {
		if strings.Contains(text, t) {
			j.fail(key+".lacks", "not "+quoted(t), short(text))
		}
	}
	if equals != nil && strings.TrimRight(*equals, "\n") != strings.TrimRight(text, "\n") {
		j.fail(key+".equals", *equals, text)
	}
}

const shown = 400

func short(s string) string {
	r := []rune(s)
	if len(r) > shown {
		return string(r[:shown]) + fmt.Sprintf("… (%d characters)", len(r))
	}
	return s
}

func (j *checker) waits() {
	for _, id := range sorted(j.e.Waits) {
		want := j.e.Waits[id]
		c, ok := j.call(id)
		found := c.WaitsFor
		if found == "" {
			found = "none"
		}
		if !ok {
			found = "there is no such call"
		}
		j.equal("waits."+id, want, found)
	}
}

func (j *checker) figures() {
	for _, f := range []struct {
		key   string
		bound scenario.Bound
		found time.Duration
	}{{"makespan", j.e.Makespan, j.out.Makespan}, {"serial", j.e.Serial, j.out.Serial}, {"least", j.e.Least, j.out.Least}} {
		if f.bound.Set() && !f.bound.HoldsAt(f.found) {
			j.offer(f.key, f.bound.String(), f.found.String(), f.found.String())
		}
	}
	if b := j.e.Hidden; b.Set() && !b.Holds(j.out.Hidden) {
		found := fmt.Sprintf("%.4g%%", j.out.Hidden)
		j.offer("hidden", b.String(), found, found)
	}
}

// events checks single trace events: some in order, some never.
func (j *checker) events() {
	from := 0
	for i, want := range j.e.Trace {
		at := -1
		for k := from; k < len(j.rec.Events); k++ {
			if matches(want, j.rec.Events[k]) {
				at = k
				break
			}
		}
		if at < 0 {
			j.fail(fmt.Sprintf("trace.%d", i), wording(want), "no such event"+j.nearest(want))
			return
		}
		from = at + 1
	}
	for i, never := range j.e.Never {
		for _, e := range j.rec.Events {
			if matches(never, e) {
				j.fail(fmt.Sprintf("never.%d", i), "never "+wording(never), string(e.AppendLine(nil)))
				break
			}
		}
	}
}

// nearest shows the events of the same kind, which is where a wrong detail shows.
func (j *checker) nearest(want scenario.EventExpect) string {
	var lines []string
	for _, e := range j.rec.Events {
		if string(e.Kind) == want.Kind && (want.Call == "" || want.Call == e.Call) {
			lines = append(lines, short(string(e.AppendLine(nil))))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "; of its kind:\n" + strings.Join(lines[:min(len(lines), 5)], "\n")
}

func matches(w scenario.EventExpect, e trace.Event) bool {
	if w.Agent != "" && e.Agent != w.Agent {
		return false
	}
	if w.Kind != "" && string(e.Kind) != w.Kind || w.Call != "" && e.Call != w.Call || w.Tool != "" && e.Tool != w.Tool {
		return false
	}
	if w.At.Set() && !w.At.HoldsAt(e.At) {
		return false
	}
	for k, v := range w.Has {
		if !strings.Contains(e.Get(k), v) {
			return false
		}
	}
	return true
}

// wording is an expected event in words.
func wording(w scenario.EventExpect) string {
	parts := []string{w.Kind}
	if w.Agent != "" {
		parts = append(parts, "agent="+w.Agent)
	}
	if w.Call != "" {
		parts = append(parts, "call="+w.Call)
	}
	if w.Tool != "" {
		parts = append(parts, "tool="+w.Tool)
	}
	if w.At.Set() {
		parts = append(parts, "at "+w.At.String())
	}
	for _, k := range sorted(w.Has) {
		parts = append(parts, k+"~"+quoted(w.Has[k]))
	}
	return strings.Join(parts, " ")
}

// sorted are a map's keys in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
