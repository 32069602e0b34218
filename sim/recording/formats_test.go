package recording_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/cassette"
	"toolbench/sim/recording"
	"toolbench/sim/stream"
)

func TestTheSameConversationIsReadFromEveryFormat(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			rec := open(t, f.text)
			assert.Equal(t, f.format, rec.Format)
			assert.Empty(t, rec.Problems)
			require.Len(t, rec.Conversations, 1)
			turns := rec.Conversations[0].Turns
			require.Len(t, turns, 3)
			for n, turn := range turns {
				assert.Equal(t, n+1, turn.Number)
				if !f.poor || f.requests {
					assert.Equal(t, "model-1", turn.Model)
				}
				assert.Equal(t, recording.Whole, turn.Ending)
				assert.False(t, turn.ToolsChanged)
			}
			assert.Equal(t, []string{`call_1 view {"path":"/a"}`, `call_2 ls {}`}, calls(turns[0]))
			assert.Equal(t, []string{`call_3 view {"path":"/ü"}`}, calls(turns[1]))
			assert.Empty(t, turns[2].Calls)
			if f.requests {
				require.Len(t, turns[0].Tools, 2)
				assert.JSONEq(t, viewSchema, string(turns[0].Tools[0].Schema))
				assert.False(t, turns[0].Tools[0].ReadOnly)
				assert.Equal(t, !f.poor, turns[0].Tools[1].ReadOnly, "an annotation says so")
			}
			if !f.results {
				assert.Equal(t, recording.Unanswered{Call: "call_1", Tool: "view", Reason: "the recording holds no requests, so no results"}, turns[0].Unanswered[0])
				return
			}
			assert.Equal(t, []string{"call_1 text of a", "call_2 a b"}, answers(turns[0]))
			assert.Equal(t, []string{"call_3 failed: no such file"}, answers(turns[1]))
			assert.True(t, turns[0].InOrder())
			assert.Empty(t, turns[0].Unanswered)
		})
	}
}

func calls(t *recording.Turn) []string {
	var out []string
	for _, c := range t.Calls {
		out = append(out, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Input))
	}
	return out
}

func answers(t *recording.Turn) []string {
	var out []string
	for _, r := range t.Results {
		failed := ""
		if r.IsError {
			failed = "failed: "
		}
		out = append(out, r.Call+" "+failed+r.Text)
	}
	return out
}

func TestReadingDoesNotDependOnHowBytesArrive(t *testing.T) {
	for _, f := range fixtures(t) {
		want := open(t, f.text)
		for name, r := range map[string]io.Reader{
			"byte by byte": iotest.OneByteReader(strings.NewReader(f.text)), "halves": iotest.HalfReader(strings.NewReader(f.text)),
			"the end with the data": iotest.DataErrReader(strings.NewReader(f.text)),
		} {
			got, err := recording.Open("file", r, recording.Limits{}, nil)
			require.NoError(t, err, "%s, %s", f.name, name)
			assert.Equal(t, want, got, "%s, %s", f.name, name)
		}
	}
}

func TestTheNameOfAFileSaysNothing(t *testing.T) {
	for _, f := range fixtures(t) {
		rec, err := recording.Open("session.har", strings.NewReader(f.text), recording.Limits{}, nil)
		require.NoError(t, err)
		assert.Equal(t, f.format, rec.Format)
	}
}

func TestTimesAreThoseOfTheRecorder(t *testing.T) {
	byName := map[string][]*recording.Turn{}
	for _, f := range fixtures(t) {
		byName[f.name] = open(t, f.text).Conversations[0].Turns
	}
	second := func(n float64) recording.Moment {
		return recording.Moment{At: time.Duration(n * float64(time.Second)), Known: true}
	}

	t.Run("a transcript has a time for each block and result", func(t *testing.T) {
		turn := byName["transcript"][0]
		assert.Equal(t, recording.Exact, turn.Pace)
		assert.Equal(t, second(1), turn.First)
		assert.Equal(t, second(3), turn.Calls[0].Ready)
		assert.Equal(t, second(4), turn.Calls[1].Ready)
		assert.Equal(t, second(5), turn.Results[0].At)
		assert.Equal(t, second(2), byName["transcript"][1].Calls[0].Ready, "counted from the last result")
	})
	t.Run("a session log has the end of each message", func(t *testing.T) {
		turn := byName["session log"][0]
		assert.Equal(t, recording.Bounded, turn.Pace)
		assert.False(t, turn.Calls[0].Ready.Known)
		assert.Equal(t, 4*time.Second, turn.Events[len(turn.Events)-1].At)
		assert.Equal(t, second(5), turn.Results[0].At)
	})
	t.Run("an archive has the beginning and end of each response", func(t *testing.T) {
		turn := byName["HAR"][0]
		assert.Equal(t, recording.Bounded, turn.Pace)
		assert.Equal(t, second(0.4), turn.First)
		assert.Equal(t, 3*time.Second, turn.Events[len(turn.Events)-1].At)
	})
	t.Run("go-vcr 2 has the beginning", func(t *testing.T) {
		turn := byName["go-vcr 2"][0]
		assert.Equal(t, recording.Unknown, turn.Pace)
		assert.Equal(t, second(1.25), turn.First)
	})
	t.Run("the others have none", func(t *testing.T) {
		assert.Equal(t, recording.Unknown, byName["Ruby VCR"][0].Pace)
		assert.False(t, byName["Ruby VCR"][0].First.Known)
	})
}

// A cassette of ours has of a large request what is new in it; it is read as if it had all.
func TestARequestThatIsWrittenInPartIsReadWhole(t *testing.T) {
	c := cassette.Scripted("long")
	history := []string{`{"role":"user","content":"` + strings.Repeat("Look at it. ", 3000) + `"}`}
	for n := range 6 {
		answer := stream.Script(stream.Turn{Blocks: []stream.Block{{Kind: stream.ToolUse, ID: fmt.Sprint("call_", n), Name: "view", Input: []byte(`{}`)}}})
		next := cassette.Scripted("", answer).Interactions[0]
		next.Request.URL, next.Request.Method = "https://api.example.com/v1/messages", "POST"
		next.Request.Body = `{"model":"model-1","messages":[` + strings.Join(history, ",") + `]}`
		c.Interactions = append(c.Interactions, next)
		history = append(history, fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"view","input":{}}]}`, n),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":"seen %d"}]}`, n, n))
	}
	text, err := c.YAML()
	require.NoError(t, err)
	require.Less(t, len(text), 2*len(c.Interactions[0].Request.Body), "each request has the first message")
	rec := open(t, string(text))
	assert.Empty(t, rec.Problems)
	require.Len(t, rec.Conversations, 1)
	turns := rec.Conversations[0].Turns
	require.Len(t, turns, 6)
	for n, turn := range turns[:5] {
		assert.Equal(t, []string{fmt.Sprintf("call_%d seen %d", n, n)}, answers(turn))
	}
	broken := strings.Replace(string(text), "Look at it.", "Look at this.", 1)
	rec = open(t, broken)
	require.Len(t, rec.Problems, 5)
	assert.Contains(t, rec.Problems[0].Text, "is written as a part of an earlier one, which is not as it was")
}
