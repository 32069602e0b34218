package loop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

// moment is one thing that outlives a process: bytes of the journal, or an effect of the
// call with that id.
type moment struct{ journal, effect string }

// witness keeps the order of what was written down and what was done.
type witness struct {
	mu      sync.Mutex
	moments []moment
}

func (w *witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moments = append(w.moments, moment{journal: string(p)})
	return len(p), nil
}

func (w *witness) act(_ context.Context, in in, c *tool.Context) (tool.Result[string], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moments = append(w.moments, moment{effect: c.CallID})
	if strings.HasSuffix(in.Text, "fails") {
		return tool.Result[string]{}, errors.New("no funds")
	}
	return tool.Done("did " + c.CallID), nil
}

// upTo is the journal's bytes and the effects, in order, of the first n moments.
func (w *witness) upTo(n int) (journal string, effects []string) {
	for _, m := range w.moments[:n] {
		journal += m.journal
		if m.effect != "" {
			effects = append(effects, m.effect)
		}
	}
	return journal, effects
}

// reopened is the history of a session that is opened again from a journal.
func reopened(t require.TestingT, journal string) []message.Message {
	entries, err := loop.ReadJournal(strings.NewReader(journal))
	require.NoError(t, err)
	history, _ := loop.Reopen(entries)
	history, _ = message.Mend(history)
	return history
}

// untrue lists what a reopened history has wrong: calls that lack their one result,
// effects that it does not mention, and effects of calls that it says were not run.
func untrue(history []message.Message, effects, abandoned []string) (bad []string) {
	bad = refused(message.Request{Messages: history})
	answers := map[string]string{}
	for _, m := range history {
		turns := map[string]bool{}
		for _, c := range m.Calls() {
			turns[c.ID[:strings.LastIndex(c.ID, "_")+1]] = true
		}
		if len(turns) > 1 {
			bad = append(bad, fmt.Sprintf("one message has the calls of %d answers", len(turns)))
		}
		for _, r := range m.Results() {
			answers[r.ToolUseID] = message.PlainText(r.Content)
		}
	}
	for _, id := range effects {
		switch text, known := answers[id]; {
		case slices.Contains(abandoned, id):
		case !known:
			bad = append(bad, id+" was done and is not mentioned")
		case strings.Contains(text, "was not run"):
			bad = append(bad, id+" was done: "+text)
		}
	}
	for id, text := range answers {
		if strings.Contains(text, "did ") && !slices.Contains(effects, id) {
			bad = append(bad, id+" was not done: "+text)
		}
	}
	return bad
}

// abandonedIn are the calls of answers that were given up and replaced by others.
func abandonedIn(t require.TestingT, journal string) (ids []string) {
	entries, err := loop.ReadJournal(strings.NewReader(journal))
	require.NoError(t, err)
	var open, given []string
	for _, e := range entries {
		switch {
		case e.Kind == loop.BlockDone && e.Block.Type == message.TypeToolUse:
			open = append(open, e.Block.ID)
		case e.Kind == loop.AnswerAbandoned:
			given, open = append(given, open...), nil
		case e.Kind == loop.MessagesAdded:
			ids, given, open = append(ids, given...), nil, nil
		}
	}
	return ids
}

// Whatever is called, under every policy, with answers that break off and histories that
// are cut: after a kill between any two moments the session that is opened again has one
// result for each call, knows of every effect, and is not told that something was not run
// which was. The second session is killed as well.
func TestKilledAtAnyInstant(t *testing.T) {
	policies := []schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming, schedule.Effects}
	rapid.Check(t, func(rt *rapid.T) {
		policy := rapid.SampledFrom(policies).Draw(rt, "policy")
		keep := rapid.IntRange(-4, 4).Draw(rt, "keep") // below 0 nothing is cut
		first := lived(rt, t, 1, policy, keep, nil)
		allTrue(rt, first, "", nil, keep)
		journal, effects := first.upTo(rapid.IntRange(0, len(first.moments)).Draw(rt, "killed"))
		second := lived(rt, t, 2, policy, keep, reopened(rt, journal))
		allTrue(rt, second, journal, effects, keep)
	})
}

