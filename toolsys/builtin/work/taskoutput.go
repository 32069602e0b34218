package work

import (
	"context"
	_ "embed" // the prompt beside this file
	"fmt"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed taskoutput.md
var outputPrompt string

// defaultWait is how long TaskOutput waits when the call does not say.
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
		Hint:        "read output of a background task",
		Description: "Gives the output and the state of a background task.",
		Describe:    func(in OutputIn) string { return "Read the output of " + in.TaskID },
		Prompt:      func(tool.PromptOptions) string { return outputPrompt },
		Call: func(ctx context.Context, in OutputIn, _ *tool.Context) (tool.Result[OutputOut], error) {
			return d.output(ctx, in)
		},
		Block: func(out OutputOut) []message.Block { return []message.Block{message.Text(out.text())} },
		Traits: tool.Traits[OutputIn]{
			Safe:      tool.Always[OutputIn],
			ReadOnly:  tool.Always[OutputIn],
			Class:     func(OutputIn) tool.Class { return tool.Class{Read: true} },
			Interrupt: tool.Cancel,
			Effects: func(in OutputIn, _ *tool.Context) tool.Effects {
				return tool.Effects{Reads: []string{"task:" + in.TaskID}}
			},
		},
		View: tool.View[OutputIn]{
			Title:    func(OutputIn) string { return "Task output" },
			Summary:  func(in OutputIn) string { return in.TaskID },
			Activity: func(in OutputIn) string { return "Reading the output of " + in.TaskID },
		},
	})
}

func (d Deps) output(ctx context.Context, in OutputIn) (tool.Result[OutputOut], error) {
	t, ok := d.Tasks.Get(in.TaskID)
	if !ok {
		return tool.Result[OutputOut]{}, d.unknown(in.TaskID)
	}
	waits := in.Block == nil || *in.Block
	if waits && !t.Ended {
		var err error
		if t, err = d.Tasks.Wait(ctx, in.TaskID, in.wait()); err != nil {
			return tool.Result[OutputOut]{}, fmt.Errorf("waiting for %s: %w", in.TaskID, err)
		}
	}
	text, dropped := d.Tasks.Output(in.TaskID)
	return tool.Done(OutputOut{
		TaskID: t.ID, Kind: t.Kind, Title: t.Title, Status: t.Status, Ended: t.Ended,
		ExitCode: t.Code, Error: t.Error, Output: text, Dropped: dropped, TimedOut: waits && !t.Ended,
	}), nil
}

func (in OutputIn) wait() time.Duration {
	if in.Timeout == 0 {
		return defaultWait
	}
	return time.Duration(in.Timeout) * time.Millisecond
}

// unknown says which tasks there are, so that the next call can be right.
func (d Deps) unknown(id string) error {
	var known []string
	for _, t := range d.Tasks.List() {
		known = append(known, fmt.Sprintf("%s (%s, %s)", t.ID, t.Title, t.Status))
	}
	if len(known) == 0 {
		return fmt.Errorf("no task %q: no background task was started", id)
	}
	return fmt.Errorf("no task %q; there are %s", id, strings.Join(known, ", "))
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
