package task_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/task"
	"toolbench/toolsys/tool"
)

// clock is the one of the bubble a test runs in; it notes who used it.
func clock(actors *log) tool.Clock {
	return tool.Clock{
		Now: time.Now,
		Sleep: func(ctx context.Context, actor string, d time.Duration) error {
			actors.add(actor)
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
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

func (l *log) told(e task.Event) {
	l.add(fmt.Sprintf("%s %s %s", e.Task.ID, e.Change, e.Task.Status))
}

// inBubble runs f on virtual time with a table; events and actors are what the
// table told and what it asked of the clock.
func inBubble(t *testing.T, f func(t *testing.T, table *task.Table, events, actors *log)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		events, actors := &log{}, &log{}
		f(t, task.New(clock(actors), events.told), events, actors)
	})
}

// sleeps runs for d, or until it is stopped, and says so.
func sleeps(d time.Duration) task.Run {
	return func(ctx context.Context, out *task.Output) (int, error) {
		out.WriteString("begun\n")
		select {
		case <-time.After(d):
			out.WriteString("done\n")
			return 0, nil
		case <-ctx.Done():
			out.WriteString("stopping: " + context.Cause(ctx).Error() + "\n")
			return 130, ctx.Err()
		}
	}
}

func TestATaskRunsBesideTheCallerAndIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, events, actors *log) {
		began := time.Now()
		id := table.Start(task.Spec{Kind: "bash", Title: "Build", Command: "make", Agent: "agent_1"}, sleeps(5*time.Second))
		assert.Equal(t, "task_1", id)
		now, err := table.Get(id)
		require.NoError(t, err)
		assert.Equal(t, task.Running, now.Status)
		assert.Zero(t, now.Ended)

		early, err := table.Wait(t.Context(), id, 2*time.Second)
		require.NoError(t, err)
		assert.Equal(t, task.Running, early.Status, "the time was up first")
		assert.Equal(t, 2*time.Second, time.Since(began))

		ended, err := table.Wait(t.Context(), id, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, 5*time.Second, time.Since(began), "the wait ends with the task")
		assert.Equal(t, task.Task{
			ID: id, Spec: task.Spec{Kind: "bash", Title: "Build", Command: "make", Agent: "agent_1"},
			Status: task.Completed, Started: began, Ended: began.Add(5 * time.Second), Written: 11,
		}, ended)
		assert.Equal(t, []string{"task_1 began running", "task_1 ended completed"}, events.lines)
		assert.Equal(t, []string{"task/task_1", "task/task_1/wait/1", "task/task_1/wait/2"}, actors.lines)
	})
}

func TestHowATaskEnded(t *testing.T) {
	for name, c := range map[string]struct {
		run    task.Run
		status task.Status
		exit   int
		err    string
	}{
		"success":   {func(context.Context, *task.Output) (int, error) { return 0, nil }, task.Completed, 0, ""},
		"exit code": {func(context.Context, *task.Output) (int, error) { return 3, nil }, task.Failed, 3, ""},
		"error":     {func(context.Context, *task.Output) (int, error) { return 0, errors.New("no such command") }, task.Failed, 0, "no such command"},
		"panic":     {func(context.Context, *task.Output) (int, error) { panic("oops") }, task.Failed, 1, "panic: oops"},
		"goexit":    {func(context.Context, *task.Output) (int, error) { runtime.Goexit(); return 0, nil }, task.Failed, 0, "the task ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, table *task.Table, _, _ *log) {
				got, err := table.Wait(t.Context(), table.Start(task.Spec{}, c.run), time.Second)
				require.NoError(t, err)
				assert.Equal(t, c.status, got.Status)
				assert.Equal(t, c.exit, got.Exit)
				assert.Equal(t, c.err, got.Err)
			})
		})
	}
}

func TestStopWaitsUntilTheTaskHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, events, _ *log) {
		slow := func(ctx context.Context, out *task.Output) (int, error) {
			<-ctx.Done()
			time.Sleep(3 * time.Second) // it puts things in order first
			fmt.Fprint(out, context.Cause(ctx))
			return 0, nil
		}
		id := table.Start(task.Spec{}, slow)
		began := time.Now()
		got, err := table.Stop(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, task.Stopped, got.Status)
		assert.Empty(t, got.Err)
		assert.Equal(t, 3*time.Second, time.Since(began))
		out, err := table.Output(id, 0)
		require.NoError(t, err)
		assert.Equal(t, task.Chunk{Text: task.ErrStopped.Error(), Next: int64(len(task.ErrStopped.Error()))}, out)
		again, err := table.Stop(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, got, again)
		assert.Len(t, events.lines, 2)
	})
}

func TestStoppingAnEndedTaskChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, _, _ *log) {
		id := table.Start(task.Spec{}, sleeps(0))
		before, err := table.Wait(t.Context(), id, time.Second)
		require.NoError(t, err)
		after, err := table.Stop(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, before, after)
		assert.Equal(t, task.Completed, after.Status)
	})
}

func TestATaskOutlivesTheContextOfWhoWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, _, _ *log) {
		id := table.Start(task.Spec{}, sleeps(time.Minute))
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("interrupted")
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := table.Wait(ctx, id, time.Hour)
		assert.ErrorIs(t, err, why)
		_, err = table.Stop(ctx, id)
		assert.ErrorIs(t, err, why)
		got, err := table.Wait(t.Context(), id, time.Hour)
		require.NoError(t, err)
		assert.Equal(t, task.Stopped, got.Status, "the stop was asked for, only the wait was given up")
	})
}

func TestStopAllGoesInTheOrderOfBeginning(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, events, _ *log) {
		for range 12 {
			table.Start(task.Spec{}, sleeps(time.Hour))
		}
		quick := table.Start(task.Spec{}, sleeps(0))
		_, err := table.Wait(t.Context(), quick, time.Second)
		require.NoError(t, err)
		events.lines = nil
		require.NoError(t, table.StopAll(t.Context()))
		var want []string
		for i := range 12 {
			want = append(want, fmt.Sprintf("task_%d ended stopped", i+1))
		}
		assert.Equal(t, want, events.lines)
		for _, got := range table.List()[:12] {
			assert.Equal(t, task.Stopped, got.Status)
		}
		require.NoError(t, table.StopAll(t.Context()))
	})
}

func TestAllWhoWaitAreWoken(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, _, actors *log) {
		id := table.Start(task.Spec{}, sleeps(time.Second))
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				got, err := table.Wait(t.Context(), id, time.Hour)
				assert.NoError(t, err)
				assert.Equal(t, task.Completed, got.Status)
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
	table := task.New(clock(&log{}), nil)
	for _, id := range []string{"", "task_0", "task_1", "1"} {
		_, err := table.Get(id)
		assert.ErrorIs(t, err, task.ErrUnknown)
		_, err = table.Output(id, 0)
		assert.ErrorIs(t, err, task.ErrUnknown)
		_, err = table.Wait(t.Context(), id, 0)
		assert.ErrorIs(t, err, task.ErrUnknown)
		_, err = table.Stop(t.Context(), id)
		assert.ErrorIs(t, err, task.ErrUnknown)
	}
	assert.Empty(t, table.List())
}

func TestWaitingForNoTimeDoesNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, _, actors *log) {
		id := table.Start(task.Spec{}, sleeps(time.Second))
		got, err := table.Wait(t.Context(), id, 0)
		require.NoError(t, err)
		assert.Equal(t, task.Running, got.Status)
		assert.Equal(t, []string{"task/task_1"}, actors.lines)
		require.NoError(t, table.StopAll(t.Context()))
	})
}