// lived runs a session of drawn turns to its end; its calls have ids of their own.
func lived(rt *rapid.T, t *testing.T, life int, policy schedule.Policy, keep int, history []message.Message) *witness {
	w, s := &witness{}, &script{}
	for n := range rapid.IntRange(1, 3).Draw(rt, "turns") {
		specs := rapid.SliceOfN(rapid.SampledFrom([]string{"Pay", "Pay fails", "Look", "Gone"}), 1, 3).Draw(rt, "calls")
		next := calls(specs...)
		for i := range next {
			next[i] = strings.ReplaceAll(next[i], `"id":"c`, fmt.Sprintf(`"id":"life%d_%d_`, life, n))
		}
		if rapid.IntRange(0, 4).Draw(rt, "cut") == 0 {
			next = next[:rapid.IntRange(1, len(next)-1).Draw(rt, "after")]
		}
		s.turns = append(s.turns, next)
	}
	s.turns = append(s.turns, says("done"))
	r := open(t, s, func(c *loop.Config) {
		c.Policy, c.Retries, c.History, c.Journal = policy, 3, history, loop.WriteJournal(w)
		c.Compact = func(_ context.Context, h []message.Message) (loop.Summary, bool, error) {
			return loop.Summary{Text: "Summary.", Keep: keep}, keep >= 0 && len(h) > 3, nil
		}
	}, named("Pay", all(exclusive, call(w.act))), named("Look", call(w.act)))
	r.send(rt)
	if journal, _ := w.upTo(len(w.moments)); journal != "" {
		require.Equal(rt, r.History(), reopened(rt, journal), "what ended well is read back as it was")
	}
	return w
}

// allTrue checks the histories of the sessions that are opened after a kill between any
// two moments of a life, which went on from a journal and the effects before it.
func allTrue(rt *rapid.T, w *witness, before string, done []string, keep int) {
	for n := range len(w.moments) + 1 {
		journal, effects := w.upTo(n)
		journal, effects = before+journal, slices.Concat(done, effects)
		history := reopened(rt, journal)
		bad := refused(message.Request{Messages: history})
		if keep < 0 { // what was cut away cannot be looked for
			bad = untrue(history, effects, abandonedIn(rt, journal))
		}
		if len(bad) > 0 {
			rt.Fatalf("killed after moment %d of %d: %v\n%s", n, len(w.moments), bad, journal)
		}
	}
}

// A journal may break off within a line, at any byte; what is broken elsewhere is an error.
func TestAJournalThatBreaksOff(t *testing.T) {
	w := &witness{}
	s := &script{turns: []turn{calls("Pay", "Look", "Pay"), says("done")}}
	r := open(t, s, func(c *loop.Config) { c.Journal = loop.WriteJournal(w) }, named("Pay", all(exclusive, call(w.act))), named("Look", call(w.act)))
	r.send(t)
	whole, effects := w.upTo(len(w.moments))
	require.Len(t, effects, 3)
	for n := range len(whole) {
		var done []string // an effect comes behind the line that announces it
		at := 0
		for _, m := range w.moments {
			at += len(m.journal)
			if at > n {
				break
			}
			if m.effect != "" {
				done = append(done, m.effect)
			}
		}
		require.Empty(t, untrue(reopened(t, whole[:n]), done, nil), "broken off after %d bytes", n)
	}
	assert.Equal(t, r.History(), reopened(t, whole), "what ended well is read back as it was")

	lines := strings.SplitAfter(whole, "\n")
	lines[1] = lines[1][:10] + "\n"
	_, err := loop.ReadJournal(strings.NewReader(strings.Join(lines, "")))
	require.ErrorIs(t, err, loop.ErrJournal)
	assert.ErrorContains(t, err, "line 2")
}

// A retried answer may bring the ids of the one that was given up: the call stands where
// it last began.
func TestAnIdOfTwoAttempts(t *testing.T) {
	call := message.Block{Type: message.TypeToolUse, ID: "a", Name: "Pay", Input: []byte(`{}`)}
	other := message.Block{Type: message.TypeToolUse, ID: "b", Name: "Pay", Input: []byte(`{}`)}
	result := func(id, text string) loop.Entry {
		b := message.ToolResult(id, false, message.Text(text))
		return loop.Entry{Kind: loop.CallEnded, Block: &b}
	}
	history, _ := loop.Reopen([]loop.Entry{
		{Kind: loop.BlockDone, Block: &other}, {Kind: loop.BlockDone, Block: &call},
		{Kind: loop.CallStarted, Call: "b"}, result("b", "did b"), {Kind: loop.CallStarted, Call: "a"}, result("a", "was not run"),
		{Kind: loop.AnswerAbandoned},
		{Kind: loop.BlockDone, Block: &other}, {Kind: loop.BlockDone, Block: &call}, {Kind: loop.CallStarted, Call: "a"}, result("a", "did a"),
	})
	require.Empty(t, refused(message.Request{Messages: history}))
	require.Len(t, history, 4)
	assert.Equal(t, "did b", message.PlainText(history[1].Results()[0].Content))
	assert.Equal(t, "did a", message.PlainText(history[3].Results()[0].Content))
}

