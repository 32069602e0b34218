package work_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
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

// newTasks is a table on the bubble's time; waited has how long those waited who did.
func newTasks(waited *[]time.Duration) *tool.Tasks {
	return tool.NewTasks(bubbleClock(waited), nil)
}

func newInbox() *tool.Inbox { return tool.NewInbox(bubbleClock(nil), nil) }

// bubbleClock is the one of the bubble a test runs in; it notes how long was waited.
func bubbleClock(waited *[]time.Duration) tool.Clock {
	return tool.Clock{
		Now: time.Now,
		Sleep: func(ctx context.Context, _ string, d time.Duration) error {
			if waited != nil && d > 0 {
				*waited = append(*waited, d)
			}
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
			return context.Cause(ctx)
		},
		Go: func(_ string, f func()) { go f() },
	}
}

// started has one task, a command that writes a line and ends after a while.
func started(waited *[]time.Duration) work.Deps {
	d := work.Deps{Tasks: newTasks(waited)}
	d.Tasks.Start(tool.TaskSpec{Kind: "bash", Title: "go test"}, func(ctx context.Context, out io.Writer) (int, error) {
		io.WriteString(out, "ok\n")
		select {
		case <-time.After(500 * time.Millisecond):
			return 0, nil
		case <-ctx.Done():
			return 130, context.Cause(ctx)
		}
	})
	synctest.Wait()
	return d
}

func TestTaskOutputWaitsForTheEndUnlessToldNotTo(t *testing.T) {
	for name, test := range map[string]struct {
		raw    string
		waited []time.Duration
		want   string
	}{
		"by default":       {`{"task_id":"task_1"}`, []time.Duration{30 * time.Second}, "Task task_1 (go test): completed, exit code 0\nok\n"},
		"a time limit":     {`{"task_id":"task_1","timeout":2000}`, []time.Duration{2 * time.Second}, "Task task_1 (go test): completed, exit code 0\nok\n"},
		"not at all":       {`{"task_id":"task_1","block":false}`, nil, "Task task_1 (go test): running\nok\n"},
		"not long enough":  {`{"task_id":"task_1","timeout":10}`, []time.Duration{10 * time.Millisecond}, "Task task_1 (go test): running; it had not ended when the wait was over\nok\n"},
		"true is no news ": {`{"task_id":"task_1","block":true,"timeout":1000}`, []time.Duration{time.Second}, "Task task_1 (go test): completed, exit code 0\nok\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waited []time.Duration
				d := started(&waited)
				out := call(t, work.TaskOutput(d), test.raw, &tool.Context{})
				assert.Equal(t, test.waited, waited)
				assert.Equal(t, test.want, message.PlainText(out.Blocks))
				assert.False(t, out.Failed)
				require.NoError(t, d.Tasks.StopAll(t.Context()))
			})
		})
	}
}

func TestTaskOutputNamesWhatIsNoLongerKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := work.Deps{Tasks: newTasks(nil)}
		d.Tasks.Start(tool.TaskSpec{Kind: "bash", Title: "yes"}, func(_ context.Context, out io.Writer) (int, error) {
			return out.Write(bytes.Repeat([]byte("y"), 2*tool.KeepTaskBytes+7))
		})
		text := message.PlainText(call(t, work.TaskOutput(d), `{"task_id":"task_1"}`, &tool.Context{}).Blocks)
		assert.Contains(t, text, fmt.Sprintf("\n[the first %d bytes of the output are no longer kept]\nyyy", tool.KeepTaskBytes+7))
	})
}

func TestTaskOutputDoesNotWaitForWhatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		d := work.Deps{Tasks: newTasks(&waited)}
		d.Tasks.Start(tool.TaskSpec{Kind: "agent", Title: "look"}, func(context.Context, io.Writer) (int, error) {
			return 0, errors.New("no model")
		})
		synctest.Wait()
		out := call(t, work.TaskOutput(d), `{"task_id":"task_1"}`, &tool.Context{})
		assert.Empty(t, waited)
		assert.Contains(t, message.PlainText(out.Blocks), "Task task_1 (look): failed, no model\n")
	})
}

// A task that writes a lot fills neither the conversation nor the memory.
func TestAWatchReportsNoMoreThanCanBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := work.Deps{Tasks: newTasks(nil), Inbox: newInbox()}
		d.Tasks.Start(tool.TaskSpec{Kind: "bash", Title: "make"}, func(_ context.Context, out io.Writer) (int, error) {
			for i := range 1000 {
				fmt.Fprintf(out, "error %d %s\n", i, strings.Repeat("x", 900))
			}
			return 0, nil
		})
		synctest.Wait()
		monitor := work.Monitor(d)
		in, problems := monitor.Parse(json.RawMessage(`{"task_id":"task_1","pattern":"error"}`))
		require.Empty(t, problems)
		_, err := monitor.Call(t.Context(), in, &tool.Context{Core: tool.Core{Clock: bubbleClock(nil)}})
		require.NoError(t, err)
		synctest.Wait()
		mail := d.Inbox.Take("")
		require.Len(t, mail, 2)
		assert.Contains(t, mail[0].Text, "[960 earlier lines are left out]\nerror 960 x")
		assert.Contains(t, mail[0].Text, "\nerror 999 x")
		assert.Less(t, len(mail[0].Text), 25_000)
	})
}

func TestTaskToolsNameTheTasksThereAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := started(nil)
		for _, tl := range []*tool.Tool{work.TaskOutput(d), work.TaskStop(d)} {
			_, err := tl.Call(t.Context(), parse(t, tl, `{"task_id":"task_9"}`), &tool.Context{})
			assert.ErrorContains(t, err, `no task "task_9"; there are task_1 (go test, running)`)
		}
		require.NoError(t, d.Tasks.StopAll(t.Context()))
	})
}

func TestTaskToolsPassOnWhatWentWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, gone := started(nil), errors.New("gone")
		ctx, stop := context.WithCancelCause(t.Context())
		stop(gone)
		for _, tl := range []*tool.Tool{work.TaskOutput(d), work.TaskStop(d)} {
			_, err := tl.Call(ctx, parse(t, tl, `{"task_id":"task_1"}`), &tool.Context{})
			assert.ErrorIs(t, err, gone)
		}
	})
}

func TestTaskStopEndsTheTaskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := started(nil)
		stop := work.TaskStop(d)
		out := call(t, stop, `{"task_id":"task_1"}`, &tool.Context{})
		task, err := d.Tasks.Get("task_1")
		require.NoError(t, err)
		assert.Equal(t, tool.TaskStopped, task.Status)
		assert.Equal(t, "Task task_1 (go test) is stopped.", message.PlainText(out.Blocks))

		out = call(t, stop, `{"task_id":"task_1"}`, &tool.Context{})
		assert.Equal(t, "Task task_1 (go test) had already ended: stopped.", message.PlainText(out.Blocks))
	})
}

func TestWhichWorkToolsAreDeferred(t *testing.T) {
	d := work.Deps{}
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
