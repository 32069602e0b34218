package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// TaskStatus is how a background task stands.
type TaskStatus string

// A task runs until it ends in one of three ways: completed with exit code 0, failed
// with another code, an error or a panic, stopped when someone asked for it.
const (
	TaskRunning   TaskStatus = "running"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskStopped   TaskStatus = "stopped"
)

// TaskSpec is what a task is, in words for people and traces.
type TaskSpec struct {
	// Kind is the family: "bash", "agent", "monitor", "workflow".
	Kind string
	// Title is one line for a screen; Command is what runs, if it is a command.
	Title, Command string
	// Agent began it; "" is the main conversation.
	Agent string
}

// Task is a task as it stood when it was asked for.
type Task struct {
	// ID is task_1, task_2, ... in the order of Start.
	ID string
	TaskSpec
	Status TaskStatus
	// Exit is the exit code, once it ended.
	Exit int
	// Err is why it failed; "" otherwise.
	Err string
	// Started and Ended are of the table's clock; Ended is zero while it runs.
	Started, Ended time.Time
}

// KeepTaskBytes is how much of a task's newest output is kept: this much or more, at
// most twice as much, so that dropping costs little.
const KeepTaskBytes = 1 << 20

// Errors of a table. ErrTaskStopped is the cause a stopped task's context ends with.
var (
	ErrNoTask      = errors.New("there is no such task")
	ErrTaskStopped = errors.New("the task was stopped")
	errTaskEnded   = errors.New("the task ended")
	errMore        = errors.New("the task wrote something")
)

// Tasks is the table of a session's background tasks: what Bash starts and leaves running, background agents, and
// what TaskOutput and TaskStop look at (SPEC B4, L4). A task outlives the turn and the sub-agent that began it, so it
// is no part of a conversation's state: agents of every depth share one table.
//
// Whoever waits for a task waits at the table's clock, so that in a simulated run
// those woken by one task's end go on one at a time and in a fixed order. A table is
// safe for concurrent use, and calls nobody back while it holds its lock.
type Tasks struct {
	clock Clock
	sink  func(Task)

	mu  sync.Mutex
	all []*task // task_N is at N-1
}

// task is one task and what controls it. The table's lock guards it.
type task struct {
	Task
	kept    []byte // the newest output
	dropped int64  // how many bytes were before it
	stop    context.CancelCauseFunc
	stopped bool
	over    context.Context // done when the task is
	waits   int
	more    []context.CancelCauseFunc // of those that wait for output
}

// NewTasks makes an empty table. All functions of clock are needed; sink receives
// every task when it begins and when it ends, and may be nil.
func NewTasks(clock Clock, sink func(Task)) *Tasks {
	if sink == nil {
		sink = func(Task) {}
	}
	return &Tasks{clock: clock, sink: sink}
}

// Start begins a task and gives its id. The work runs beside the caller, as actor task/<id> of the clock, until it
// ends or is stopped. It writes to out and gives an exit code, or an error where there is none; either means failure
// unless the code is 0. Its context ends only when the task is stopped.
func (t *Tasks) Start(spec TaskSpec, run func(ctx context.Context, out io.Writer) (exit int, err error)) string {
	ctx, stop := context.WithCancelCause(context.Background())
	over, end := context.WithCancelCause(context.Background())
	r := &task{stop: stop, over: over}
	t.mu.Lock()
	t.all = append(t.all, r)
	r.Task = Task{ID: fmt.Sprintf("task_%d", len(t.all)), TaskSpec: spec, Status: TaskRunning, Started: t.clock.Now()}
	began := r.Task
	t.mu.Unlock()

	t.sink(began)
	t.clock.Go("task/"+began.ID, func() {
		// Deferred, so that a task that panics or ends its goroutine has ended too.
		exit, err := 0, errors.New("the task ended its goroutine")
		defer func() {
			if p := recover(); p != nil {
				exit, err = 1, fmt.Errorf("panic: %v", p)
			}
			t.finish(r, exit, err)
			stop(nil)
			end(errTaskEnded)
		}()
		exit, err = run(ctx, output{t, r})
	})
	return began.ID
}

// finish records how a task ended and reports it.
func (t *Tasks) finish(r *task, exit int, err error) {
	t.mu.Lock()
	r.Exit, r.Ended = exit, t.clock.Now()
	switch {
	case r.stopped:
		r.Status = TaskStopped
	case err != nil || exit != 0:
		r.Status = TaskFailed
	default:
		r.Status = TaskCompleted
	}
	if err != nil && !r.stopped {
		r.Err = err.Error()
	}
	ended := r.Task
	t.mu.Unlock()
	t.sink(ended)
}

// output is where a task writes.
type output struct {
	t *Tasks
	r *task
}

// Write adds to the output; after the task ended it is io.ErrClosedPipe.
func (o output) Write(p []byte) (int, error) {
	o.t.mu.Lock()
	if o.r.Status != TaskRunning {
		o.t.mu.Unlock()
		return 0, io.ErrClosedPipe
	}
	o.r.kept = append(o.r.kept, p...)
	if n := len(o.r.kept) - KeepTaskBytes; n > KeepTaskBytes {
		o.r.drop(n)
	}
	more := o.r.more
	o.r.more = nil
	o.t.mu.Unlock()
	for _, wake := range more {
		wake(errMore)
	}
	return len(p), nil
}

// drop forgets n bytes, and what they leave of a character they cut.
func (r *task) drop(n int) {
	for n < len(r.kept) && !utf8.RuneStart(r.kept[n]) {
		n++
	}
	r.dropped += int64(n)
	r.kept = append(make([]byte, 0, 2*KeepTaskBytes), r.kept[n:]...)
}

