package draft_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/sim/draft"
	"toolbench/sim/replay"
	"toolbench/sim/scenario/check"
)

// log is an agent's transcript in the making, at a time of its own.
type log struct {
	lines []string
	at    time.Duration
}

func (l *log) line(kind string, at time.Duration, message map[string]any) {
	message["role"] = kind
	raw, err := json.Marshal(map[string]any{"type": kind, "sessionId": "s", "message": message,
		"timestamp": time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(l.at + at).Format("2006-01-02T15:04:05.000Z")})
	if err != nil {
		panic(err) // maps of texts
	}
	l.lines = append(l.lines, string(raw))
}

func (l *log) says(at time.Duration, content any) {
	l.line("user", at, map[string]any{"content": content})
}

func (l *log) answers(at time.Duration, id, text string) {
	l.line("assistant", at, map[string]any{"id": id, "model": "m", "content": []any{map[string]any{"type": "text", "text": text}}})
}

func (l *log) calls(at time.Duration, message, id, tool string, input map[string]string) {
	l.line("assistant", at, map[string]any{"id": message, "model": "m", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}}})
}

func (l *log) result(at time.Duration, id string) {
	l.says(at, []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "result of " + id}})
}

// draft writes the log as a file and gives what is drafted from it, and its text.
func (l *log) draft(t require.TestingT, dir string, o draft.Options) (draft.Draft, string) {
	o.Pace = replay.DefaultPace()
	drafts, err := draft.Write(context.Background(), dir, "session.jsonl", strings.NewReader(strings.Join(l.lines, "\n")+"\n"), o)
	require.NoError(t, err)
	require.Len(t, drafts, 1)
	text, err := os.ReadFile(filepath.Join(dir, drafts[0].File))
	require.NoError(t, err)
	return drafts[0], string(text)
}

const second = time.Second

// beside is a session in which two searches and a command ran side by side, and an
// edit by itself.
func beside() *log {
	l := &log{}
	l.says(0, "Find it.")
	l.calls(1*second, "m1", "c1", "Search", map[string]string{"for": "a"})
	l.calls(2*second, "m1", "c2", "Search", map[string]string{"for": "b"})
	l.calls(3*second, "m1", "c3", "Bash", map[string]string{"command": "ls"})
	l.result(5*second, "c3")
	l.result(6*second, "c2")
	l.result(9*second, "c1")
	l.calls(10*second, "m2", "c4", "Edit", map[string]string{"path": "a"})
	l.calls(11*second, "m2", "c5", "Edit", map[string]string{"path": "b"})
	l.result(12*second, "c4")
	l.result(14*second, "c5")
	l.answers(15*second, "m3", "Done.")
	return l
}

// Tools whose calls ran beside others do so in the draft, at their measured times; what
// has no evidence, or only that of a command, runs alone.
func TestWhatRanBesideOthersDoesSo(t *testing.T) {
	dir := t.TempDir()
	d, text := beside().draft(t, dir, draft.Options{})
	assert.Contains(t, text, "name: \"Search\"\n      safe: true # ran beside others in the recording\n")
	assert.Equal(t, 1, strings.Count(text, "safe: true"))
	assert.Equal(t, [][]string{{"Search", "Search"}, {"Bash"}, {"Edit"}, {"Edit"}}, d.Outcome.Batches)
	for _, row := range []string{`"c1": 6s`, `"c2": 3s`, `"c3": 2s`, `"c4": 1s`, `"c5": 2s`} {
		assert.Contains(t, text, "  "+row+" # measured\n", "an agent that waits for the stream starts calls at its end")
	}
	notes := strings.Join(d.Notes, "\n")
	assert.Contains(t, notes, "marked safe, since they ran beside others in the recording: Search; what has no such mark runs alone")
	assert.Contains(t, notes, "Bash c3 ran beside others in the recording, and runs alone here")
	assert.NotContains(t, notes, "assumptions")
	assert.Contains(t, notes, "no call is seen to start before its stream ended")

	alone := strings.Replace(text, "safe: true", "safe: false", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, d.File), []byte(alone), 0o600))
	assert.Equal(t, check.Failed, play(t, dir, d.File).Status, "it is noticed when they no longer do")
}

// What was given goes before what was found.
func TestWhatIsToldToBeSafeIs(t *testing.T) {
	safe, err := replay.ParseGlobs("Bash,Search")
	require.NoError(t, err)
	d, text := beside().draft(t, t.TempDir(), draft.Options{Safe: safe})
	assert.Equal(t, 2, strings.Count(text, "safe: true # as given by --safe"))
	assert.Equal(t, [][]string{{"Search", "Search", "Bash"}, {"Edit"}, {"Edit"}}, d.Outcome.Batches)
	assert.Equal(t, check.Passed, d.Outcome.Status)
	assert.NotContains(t, strings.Join(d.Notes, "\n"), "beside others")
}

// A session that was run the way calls are run here takes as long again as it took, to
// the millisecond of its log.
func TestADraftTakesAsLongAsItsSession(t *testing.T) {
	safe, err := replay.ParseGlobs("Look")
	require.NoError(t, err)
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		l := &log{}
		l.says(0, "Go.")
		ms := func(most int, label string) time.Duration {
			return time.Duration(rapid.IntRange(1, most).Draw(t, label)) * time.Millisecond
		}
		turn := func(n int, tools []string, gaps, durations []time.Duration) {
			var ready, all, alone, last time.Duration
			ends := make([]time.Duration, len(tools))
			for i, tool := range tools {
				ready += gaps[i]
				l.calls(ready, fmt.Sprint("m", n), fmt.Sprint("c", n, "_", i), tool, map[string]string{})
				if tool == "Look" {
					ends[i] = max(ready, alone) + durations[i]
				} else {
					ends[i] = max(ready, all) + durations[i]
					alone = ends[i]
				}
				all = max(all, ends[i])
				last = max(ready, all)
			}
			for i, end := range ends {
				l.result(end, fmt.Sprint("c", n, "_", i))
			}
			l.at += last
		}
		// This one shows that the agent does not wait for the stream.
		turn(0, []string{"Look", "Look"}, []time.Duration{second, second}, []time.Duration{second / 2, second})
		for n := range rapid.IntRange(1, 3).Draw(t, "turns") {
			tools := rapid.SliceOfN(rapid.SampledFrom([]string{"Look", "Change"}), 1, 5).Draw(t, "tools")
			var gaps, durations []time.Duration
			for range tools {
				gaps, durations = append(gaps, ms(500, "gap")), append(durations, ms(2000, "duration"))
			}
			turn(n+1, tools, gaps, durations)
		}
		l.answers(second, "end", "Done.")
		dir, err := os.MkdirTemp(root, "draft")
		require.NoError(t, err)
		d, text := l.draft(t, dir, draft.Options{Safe: safe})
		assert.NotContains(t, text, "assumed")
		assert.Equal(t, l.at+second, d.Outcome.Makespan)
	})
}
