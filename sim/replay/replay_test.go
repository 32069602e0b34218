package replay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/stream"
	"toolbench/toolsys/schedule"
)

// The headline of the bench, from a transcript: 5 s of stream, a tool of 3 s whose call is complete at 2 s.
func TestLatencyIsHiddenAsItWasMeasured(t *testing.T) {
	text := transcript(t, prompt(0),
		call(2, "m1", "c1", "fetch", nil), result(5, "c1"), text(5, "m1"),
		text(6, "m2"))
	c := only(t, text, replay.Options{})
	assert.Equal(t, map[string]string{
		"serial": "9s 0% measured", "batch": "9s 0% measured", "streaming": "6s 33.33% measured", "recorded": "6s 33.33% measured",
	}, figures(c), "the stream of 5 s, 3 s of the tool, and 1 s of the next answer")
}

// Who waits for a replay sees that it goes on, from reading and from every turn under every policy.
func TestAReplayTellsThatItGoesOn(t *testing.T) {
	moved := func(turns int) int64 {
		var n atomic.Int64
		lines := []object{prompt(0)}
		for i := range turns {
			id := fmt.Sprint(i)
			lines = append(lines, call(float64(2*i+1), "m"+id, "c"+id, "fetch", nil), result(float64(2*i+2), "c"+id))
		}
		only(t, transcript(t, lines...), replay.Options{Moved: func() { n.Add(1) }})
		return n.Load()
	}
	one := moved(1)
	assert.Greater(t, one, int64(len(replay.Policies())), "bytes were read as well")
	assert.GreaterOrEqual(t, moved(4), one+3*int64(len(replay.Policies())))
}

func TestWhatAPersonTookBetweenMessagesDoesNotCount(t *testing.T) {
	c := only(t, transcript(t, prompt(0), text(2, "m1"), prompt(600), text(603, "m2")), replay.Options{})
	assert.Equal(t, 5*sec, c.Measured.Makespan)
	assert.Equal(t, 5*sec, figure(c, schedule.Streaming).Makespan)
}

func TestCallsThatEndedInAnotherOrderAreSafe(t *testing.T) {
	lines := []object{prompt(0), call(1, "m1", "c1", "slow", nil), call(2, "m1", "c2", "quick", nil)}
	swapped := only(t, transcript(t, append(lines, result(5, "c2"), result(9, "c1"))...), replay.Options{})
	assert.Equal(t, []replay.SafeTool{{Tool: "quick", Because: "measured"}, {Tool: "slow", Because: "measured"}}, swapped.Safe)
	assert.Equal(t, []int{1}, swapped.OutOfOrder.First)
	assert.Equal(t, 1, swapped.Batches)

	inOrder := only(t, transcript(t, append(lines, result(5, "c1"), result(9, "c2"))...), replay.Options{})
	assert.Empty(t, inOrder.Safe, "that proves nothing: one may have waited for the other")
	assert.Equal(t, 2, inOrder.Batches)
	assert.Equal(t, map[string]string{
		"serial": "9s 0% measured", "batch": "9s 0% assumed: safety", "streaming": "8s 11.11% assumed: safety", "recorded": "9s 0% measured",
	}, figures(inOrder))
}

func TestACommandThatRanBesideAnotherProvesNothingOfTheNext(t *testing.T) {
	ls, rm := object{"command": "ls"}, object{"command": "rm x"}
	c := only(t, transcript(t, prompt(0),
		call(1, "m1", "c1", "shell", ls), call(2, "m1", "c2", "quick", nil), result(3, "c2"), result(4, "c1"),
		call(5, "m2", "c3", "shell", rm), call(6, "m2", "c4", "shell", rm), result(8, "c3"), result(9, "c4"),
	), replay.Options{})
	assert.Equal(t, []replay.SafeTool{{Tool: "quick", Because: "measured"}}, c.Safe)
	assert.Equal(t, 3, c.Batches, "one for the first message, two for the second")
	assert.True(t, figure(c, schedule.Streaming).Basis.Safety)
}

func TestToolsThatTookTheirOwnTimeShowThatTheyOverlapped(t *testing.T) {
	took := func(l object, ms int) object { l["toolUseResult"] = object{"durationMs": ms}; return l }
	c := only(t, transcript(t, prompt(0), call(1, "m1", "c1", "glob", nil), call(2, "m1", "c2", "glob", nil),
		took(result(4, "c1"), 1900), took(result(4.001, "c2"), 1800)), replay.Options{})
	assert.Equal(t, []replay.SafeTool{{Tool: "glob", Because: "measured"}}, c.Safe)
	assert.Equal(t, map[string]string{
		"serial": "5.7s 0% measured", "batch": "3.9s 31.58% measured", "streaming": "3.8s 33.33% measured", "recorded": "4.001s 29.81% measured",
	}, figures(c))
}

