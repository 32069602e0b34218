package work_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

func parse(t *testing.T, tl *tool.Tool, raw string) tool.Input {
	t.Helper()
	in, problems := tl.Parse(json.RawMessage(raw))
	require.Empty(t, problems, raw)
	return in
}

func call(t *testing.T, tl *tool.Tool, raw string, c *tool.Context) tool.Output {
	t.Helper()
	in := parse(t, tl, raw)
	require.Nil(t, tl.Validate(in, c))
	out, err := tl.Call(t.Context(), in, c)
	require.NoError(t, err)
	return out
}

const twoTodos = `{"todos":[
	{"content":"Fix it","status":"in_progress","activeForm":"Fixing it"},
	{"content":"Test it","status":"pending","activeForm":"Testing it"}]}`

func TestTodoWriteReplacesTheListThroughAModifier(t *testing.T) {
	c := &tool.Context{State: tool.State{Dir: "/repo", Todos: []tool.Todo{{Content: "Old", Status: "completed", ActiveForm: "Olding"}}}}
	out := call(t, work.TodoWrite(), twoTodos, c)

	before := tool.State{Dir: "/elsewhere", Todos: c.State.Todos}
	after := out.Modify(before)
	assert.Equal(t, []tool.Todo{
		{Content: "Fix it", Status: "in_progress", ActiveForm: "Fixing it"},
		{Content: "Test it", Status: "pending", ActiveForm: "Testing it"},
	}, after.Todos)
	assert.Equal(t, "/elsewhere", after.Dir, "the rest of the state is as it was")
	assert.Equal(t, "Old", before.Todos[0].Content, "the state it was given did not move")
	assert.Equal(t, c.State.Todos, out.Data.(work.TodoOut).Before)
	assert.Equal(t, "The to-do list is updated: 0 completed, 1 in progress, 1 pending.", message.PlainText(out.Blocks))
}

func TestTodoWriteClearsWithAnEmptyList(t *testing.T) {
	out := call(t, work.TodoWrite(), `{"todos":[]}`, &tool.Context{})
	assert.Empty(t, out.Modify(tool.State{Todos: []tool.Todo{{Content: "x"}}}).Todos)
}

func TestTodoWriteRefusesTwoInProgress(t *testing.T) {
	todo := work.TodoWrite()
	in := parse(t, todo, `{"todos":[{"content":"a","status":"in_progress","activeForm":"a"},{"content":"b","status":"in_progress","activeForm":"b"}]}`)
	refusal := todo.Validate(in, &tool.Context{})
	require.NotNil(t, refusal)
	assert.Equal(t, work.CodeTwoInProgress, refusal.Code)
	assert.Contains(t, refusal.Message, "2 items")
}

func TestTodoWriteRefusesUnknownStates(t *testing.T) {
	_, problems := work.TodoWrite().Parse(json.RawMessage(`{"todos":[{"content":"a","status":"done","activeForm":"a"}]}`))
	assert.NotEmpty(t, problems)
}

func TestTodoWriteNeedsNoPermission(t *testing.T) {
	todo := work.TodoWrite()
	in := parse(t, todo, twoTodos)
	for _, mode := range []permission.Mode{permission.Default, permission.Plan, permission.Auto} {
		d := permission.Resolve(permission.Inputs{
			Mode: mode, Check: todo.Permit(in, &tool.Context{}), Query: permission.Query{Subject: permission.Subject{Tool: "TodoWrite"}},
		})
		assert.Equal(t, permission.Allow, d.Behaviour, mode)
	}
	assert.Equal(t, "Fixing it", todo.Present.Activity(in))
}

// table is a task table in memory whose tasks end when somebody waits or stops.
type table struct {
	tasks  map[string]work.Task
	waited time.Duration
	fail   error
}

func (b *table) deps() work.Deps {
	end := func(id, status string) work.Task {
		t := b.tasks[id]
		t.Status, t.Ended = status, true
		b.tasks[id] = t
		return t
	}
	return work.Deps{Tasks: work.Tasks{
		Get:  func(id string) (work.Task, bool) { t, ok := b.tasks[id]; return t, ok },
		List: func() []work.Task { return []work.Task{b.tasks["task_1"]} },
		Output: func(id string) (string, int64) {
			return "line of " + id, 7
		},
		Wait: func(_ context.Context, id string, d time.Duration) (work.Task, error) {
			b.waited = d
			if d < time.Second {
				return b.tasks[id], b.fail
			}
			return end(id, "completed"), b.fail
		},
		Stop: func(_ context.Context, id string) (work.Task, error) { return end(id, "stopped"), b.fail },
	}}
}

