package work

import (
	"context"
	"time"
)

// Deps is what the task tools need of the task table (B4). TodoWrite needs
// nothing of it.
type Deps struct{ Tasks Tasks }

// Tasks is the door to the background tasks. All functions are required.
type Tasks struct {
	// Get finds a task by its id.
	Get func(id string) (Task, bool)
	// List gives all tasks, oldest first.
	List func() []Task
	// Output gives what a task has written so far, and how many bytes of it are
	// no longer kept.
	Output func(id string) (text string, dropped int64)
	// Wait returns when the task has ended, after timeout, or with ctx's error;
	// a timeout is no error, the task is then still running.
	Wait func(ctx context.Context, id string, timeout time.Duration) (Task, error)
	// Stop ends a task and returns when it has ended.
	Stop func(ctx context.Context, id string) (Task, error)
}

// Task is a background task as the model is told of it.
type Task struct {
	ID string
	// Kind is what runs: "bash", "agent".
	Kind string
	// Title says it in a few words; Command is the whole text, if there is one.
	Title, Command string
	// Status is one word: running, completed, failed, stopped.
	Status string
	// Ended is true once the task runs no more.
	Ended bool
	// Code is the exit code of a command that ended.
	Code int
	// Error is why a task failed, if it is known.
	Error string
}
