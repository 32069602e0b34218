package draft_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/draft"
	"toolbench/sim/scenario/check"
)

// The user's messages come again where they were: at first, after an end, and while
// calls ran; the requests carry it, secrets blanked.
func TestADraftSaysWhatTheUserSaid(t *testing.T) {
	l := &log{}
	l.says(0, "Log in with sk-ant-api03-abcdefghijklmnop.")
	l.calls(1*second, "m1", "c1", "Login", nil)
	l.result(4*second, "c1")
	l.says(4*second, "And hurry.")
	l.answers(6*second, "m2", "I am in.")
	l.says(60*second, []any{map[string]any{"type": "text", "text": "Out again."}, map[string]any{"type": "image"}})
	l.answers(62*second, "m3", "Done.")
	dir := t.TempDir()
	d, text := l.draft(t, dir, draft.Options{})
	assert.Equal(t, check.Passed, d.Outcome.Status)
	assert.Contains(t, text, `prompt: "Log in with [redacted]."`)
	assert.Contains(t, text, `{at: 2.5s, text: "And hurry."} # after turn 1`)
	assert.Contains(t, text, `  - "Out again.\n[image]"`)
	assert.NotContains(t, text, "made up")
	assert.Contains(t, strings.Join(d.Notes, "\n"), "the user's messages while calls ran, or before they were answered, come halfway through the last of them: turn 1")
	assert.Contains(t, strings.Join(d.Notes, "\n"), "the user sent more than text")
	assert.Equal(t, 8*second, d.Outcome.Makespan, "the user's own time is none of the session's")
	cassette, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(d.Cassette)))
	require.NoError(t, err)
	for _, words := range []string{"Log in with [redacted].", "And hurry.", "Out again."} {
		assert.Contains(t, string(cassette), words)
	}

	// Other words are another request.
	changed := strings.Replace(text, "And hurry.", "And wait.", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, d.File), []byte(changed), 0o600))
	assert.Equal(t, check.Failed, play(t, dir, d.File).Status)
}

// What has no place in the draft is reported, and so is what was made up.
func TestADraftSaysWhatOfTheUserIsNotHere(t *testing.T) {
	l := &log{}
	l.calls(1*second, "m1", "c1", "Look", nil)
	l.result(1*second, "c1") // no time in which to write anything
	l.says(1*second, "Stop.")
	l.answers(2*second, "m2", "Stopped.")
	l.answers(3*second, "m3", "Or did I?")
	d, text := l.draft(t, t.TempDir(), draft.Options{})
	notes := strings.Join(d.Notes, "\n")
	assert.Contains(t, notes, "the user's message is not in the recording: `prompt` is made up")
	assert.Contains(t, notes, `the user's message before turn 3 is not in the recording: "Go on." is made up`)
	assert.Contains(t, notes, "the user's message after turn 1, while the model was at work, is left out: Stop.")
	assert.NotContains(t, text, "says:")
}

// What follows a stream that failed goes with the message before it: here the same
// request is sent again.
func TestWhatIsSaidAfterAFailureIsNotLost(t *testing.T) {
	lines := []string{
		`{"type":"session","id":"s"}`,
		`{"type":"message","message":{"role":"user","content":"Build it."}}`,
		`{"type":"message","message":{"role":"assistant","model":"m","stopReason":"aborted","content":[{"type":"text","text":"I wi"}]}}`,
		`{"type":"message","message":{"role":"user","content":"No, test it."}}`,
		`{"type":"message","message":{"role":"assistant","model":"m","stopReason":"stop","content":[{"type":"text","text":"It works."}]}}`,
	}
	d, text := (&log{lines: lines}).draft(t, t.TempDir(), draft.Options{})
	assert.Contains(t, text, `prompt: "Build it.\n\nNo, test it."`)
	assert.Contains(t, strings.Join(d.Notes, "\n"), "the user's message before turn 2, after a stream had failed")
}

// A model may well give a call something empty.
func TestACallMayBeGivenNothing(t *testing.T) {
	l := &log{}
	l.says(0, "Look.")
	l.calls(1*second, "m1", "c1", "Look", map[string]string{"at": ""})
	l.result(2*second, "c1")
	l.answers(3*second, "m2", "Done.")
	d, _ := l.draft(t, t.TempDir(), draft.Options{})
	assert.Equal(t, check.Passed, d.Outcome.Status)
}
