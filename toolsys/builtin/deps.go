package builtin

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/afero"

	"toolbench/toolsys/builtin/agent"
	"toolbench/toolsys/builtin/ask"
	"toolbench/toolsys/builtin/discovery"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/builtin/resources"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/builtin/timing"
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/task"
	"toolbench/toolsys/tool"
)

// Shell runs one command line to its end.
type Shell = shell.Runner

// Deps is what the built-in tools need of the rest of the system.
type Deps struct {
	FS    afero.Fs
	Shell Shell
	HTTP  func(*http.Request) (*http.Response, error)
	Tasks *task.Table
	// Resolve gives what a path leads to when links are followed; nil where there
	// are none.
	Resolve   func(path string) string
	SkillDirs []string
	// OutputDir is where commands' output goes that is too large to keep.
	OutputDir string
	// Resources is the way to what MCP servers offer to be read (N8).
	Resources resources.Deps
}

func makeListMcpResources(d Deps) *tool.Tool { return resources.List(d.Resources) }
func makeReadMcpResource(d Deps) *tool.Tool  { return resources.Read(d.Resources) }

func makeRead(d Deps) *tool.Tool         { return file.Read(file.Deps{FS: d.FS}) }
func makeWrite(d Deps) *tool.Tool        { return file.Write(file.Deps{FS: d.FS}) }
func makeEdit(d Deps) *tool.Tool         { return file.Edit(file.Deps{FS: d.FS}) }
func makeGlob(d Deps) *tool.Tool         { return file.Glob(file.Deps{FS: d.FS}) }
func makeGrep(d Deps) *tool.Tool         { return file.Grep(file.Deps{FS: d.FS}) }
func makeNotebookEdit(d Deps) *tool.Tool { return file.NotebookEdit(file.Deps{FS: d.FS}) }

func makeAskUserQuestion(Deps) *tool.Tool { return ask.AskUserQuestion() }
func makeEnterPlanMode(Deps) *tool.Tool   { return ask.EnterPlanMode() }
func makeExitPlanMode(Deps) *tool.Tool    { return ask.ExitPlanMode() }
func makeSleep(Deps) *tool.Tool           { return timing.Sleep() }
func makeTodoWrite(Deps) *tool.Tool       { return work.TodoWrite() }
func makeToolSearch(Deps) *tool.Tool      { return discovery.ToolSearch() }
func makeTaskOutput(d Deps) *tool.Tool    { return work.TaskOutput(work.Deps{Tasks: d.tasks()}) }
func makeTaskStop(d Deps) *tool.Tool      { return work.TaskStop(work.Deps{Tasks: d.tasks()}) }
func makeWebFetch(d Deps) *tool.Tool      { return web.WebFetch(web.Deps{Do: d.HTTP}) }

func makeSkill(d Deps) *tool.Tool {
	return discovery.Skill(discovery.Deps{
		FS: d.FS, Dirs: d.SkillDirs,
		Fork: func(ctx context.Context, job tool.Job, isolate tool.Modifier, c *tool.Context) (tool.Report, error) {
			job.Isolate = isolate
			return c.Spawn(ctx, job)
		},
	})
}

func makeAgent(d Deps) *tool.Tool {
	return agent.Agent(agent.Deps{Start: func(c *tool.Context, j agent.Job) (string, error) {
		id := d.Tasks.Start(task.Spec{Kind: "agent", Title: j.Title, Agent: c.AgentID}, func(ctx context.Context, out *task.Output) (int, error) {
			return j.Run(ctx, out)
		})
		return id, nil
	}})
}

// tasks gives the task tools their door to the table.
func (d Deps) tasks() work.Tasks {
	return work.Tasks{
		Get: func(id string) (work.Task, bool) {
			t, err := d.Tasks.Get(id)
			return told(t), err == nil
		},
		List: func() []work.Task {
			var all []work.Task
			for _, t := range d.Tasks.List() {
				all = append(all, told(t))
			}
			return all
		},
		Output: func(id string) (string, int64) {
			c, err := d.Tasks.Output(id, 0)
			if err != nil {
				return "", 0
			}
			return c.Text, c.Missed
		},
		Wait: func(ctx context.Context, id string, timeout time.Duration) (work.Task, error) {
			t, err := d.Tasks.Wait(ctx, id, timeout)
			return told(t), err
		},
		Stop: func(ctx context.Context, id string) (work.Task, error) {
			t, err := d.Tasks.Stop(ctx, id)
			return told(t), err
		},
	}
}

func told(t task.Task) work.Task {
	return work.Task{
		ID: t.ID, Kind: t.Kind, Title: t.Title, Command: t.Command, Status: string(t.Status),
		Ended: t.Status != task.Running, Code: t.Exit, Error: t.Err,
	}
}