func TestWithoutTimesEverythingIsAssumedAndReported(t *testing.T) {
	turn := stream.Turn{ID: "m1", Blocks: []stream.Block{use("c1", "view", `{}`), use("c2", "view", `{}`), use("c3", "edit", `{}`), {Kind: stream.Text, Text: strings.Repeat("word", 80)}}}
	raw := cassette(t, []object{definition("view"), definition("edit")}, turn)
	t.Run("fail-closed", func(t *testing.T) {
		assert.Equal(t, map[string]string{
			"serial": "4.4s 0% assumed: pace, durations", "batch": "4.4s 0% assumed: pace, durations, safety",
			"streaming": "3.4s 22.73% assumed: pace, durations, safety",
		}, figures(only(t, raw, replay.Options{})))
	})
	t.Run("flags say what is not known", func(t *testing.T) {
		pace := stream.Pace{FirstByte: sec, TokensPerSecond: 40}
		o := replay.Options{Safe: replay.Globs{"v*"}, Durations: replay.Durations{{Glob: "*", Took: sec}, {Glob: "edit", Took: 2 * sec}}, Pace: &pace}
		c := only(t, raw, o)
		assert.Equal(t, map[string]string{
			"serial": "7s 0% assumed: pace, durations", "batch": "6s 14.29% assumed: pace, durations, safety",
			"streaming": "4s 42.86% assumed: pace, durations, safety",
		}, figures(c))
		assert.Equal(t, []replay.SafeTool{{Tool: "view", Because: "given"}}, c.Safe)
	})
	t.Run("what was measured is not assumed", func(t *testing.T) {
		c := only(t, transcript(t, prompt(0), call(1, "m1", "c1", "view", nil), result(3, "c1")), replay.Options{Durations: replay.Durations{{Glob: "*", Took: 9 * sec}}})
		assert.Equal(t, "3s 0% measured", figures(c)["serial"])
	})
}

func TestAnnotationsMakeAToolSafe(t *testing.T) {
	view := definition("view")
	view["annotations"] = object{"readOnlyHint": true}
	c := only(t, cassette(t, []object{view}, stream.Turn{ID: "m", Blocks: []stream.Block{use("c1", "view", `{}`), use("c2", "view", `{}`)}}), replay.Options{})
	assert.Equal(t, []replay.SafeTool{{Tool: "view", Because: "annotations"}}, c.Safe)
	assert.False(t, figure(c, schedule.Batch).Basis.Safety)
	assert.Equal(t, 1, c.Batches)
}

// A call that a program of the API made runs as it was recorded, whether or not a request defines its tool.
func TestACallThatAProgramMadeRuns(t *testing.T) {
	roll := definition("roll")
	roll["allowed_callers"] = []any{"code_execution_20250825"}
	by := use("c1", "roll", `{}`)
	by.Caller = []byte(`{"type":"code_execution_20250825","tool_id":"s"}`)
	for name, defined := range map[string][]object{"defined": {roll}, "not defined": {}} {
		c := only(t, cassette(t, defined, stream.Turn{ID: "m", Blocks: []stream.Block{by}}), replay.Options{})
		assert.Empty(t, c.Broken.First, name)
		assert.GreaterOrEqual(t, figure(c, schedule.Serial).Makespan, replay.DefaultDuration, "%s: it takes its time", name)
	}
}

func TestInputsAreHeldAgainstTheirOwnToolsSchema(t *testing.T) {
	c := only(t, cassette(t, []object{definition("view")}, stream.Turn{ID: "m", Blocks: []stream.Block{
		use("c1", "view", `{"path":"/a"}`), use("c2", "view", `{"path":7}`), use("c3", "view", `{"file":"/a"}`), use("c4", "other", `{"any":1}`),
	}}), replay.Options{})
	require.Len(t, c.Broken.First, 2)
	assert.Equal(t, "c2", c.Broken.First[0].Call)
	assert.Contains(t, c.Broken.First[0].Text, "path")
	assert.Equal(t, "c3", c.Broken.First[1].Call)
}

