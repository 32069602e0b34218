package check_test

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/scenarios"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/message"
	"toolbench/toolsys/trace"
)

// The suite's cases that must fail are run here too: they are what tests this package, and
// a changed line of it is noticed where it stands.
func TestTheCasesThatMustFailDo(t *testing.T) {
	files, err := fs.Sub(scenarios.Files, "mustfail")
	require.NoError(t, err)
	all, errs := scenario.Find(files, ".")
	require.Empty(t, errs)
	cases := 0
	for _, sc := range all {
		for _, c := range run.Cases(sc) {
			cases++
			out := c.Run(t.Context(), run.Options{Seed: 1})
			assert.Equal(t, check.Passed, out.Status, "%s: %v %v", out.Name, out.Err, out.Failures)
		}
	}
	assert.Greater(t, cases, 150)
}

// failures are what is wrong with a run of which only this is known.
func failures(t *testing.T, expect string, rec check.Record) []string {
	t.Helper()
	var keys []string
	for _, f := range failed(t, expect, rec) {
		keys = append(keys, f.Expectation)
	}
	return keys
}

func failed(t *testing.T, expect string, rec check.Record) []check.Failure {
	t.Helper()
	sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It answers.\nstream: {turns: [{text: hi}]}\nexpect: "+expect+"\n"))
	require.NoError(t, err)
	out := check.Result{Policy: sc.PolicyName()}
	out.Summarize(&rec)
	return check.Check(sc, &rec, &out, nil)
}

// An expectation of what never came about fails, and does not pass for want of anything to
// compare.
func TestWhatNeverCameAboutFails(t *testing.T) {
	for expect, key := range map[string]string{
		"{results: {a: ok}}":               "results.a",
		"{results: {a: {contains: x}}}":    "results.a",
		"{pool: {lacks: [Read]}}":          "pool",
		"{pool: {deferring: false}}":       "pool",
		"{tokens: {saved: 0%}}":            "tokens",
		"{cache: {breaks: 0}}":             "cache",
		"{starts: {a: 0s}}":                "starts.a",
		"{waits: {a: none}}":               "waits.a",
		"{files: {/a: absent}}":            "files./a",
		"{servers: {orders: {opened: 0}}}": "servers.orders",
		"{trace: [{kind: run.end}]}":       "trace.0",
	} {
		assert.Equal(t, []string{key}, failures(t, expect, check.Record{}), expect)
	}
	assert.Empty(t, failures(t, "{calls: 0, order: [], requests: {count: 0}, makespan: 0s}", check.Record{}))
}

// A call that a stream took with it has no result, whatever it would have come to.
func TestADiscardedCallHasNoResult(t *testing.T) {
	at := func(d trace.Data) trace.Event { return trace.Event{Call: "a", Tool: "Read", Turn: 1, Data: d} }
	rec := check.Record{Events: []trace.Event{at(trace.Ready{}), at(trace.Emitted{Status: "ok", Text: "x"}), at(trace.Discarded{})}}
	assert.Empty(t, failures(t, "{results: {a: discarded}, calls: 0, order: []}", rec))
	assert.Equal(t, []string{"results.a"}, failures(t, "{results: {a: ok}}", rec))
	assert.Equal(t, []string{"results.a"}, failures(t, "{results: {a: {status: discarded, lacks: x}}}", rec))
}

// A result that is none of the error that was expected is shown, since it is what explains that.
func TestAResultThatIsNoErrorIsShown(t *testing.T) {
	rec := check.Record{Events: []trace.Event{{Call: "a", Tool: "Read", Turn: 1, Data: trace.Emitted{Status: "ok", Text: "Path does not exist\nat all"}}}}
	all := failed(t, "{results: {a: {error: true}}}", rec)
	require.Len(t, all, 1)
	assert.Equal(t, "false: Path does not exist at all", all[0].Found)
}

// Inputs are equal as JSON, however they are written; what is no JSON is equal to nothing.
func TestInputsAreComparedAsJSON(t *testing.T) {
	for input, want := range map[string][]string{
		`{ "b": 1.0, "a": [2, {"x": true}] }`: nil,
		`{"a":[2,{"x":true}],"b":2}`:          {"called.0"},
		`{"a":[2,{"x":true}],"b":1`:           {"called.0"},
	} {
		rec := check.Record{Events: []trace.Event{{Call: "a", Tool: "Read", Turn: 1, Data: trace.Ready{Input: input}}}}
		assert.Equal(t, want, failures(t, "{called: [{id: a, tool: Read, input: {a: [2, {x: true}], b: 1}}]}", rec), input)
	}
}

// bodyOf is a request's body, be it one or not.
func bodyOf(text string) message.Body {
	b, _ := message.ReadBody([]byte(text))
	return b
}

// Requests grow if each has the messages of the one before and none is lost; one that is sent
// again as it was is no loss.
func TestRequestsGrowUntilAMessageIsLost(t *testing.T) {
	const a, b, other = `{"role":"user","content":"a"}`, `{"role":"assistant","content":"b"}`, `{"role":"user","content":"c"}`
	for _, c := range []struct {
		messages []string
		grow     string
	}{
		{nil, "true"},
		{[]string{a, a + "," + b}, "true"},
		{[]string{a, a}, "true"},
		{[]string{a + "," + b, a}, "false"},
		{[]string{a, other + "," + b}, "false"},
		{[]string{a + "," + b, a + "," + other}, "false"},
		{[]string{a, a + "," + b, b}, "false"},
	} {
		var rec check.Record
		for _, m := range c.messages {
			rec.Requests = append(rec.Requests, bodyOf(`{"messages":[`+m+`]}`))
		}
		assert.Empty(t, failures(t, "{requests: {grows: "+c.grow+"}}", rec), c.messages)
	}
	broken := check.Record{Requests: []message.Body{bodyOf("{")}}
	assert.Equal(t, []string{"requests"}, failures(t, "{requests: {grows: false}}", broken))
}