func TestOutputIsReadOnFromWhereOneStopped(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, _, _ *log) {
		id := table.Start(task.Spec{}, func(_ context.Context, out *task.Output) (int, error) {
			out.WriteString("one ")
			time.Sleep(time.Second)
			out.Write([]byte("天"[:2])) // a character in two writes
			time.Sleep(time.Second)
			out.Write([]byte("天"[2:]))
			time.Sleep(time.Second)
			out.Write([]byte("天"[:1])) // and one that never comes whole
			return 0, nil
		})
		var texts []string
		at := int64(0)
		for range 4 {
			time.Sleep(999 * time.Millisecond)
			c, err := table.Output(id, at)
			require.NoError(t, err)
			texts = append(texts, c.Text)
			at = c.Next
		}
		assert.Equal(t, []string{"one ", "", "天", "\uFFFD"}, texts)
		end, err := table.Output(id, 1<<40)
		require.NoError(t, err)
		assert.Equal(t, task.Chunk{Next: at}, end)
	})
}

func TestOutputIsBoundedAndSaysWhatItDropped(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, _, _ *log) {
		line := strings.Repeat("天", 300) + "\n"
		id := table.Start(task.Spec{}, func(_ context.Context, out *task.Output) (int, error) {
			for range 5000 {
				out.WriteString(line)
			}
			return 0, nil
		})
		got, err := table.Wait(t.Context(), id, time.Second)
		require.NoError(t, err)
		assert.Equal(t, int64(5000*len(line)), got.Written)
		c, err := table.Output(id, 0)
		require.NoError(t, err)
		assert.Equal(t, got.Dropped, c.Missed)
		assert.GreaterOrEqual(t, len(c.Text), task.KeepBytes-4)
		assert.LessOrEqual(t, len(c.Text), 2*task.KeepBytes)
		assert.Equal(t, got.Written, c.Next)
		assert.NotContains(t, c.Text, "\uFFFD", "no character is cut")
		assert.True(t, strings.HasPrefix(c.String(), fmt.Sprintf("[%d bytes", c.Missed)))
		tail, err := table.Output(id, got.Written-4)
		require.NoError(t, err)
		assert.Equal(t, "天\n", tail.String())
	})
}

func TestNothingIsWrittenAfterTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, table *task.Table, _, _ *log) {
		var kept *task.Output
		id := table.Start(task.Spec{}, func(_ context.Context, out *task.Output) (int, error) { kept = out; return 0, nil })
		_, err := table.Wait(t.Context(), id, time.Second)
		require.NoError(t, err)
		_, err = kept.WriteString("late")
		assert.Error(t, err)
		c, err := table.Output(id, 0)
		require.NoError(t, err)
		assert.Empty(t, c.Text)
	})
}

func TestReadingInPiecesGivesWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "天气", "😀", "\n", "", "é"}), 0, 40).Draw(r, "pieces")
		cuts := rapid.SliceOfN(rapid.IntRange(1, 5), 200, 200).Draw(r, "cuts")
		whole := strings.Join(pieces, "")
		steps := make(chan chan struct{})
		table := task.New(clock(&log{}), nil)
		id := table.Start(task.Spec{}, func(_ context.Context, out *task.Output) (int, error) {
			for rest, i := whole, 0; rest != ""; i++ {
				n := min(cuts[i%len(cuts)], len(rest))
				out.WriteString(rest[:n])
				rest = rest[n:]
				done := make(chan struct{})
				steps <- done
				<-done
			}
			close(steps)
			return 0, nil
		})
		var got strings.Builder
		at := int64(0)
		read := func() {
			c, err := table.Output(id, at)
			require.NoError(r, err)
			require.NotContains(r, c.Text, "\uFFFD")
			got.WriteString(c.Text)
			at = c.Next
		}
		for done := range steps {
			read()
			close(done)
		}
		_, err := table.Wait(context.Background(), id, time.Minute)
		require.NoError(r, err)
		read()
		require.Equal(r, whole, got.String())
	})
}
