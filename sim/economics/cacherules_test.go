package economics_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/dialect"
	"toolbench/sim/economics"
	"toolbench/sim/recording"
)

var chatRules = economics.CacheRules{
	Name: "P", APIs: []dialect.API{dialect.Chat}, Date: "2026-01-01", Source: "s", Step: 128, Expires: 60,
	Models: []economics.ModelRule{{Model: "gpt-4o", Minimum: 1024, Read: 0.5}},
}

// asked is a session whose prompts each go on from the one before, by so many bytes.
func promptsOf(model string, api dialect.API, pause time.Duration, bytes ...int) *recording.PromptSession {
	s := &recording.PromptSession{Number: 1, API: api}
	var messages []recording.PromptBlock
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, n := range bytes {
		messages = append(messages[:i:i], recording.PromptBlock{Name: "message", Text: strings.Repeat(string(rune('a'+i)), n)})
		s.Turns = append(s.Turns, recording.PromptTurn{Number: i + 1, Prompt: &recording.Prompt{Model: model, Messages: messages}, Sent: at})
		at = at.Add(pause)
	}
	return s
}

func TestAProviderWithoutBreakpointsReadsWhatPromptsBeginWith(t *testing.T) {
	c, err := economics.NewCounter("bytes4")
	require.NoError(t, err)
	for name, e := range map[string]struct {
		s           *recording.PromptSession
		read, plain int
		left        int
	}{
		"in steps, from the minimum on": {promptsOf("gpt-4o-2024-08-06", dialect.Chat, time.Minute, 4400, 400, 400), 1024 + 1152, 1100 + 176 + 148, 0},
		"the minimum, to the token":     {promptsOf("gpt-4o", dialect.Chat, time.Minute, 4096, 400), 1024, 1024 + 100, 0},
		"as long as it lasts":           {promptsOf("gpt-4o", dialect.Chat, time.Hour, 4400, 400), 1024, 1100 + 176, 0},
		"too short":                     {promptsOf("gpt-4o", dialect.Chat, time.Minute, 400, 400), 0, 300, 0},
		"expired":                       {promptsOf("gpt-4o", dialect.Chat, 2*time.Hour, 4400, 400), 0, 1100 + 1200, 0},
		"another model":                 {promptsOf("other", dialect.Chat, time.Minute, 4400, 400), 0, 0, 2},
	} {
		a := economics.AutomateCache(e.s, []economics.CacheRules{chatRules}, c)
		require.NotNil(t, a, name)
		assert.Equal(t, economics.Usage{Read: e.read, Plain: e.plain}, a.Tokens, name)
		assert.Equal(t, e.left, a.Left, name)
		if e.left == 0 {
			assert.Equal(t, 1024, a.Minimum, name)
			assert.Equal(t, e.s.Turns[0].Prompt.Model, a.Model, name)
		}
	}
	a := economics.AutomateCache(promptsOf("gpt-4o", dialect.Messages, 0, 4400, 400), []economics.CacheRules{chatRules}, c)
	assert.Nil(t, a, "another API")
}

// What is published names its date and source, and which models it is of.
func TestPublishedRulesAreComplete(t *testing.T) {
	files, err := filepath.Glob("../../fixtures/prices/automatic/*.json")
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		r, err := economics.ParseCacheRules(file, data)
		require.NoError(t, err)
		assert.NotEmpty(t, r.Notes, file)
		for _, m := range r.Models {
			assert.NotEmpty(t, m.Model, file)
			assert.Positive(t, m.Minimum, file)
		}
	}
	least := `{"name":"x","date":"2026-01-01","source":"s","step":%d,"expires_minutes":%d,"models":[{"model":"m"}]}`
	_, err = economics.ParseCacheRules("r.json", fmt.Appendf(nil, least, 1, 1))
	require.NoError(t, err)
	for _, broken := range []string{`{`, `{"name":"x"}`, fmt.Sprintf(least, 0, 1), fmt.Sprintf(least, 1, 0)} {
		_, err := economics.ParseCacheRules("r.json", []byte(broken))
		require.ErrorIs(t, err, economics.ErrPrices)
	}
}