// A text is found as it is and as JSON has it, and what had no answer is reported beside what
// was left over.
func TestWhatIsReportedOfRequests(t *testing.T) {
	rec := check.Record{Requests: []message.Body{bodyOf(`{"messages":[{"role":"user","content":"say \"hi\""}]}`)}}
	assert.Empty(t, failures(t, `{requests: {contains: ['say "hi"', '"role":"user"'], lacks: ['say "ho"']}}`, rec))
	assert.Equal(t, []string{"requests.lacks"}, failures(t, `{requests: {lacks: ['say "hi"']}}`, rec))
	rec.Misses = []string{"no answer"}
	assert.Equal(t, []string{"requests"}, failures(t, "{makespan: 1s}", rec), "what came after a miss is not checked")
	rec.Leftover = []string{"interaction 2"}
	assert.Equal(t, []string{"requests", "requests"}, failures(t, "{makespan: 1s}", rec))
}

// What is quoted of a long text is its beginning, and how long it is.
func TestALongTextIsQuotedByItsBeginning(t *testing.T) {
	for n, want := range map[int]string{400: strings.Repeat("ä", 400), 401: strings.Repeat("ä", 400) + "… (401 characters)"} {
		rec := check.Record{Events: []trace.Event{{Call: "a", Data: trace.Ready{}}, {Call: "a", Data: trace.Emitted{Text: strings.Repeat("ä", n)}}}}
		sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It answers.\nstream: {turns: [{text: hi}]}\nexpect: {results: {a: {contains: x}}}\n"))
		require.NoError(t, err)
		out := check.Result{Policy: sc.PolicyName()}
		found := check.Check(sc, &rec, &out, nil)
		require.Len(t, found, 1)
		assert.Equal(t, want, found[0].Found)
	}
}

// A time is compared to the millisecond, and a recorded interaction that is left over fails
// where the stream does not allow it.
func TestTheSmallestDifferenceCounts(t *testing.T) {
	rec := check.Record{Events: []trace.Event{{At: time.Second, Data: trace.RunEnd{}}}}
	assert.Empty(t, failures(t, "{makespan: 1s}", rec))
	for _, other := range []string{"999ms", "1001ms", "> 1s", "< 1s"} {
		assert.Equal(t, []string{"makespan"}, failures(t, "{makespan: '"+other+"'}", rec))
	}
	rec.Leftover = []string{"interaction 1"}
	assert.Equal(t, []string{"requests"}, failures(t, "{makespan: 1s}", rec))
}

// A text is found in a request however JSON writes it, and only as a whole.
func TestWhatWasSentIsFoundAsItStands(t *testing.T) {
	for _, body := range []string{`{"messages":[{"role":"user","content":"a <b>\n\"c"}]}`, `{"messages":[{"role":"user","content":"a \u003cb\u003e\n\"c"}]}`} {
		sent, err := message.ReadBody([]byte(body))
		require.NoError(t, err)
		rec := check.Record{Requests: []message.Body{sent}}
		assert.Empty(t, failures(t, `{requests: {contains: ["<b>\n"]}}`, rec), body)
		assert.Equal(t, []string{"requests.lacks"}, failures(t, `{requests: {lacks: ["<b>\n\"c"]}}`, rec), body)
		assert.Equal(t, []string{"requests.contains"}, failures(t, `{requests: {contains: ['<b>"']}}`, rec), body)
	}
}

// A number is within no bound of times.
func TestABoundOfTimesHoldsForNoNumber(t *testing.T) {
	assert.Equal(t, []string{"max_running"}, failures(t, "{max_running: <= 5s}", check.Record{}))
	assert.Empty(t, failures(t, "{max_running: <= 5}", check.Record{}))
}

// A file is the same however its path is written: none is absent for want of a clean one.
func TestFilesAreFoundByAnyOfTheirPaths(t *testing.T) {
	for _, path := range []string{"/repo/a", "repo/a", "/repo/./a", "/repo//a", "/repo/a/", "/x/../repo/a"} {
		sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It leaves the files.\nworld: {files: {/repo/a: x}}\nstream: {turns: [{text: hi}]}\nexpect: {files: {"+path+": absent}}\n"))
		require.NoError(t, err)
		out := run.Scenario(t.Context(), sc, run.Options{Seed: 1})
		require.Len(t, out.Failures, 1, path)
		assert.Equal(t, "unchanged", out.Failures[0].Found)
	}
}

// Reasons of gates stand in a mapping, which no list takes the place of.
func TestReasonsOfGatesAreLeftToPeople(t *testing.T) {
	sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It has gates.\nstream: {turns: [{text: hi}]}\nexpect: {gates: [{profile: external, reasons: {nobody: x}}]}\n"))
	require.NoError(t, err)
	out := run.Scenario(t.Context(), sc, run.Options{Seed: 1})
	require.NotEmpty(t, out.Failures)
	assert.Equal(t, "only a person can know what it is to be", out.Failures[0].Stays())
}
