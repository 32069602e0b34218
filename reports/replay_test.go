package reports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/replay"
)

func replays() []replay.Report {
	measured := replay.Figure{Name: "measured", Makespan: 6 * time.Second, Hidden: 33.3333}
	figures := []replay.Figure{
		{Name: "serial", Makespan: 9 * time.Second},
		{Name: "batch", Makespan: 8 * time.Second, Hidden: 11.1111, Basis: replay.Basis{Safety: true}},
		{Name: "streaming", Makespan: 6*time.Second + 123456*time.Microsecond, Hidden: 31.96, Basis: replay.Basis{Safety: true}},
	}
	assumed := []replay.Figure{{Name: "serial", Makespan: time.Second, Basis: replay.Basis{Pace: true, Durations: true}}}
	return []replay.Report{
		{File: "logs/a.jsonl", Format: "jsonl-transcript", Ignored: []replay.Count{{What: `lines of type "system"`, N: 4}}, Conversations: []replay.Conversation{
			{Number: 1, ID: "s1", Model: "m", Turns: 3, Calls: 5, Answered: 4, ParallelBatches: 1, Batches: 3, Figures: figures, Measured: &measured,
				OutOfOrder: replay.List{First: []int{2}, N: 1}, ToolsChanged: replay.List{First: []int{3}, N: 1},
				Unanswered: replay.Some[replay.Unanswered]{First: []replay.Unanswered{{Turn: 3, Call: "c5", Tool: "view", Reason: "the recording ends before its result"}}, N: 1},
				Why:        []replay.Count{{What: "the recording ends before its result", N: 1}},
				Broken:     replay.Some[replay.BrokenInput]{First: []replay.BrokenInput{{Turn: 1, Call: "c1", Tool: "view", Text: "path: must be a string\nmore"}}, N: 2},
				Safe:       []replay.SafeTool{{Tool: "view", Because: "measured"}}},
			{Number: 2, Agent: "side", Turns: 1, Figures: figures[:1]},
		}},
		{File: "c.yaml", Format: "go-vcr-v1", Problems: []replay.Problem{{Kind: "cut", Place: "line 4, interaction 1", Text: "the body ends before message_stop"}}, MoreProblems: 2,
			Conversations: []replay.Conversation{{Number: 1, Turns: 1, Figures: assumed}}},
		{File: "big.sse", Format: "sse-text", Err: errors.New("big.sse: over a limit: the event is too large")},
		{File: "evil\x1b[31m.jsonl", Format: "jsonl-session", Problems: []replay.Problem{{Kind: "error", Text: "the model failed: \x1b]0;x\x07\u202e"}}},
	}
}

var skippedFiles = []reports.Skipped{{File: "logs/README.md", Reason: "not a recording"}}

func replayTable(t *testing.T, o reports.Options) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, reports.ReplayReport{Recordings: replays(), Skipped: skippedFiles}, "table", o))
	return b.String()
}

func replayJSON(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, reports.ReplayReport{Recordings: replays(), Skipped: skippedFiles}, "json", reports.Options{}))
	return b.String()
}

func TestReplaysLookAsRecorded(t *testing.T) {
	golden(t, "replay.json", replayJSON(t))
	for _, width := range []int{0, 160, 80, 40} {
		golden(t, fmt.Sprint("replay.table.", width), replayTable(t, reports.Options{Width: width}))
	}
	golden(t, "replay.table.color", replayTable(t, reports.Options{Width: 160, Color: true}))
	golden(t, "replay.table.ascii", replayTable(t, reports.Options{Width: 160, ASCII: true}))
}

func TestNoLineOfAReplayIsWiderThanTheScreen(t *testing.T) {
	for width := 20; width < 200; width += 7 {
		for line := range strings.Lines(replayTable(t, reports.Options{Width: width})) {
			assert.LessOrEqual(t, reports.Width(strings.TrimSuffix(line, "\n")), width, line)
		}
	}
}

func TestTheJSONOfReplaysIsAsItsSchemaSays(t *testing.T) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(reports.Schema("replay")))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("replay.schema.json", parsed))
	schema, err := compiler.Compile("replay.schema.json")
	require.NoError(t, err)
	report, err := jsonschema.UnmarshalJSON(strings.NewReader(replayJSON(t)))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(report))

	var wrong map[string]any
	require.NoError(t, json.Unmarshal([]byte(replayJSON(t)), &wrong))
	delete(wrong["recordings"].([]any)[0].(map[string]any)["conversations"].([]any)[0].(map[string]any), "calls")
	assert.Error(t, schema.Validate(wrong), "a schema that lets everything through proves nothing")
}

func TestNothingARecordingSaysReachesTheTerminalAsItIs(t *testing.T) {
	for _, text := range []string{replayTable(t, reports.Options{Width: 100}), replayJSON(t)} {
		assert.NotContains(t, text, "\x1b")
		assert.NotContains(t, text, "\u202e")
	}
}

// Rows of files that are called alike, or begin alike, can be distinguished.
func TestRowsHaveNamesOfTheirOwn(t *testing.T) {
	one := []replay.Conversation{{Number: 1, Turns: 1}}
	all := []replay.Report{
		{File: "a/session.jsonl", Conversations: one}, {File: "b/session.jsonl", Conversations: one}, {File: "b/only.jsonl", Conversations: one},
		{File: "x/a_long_name_of_a_test_that_reads.yaml", Conversations: one}, {File: "x/a_long_name_of_a_test_that_writes.yaml", Conversations: one},
		{File: "x/another_long_name_of_a_test.yaml", Conversations: one},
	}
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, reports.ReplayReport{Recordings: all}, "table", reports.Options{}))
	var names []string
	for _, line := range strings.Split(b.String(), "\n")[2:8] {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	assert.Equal(t, []string{
		"a/session.jsonl", "b/session.jsonl", "only.jsonl",
		"a_long_n…est_that_reads.yaml", "a_long_n…st_that_writes.yaml", "another_long_name_of_a_test…",
	}, names)

	b.Reset()
	require.NoError(t, reports.Print(&b, reports.ReplayReport{Recordings: all}, "table", reports.Options{Width: 50}))
	assert.Contains(t, b.String(), "\na_long_name_of_a_test_that_reads.yaml\n", "a list has room")
}

// Many recordings are a table with what is wrong with them; more than a screen has room for
// are a table of their folders.
func TestManyRecordingsAreATable(t *testing.T) {
	many := reports.ReplayReport{Skipped: skippedFiles}
	for i := range 15 {
		for _, one := range replays() {
			one.File = fmt.Sprintf("logs/%d/%s", i%3, one.File)
			many.Recordings = append(many.Recordings, one)
		}
	}
	for name, r := range map[string]reports.ReplayReport{"conversations": {Recordings: replays(), Skipped: skippedFiles}, "folders": many} {
		for _, width := range []int{200, 80, 60, 40} {
			var b bytes.Buffer
			require.NoError(t, reports.Print(&b, r, "table", reports.Options{Width: width, Grouped: true, ASCII: width == 60}))
			fitsWidth(t, b.String(), width)
			assert.Contains(t, strings.Join(strings.Fields(b.String()), " "), "the body ends before message_stop", "problems are whole")
			if name != "folders" || width == 80 {
				golden(t, fmt.Sprintf("replay.%s.%d", name, width), b.String())
			}
		}
	}
}
