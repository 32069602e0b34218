package work

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/tool"
)

// listKey is what the tools of the shared list touch.
const listKey = "tasklist"

// CodeNoOwner refuses to give a task to an agent that is not there.
const CodeNoOwner = 1

// TaskCreateIn is what TaskCreate takes.
type TaskCreateIn struct {
	Subject     string `json:"subject" minLength:"1" jsonschema:"What is to be done, as an order: Run the tests"`
	Description string `json:"description" minLength:"1" jsonschema:"All that whoever takes it has to know"`
	ActiveForm  string `json:"activeForm,omitempty" jsonschema:"The same while it is being done: Running the tests"`
}

// TaskOut is what the tools about one task answer with.
type TaskOut struct {
	Task tool.WorkItem `json:"task"`
	// Open are the tasks it waits for that are not completed.
	Open []string `json:"open,omitempty"`
	// Ready are the tasks that wait for nothing any more since this one is completed.
	Ready []string `json:"ready,omitempty"`
}

// TaskCreate puts a task on the list that the agents of the session share (SPEC L). It
// touches nothing outside of the session, so it allows itself. Calls keep their order,
// and so the ids.
func TaskCreate(d Deps) *tool.Tool {
	return tool.Must(tool.Def[TaskCreateIn, TaskOut]{
		Name:        "TaskCreate",
		Coordinates: true,
		Texts:       prompts.Of("taskcreate"),
		Call: tool.Data(func(_ context.Context, in TaskCreateIn, _ *tool.Context) (TaskOut, error) {
			return TaskOut{Task: d.Work.Add(tool.WorkItem{Subject: in.Subject, Description: in.Description, ActiveForm: in.ActiveForm})}, nil
		}),
		Text: func(out TaskOut) string {
			return fmt.Sprintf("Task %s is on the list: %s", out.Task.ID, out.Task.Subject)
		},
		Permit:  tool.Allows[TaskCreateIn]("the list is the session's own"),
		Traits:  tool.Traits[TaskCreateIn]{Effects: changes[TaskCreateIn](listKey)},
		Loading: tool.Loading{Deferrable: true},
		View:    tool.Titled("New task", "Writing a task down", func(in TaskCreateIn) string { return in.Subject }),
	})
}

// TaskGetIn is what TaskGet takes.
type TaskGetIn struct {
	TaskID string `json:"taskId" minLength:"1" jsonschema:"The task's id"`
}

// TaskGet gives a task of the shared list (SPEC L).
func TaskGet(d Deps) *tool.Tool {
	return tool.Must(tool.Def[TaskGetIn, TaskOut]{
		Name:        "TaskGet",
		Coordinates: true,
		Texts:       prompts.Of("taskget"),
		Call: tool.Data(func(_ context.Context, in TaskGetIn, _ *tool.Context) (TaskOut, error) {
			w, err := d.Work.Get(in.TaskID)
			return TaskOut{Task: w, Open: d.Work.Open(w)}, err
		}),
		Text:    TaskOut.full,
		Traits:  tool.Looks(tool.Class{Read: true}, func(TaskGetIn, *tool.Context) []string { return []string{listKey} }),
		Loading: tool.Loading{Deferrable: true},
		View:    tool.Doing("Task", "Reading task ", func(in TaskGetIn) string { return in.TaskID }),
	})
}

// full is a task with all that is known of it, a member a line.
func (out TaskOut) full() string {
	w := out.Task
	text := fmt.Sprintf("Task %s: %s\nStatus: %s", w.ID, w.Subject, w.Status)
	for _, line := range [][2]string{
		{"Owner", w.Owner}, {"Waits for", strings.Join(w.BlockedBy, ", ")}, {"Of these open", strings.Join(out.Open, ", ")},
		{"Blocks", strings.Join(w.Blocks, ", ")}, {"Description", w.Description},
	} {
		if line[1] != "" {
			text += "\n" + line[0] + ": " + line[1]
		}
	}
	return text
}

// TaskListOut is what TaskList answers with.
type TaskListOut struct {
	Tasks []TaskOut `json:"tasks"`
}

// TaskList gives the tasks of the shared list (SPEC L).
func TaskList(d Deps) *tool.Tool {
	return tool.Must(tool.Def[Nothing, TaskListOut]{
		Name:        "TaskList",
		Coordinates: true,
		Texts:       prompts.Of("tasklist"),
		Call: tool.Data(func(context.Context, Nothing, *tool.Context) (TaskListOut, error) {
			return TaskListOut{Tasks: tool.Each(d.Work.All(), func(w tool.WorkItem) TaskOut { return TaskOut{Task: w, Open: d.Work.Open(w)} })}, nil
		}),
		Text:    TaskListOut.text,
		Traits:  tool.Looks(tool.Class{List: true}, func(Nothing, *tool.Context) []string { return []string{listKey} }),
		Loading: tool.Loading{Deferrable: true},
		View:    tool.Titled[Nothing]("Tasks", "Reading the task list", nil),
		Draw:    tool.Drawing[Nothing, TaskListOut]{Result: drawTasks},
	})
}