func newTable() *table {
	return &table{tasks: map[string]work.Task{"task_1": {ID: "task_1", Kind: "bash", Title: "go test", Status: "running"}}}
}

func TestTaskOutputWaitsForTheEndUnlessToldNotTo(t *testing.T) {
	for name, test := range map[string]struct {
		raw    string
		waited time.Duration
		want   string
	}{
		"by default":       {`{"task_id":"task_1"}`, 30 * time.Second, "Task task_1 (go test): completed, exit code 0\n[the first 7 bytes of the output are no longer kept]\nline of task_1"},
		"a time limit":     {`{"task_id":"task_1","timeout":2000}`, 2 * time.Second, "Task task_1 (go test): completed, exit code 0\n[the first 7 bytes of the output are no longer kept]\nline of task_1"},
		"not at all":       {`{"task_id":"task_1","block":false}`, 0, "Task task_1 (go test): running\n[the first 7 bytes of the output are no longer kept]\nline of task_1"},
		"not long enough":  {`{"task_id":"task_1","timeout":10}`, 10 * time.Millisecond, "Task task_1 (go test): running; it had not ended when the wait was over\n[the first 7 bytes of the output are no longer kept]\nline of task_1"},
		"true is no news ": {`{"task_id":"task_1","block":true,"timeout":1000}`, time.Second, "Task task_1 (go test): completed, exit code 0\n[the first 7 bytes of the output are no longer kept]\nline of task_1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTable()
			out := call(t, work.TaskOutput(b.deps()), test.raw, &tool.Context{})
			assert.Equal(t, test.waited, b.waited)
			assert.Equal(t, test.want, message.PlainText(out.Blocks))
			assert.False(t, out.Failed)
		})
	}
}

func TestTaskOutputDoesNotWaitForWhatHasEnded(t *testing.T) {
	b := newTable()
	b.tasks["task_1"] = work.Task{ID: "task_1", Kind: "agent", Title: "look", Status: "failed", Ended: true, Error: "no model"}
	out := call(t, work.TaskOutput(b.deps()), `{"task_id":"task_1"}`, &tool.Context{})
	assert.Zero(t, b.waited)
	assert.Contains(t, message.PlainText(out.Blocks), "Task task_1 (look): failed, no model\n")
}

func TestTaskToolsNameTheTasksThereAre(t *testing.T) {
	b := newTable()
	for _, tl := range []*tool.Tool{work.TaskOutput(b.deps()), work.TaskStop(b.deps())} {
		_, err := tl.Call(t.Context(), parse(t, tl, `{"task_id":"task_9"}`), &tool.Context{})
		assert.ErrorContains(t, err, `no task "task_9"; there are task_1 (go test, running)`)
	}
}

func TestTaskToolsPassOnWhatWentWrong(t *testing.T) {
	b := newTable()
	b.fail = errors.New("gone")
	for _, tl := range []*tool.Tool{work.TaskOutput(b.deps()), work.TaskStop(newFailing(b).deps())} {
		_, err := tl.Call(t.Context(), parse(t, tl, `{"task_id":"task_1"}`), &tool.Context{})
		assert.ErrorIs(t, err, b.fail)
	}
}

func newFailing(b *table) *table {
	other := newTable()
	other.fail = b.fail
	return other
}

func TestTaskStopEndsTheTaskOnce(t *testing.T) {
	b := newTable()
	stop := work.TaskStop(b.deps())
	out := call(t, stop, `{"task_id":"task_1"}`, &tool.Context{})
	assert.Equal(t, "stopped", b.tasks["task_1"].Status)
	assert.Equal(t, "Task task_1 (go test) is stopped.", message.PlainText(out.Blocks))

	out = call(t, stop, `{"task_id":"task_1"}`, &tool.Context{})
	assert.Equal(t, "Task task_1 (go test) had already ended: stopped.", message.PlainText(out.Blocks))
}

func TestWhichWorkToolsAreDeferred(t *testing.T) {
	d := newTable().deps()
	hints := map[string]string{}
	for _, tl := range []*tool.Tool{work.TodoWrite(), work.TaskOutput(d), work.TaskStop(d)} {
		if tl.Loading.Deferrable {
			hints[tl.Name] = tl.Hint
		}
		assert.NotEmpty(t, tl.Prompt(tool.PromptOptions{}))
		assert.NotEmpty(t, tl.Hint)
	}
	assert.Equal(t, map[string]string{"TodoWrite": "update todo list", "TaskStop": "stop running subtask"}, hints)
}