func TestAToolWhoseSchemaCannotBeResolvedIsReplayedUnchecked(t *testing.T) {
	broken := object{"name": "view", "description": "A tool.", "input_schema": object{"type": "object", "properties": 7}}
	c := only(t, cassette(t, []object{broken, {"type": "web_search_20250305", "name": "web_search"}}, stream.Turn{ID: "m", Blocks: []stream.Block{use("c1", "view", `{"path":7}`)}}), replay.Options{})
	assert.Empty(t, c.Broken.First)
	require.Len(t, c.Notes.First, 1)
	assert.Contains(t, c.Notes.First[0], "inputs of view are not checked")
}

func TestWhatMustNotRunDoesNot(t *testing.T) {
	whole := stream.Turn{ID: "m1", Blocks: []stream.Block{use("c1", "view", `{}`)}}
	for name, turn := range map[string]stream.Turn{
		"a stream that is cut": {ID: "m1", Blocks: whole.Blocks, CutAfter: 5},
		"an error event":       {ID: "m1", Blocks: whole.Blocks, Error: &stream.Error{Type: "overloaded_error", Message: "x"}},
		"a call that is cut":   {ID: "m1", Blocks: []stream.Block{{Kind: stream.ToolUse, ID: "c1", Name: "view", Input: []byte(`{"path":"/a"}`), CutAt: 4}}},
	} {
		c := only(t, string(stream.Bytes(stream.Script(turn))), replay.Options{})
		assert.Equal(t, 1, c.Calls, name)
		assert.Equal(t, 0, c.Answered, name)
		assert.Less(t, figure(c, schedule.Batch).Makespan, 500*time.Millisecond, "%s: no tool's second is in it", name)
		assert.Len(t, c.Unanswered.First, 1, name)
	}
}

func TestPoliciesAreComparedInTheOrderAskedFor(t *testing.T) {
	c := only(t, transcript(t, prompt(0), text(1, "m1")), replay.Options{Policies: []schedule.Policy{schedule.Streaming}})
	require.Len(t, c.Figures, 1)
	assert.Equal(t, "streaming", c.Figures[0].Name)
	assert.Nil(t, figure(c, schedule.Serial))
}

func TestTheSameRecordingGivesTheSameReport(t *testing.T) {
	raw := transcript(t, prompt(0), call(1, "m1", "c1", "a", nil), call(1, "m1", "c2", "b", nil), call(1, "m1", "c3", "c", nil), result(2, "c3"), result(2, "c1"), result(2, "c2"), text(3, "m2"))
	want := run(t, raw, replay.Options{Seed: 1})
	for range 50 {
		require.Equal(t, want, run(t, raw, replay.Options{Seed: 1}))
	}
}

func TestSecretsDoNotReachTheReport(t *testing.T) {
	key := "sk-ant-" + strings.Repeat("x", 30)
	ghp := "ghp_" + strings.Repeat("Y", 36)
	given := "correct horse"
	raw := cassette(t, []object{definition("view")}, stream.Turn{ID: "m", Model: "model " + given, Blocks: []stream.Block{
		use("call-"+key, "view", `{"path":["`+key+`"]}`), use("c2", "view", `{"`+ghp+`":1}`), use("c3", "none", `{}`),
	}}) + "---\nwhen: {path: /v1/messages, body: '{\"messages\":[]}'}\nthen: {status: 500, body: '{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"bad key " + key + "\"}}'}\n"
	for name, text := range map[string]string{"a cassette": raw, "a transcript": transcript(t,
		object{"type": "assistant", "sessionId": key, "isApiErrorMessage": true, "message": object{"content": "Bearer " + strings.Repeat("t", 40) + given}},
		call(1, "m1", "c1-"+ghp, "view", nil), result(2, "other-"+key))} {
		rep := replay.Recording(t.Context(), "file", strings.NewReader(text), replay.Options{Secrets: []string{given}})
		shown := fmt.Sprintf("%+v", rep)
		for _, secret := range []string{key, ghp, given, strings.Repeat("t", 40)} {
			assert.NotContains(t, shown, secret, name)
		}
		assert.Contains(t, shown, "[redacted]", name)
	}
}

func TestWhatIsNoRecordingIsAnErrorInTheReport(t *testing.T) {
	rep := replay.Recording(t.Context(), "notes.md", strings.NewReader("# Notes\n"), replay.Options{})
	assert.ErrorIs(t, rep.Err, recording.ErrNotRecording)
	assert.Empty(t, rep.Conversations)

	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	rep = replay.Recording(ctx, "file", strings.NewReader(transcript(t, text(1, "m1"))), replay.Options{})
	assert.ErrorIs(t, rep.Err, stop)
}

