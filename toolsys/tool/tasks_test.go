package tool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/tool"
)

// clock is the one of the bubble a test runs in; it notes who used it.
func clock(actors *log) tool.Clock {
	return tool.Clock{
		Now: time.Now,
		Sleep: func(ctx context.Context, actor string, d time.Duration) error {
			actors.add(actor)
			if d > 0 {
				select {
				case <-time.After(d):
				case <-ctx.Done():
				}
			}
			return context.Cause(ctx) // no sleep at all ends with it too, as on every clock
		},
		Go: func(actor string, f func()) { actors.add(actor); go f() },
	}
}

type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *log) told(task tool.Task) {
	l.add(fmt.Sprintf("%s %s", task.ID, task.Status))
}

// inBubble runs f on virtual time with a table; events and actors are what the
// table told and what it asked of the clock.
func inBubble(t *testing.T, f func(t *testing.T, table *tool.Tasks, events, actors *log)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		events, actors := &log{}, &log{}
		f(t, tool.NewTasks(clock(actors), events.told), events, actors)
	})
}

// work is what a task runs.
type work = func(context.Context, io.Writer) (int, error)

// sleeps runs for d, or until it is stopped, and says so.
func sleeps(d time.Duration) work {
	return func(ctx context.Context, out io.Writer) (int, error) {
		io.WriteString(out, "begun\n")
		select {
		case <-time.After(d):
			io.WriteString(out, "done\n")
			return 0, nil
		case <-ctx.Done():
			io.WriteString(out, "stopping: "+context.Cause(ctx).Error()+"\n")
			return 130, ctx.Err()
		}
	}
}

func TestATaskRunsBesideTheCallerAndIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, events, actors *log) {
		began := time.Now()
		id := table.Start(tool.TaskSpec{Kind: "bash", Title: "Build", Command: "make", Agent: "agent_1"}, sleeps(5*time.Second))
		assert.Equal(t, "task_1", id)
		now, err := table.Get(id)
		require.NoError(t, err)
		assert.Equal(t, tool.TaskRunning, now.Status)
		assert.Zero(t, now.Ended)

		early, err := table.Wait(t.Context(), id, 2*time.Second)
		require.NoError(t, err)
		assert.Equal(t, tool.TaskRunning, early.Status, "the time was up first")
		assert.Equal(t, 2*time.Second, time.Since(began))

		ended, err := table.Wait(t.Context(), id, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, 5*time.Second, time.Since(began), "the wait ends with the task")
		assert.Equal(t, tool.Task{
			ID: id, TaskSpec: tool.TaskSpec{Kind: "bash", Title: "Build", Command: "make", Agent: "agent_1"},
			Status: tool.TaskCompleted, Started: began, Ended: began.Add(5 * time.Second),
		}, ended)
		assert.Equal(t, []string{"task_1 running", "task_1 completed"}, events.lines)
		assert.Equal(t, []string{"task/task_1", "task/task_1/wait/1", "task/task_1/wait/2"}, actors.lines)
	})
}

func TestHowATaskEnded(t *testing.T) {
	for name, c := range map[string]struct {
		run    work
		status tool.TaskStatus
		exit   int
		err    string
	}{
		"success":   {func(context.Context, io.Writer) (int, error) { return 0, nil }, tool.TaskCompleted, 0, ""},
		"exit code": {func(context.Context, io.Writer) (int, error) { return 3, nil }, tool.TaskFailed, 3, ""},
		"error":     {func(context.Context, io.Writer) (int, error) { return 0, errors.New("no such command") }, tool.TaskFailed, 0, "no such command"},
		"panic":     {func(context.Context, io.Writer) (int, error) { panic("oops") }, tool.TaskFailed, 1, "panic: oops"},
		"goexit":    {func(context.Context, io.Writer) (int, error) { runtime.Goexit(); return 0, nil }, tool.TaskFailed, 0, "the task ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, table *tool.Tasks, _, _ *log) {
				got, err := table.Wait(t.Context(), table.Start(tool.TaskSpec{}, c.run), time.Second)
				require.NoError(t, err)
				assert.Equal(t, c.status, got.Status)
				assert.Equal(t, c.exit, got.Exit)
				assert.Equal(t, c.err, got.Err)
			})
		})
	}
}

func TestStopWaitsUntilTheTaskHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, events, _ *log) {
		slow := func(ctx context.Context, out io.Writer) (int, error) {
			<-ctx.Done()
			time.Sleep(3 * time.Second) // it puts things in order first
			fmt.Fprint(out, context.Cause(ctx))
			return 0, nil
		}
		id := table.Start(tool.TaskSpec{}, slow)
		began := time.Now()
		got, err := table.Stop(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, tool.TaskStopped, got.Status)
		assert.Empty(t, got.Err)
		assert.Equal(t, 3*time.Second, time.Since(began))
		out, dropped, err := table.Output(id)
		require.NoError(t, err)
		assert.Equal(t, tool.ErrTaskStopped.Error(), out)
		assert.Zero(t, dropped)
		again, err := table.Stop(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, got, again)
		assert.Len(t, events.lines, 2)
	})
}

func TestStoppingAnEndedTaskChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, _, _ *log) {
		id := table.Start(tool.TaskSpec{}, sleeps(0))
		before, err := table.Wait(t.Context(), id, time.Second)
		require.NoError(t, err)
		after, err := table.Stop(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, before, after)
		assert.Equal(t, tool.TaskCompleted, after.Status)
	})
}

// late is a context one learns the end of when everything else has come to rest.
type late struct{ context.Context }

func (l late) Done() <-chan struct{} {
	synctest.Wait()
	return l.Context.Done()
}

func TestATaskOutlivesTheContextOfWhoWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, _, _ *log) {
		id := table.Start(tool.TaskSpec{}, sleeps(time.Minute))
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("interrupted")
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := table.Wait(ctx, id, time.Hour)
		assert.ErrorIs(t, err, why)
		for range 20 { // a select chooses by chance
			_, err = table.Stop(late{ctx}, table.Start(tool.TaskSpec{}, sleeps(time.Minute)))
			require.ErrorIs(t, err, why, "though the task ended before the stop looked")
		}
		_, err = table.Stop(ctx, id)
		assert.ErrorIs(t, err, why)
		got, err := table.Wait(t.Context(), id, time.Hour)
		require.NoError(t, err)
		assert.Equal(t, tool.TaskStopped, got.Status, "the stop was asked for, only the wait was given up")
	})
}

func TestStopAllGoesInTheOrderOfBeginning(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, events, _ *log) {
		for range 12 {
			table.Start(tool.TaskSpec{}, sleeps(time.Hour))
		}
		quick := table.Start(tool.TaskSpec{}, sleeps(0))
		_, err := table.Wait(t.Context(), quick, time.Second)
		require.NoError(t, err)
		events.lines = nil
		require.NoError(t, table.StopAll(t.Context()))
		var want []string
		for i := range 12 {
			want = append(want, fmt.Sprintf("task_%d stopped", i+1))
		}
		assert.Equal(t, want, events.lines)
		for _, got := range table.List()[:12] {
			assert.Equal(t, tool.TaskStopped, got.Status)
		}
		require.NoError(t, table.StopAll(t.Context()))
	})
}

func TestAllWhoWaitAreWoken(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, _, actors *log) {
		id := table.Start(tool.TaskSpec{}, sleeps(time.Second))
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				got, err := table.Wait(t.Context(), id, time.Hour)
				assert.NoError(t, err)
				assert.Equal(t, tool.TaskCompleted, got.Status)
			})
		}
		all.Wait()
		assert.Len(t, actors.lines, 4)
		assert.Len(t, unique(actors.lines), 4, "nobody waits under another's name")
	})
}

func unique(lines []string) map[string]bool {
	m := map[string]bool{}
	for _, l := range lines {
		m[l] = true
	}
	return m
}

func TestAnUnknownTaskIsAnError(t *testing.T) {
	table := tool.NewTasks(clock(&log{}), nil)
	for _, id := range []string{"", "task_0", "task_1", "1"} {
		_, err := table.Get(id)
		assert.ErrorIs(t, err, tool.ErrNoTask)
		_, _, err = table.Output(id)
		assert.ErrorIs(t, err, tool.ErrNoTask)
		_, err = table.Wait(t.Context(), id, 0)
		assert.ErrorIs(t, err, tool.ErrNoTask)
		_, err = table.Stop(t.Context(), id)
		assert.ErrorIs(t, err, tool.ErrNoTask)
	}
	assert.Empty(t, table.List())
}

func TestWaitingForNoTimeDoesNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, _, actors *log) {
		id := table.Start(tool.TaskSpec{}, sleeps(time.Second))
		got, err := table.Wait(t.Context(), id, 0)
		require.NoError(t, err)
		assert.Equal(t, tool.TaskRunning, got.Status)
		assert.Equal(t, []string{"task/task_1"}, actors.lines)
		require.NoError(t, table.StopAll(t.Context()))
	})
}

func TestACharacterThatIsNotAllThereIsHeldBack(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, _, _ *log) {
		id := table.Start(tool.TaskSpec{}, func(_ context.Context, out io.Writer) (int, error) {
			io.WriteString(out, "one ")
			time.Sleep(time.Second)
			out.Write([]byte("天"[:2])) // a character in two writes
			time.Sleep(time.Second)
			out.Write([]byte("天"[2:]))
			time.Sleep(time.Second)
			out.Write([]byte("天"[:1])) // and one that never comes whole
			return 0, nil
		})
		var texts []string
		for range 4 {
			time.Sleep(999 * time.Millisecond)
			text, _, err := table.Output(id)
			require.NoError(t, err)
			texts = append(texts, text)
		}
		assert.Equal(t, []string{"one ", "one ", "one 天", "one 天\uFFFD"}, texts)
	})
}

func TestOutputIsBoundedAndSaysWhatItDropped(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, _, _ *log) {
		line := strings.Repeat("天", 300) + "\n"
		id := table.Start(tool.TaskSpec{}, func(_ context.Context, out io.Writer) (int, error) {
			for range 5000 {
				io.WriteString(out, line)
			}
			return 0, nil
		})
		_, err := table.Wait(t.Context(), id, time.Second)
		require.NoError(t, err)
		text, dropped, err := table.Output(id)
		require.NoError(t, err)
		assert.Equal(t, int64(5000*len(line)), dropped+int64(len(text)))
		assert.GreaterOrEqual(t, len(text), tool.KeepTaskBytes-4)
		assert.LessOrEqual(t, len(text), 2*tool.KeepTaskBytes)
		assert.NotContains(t, text, "\uFFFD", "no character is cut")
		assert.True(t, strings.HasSuffix(text, "天\n"))
		for from, want := range map[int64]string{0: text, dropped: text, dropped + 3: text[3:], dropped + int64(len(text)): "", 1 << 40: ""} {
			tail, next, _, err := table.Tail(id, from)
			require.NoError(t, err)
			assert.True(t, want == tail, from)
			assert.Equal(t, max(dropped+int64(len(text)), from), next, "whoever reads on from there misses nothing and reads nothing twice")
		}
	})
}

func TestNothingIsWrittenAfterTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, table *tool.Tasks, _, _ *log) {
		var kept io.Writer
		id := table.Start(tool.TaskSpec{}, func(_ context.Context, out io.Writer) (int, error) { kept = out; return 0, nil })
		_, err := table.Wait(t.Context(), id, time.Second)
		require.NoError(t, err)
		_, err = io.WriteString(kept, "late")
		assert.ErrorIs(t, err, io.ErrClosedPipe)
		text, _, err := table.Output(id)
		require.NoError(t, err)
		assert.Empty(t, text)
	})
}

func TestWhatIsReadMeanwhileIsTheBeginningOfWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "天气", "😀", "\n", "", "é"}), 0, 40).Draw(r, "pieces")
		cuts := rapid.SliceOfN(rapid.IntRange(1, 5), 200, 200).Draw(r, "cuts")
		whole := strings.Join(pieces, "")
		steps := make(chan chan struct{})
		table := tool.NewTasks(clock(&log{}), nil)
		id := table.Start(tool.TaskSpec{}, func(_ context.Context, out io.Writer) (int, error) {
			for rest, i := whole, 0; rest != ""; i++ {
				n := min(cuts[i%len(cuts)], len(rest))
				io.WriteString(out, rest[:n])
				rest = rest[n:]
				done := make(chan struct{})
				steps <- done
				<-done
			}
			close(steps)
			return 0, nil
		})
		read := func() string {
			text, dropped, err := table.Output(id)
			require.NoError(r, err)
			require.Zero(r, dropped)
			require.NotContains(r, text, "\uFFFD")
			require.True(r, strings.HasPrefix(whole, text))
			return text
		}
		for done := range steps {
			read()
			close(done)
		}
		_, err := table.Wait(context.Background(), id, time.Minute)
		require.NoError(r, err)
		require.Equal(r, whole, read())
	})
}