// find wants the table's lock held. Ids are looked for and not parsed: "task_01" is no task.
func (t *Tasks) find(id string) (*task, error) {
	for _, r := range t.all {
		if r.ID == id {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNoTask, id)
}

// Get gives a task as it stands, or ErrNoTask.
func (t *Tasks) Get(id string) (Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(id)
	if err != nil {
		return Task{}, err
	}
	return r.Task, nil
}

// List gives all tasks as they stand, in the order in which they began.
func (t *Tasks) List() []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Each(t.all, func(r *task) Task { return r.Task })
}

// Output gives what is kept of a task's output, as complete characters in which bytes
// that are no UTF-8 are replaced, and how many bytes before it were dropped; or
// ErrNoTask. While the task runs, a character that is written in part is held back.
func (t *Tasks) Output(id string) (text string, dropped int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(id)
	if err != nil {
		return "", 0, err
	}
	part := r.kept
	if r.Status == TaskRunning {
		part = wholeRunes(part)
	}
	return strings.ToValidUTF8(string(part), "\uFFFD"), r.dropped, nil
}

// Tail gives what a task wrote from byte from on, as far as it is kept, where the next
// byte will be, and the task as it then stood; or ErrNoTask. Text is as Output has it.
func (t *Tasks) Tail(id string, from int64) (text string, next int64, of Task, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(id)
	if err != nil {
		return "", from, Task{}, err
	}
	part := r.kept[min(max(0, from-r.dropped), int64(len(r.kept))):]
	if r.Status == TaskRunning {
		part = wholeRunes(part)
	}
	return strings.ToValidUTF8(string(part), "\uFFFD"), max(from, r.dropped) + int64(len(part)), r.Task, nil
}

// More waits until a task wrote more than its first from bytes, ended, or the time is up;
// errors as of Wait. A part of a character alone does not count.
func (t *Tasks) More(ctx context.Context, id string, from int64, timeout time.Duration) error {
	r, actor, err := t.waiter(id, "more")
	if err != nil {
		return err
	}
	waiting, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	t.mu.Lock()
	there := r.Status != TaskRunning || r.dropped+int64(len(wholeRunes(r.kept))) > from
	if !there {
		r.more = append(r.more, wake)
	}
	t.mu.Unlock()
	if there || timeout <= 0 {
		return context.Cause(ctx)
	}
	return t.await(waiting, ctx, r, actor, timeout)
}

// wholeRunes leaves out a character at the end that is not all there.
func wholeRunes(b []byte) []byte {
	for back := 1; back <= min(utf8.UTFMax-1, len(b)); back++ {
		if i := len(b) - back; utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// Wait waits until a task ended, at most timeout, and gives it as it then stands:
// still running is no error. A timeout of 0 or less does not wait. It is an error
// when ctx ends first (its cause) or there is no such task (ErrNoTask).
func (t *Tasks) Wait(ctx context.Context, id string, timeout time.Duration) (Task, error) {
	r, actor, err := t.waiter(id, "wait")
	if err != nil {
		return Task{}, err
	}
	if timeout > 0 && r.over.Err() == nil {
		if err := t.await(ctx, ctx, r, actor, timeout); err != nil {
			return Task{}, err
		}
	}
	return t.Get(id)
}

// await sleeps until the task ended, ctx did, or the time is up; only the end of caller,
// which ctx is or descends from, is an error.
func (t *Tasks) await(ctx, caller context.Context, r *task, actor string, timeout time.Duration) error {
	waiting, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	defer context.AfterFunc(r.over, func() { wake(errTaskEnded) })()
	err := t.clock.Sleep(waiting, actor, timeout)
	if err != nil && r.over.Err() == nil && caller.Err() != nil {
		return context.Cause(caller)
	}
	return nil
}

// waiter finds a task and names the next one who waits for it.
func (t *Tasks) waiter(id, doing string) (*task, string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(id)
	if err != nil {
		return nil, "", err
	}
	r.waits++
	return r, fmt.Sprintf("task/%s/%s/%d", id, doing, r.waits), nil
}

// Stop ends a task and waits until it has ended, however long it takes to; the wait, not the stop, is given up when
// ctx ends. A task that had ended stays as it was. Errors: ctx's cause, ErrNoTask.
func (t *Tasks) Stop(ctx context.Context, id string) (Task, error) {
	r, actor, err := t.waiter(id, "stop")
	if err != nil {
		return Task{}, err
	}
	t.mu.Lock()
	r.stopped = true // of no effect once it ended
	t.mu.Unlock()
	r.stop(ErrTaskStopped)
	select {
	case <-r.over.Done():
	case <-ctx.Done(): // an error of the sleep below, even where the task has ended as well
	}
	// Those who waited for the same end go on one at a time.
	if err := t.clock.Sleep(ctx, actor, 0); err != nil {
		return Task{}, err
	}
	return t.Get(id)
}

// StopAll stops what runs, one after the other in the order in which it began, so that the ends come in the same
// order each time. It gives up when ctx ends, with its cause. What begins meanwhile is stopped too.
func (t *Tasks) StopAll(ctx context.Context) error {
	for i := 0; ; i++ {
		all := t.List()
		if i >= len(all) {
			return nil
		}
		if all[i].Status != TaskRunning {
			continue
		}
		if _, err := t.Stop(ctx, all[i].ID); err != nil {
			return err
		}
	}
}