func TestListsOfAReportDoNotGrowWithTheRecording(t *testing.T) {
	lines := []object{prompt(0)}
	for n := range 300 {
		lines = append(lines, call(float64(n), fmt.Sprint("m", n), fmt.Sprint("c", n), "view", nil))
	}
	c := only(t, transcript(t, lines...)+strings.Repeat("{broken}\n", 300), replay.Options{})
	assert.Equal(t, 300, c.Unanswered.N)
	assert.Len(t, c.Unanswered.First, 100)
	assert.Equal(t, []replay.Count{{What: "the conversation goes on without its result", N: 299}, {What: "the recording ends before its result", N: 1}}, c.Why)
}

// A message with very many calls, as only a hostile file has, is looked at in proportion to their number: in its
// square that would take longer than tests may.
func TestThousandsOfCallsInAMessageAreMeasuredInNoTime(t *testing.T) {
	turn := &recording.Turn{Pace: recording.Exact}
	for i := range 200_000 {
		id, at := fmt.Sprint("call_of_a_hostile_file_", i), time.Duration(i)*time.Second
		turn.Calls = append(turn.Calls, recording.Call{ID: id, Name: "view"})
		turn.Results = append(turn.Results, recording.Result{Call: id, At: recording.Moment{At: at, Known: true}, Took: recording.Moment{At: sec, Known: true}})
	}
	assert.True(t, turn.InOrder())
	assert.False(t, slices.Contains(replay.Beside(turn), true))
}

// Which calls ran beside another is what comparing each with each other gives.
func TestCallsThatRanBesideAnotherAreThoseOfAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) recording.Moment {
			return recording.Moment{At: time.Duration(rapid.IntRange(0, 40).Draw(t, "at")) * 25 * time.Millisecond, Known: rapid.IntRange(0, 5).Draw(t, "known") > 0}
		})
		n := rapid.IntRange(0, 24).Draw(t, "calls")
		turn, want := &recording.Turn{Pace: recording.Exact}, make([]bool, n)
		for i := range n {
			turn.Calls = append(turn.Calls, recording.Call{ID: fmt.Sprint(i), Name: "view"})
			turn.Results = append(turn.Results, recording.Result{Call: fmt.Sprint(i), At: moment.Draw(t, "at"), Took: moment.Draw(t, "took")})
		}
		for i, a := range turn.Results {
			for j, b := range turn.Results[i+1:] {
				both := a.Took.Known && b.Took.Known && min(a.At.At, b.At.At)-max(a.At.At-a.Took.At, b.At.At-b.Took.At) > 50*time.Millisecond
				if a.At.Known && b.At.Known && (b.At.At < a.At.At || both) {
					want[i], want[i+1+j] = true, true
				}
			}
		}
		turn.Results = rapid.Permutation(turn.Results).Draw(t, "order")
		assert.Equal(t, want, replay.Beside(turn))
	})
}

// figure is a policy's figure; nil where the policy was not asked for.
func figure(c replay.Conversation, p schedule.Policy) *replay.Figure {
	i := slices.IndexFunc(c.Figures, func(f replay.Figure) bool { return f.Name == p.String() })
	if i < 0 {
		return nil
	}
	return &c.Figures[i]
}

// onceRead is a reader that does something where its text ends.
type onceRead struct {
	*strings.Reader
	then func()
}

func (r onceRead) Read(p []byte) (int, error) {
	if r.Len() == 0 {
		r.then()
	}
	return r.Reader.Read(p)
}

// The file is read beside the replay: what goes wrong with either reaches who asked for it, and
// nobody reads any more then.
func TestWhatReadsEndsWithTheReplay(t *testing.T) {
	defer goleak.VerifyNone(t)
	turns := []object{prompt(0)}
	for i := range 50 {
		turns = append(turns, text(float64(i+1), fmt.Sprint("m", i)))
	}
	long := transcript(t, turns...)
	broken := onceRead{strings.NewReader(long), func() { panic("the disk broke") }}
	assert.PanicsWithValue(t, "the disk broke", func() { replay.Recording(t.Context(), "a.jsonl", broken, replay.Options{}) })

	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough"))
	r := replay.Recording(ctx, "a.jsonl", strings.NewReader(long), replay.Options{})
	assert.EqualError(t, r.Err, "enough")
	assert.Empty(t, r.Ignored)
}
