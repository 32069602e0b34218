package check

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/economics"
	"toolbench/sim/scenario"
	"toolbench/toolsys/message"
	"toolbench/toolsys/trace"
)

// summaryOf is what is read off some events.
func summaryOf(events ...trace.Event) Result {
	var out Result
	out.Summarize(&Record{Events: events})
	return out
}

// A stream is what its request, its first byte and what came of it say; one that was cut off
// ends when that was known, and where nothing was done nothing was hidden.
func TestWhatIsReadOfAStream(t *testing.T) {
	const s = time.Second
	whole := summaryOf(
		trace.Event{Turn: 1, Data: trace.Request{}},
		trace.Event{At: s, Turn: 1, Data: trace.FirstByte{}},
		trace.Event{At: 2 * s, Turn: 1, Data: trace.BlockDone{}},
		trace.Event{At: 3 * s, Turn: 1, Data: trace.StreamEnd{}})
	assert.Equal(t, []Stream{{Turn: 1, First: s, End: 3 * s}}, whole.Streams)
	cut := summaryOf(
		trace.Event{Turn: 1, Data: trace.Request{}},
		trace.Event{At: 2 * s, Turn: 1, Data: trace.BlockDone{}},
		trace.Event{At: 4 * s, Turn: 1, Data: trace.Fallback{}})
	assert.Equal(t, []Stream{{Turn: 1, End: 4 * s, Cut: true}}, cut.Streams)
	assert.Zero(t, summaryOf().Hidden)
}

// The calls of each turn make batches of their own, numbered from one.
func TestBatchesAreCountedFromTurnToTurn(t *testing.T) {
	ready := func(id string, turn int) trace.Event {
		return trace.Event{Call: id, Tool: "Read", Turn: turn, Data: trace.Ready{Safe: true}}
	}
	out := summaryOf(ready("a", 1), ready("b", 1), ready("c", 2))
	assert.Equal(t, [][]string{{"Read", "Read"}, {"Read"}}, out.Batches)
	require.Len(t, out.Calls, 3)
	assert.Equal(t, []int{1, 1, 2}, []int{out.Calls[0].Batch, out.Calls[1].Batch, out.Calls[2].Batch})
}

// Secrets are taken out of failures and of notes, however many there are of each.
func TestSecretsAreTakenOutOfWhatIsReported(t *testing.T) {
	const secret = "Authorization: Bearer sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
	out := Result{Failures: []Failure{{Expected: secret, Found: secret}}, Notes: []string{secret}}
	out.Redact()
	assert.NotContains(t, out.Failures[0].Expected, "Zm9vYmFy")
	assert.NotContains(t, out.Failures[0].Found, "Zm9vYmFy")
	assert.NotContains(t, out.Notes[0], "Zm9vYmFy")
}

// foundIn is what a run is reported to have in place of the one thing that is expected.
func foundIn(t *testing.T, expect string, events ...trace.Event) (expected, found string) {
	t.Helper()
	sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It answers.\nstream: {turns: [{text: hi}]}\nexpect: "+expect+"\n"))
	require.NoError(t, err)
	out := Result{Policy: sc.PolicyName()}
	out.Summarize(&Record{Events: events})
	failures := Check(sc, &Record{Events: events}, &out, nil)
	require.Len(t, failures, 1)
	return failures[0].Expected, failures[0].Found
}

// An event that did not come is worded as it is expected, beside those of its kind and its
// call: that is where a wrong detail shows. The first event of all counts as any other.
func TestAMissingEventIsShownBesideItsKind(t *testing.T) {
	end := func(id string) trace.Event {
		return trace.Event{Call: id, Tool: "Read", Data: trace.Ended{Status: "ok"}}
	}
	expected, found := foundIn(t, "{trace: [{kind: call.end, call: a, has: {status: failed}}]}", end("b"), end("a"))
	assert.Equal(t, `call.end call=a status~"failed"`, expected)
	assert.Contains(t, found, "no such event; of its kind:\n0 call.end")
	assert.NotContains(t, found, "call=b")
	_, found = foundIn(t, "{trace: [{kind: call.end, call: c}]}", end("a"))
	assert.Equal(t, "no such event", found)
	expected, found = foundIn(t, "{trace: [{kind: call.end, has: {status: failed}}]}", end("b"), end("a"))
	assert.Equal(t, `call.end status~"failed"`, expected)
	assert.Contains(t, found, "call=b")
	_, found = foundIn(t, "{trace: [{kind: call.end, call: b}, {kind: call.end, call: c}]}", end("b"), end("a"))
	assert.Equal(t, "no such event", found, "the first of all was found")
}

// Of the calls among which none is like the one that is looked for five are listed, and the
// others counted.
func TestTheCallsThatThereWereAreListed(t *testing.T) {
	var events []trace.Event
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		events = append(events, trace.Event{Call: id, Tool: "Read", Data: trace.Ready{}})
	}
	const loosely = "{loosely: {match: subset, calls: [{tool: Write}]}}"
	_, found := foundIn(t, loosely)
	assert.Equal(t, "no such call in none", found)
	_, found = foundIn(t, loosely, events...)
	assert.NotContains(t, found, "more")
	_, found = foundIn(t, loosely, append(events, trace.Event{Call: "f", Tool: "Read", Data: trace.Ready{}})...)
	assert.Contains(t, found, "1 more")
}

// A case that must fail, and of which nothing fails, is what is wrong.
func TestACaseThatMustFailAndDoesNot(t *testing.T) {
	sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It answers.\nstream: {turns: [{text: hi}]}\nmust_fail: [{case: a, failure: makespan, expect: {makespan: 1s}}]\n"))
	require.NoError(t, err)
	of := sc.Cases()[0]
	assert.Equal(t, "nothing fails", MustFail(of, &Result{Policy: of.PolicyName()})[0].Found)
	assert.Empty(t, MustFail(of, &Result{Policy: of.PolicyName(), Failures: []Failure{{Expectation: "makespan"}}}))
}

// Served tools come in the order of their names in a pool that has no others, too; and what
// cost nothing is not compared with what it would have cost.
func TestWhatThereIsNothingOf(t *testing.T) {
	var unsorted trace.Pool
	unsorted.Tools = []string{"mcp__b__x", "mcp__a__x"}
	assert.False(t, sortedPools([]trace.Pool{unsorted}))
	assert.Zero(t, missOverHit(nil, economics.Prices{}))
}

// A request that no API takes is named by its number, from one.
func TestARequestThatNoAPITakesIsNamed(t *testing.T) {
	sound, err := message.ReadBody([]byte(`{"messages":[{"role":"user","content":"go"}]}`))
	require.NoError(t, err)
	empty, err := message.ReadBody([]byte(`{"messages":[{"role":"user","content":[]}]}`))
	require.NoError(t, err)
	sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It answers.\nstream: {turns: [{text: hi}]}\nexpect: {calls: 0}\n"))
	require.NoError(t, err)
	out := Result{Policy: sc.PolicyName()}
	found := Check(sc, &Record{Requests: []message.Body{sound, empty}}, &out, nil)
	require.Len(t, found, 1)
	assert.Equal(t, "request 2: messages.0 is empty", found[0].Found)
}
