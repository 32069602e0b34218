package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"toolbench/toolsys/tool"
)

// ErrUnknown reports that no task has an id.
var ErrUnknown = errors.New("there is no such task")

// ErrStopped is the cause a stopped task's context ends with.
var ErrStopped = errors.New("the task was stopped")

// errEnded ends the waits for a task.
var errEnded = errors.New("the task ended")

// Run is a task's work. It writes to out and gives an exit code, or an error where
// there is none; either means failure unless the code is 0. Its context ends only
// when the task is stopped.
type Run func(ctx context.Context, out *Output) (exit int, err error)

// Table holds the tasks of a session. It is safe for concurrent use, and calls
// nobody back while it holds its lock.
type Table struct {
	clock tool.Clock
	sink  func(Event)

	mu    sync.Mutex
	tasks []*running // task_N is at N-1
}

// running is one task and what controls it.
type running struct {
	task    Task
	out     *Output
	stop    context.CancelCauseFunc
	stopped bool
	ended   context.Context // done when the task is
	waits   int
}

// New makes an empty table. All functions of clock are needed; sink receives every
// beginning and end and may be nil.
func New(clock tool.Clock, sink func(Event)) *Table {
	if sink == nil {
		sink = func(Event) {}
	}
	return &Table{clock: clock, sink: sink}
}

// Start begins a task and gives its id. The work runs beside the caller, as actor
// task/<id> of the clock, until it ends or is stopped.
func (t *Table) Start(spec Spec, run Run) string {
	ctx, stop := context.WithCancelCause(context.Background())
	over, end := context.WithCancelCause(context.Background())
	r := &running{out: &Output{}, stop: stop, ended: over}
	t.mu.Lock()
	t.tasks = append(t.tasks, r)
	id := fmt.Sprintf("task_%d", len(t.tasks))
	r.task = Task{ID: id, Spec: spec, Status: Running, Started: t.clock.Now()}
	began := r.task
	t.mu.Unlock()

	t.sink(Event{Began, began})
	t.clock.Go("task/"+id, func() {
		// Deferred, so that a task that ends its goroutine has ended too.
		result := outcome{err: errors.New("the task ended its goroutine")}
		defer func() {
			t.finish(r, result)
			stop(nil)
			end(errEnded)
		}()
		result = guarded(ctx, run, r.out)
	})
	return id
}

type outcome struct {
	exit int
	err  error
}

func guarded(ctx context.Context, run Run, out *Output) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{1, fmt.Errorf("panic: %v", p)}
		}
	}()
	exit, err := run(ctx, out)
	return outcome{exit, err}
}

// finish records how a task ended and reports it.
func (t *Table) finish(r *running, o outcome) {
	r.out.close()
	t.mu.Lock()
	r.task.Exit, r.task.Ended = o.exit, t.clock.Now()
	switch {
	case r.stopped:
		r.task.Status = Stopped
	case o.err != nil || o.exit != 0:
		r.task.Status = Failed
	default:
		r.task.Status = Completed
	}
	if o.err != nil && !r.stopped {
		r.task.Err = o.err.Error()
	}
	ended := r.view()
	t.mu.Unlock()
	t.sink(Event{Ended, ended})
}

// view is the task with its output counted; the table's lock is held.
func (r *running) view() Task {
	task := r.task
	task.Written, task.Dropped = r.out.counts()
	return task
}

// find wants the table's lock held. Ids are looked for and not parsed: "task_01"
// is no task.
func (t *Table) find(id string) (*running, error) {
	for _, r := range t.tasks {
		if r.task.ID == id {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknown, id)
}

// Get gives a task as it stands, or ErrUnknown.
func (t *Table) Get(id string) (Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(id)
	if err != nil {
		return Task{}, err
	}
	return r.view(), nil
}

// List gives all tasks as they stand, in the order in which they began.
func (t *Table) List() []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Task, len(t.tasks))
	for i, r := range t.tasks {
		all[i] = r.view()
	}
	return all
}

// Output gives what a task wrote from a byte offset on, or ErrUnknown. Going on
// from each chunk's Next sees every byte that was not dropped, once.
func (t *Table) Output(id string, offset int64) (Chunk, error) {
	t.mu.Lock()
	r, err := t.find(id)
	t.mu.Unlock()
	if err != nil {
		return Chunk{}, err
	}
	return r.out.since(offset), nil
}

// Wait waits until a task ended, at most timeout, and gives it as it then stands:
// still running is no error. A timeout of 0 or less does not wait. It is an error
// when ctx ends first (its cause) or there is no such task (ErrUnknown).
func (t *Table) Wait(ctx context.Context, id string, timeout time.Duration) (Task, error) {
	r, actor, err := t.waiter(id, "wait")
	if err != nil {
		return Task{}, err
	}
	if timeout > 0 && r.ended.Err() == nil {
		if err := t.await(ctx, r, actor, timeout); err != nil {
			return Task{}, err
		}
	}
	return t.Get(id)
}

// await sleeps until the task ended, ctx did, or the time is up; only ctx's end is
// an error.
func (t *Table) await(ctx context.Context, r *running, actor string, timeout time.Duration) error {
	waiting, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	defer context.AfterFunc(r.ended, func() { wake(errEnded) })()
	err := t.clock.Sleep(waiting, actor, timeout)
	if err != nil && r.ended.Err() == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// waiter finds a task and names the next one who waits for it.
func (t *Table) waiter(id, doing string) (*running, string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(id)
	if err != nil {
		return nil, "", err
	}
	r.waits++
	return r, fmt.Sprintf("task/%s/%s/%d", id, doing, r.waits), nil
}

// Stop ends a task and waits until it has ended, however long it takes to; the
// wait, not the stop, is given up when ctx ends. A task that had ended stays as it
// was. Errors: ctx's cause, ErrUnknown.
func (t *Table) Stop(ctx context.Context, id string) (Task, error) {
	r, actor, err := t.waiter(id, "stop")
	if err != nil {
		return Task{}, err
	}
	t.mu.Lock()
	r.stopped = true // of no effect once it ended
	t.mu.Unlock()
	r.stop(ErrStopped)
	select {
	case <-r.ended.Done():
	case <-ctx.Done():
		return Task{}, context.Cause(ctx)
	}
	// Those who waited for the same end go on one at a time.
	if err := t.clock.Sleep(ctx, actor, 0); err != nil {
		return Task{}, err
	}
	return t.Get(id)
}

// StopAll stops what runs, one after the other in the order in which it began, so
// that the ends come in the same order each time. It gives up when ctx ends, with
// its cause. What begins meanwhile is stopped too.
func (t *Table) StopAll(ctx context.Context) error {
	for i := 0; ; i++ {
		t.mu.Lock()
		if i >= len(t.tasks) {
			t.mu.Unlock()
			return nil
		}
		task := t.tasks[i].task
		t.mu.Unlock()
		if task.Status != Running {
			continue
		}
		if _, err := t.Stop(ctx, task.ID); err != nil {
			return err
		}
	}
}
