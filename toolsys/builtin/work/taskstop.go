package work

import (
	"context"
	_ "embed" // the prompt beside this file
	"fmt"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

//go:embed taskstop.md
var stopPrompt string

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
		Hint:        "stop running subtask",
		Description: "Ends a background task.",
		Describe:    func(in StopIn) string { return "Stop " + in.TaskID },
		Prompt:      func(tool.PromptOptions) string { return stopPrompt },
		Call: func(ctx context.Context, in StopIn, _ *tool.Context) (tool.Result[StopOut], error) {
			return d.stop(ctx, in)
		},
		Block: func(out StopOut) []message.Block { return []message.Block{message.Text(out.text())} },
		Permit: func(StopIn, *tool.Context) permission.Opinion {
			return permission.Opinion{Behaviour: permission.Allow, Text: "the task is the session's own"}
		},
		Traits: tool.Traits[StopIn]{
			Effects: func(in StopIn, _ *tool.Context) tool.Effects {
				return tool.Effects{Writes: []string{"task:" + in.TaskID}}
			},
		},
		Loading: tool.Loading{Deferrable: true},
		View: tool.View[StopIn]{
			Title:    func(StopIn) string { return "Stop task" },
			Summary:  func(in StopIn) string { return in.TaskID },
			Activity: func(in StopIn) string { return "Stopping " + in.TaskID },
		},
	})
}

func (d Deps) stop(ctx context.Context, in StopIn) (tool.Result[StopOut], error) {
	t, ok := d.Tasks.Get(in.TaskID)
	if !ok {
		return tool.Result[StopOut]{}, d.unknown(in.TaskID)
	}
	already := t.Ended
	if !already {
		var err error
		if t, err = d.Tasks.Stop(ctx, in.TaskID); err != nil {
			return tool.Result[StopOut]{}, fmt.Errorf("stopping %s: %w", in.TaskID, err)
		}
	}
	return tool.Done(StopOut{TaskID: t.ID, Title: t.Title, Status: t.Status, Already: already}), nil
}

func (out StopOut) text() string {
	if out.Already {
		return fmt.Sprintf("Task %s (%s) had already ended: %s.", out.TaskID, out.Title, out.Status)
	}
	return fmt.Sprintf("Task %s (%s) is stopped.", out.TaskID, out.Title)
}
