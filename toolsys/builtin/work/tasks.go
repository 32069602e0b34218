package work

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"toolbench/toolsys/tool"
)

// defaultWait is how long TaskOutput waits unless the call gives a time.
const defaultWait = 30 * time.Second

// OutputIn is what TaskOutput takes.
type OutputIn struct {
	TaskID string `json:"task_id" minLength:"1" jsonschema:"The id that the tool which started the task gave"`
	// Block is a pointer because its default is true.
	Block   *bool `json:"block,omitempty" default:"true" jsonschema:"Wait until the task has ended"`
	Timeout int   `json:"timeout,omitempty" minimum:"1" maximum:"600000" default:"30000" jsonschema:"How long to wait at most, in milliseconds"`
}

// OutputOut is what TaskOutput answers with.
type OutputOut struct {
	TaskID string `json:"task_id"`
	Kind   string `json:"kind"`
	Title  string `json:"title"`
	Status string `json:"status"`
	// Ended is false for a task that still runs.
	Ended    bool   `json:"ended"`
	ExitCode int    `json:"exit_code"`
	Error    string `json:"error,omitempty"`
	Output   string `json:"output"`
	// Dropped is how many bytes at the beginning are no longer kept.
	Dropped int64 `json:"dropped,omitempty"`
	// TimedOut is true when the wait ended before the task did.
	TimedOut bool `json:"timed_out,omitempty"`
}

// TaskOutput reads what a background task has written, and by default waits for
// its end (SPEC L4). A task that failed is news and not a failed call.
func TaskOutput(d Deps) *tool.Tool {
	return tool.Must(tool.Def[OutputIn, OutputOut]{
		Name:        "TaskOutput",
		Coordinates: true,
		Describe:    func(in OutputIn) string { return "Read the output of " + in.TaskID },
		Texts:       prompts.Of("taskoutput"),
		Call:        tool.Data(d.output),
		Text:        OutputOut.text,
		Traits:      tool.Looks(tool.Class{Read: true}, func(in OutputIn, _ *tool.Context) []string { return []string{"task:" + in.TaskID} }),
		View:        tool.Doing("Task output", "Reading the output of ", func(in OutputIn) string { return in.TaskID }),
	})
}

func (d Deps) output(ctx context.Context, in OutputIn, _ *tool.Context) (OutputOut, error) {
	t, err := d.Tasks.Get(in.TaskID)
	if err != nil {
		return OutputOut{}, d.unknown(in.TaskID)
	}
	waits := in.Block == nil || *in.Block
	if waits && running(t) {
		most := cmp.Or(time.Duration(in.Timeout)*time.Millisecond, defaultWait)
		if t, err = d.Tasks.Wait(ctx, in.TaskID, most); err != nil {
			return OutputOut{}, fmt.Errorf("waiting for %s: %w", in.TaskID, err)
		}
	}
	text, dropped, err := d.Tasks.Output(in.TaskID)
	return OutputOut{
		TaskID: t.ID, Kind: t.Kind, Title: t.Title, Status: string(t.Status), Ended: !running(t),
		ExitCode: t.Exit, Error: t.Err, Output: text, Dropped: dropped, TimedOut: waits && running(t),
	}, err
}

func running(t tool.Task) bool { return t.Status == tool.TaskRunning }

// unknown lists the tasks there are, so that the next call can be right.
func (d Deps) unknown(id string) error {
	names := tool.Each(d.Tasks.List(), func(t tool.Task) string { return fmt.Sprintf("%s (%s, %s)", t.ID, t.Title, t.Status) })
	if len(names) == 0 {
		return fmt.Errorf("no task %q: no background task was started", id)
	}
	return fmt.Errorf("no task %q; there are %s", id, strings.Join(names, ", "))
}

func (out OutputOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s (%s): %s", out.TaskID, out.Title, out.Status)
	if out.Ended && out.Kind == "bash" {
		fmt.Fprintf(&b, ", exit code %d", out.ExitCode)
	}
	if out.Error != "" {
		fmt.Fprintf(&b, ", %s", out.Error)
	}
	if out.TimedOut {
		b.WriteString("; it had not ended when the wait was over")
	}
	if out.Dropped > 0 {
		fmt.Fprintf(&b, "\n[the first %d bytes of the output are no longer kept]", out.Dropped)
	}
	if out.Output == "" {
		b.WriteString("\n(no output so far)")
		return b.String()
	}
	return b.String() + "\n" + out.Output
}

// StopIn is what TaskStop takes.
type StopIn struct {
	TaskID string `json:"task_id" minLength:"1" jsonschema:"The id that the tool which started the task gave"`
}

// StopOut is what TaskStop answers with.
type StopOut struct {
	TaskID string `json:"task_id"`
	Title  string `json:"title"`
	// Status is the task's state after the call.
	Status string `json:"status"`
	// Already is true when the task had ended before.
	Already bool `json:"already,omitempty"`
}

// TaskStop ends a background task and returns when it has ended (SPEC L4). It
// allows itself: what it ends was started by this very session.
func TaskStop(d Deps) *tool.Tool {
	return tool.Must(tool.Def[StopIn, StopOut]{
		Name:        "TaskStop",
		Coordinates: true,
		Describe:    func(in StopIn) string { return "Stop " + in.TaskID },
		Texts:       prompts.Of("taskstop"),
		Call:        tool.Data(d.stop),
		Text:        StopOut.text,
		Permit:      tool.Allows[StopIn]("the task is the session's own"),
		Traits: tool.Traits[StopIn]{
			Effects: func(in StopIn, _ *tool.Context) tool.Effects {
				return tool.Effects{Writes: []string{"task:" + in.TaskID}}
			},
		},
		Loading: tool.Loading{Deferrable: true},
		View:    tool.Doing("Stop task", "Stopping ", func(in StopIn) string { return in.TaskID }),
	})
}

func (d Deps) stop(ctx context.Context, in StopIn, _ *tool.Context) (StopOut, error) {
	t, err := d.Tasks.Get(in.TaskID)
	if err != nil {
		return StopOut{}, d.unknown(in.TaskID)
	}
	already := !running(t)
	if !already {
		if t, err = d.Tasks.Stop(ctx, in.TaskID); err != nil {
			return StopOut{}, fmt.Errorf("stopping %s: %w", in.TaskID, err)
		}
	}
	return StopOut{TaskID: t.ID, Title: t.Title, Status: string(t.Status), Already: already}, nil
}

func (out StopOut) text() string {
	if out.Already {
		return fmt.Sprintf("Task %s (%s) had already ended: %s.", out.TaskID, out.Title, out.Status)
	}
	return fmt.Sprintf("Task %s (%s) is stopped.", out.TaskID, out.Title)
}