func (out TaskListOut) text() string {
	if len(out.Tasks) == 0 {
		return "The task list is empty."
	}
	var b strings.Builder
	for _, t := range out.Tasks {
		fmt.Fprintf(&b, "%s. [%s] %s", t.Task.ID, t.Task.Status, t.Task.Subject)
		if t.Task.Owner != "" {
			fmt.Fprintf(&b, " (%s)", t.Task.Owner)
		}
		if len(t.Open) > 0 {
			fmt.Fprintf(&b, " waits for %s", strings.Join(t.Open, ", "))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TaskUpdateIn is what TaskUpdate takes.
type TaskUpdateIn struct {
	TaskID       string   `json:"taskId" minLength:"1" jsonschema:"The task's id"`
	Status       string   `json:"status,omitempty" enum:"pending,in_progress,completed,deleted" jsonschema:"How far it is from now on"`
	Subject      *string  `json:"subject,omitempty" minLength:"1" jsonschema:"A new subject"`
	Description  *string  `json:"description,omitempty" jsonschema:"A new description"`
	ActiveForm   *string  `json:"activeForm,omitempty" jsonschema:"A new active form"`
	Owner        *string  `json:"owner,omitempty" jsonschema:"The name of the agent that has it; empty for nobody"`
	AddBlocks    []string `json:"addBlocks,omitempty" jsonschema:"Tasks that wait for this one"`
	AddBlockedBy []string `json:"addBlockedBy,omitempty" jsonschema:"Tasks that this one waits for"`
}

// TaskUpdate changes a task of the shared list (SPEC L).
func TaskUpdate(d Deps) *tool.Tool {
	return tool.Must(tool.Def[TaskUpdateIn, TaskOut]{
		Name:        "TaskUpdate",
		Coordinates: true,
		Texts:       prompts.Of("taskupdate"),
		Call:        tool.Data(d.updateTask),
		Text:        TaskOut.changed,
		Validate: func(in TaskUpdateIn, c *tool.Context) *tool.Refusal {
			if in.Owner == nil || *in.Owner == "" {
				return nil
			}
			if _, err := d.Inbox.Peer(*in.Owner); err == nil {
				return nil
			}
			return &tool.Refusal{Message: fmt.Sprintf("no agent %q to own it; you are %s, and %s", *in.Owner, d.nameOf(c.AgentID), d.reachable(c.AgentID)), Code: CodeNoOwner}
		},
		Permit: tool.Allows[TaskUpdateIn]("the list is the session's own"),
		Traits: tool.Traits[TaskUpdateIn]{
			// A new owner gets a message, which keeps its place among the others.
			Effects: func(in TaskUpdateIn, c *tool.Context) tool.Effects {
				e := changes[TaskUpdateIn](listKey)(in, c)
				e.Writes = append(e.Writes, "inbox")
				return e
			},
		},
		Loading: tool.Loading{Deferrable: true},
		View: tool.View[TaskUpdateIn]{
			Title:    func(TaskUpdateIn) string { return "Task" },
			Summary:  func(in TaskUpdateIn) string { return strings.TrimSpace(in.TaskID + " " + in.Status) },
			Activity: func(in TaskUpdateIn) string { return "Updating task " + in.TaskID },
		},
	})
}

func (d Deps) updateTask(_ context.Context, in TaskUpdateIn, c *tool.Context) (TaskOut, error) {
	self := d.nameOf(c.AgentID)
	owner := in.Owner
	if owner != nil && *owner != "" {
		p, err := d.Inbox.Peer(*owner)
		if err != nil {
			return TaskOut{}, err
		}
		owner = &p.Name
	}
	before, after, err := d.Work.Change(in.TaskID, tool.WorkChange{
		Subject: in.Subject, Description: in.Description, ActiveForm: in.ActiveForm, Owner: owner,
		Status: tool.WorkStatus(in.Status), Blocks: in.AddBlocks, BlockedBy: in.AddBlockedBy, By: self,
	})
	if err != nil {
		return TaskOut{}, err
	}
	if after.Owner != "" && after.Owner != before.Owner && after.Owner != self {
		// An owner that has ended finds it on the list when it is begun again.
		_, _ = d.Inbox.Post(tool.Mail{
			To: after.Owner, From: self, Sender: c.AgentID, Kind: tool.MailTask, About: after.ID,
			Text: fmt.Sprintf("Task %s is yours: %s", after.ID, after.Subject),
		})
	}
	return TaskOut{Task: after, Open: d.Work.Open(after), Ready: d.freed(before, after)}, nil
}

// freed are the pending tasks that a task's completion lets begin.
func (d Deps) freed(before, after tool.WorkItem) []string {
	if before.Status == after.Status || after.Status != tool.WorkCompleted {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(after.Blocks), func(id string) bool {
		w, err := d.Work.Get(id)
		return err != nil || w.Status != tool.WorkPending || len(d.Work.Open(w)) > 0
	})
}

func (out TaskOut) changed() string {
	w := out.Task
	text := fmt.Sprintf("Task %s (%s) is %s", w.ID, w.Subject, w.Status)
	if w.Owner != "" && w.Status != tool.WorkDeleted {
		text += ", owner " + w.Owner
	}
	if len(out.Open) > 0 && w.Status == tool.WorkPending {
		text += ", and waits for " + strings.Join(out.Open, ", ")
	}
	if len(out.Ready) > 0 {
		text += "; " + strings.Join(out.Ready, ", ") + " can begin now"
	}
	return text + "."
}
