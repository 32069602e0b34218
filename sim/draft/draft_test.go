package draft_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/draft"
	"toolbench/sim/replay"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

// corpus are recordings made by others; the test is skipped with a word without them.
func corpus(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..", "..", "shared", "corpus")
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) != ".md" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Skip("the recordings of others are not here")
	}
	return files
}

func write(t *testing.T, dir, file string) []draft.Draft {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	drafts, err := draft.Write(t.Context(), dir, file, f, draft.Options{Pace: replay.DefaultPace()})
	require.NoError(t, err)
	return drafts
}

func play(t *testing.T, dir, file string) check.Result {
	t.Helper()
	sc, err := scenario.Load(os.DirFS(dir), file)
	require.NoError(t, err)
	return run.Scenario(t.Context(), sc, run.Options{Seed: 1})
}

// Whatever others recorded becomes a scenario that passes as it stands.
func TestRecordingsOfOthersBecomeScenarios(t *testing.T) {
	for _, file := range corpus(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			dir := t.TempDir()
			for _, d := range write(t, dir, file) {
				out := play(t, dir, d.File)
				assert.Equal(t, check.Passed, out.Status, "%v %v", out.Err, out.Failures)
				t.Log(d.Turns, d.Calls, d.Answered, len(out.Calls), d.Notes)
			}
		})
	}
}

// A conversation whose draft would be too large for a scenario leaves nothing behind, and keeps
// none of the others back.
func TestOneThatFailsKeepsNoneBack(t *testing.T) {
	conversation := func(text string) string {
		return `{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"` + text + `"}]}]}`
	}
	dir := t.TempDir()
	made, err := draft.Write(t.Context(), dir, "talks.json", strings.NewReader("["+conversation(strings.Repeat("x ", 1<<20))+","+conversation("ok")+"]"), draft.Options{})
	require.ErrorContains(t, err, "conversation 1: ")
	var bad *scenario.FileError
	require.ErrorAs(t, err, &bad)
	require.Len(t, made, 1)
	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, filepath.Base(path))
		}
		return err
	}))
	assert.Equal(t, []string{"talks-2.yaml", "talks-2.yaml"}, files)
}

// Calls of one id, or of no tool, and times that no session has, make a draft as well.
func TestOddRecordingsAreDrafted(t *testing.T) {
	line := func(kind, year, content string) string {
		return `{"type":"` + kind + `","sessionId":"s","timestamp":"` + year + `-01-01T00:00:01Z","message":{"id":"` + year + `","role":"` + kind + `","content":[` + content + `]}}` + "\n"
	}
	call := func(name string) string { return `{"type":"tool_use","id":"c","name":"` + name + `","input":{}}` }
	const result = `{"type":"tool_result","tool_use_id":"c","content":"ok"}`
	const early = `{"type":"message_start","message":{"type":"message","id":"m","role":"assistant","model":"x","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}}
{"type":"message_stop"}
`
	for name, text := range map[string]string{
		"one id":   line("assistant", "2025", call("f")) + line("user", "2025", result) + line("assistant", "2026", call("f")) + line("user", "2026", result),
		"no name":  line("assistant", "2025", call("")) + line("user", "2025", result),
		"early":    early + early, // a call that stands in the start of its message
		"no times": line("assistant", "2025", call("f")) + line("user", "0000", result) + line("assistant", "2026", `{"type":"text","text":"Done."}`),
	} {
		made, err := draft.Write(t.Context(), t.TempDir(), "odd.jsonl", strings.NewReader(text), draft.Options{})
		require.NoError(t, err, name)
		assert.Len(t, made, 1, name)
	}
}

// Who may call a tool stands in its draft, so that a program of the API's may call it as it did.
func TestADraftHasWhoMayCall(t *testing.T) {
	text := `{"request":{"model":"m","max_tokens":9,"tools":[{"name":"roll","input_schema":{"type":"object"},"allowed_callers":["code_execution_20250825"]}],"messages":[{"role":"user","content":"Go."}]},` +
		`"response":{"type":"message","id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"roll","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s"}}],"stop_reason":"tool_use"}}` + "\n" +
		`{"request":{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"roll","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"4"}]}]},` +
		`"response":{"type":"message","id":"m2","role":"assistant","model":"m","content":[{"type":"text","text":"Four."}],"stop_reason":"end_turn"}}` + "\n"
	dir := t.TempDir()
	made, err := draft.Write(t.Context(), dir, "odd.jsonl", strings.NewReader(text), draft.Options{})
	require.NoError(t, err)
	require.Len(t, made, 1)
	assert.NotContains(t, strings.Join(made[0].Notes, "\n"), "may not be called")
	all, err := os.ReadFile(filepath.Join(dir, "odd.yaml"))
	require.NoError(t, err)
	assert.Regexp(t, `callers: \[.?code_execution_20250825`, string(all))
}

// What one API takes of a schema another refuses with the whole request: the draft passes, and tells which it left out.
func TestASchemaThatTheAPIRefusesIsLeftOut(t *testing.T) {
	for _, schema := range []string{`{"type":"object","oneOf":[{"required":["x"]}],"properties":{"x":{}}}`, `{"type":"object","properties":{"two words":{}}}`} {
		text := `{"request":{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":` + schema + `}}],"messages":[{"role":"user","content":"Go."}]},` +
			`"response":{"object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}}`
		made, err := draft.Write(t.Context(), t.TempDir(), "odd.jsonl", strings.NewReader(text), draft.Options{})
		require.NoError(t, err)
		require.Len(t, made, 1)
		assert.Contains(t, made[0].Notes, "the schema of f cannot be used: any object is taken")
	}
}
