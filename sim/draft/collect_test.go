package draft

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
)

// Of a session that is longer than any draft, streams are kept as far as a draft can go,
// and texts of results only as many as files are made of; every call stays.
func TestALongSessionIsNotKeptWhole(t *testing.T) {
	var log strings.Builder
	result := strings.Repeat("a line of a result\n", 6000)
	const turns = 300
	for i := range turns {
		fmt.Fprintf(&log, `{"type":"assistant","sessionId":"s","message":{"id":"m%[1]d","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c%[1]d","name":"Read","input":{"file_path":"/f%[1]d"}}]}}`+"\n", i)
		fmt.Fprintf(&log, `{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}}`+"\n", i, result)
	}
	all, _, err := collect("long.jsonl", strings.NewReader(log.String()), recording.Limits{})
	require.NoError(t, err)
	require.Len(t, all, 1)
	c := all[0]
	require.Len(t, c.Turns, turns)
	assert.Positive(t, c.cut)
	texts, streams := 0, 0
	for _, turn := range c.Turns {
		require.Len(t, turn.Results, 1)
		texts += len(turn.Results[0].Text)
		streams += min(1, len(turn.Events))
	}
	assert.LessOrEqual(t, texts, maxResults)
	assert.Less(t, streams, 30)

	s := &builder{conversation: c}
	assert.Len(t, s.calls(), c.cut-1)
	s.bound()
	assert.Less(t, len(s.Turns), streams+1, "a draft has no turn without its stream")
	for _, turn := range s.Turns {
		assert.NotEmpty(t, turn.Events)
	}
}

func TestWorkingDirIsTheFirstThatIsNamed(t *testing.T) {
	for want, body := range map[string]string{
		"/repo":   `{"system":"Working directory: /repo\nCwd: /other"}`,
		"/a/b":    `{"system":"the directory, cwd: /a/b","messages":[{"content":"working directory is /later"}]}`,
		`C:\work`: `{"system":"no cwdx: /x here; CURRENT WORKING DIRECTORY: C:\\work"}`,
		"/s":      `{"system":"Your working directory is /s. Stay in it."}`,
		"/v1.2/x": `{"system":"**Working directory: /v1.2/x**\n"}`,
		"":        `{"system":"a working directory without a path, and networking directory: /x"}`,
	} {
		assert.Equal(t, want, workingDir(body))
	}
}