// The result of a call that had ended outlives a kill, though another still ran.
func TestAResultThatWasThereIsKept(t *testing.T) {
	w := &witness{}
	r := open(t, &script{turns: []turn{calls("Look", "Pay"), says("done")}}, func(c *loop.Config) { c.Journal = loop.WriteJournal(w) },
		named("Pay", all(exclusive, call(w.act))), named("Look", call(w.act)))
	r.send(t)
	at := slices.IndexFunc(w.moments, func(m moment) bool { return m.effect == "c1" })
	journal, _ := w.upTo(at)
	results := reopened(t, journal)[2].Results()
	require.Len(t, results, 2)
	assert.Equal(t, "did c0", message.PlainText(results[0].Content))
	assert.Contains(t, message.PlainText(results[1].Content), "is not known")
}

// A call does not run when that it begins cannot be written down.
func TestNothingRunsWithoutAJournal(t *testing.T) {
	w := &witness{}
	full := errors.New("the disk is full")
	s := &script{turns: []turn{calls("Pay", "Pay"), says("done")}}
	r := open(t, s, func(c *loop.Config) {
		c.Journal = func(e loop.Entry) error {
			if e.Kind == loop.CallStarted {
				return full
			}
			return nil
		}
	}, named("Pay", all(exclusive, call(w.act))))
	_, err := r.Send(t.Context(), message.UserText("go"))
	require.ErrorIs(t, err, full)
	assert.Empty(t, w.moments)
	assert.Len(t, s.requests, 1, "no further request")
}

// The thinking before a call that had begun goes back unchanged, signature and all.
func TestThinkingOutlivesAKill(t *testing.T) {
	w := &witness{}
	thought := turn{
		beginning, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Pay <first>."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`, `{"type":"content_block_stop","index":0}`,
	}
	for _, e := range calls("Pay")[1:] {
		thought = append(thought, strings.ReplaceAll(e, `"index":0`, `"index":1`))
	}
	r := open(t, &script{turns: []turn{thought, says("done")}}, func(c *loop.Config) { c.Journal = loop.WriteJournal(w) }, named("Pay", call(w.act)))
	r.send(t)
	at := slices.IndexFunc(w.moments, func(m moment) bool { return m.effect != "" })
	journal, _ := w.upTo(at + 1)
	history := reopened(t, journal)
	require.Len(t, history, 3)
	assert.Equal(t, r.History()[1], history[1])
	assert.Contains(t, message.PlainText(history[2].Results()[0].Content), "is not known")
	var lines bytes.Buffer
	keep := loop.WriteJournal(&lines)
	require.NoError(t, keep(loop.Entry{Kind: loop.HistorySet, Messages: history}))
	assert.Equal(t, history, reopened(t, lines.String()))
}

// A process that is killed while the API's own tool is at work leaves a call without a result, which
// nobody can make any more: it is not sent back.
func TestACallOfTheAPIsOwnToolDoesNotOutliveAKillWithoutItsResult(t *testing.T) {
	searching := message.Block{Type: "server_tool_use", Raw: []byte(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`)}
	looking := message.Block{Type: message.TypeToolUse, ID: "a", Name: "Look", Input: []byte(`{}`)}
	said := message.ToolResult("a", false, message.Text("seen"))
	history, _ := loop.Reopen([]loop.Entry{
		{Kind: loop.MessagesAdded, Messages: []message.Message{message.UserText("go")}},
		{Kind: loop.BlockDone, Block: &looking}, {Kind: loop.CallStarted, Call: "a"}, {Kind: loop.CallEnded, Block: &said},
		{Kind: loop.BlockDone, Block: &searching},
	})
	assert.Equal(t, []message.Message{
		message.UserText("go"),
		{Role: message.Assistant, Content: []message.Block{looking}},
		{Role: message.User, Content: []message.Block{said}},
	}, history)
}
