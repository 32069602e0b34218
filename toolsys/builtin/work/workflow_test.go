package work_test

import (
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/tool"
)

// workflows has one file, flow.yaml, of the text.
func workflows(t *testing.T, text string) *tool.Tool {
	t.Helper()
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/w/flow.yaml", []byte(text), 0o644))
	return work.Workflow(work.Workflows{FS: fs, Dirs: []string{"/w"}})
}

// A file may lie in a repository that was only looked at. A list of brackets ended the process once,
// since the parser took memory for each level.
func TestAWorkflowThatIsNoneGivesTheReason(t *testing.T) {
	const step = "steps:\n- id: a\n  tool: Read\n  input: "
	for text, want := range map[string]string{
		"stesp: []\nsetps: []\nb: 1\na: 1\nargs: {}\n": `line 1: unknown key "stesp"; line 2: unknown key "setps"; line 3: unknown key "b"; and 1 more`,
		"steps: 7\n":                  "line 1: !!int `7` does not belong here",
		"steps: [\n":                  "line 1: did not find expected node content",
		"":                            "steps: there are 0; write 1 to 50",
		step + "{x: .inf}\n":          "input: ",
		step + "{x: &x [1], y: *x}\n": "line 4: *x is an alias; write out what it stands for",
		"steps: " + strings.Repeat("[", 1_000_000) + "\n": "more than 65536 bytes",
		"steps: " + strings.Repeat("[", 50_000) + "\n":    "exceeded max depth",
		"steps: " + strings.Repeat("? ", 20_000) + "\n":   "line 1: ",
	} {
		w := workflows(t, text)
		refusal := w.Validate(parse(t, w, `{"workflow":"flow"}`), &tool.Context{})
		if assert.NotNil(t, refusal, text[:min(len(text), 80)]) {
			assert.Equal(t, work.CodeBadWorkflow, refusal.Code)
			assert.Contains(t, refusal.Message, "/w/flow.yaml: ")
			assert.Contains(t, refusal.Message, want)
		}
	}
}
