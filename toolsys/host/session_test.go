package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/host"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// machine is a session with the built-in tools on this very machine.
type machine struct {
	t       *testing.T
	system  *toolsys.System
	session *loop.Session
	dir     string
	next    []string // the calls that the model makes, one a request
	asked   []string // what the person was asked, who allows it

	mu       sync.Mutex
	progress []string
	on       func(progress string) // is called with each line, where it is set
}

func onThisMachine(t *testing.T, s *host.Shell, dir string) *machine {
	t.Helper()
	m := &machine{t: t, dir: dir}
	deps := builtin.Deps{FS: afero.NewOsFs(), Resolve: host.Follow, Shell: s.Run, PlainShell: s.Plain(), Sandbox: s.Sandbox()}
	var err error
	m.system, err = toolsys.New(toolsys.Config{Builtins: builtin.All(deps), ResultsDir: filepath.Join(dir, "results"), Trace: m.trace})
	require.NoError(t, err)
	cfg := loop.Config{Model: m.model, Settings: settings.External(), State: tool.State{Dir: dir, Root: dir, Env: theirs, Mode: permission.Default}}
	cfg.Settings.ToolSearch.Kind = settings.Off
	cfg.Handlers.Trace = m.trace
	cfg.Handlers.Ask = func(_ context.Context, q pipeline.Question) (pipeline.Reply, error) {
		m.asked = append(m.asked, q.Reason.Text)
		return pipeline.Reply{Allow: true}, nil
	}
	m.session, err = m.system.Open(cfg)
	require.NoError(t, err)
	return m
}

func (m *machine) trace(e trace.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := e.Data.(trace.Progress); ok {
		m.progress = append(m.progress, p.Text)
		if m.on != nil {
			m.on(p.Text)
		}
	}
}

func (m *machine) model(_ context.Context, _ message.Request, on func([]byte) error) error {
	events := []string{`{"type":"message_start","message":{"id":"m1","content":[]}}`, `{"type":"message_stop"}`}
	if len(m.next) > 0 {
		call := fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":%s}`, m.next[0])
		m.next = m.next[1:]
		events = []string{events[0], call, `{"type":"content_block_stop","index":0}`, events[1]}
	}
	for _, e := range events {
		if err := on([]byte(e)); err != nil {
			return err
		}
	}
	return nil
}

// calls has the model make one call and gives its result.
func (m *machine) calls(name string, input map[string]any) message.Block {
	m.t.Helper()
	block, err := json.Marshal(map[string]any{"type": "tool_use", "id": fmt.Sprintf("call_%d", len(m.session.History())), "name": name, "input": input})
	require.NoError(m.t, err)
	m.next = append(m.next, string(block))
	_, err = m.session.Send(m.t.Context(), message.UserText("go"))
	require.NoError(m.t, err)
	var last message.Block
	for _, past := range m.session.History() {
		for _, r := range past.Results() {
			last = r
		}
	}
	return last
}

func (m *machine) bash(command string, with ...string) (text string, failed bool) {
	m.t.Helper()
	input := map[string]any{"command": command}
	for _, w := range with {
		input[w] = true
	}
	r := m.calls("Bash", input)
	return message.PlainText(r.Content), r.IsError
}

// The whole of it on a real machine: the system's own shell, git in it, lines while it
// runs, a task that outlives the turn, and nothing left at the end.
func TestASessionRunsCommandsOfThisMachine(t *testing.T) {
	s := newShell(t, host.ShellConfig{})
	m := onThisMachine(t, s, host.Follow(t.TempDir()))

	m.on = func(line string) { assert.NoError(t, os.WriteFile(filepath.Join(m.dir, line), nil, 0o600)) }
	text, failed := m.bash("shown() { until [ -e $1 ]; do sleep 0.05; done; }; for i in one two; do echo $i; shown $i; done; echo three >&2; shown three")
	assert.False(t, failed)
	assert.Equal(t, "one\ntwo\nthree", text)
	assert.Equal(t, []string{"one", "two", "three"}, m.progress, "each line came while the command ran")
	m.on = nil

	if text, failed = m.bash("git init -q . && git status --short --branch"); !strings.Contains(text, "command not found") {
		assert.False(t, failed, text)
		assert.Contains(t, text, "No commits yet")
	}

	text, failed = m.bash("yes 0123456789 | head -c 3000000")
	assert.False(t, failed)
	file := regexp.MustCompile(`all of it is in (.+\.stdout)`).FindStringSubmatch(text)
	require.NotNil(t, file, text[max(0, len(text)-300):])
	info, err := os.Stat(file[1])
	require.NoError(t, err)
	assert.EqualValues(t, 3000000, info.Size())

	text, _ = m.bash("sleep 1000 & echo $$ > task; wait", "run_in_background")
	assert.Contains(t, text, "task_1")
	text, _ = m.bash("while [ ! -s task ]; do sleep 0.05; done; kill -0 $(cat task) && echo alive; cat task")
	assert.Contains(t, text, "alive", "the task outlives its turn")
	stopped := m.calls("TaskStop", map[string]any{"task_id": "task_1"})
	assert.False(t, stopped.IsError)
	gone(t, strings.TrimPrefix(text, "alive\n"))

	text, _ = m.bash("echo $$ > second; exec sleep 1000", "run_in_background")
	assert.Contains(t, text, "task_2")
	text, _ = m.bash("while [ ! -s second ]; do sleep 0.05; done; cat second")
	require.NoError(t, m.system.Close(t.Context()))
	gone(t, text)
}

func TestASessionInASandboxAsksBeforeItLeavesIt(t *testing.T) {
	confined(t, false, func(t *testing.T, s *host.Shell, inside, outside string) {
		m := onThisMachine(t, s, inside)
		text, failed := m.bash("echo x > ../outside/new")
		assert.True(t, failed)
		assert.Contains(t, text, "the sandbox forbids writing outside of "+inside)
		assert.Contains(t, text, "dangerouslyDisableSandbox")
		assert.NoFileExists(t, filepath.Join(outside, "new"))
		before := len(m.asked)
		_, failed = m.bash("echo x > ../outside/new", "dangerouslyDisableSandbox")
		assert.False(t, failed)
		assert.FileExists(t, filepath.Join(outside, "new"))
		require.Len(t, m.asked, before+1)
		assert.Contains(t, m.asked[before], "outside the sandbox")
		text, _ = m.bash("cat /no/such/file")
		assert.NotContains(t, text, "sandbox", "what has another reason is not put down to it")
		require.NoError(t, m.system.Close(t.Context()))
	})
}
