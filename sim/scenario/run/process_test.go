package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// effectful is a run in which each call of Bash leaves its id in a file, beside calls
// that only look, are denied, fail, are asked about and belong to a sub-agent.
const effectful = `name: killed
about: It is killed at every event.
world:
  tree: trees/webapp.txtar
  only: [Bash, Read, Agent]
  permissions: {allow: [Bash], ask: ["Bash(ln *)"], deny: ["Bash(rm *)"]}
  retries: 1
hooks: [{name: slow, event: PreToolUse, matcher: Bash, after: 50ms}]
user: {permits: [{call: asked, allow: true, after: 1s}]}
prompt: Go.
then: [And further.]
durations: {Read: 2s, a: 1s, d: 3s}
policy: %s
faults: [{request: 3, cut_after: 9}]
stream:
  leftover: true
  turns:
    - thinking: I begin.
      text: First.
      calls:
        - {id: r, tool: Read, input: {file_path: /repo/a.go}, at: 1s}
        - {id: a, tool: Bash, input: {command: echo a >> /repo/log}, at: 2s}
        - {id: b, tool: Bash, input: {command: "sleep 1; echo b >> /repo/log; sleep 1"}, at: 3s}
        - {id: no, tool: Bash, input: {command: rm /repo/log}, at: 3s}
    - calls:
        - {id: asked, tool: Bash, input: {command: ln -s log asked}, at: 1s}
        - {id: c, tool: Bash, input: {command: "echo c >> /repo/log; false"}, at: 1s}
    - calls:
        - {id: d, tool: Bash, input: {command: echo d >> /repo/log}, at: 1s}
        - {id: sub, tool: Agent, input: {description: Look, prompt: Look about.}}
    - for: Look about.
      calls: [{id: e, tool: Bash, input: {command: echo e >> /repo/log}}]
    - {for: Look about., text: Seen.}
    - {text: Done.}
    - {text: Done.}
    - {text: Done.}
`

// After a kill at any event the conversation goes on in another process: every request is
// one that an API takes, with one result for each call, and no result denies an effect.
func TestKilledAtEveryEvent(t *testing.T) {
	for policy, step := range map[string]int{"streaming": 1, "batch": 7, "effects": 7} {
		sc, err := scenario.Parse("killed.yaml", fmt.Appendf(nil, effectful, policy))
		require.NoError(t, err)
		whole := Scenario(t.Context(), sc, Options{Seed: 1})
		require.NoError(t, whole.Err)
		require.Empty(t, whole.Failures)
		require.Equal(t, []string{"a", "b", "c", "d", "e"}, done(whole.Trace))
		for n := 1; n < len(whole.Trace) && whole.Trace[n-1].Kind() != trace.KindFile; n += step {
			out := Scenario(t.Context(), sc, Options{Seed: 1, killAfter: n})
			at := fmt.Sprintf("%s, killed after event %d: %s", policy, n, whole.Trace[n-1].AppendLine(nil))
			require.NoError(t, out.Err, at)
			require.Empty(t, out.Failures, at)
			onlyKnownEffects(t, out.Requests[len(out.Requests)-1].Bytes(), done(out.Trace), at)
			if n%10 == 1 {
				again := Scenario(t.Context(), sc, Options{Seed: 1, killAfter: n})
				require.Equal(t, out.Digest, again.Digest, at)
			}
		}
	}
}

// What the person allowed for good is allowed in the next process as well, and what each process
// opened is closed when the run is over.
func TestWhatIsAlwaysAllowedOutlivesAKill(t *testing.T) {
	sc, err := scenario.Parse("killed.yaml", []byte(`name: killed
about: The second call is not asked about.
world: {only: [Bash]}
user: {permits: [{always: true}]}
then: [Again., More.]
faults: [{kill: {kind: turn.end}}]
stream:
  turns:
    - calls: [{id: first, tool: Bash, input: {command: touch /repo/first}}]
    - text: Done.
    - calls: [{id: second, tool: Bash, input: {command: touch /repo/first}}]
    - text: Done.
expect:
  results: {first: {status: ok}, second: {status: ok}}
`))
	require.NoError(t, err)
	opened, closed := 0, 0
	out := Scenario(t.Context(), sc, Options{Seed: 1, Own: &Own{Tools: func(w World) ([]*tool.Tool, error) {
		opened++
		w.Cleanup(func() { closed++ })
		return nil, nil
	}}})
	assert.NoError(t, out.Err)
	assert.Empty(t, out.Failures)
	assert.Equal(t, 2, opened)
	assert.Equal(t, opened, closed)
}

// done are the ids in the file at the end.
func done(events []trace.Event) []string {
	for _, e := range events {
		if trace.As[trace.File](e).Path == "/repo/log" {
			return strings.Fields(e.Get("content"))
		}
	}
	return nil
}

// onlyKnownEffects checks that each effect is one that the conversation has a result for,
// which does not claim that there was none.
func onlyKnownEffects(t *testing.T, last []byte, effects []string, at string) {
	t.Helper()
	var req struct{ Messages []message.Message }
	require.NoError(t, json.Unmarshal(last, &req))
	texts := map[string]string{}
	for _, m := range req.Messages {
		for _, r := range m.Results() {
			texts[r.ToolUseID] = message.PlainText(r.Content)
		}
	}
	seen := map[string]bool{}
	for _, id := range effects {
		if id == "e" {
			id = "sub" // the sub-agent's
		}
		require.False(t, seen[id], "%s: %s ran twice", at, id)
		seen[id] = true
		text, ok := texts[id]
		require.True(t, ok, "%s: %s was done and has no result", at, id)
		assert.NotContains(t, text, "was not run", "%s: %s", at, id)
	}
}
