package recording_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/recording"
)

// exchanged are the calls and results of whole turns, in order, conversation by conversation.
func exchanged(rec *recording.Recording) (out [][]string) {
	for _, c := range rec.Conversations {
		var all []string
		for _, t := range c.Turns {
			if t.Ending != recording.Whole {
				continue
			}
			for _, call := range t.Calls {
				all = append(all, "call "+call.ID+" "+call.Name+" "+gjson.GetBytes(call.Input, "@ugly").Raw)
			}
			for _, r := range t.Results {
				all = append(all, "result "+r.Call+" "+r.Text)
			}
		}
		if len(all) > 0 {
			out = append(out, all)
		}
	}
	return out
}

// What is exported reads back with the same calls and results, in their order.
func TestWhatIsExportedReadsBack(t *testing.T) {
	files, err := filepath.Glob("../../fixtures/cassettes/p*.yaml")
	require.NoError(t, err)
	for _, beside := range []string{"providers", "corpus"} {
		more, err := filepath.Glob("../../../shared/" + beside + "/*/*")
		require.NoError(t, err)
		files = append(files, more...)
	}
	read := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		if len(raw) > 1<<20 {
			continue
		}
		rec, err := recording.Open(file, strings.NewReader(string(raw)), recording.Limits{}, nil)
		if err != nil || len(exchanged(rec)) == 0 {
			continue
		}
		read++
		for _, form := range []recording.Export{recording.ATIF, recording.GenAI} {
			doc, _ := form.Write(rec.Conversations, func(s string) string { return s })
			back, err := recording.Open(file, strings.NewReader(string(doc)), recording.Limits{}, nil)
			if assert.NoError(t, err, "%s %s", form, file) {
				want, got := exchanged(rec), exchanged(back)
				if form == recording.GenAI { // bare answers in a row are conversations each, without requests to join them
					want, got = [][]string{slices.Concat(want...)}, [][]string{slices.Concat(got...)}
				}
				assert.Equal(t, want, got, "%s %s", form, file)
			}
		}
	}
	assert.Positive(t, read)
	t.Logf("%d of %d files have calls", read, len(files))
}

// Times of spans are counted from the epoch and never before it: recordings without times have those of their order.
func TestSpansOfRecordingsWithoutTimesHaveTimes(t *testing.T) {
	text := `{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"One."},{"role":"user","content":"On."},{"role":"assistant","content":"Two."}]}`
	rec, err := recording.Open("x", strings.NewReader(text), recording.Limits{}, nil)
	require.NoError(t, err)
	doc, _ := recording.GenAI.Write(rec.Conversations, func(s string) string { return s })
	assert.Equal(t, `["1000000000","2000000000"]`, gjson.GetBytes(doc, "resourceSpans.#.scopeSpans.#.spans.#.startTimeUnixNano|@flatten:{\"deep\":true}").Raw)
}

// Parts are a list in the conventions' schema, also those of an answer of nothing, and of one whose text the export leaves out.
func TestSpansOfEmptyAnswersHavePartsOfNothing(t *testing.T) {
	text := `{"type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	rec, err := recording.Open("x", strings.NewReader(text), recording.Limits{}, nil)
	require.NoError(t, err)
	doc, left := recording.GenAI.Write(rec.Conversations, func(s string) string { return s })
	assert.Zero(t, left)
	assert.Contains(t, string(doc), `\"parts\":[]`)
	assert.NotContains(t, string(doc), "null")
}

// A trajectory without a step is none: what is left of a conversation whose only answer was cut is left out.
func TestNoTrajectoryIsWithoutSteps(t *testing.T) {
	cut := `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"On"}}]}` + "\n\n"
	rec := open(t, cut)
	doc, left := recording.ATIF.Write(rec.Conversations, func(s string) string { return s })
	assert.Equal(t, 1, left)
	assert.Equal(t, "[]", string(doc))
	doc, left = recording.ATIF.Write(append(open(t, `{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"One."}]}`).Conversations, rec.Conversations...), func(s string) string { return s })
	assert.Equal(t, 1, left)
	assert.Equal(t, "[2]", gjson.GetBytes(doc, "#.steps.#").Raw)
}

// What a turn costs to export does not grow with the turns before it, though the requests of later ones repeat them.
func TestExportedTurnsCostTheSame(t *testing.T) {
	for _, form := range []recording.Export{recording.ATIF, recording.GenAI} {
		cost := func(turns int) float64 {
			c := &recording.Conversation{Number: 1, Turns: slices.Repeat([]*recording.Turn{{UserTexts: []string{"Go on."}, Calls: []recording.Call{{ID: "c", Name: "ls", Input: []byte("{}")}}}}, turns)}
			return testing.AllocsPerRun(1, func() { form.Write([]*recording.Conversation{c}, strings.Clone) })
		}
		assert.Less(t, cost(640), 12*cost(64), form)
	}
}
