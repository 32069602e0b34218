package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"time"

	"github.com/spf13/afero"

	"toolbench/toolsys/builtin/agent"
	"toolbench/toolsys/builtin/ask"
	"toolbench/toolsys/builtin/discovery"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/task"
	"toolbench/toolsys/tool"
)

// Deps is what the built-in tools need of the program that has them, beside what the
// system they join gives each of its tools. The zero value is usable: tools that lack
// something refuse their calls with the reason.
type Deps struct {
	// FS is where the tools read and write, and where results too large for the
	// conversation are kept; nil means a filesystem in memory. Resolve gives what a path
	// leads to when links are followed (L6); nil where FS has no links.
	FS      afero.Fs
	Resolve func(path string) string
	// Shell runs one command line of Bash to its end; nil leaves Bash without a shell.
	// KeepBytes is how much of each of its streams is kept in memory; 0 means 1 MiB.
	Shell     shell.Runner
	KeepBytes int
	// Sandbox gives the reason why a command may not run in the sandbox, or ""; nil
	// where there is no sandbox, and then going round it is never asked about.
	Sandbox func(command string) (problem string)
	// HTTP does WebFetch's requests, without following redirects; nil refuses them.
	HTTP func(*http.Request) (*http.Response, error)
	// Summarize answers WebFetch's prompt from a page's text; nil gives the text itself.
	Summarize func(ctx context.Context, prompt, text string, c *tool.Context) (string, error)
	// Agents are the kinds of sub-agent on offer, the first being the default; Depth is
	// how deep agents may start agents, where 0 and 1 leave it to the main conversation.
	Agents []agent.Type
	Depth  int
	// SkillDirs are folders of skills, the more important first; FetchSkill gets the text
	// of a remote skill, nil where there are none.
	SkillDirs  []string
	FetchSkill func(ctx context.Context, ref string) (string, error)

	host  pool.Host
	tasks *task.Table
}

// on completes the dependencies with the system that the tools join.
func (d Deps) on(h pool.Host, tasks *task.Table) Deps {
	d.host, d.tasks = h, tasks
	if d.FS == nil {
		d.FS = afero.NewMemMapFs()
	}
	return d
}

// Keep writes results that are too large for the conversation to fs.
func Keep(fs afero.Fs) func(file, text string) error {
	return func(file, text string) error {
		if err := fs.MkdirAll(path.Dir(file), 0o700); err != nil {
			return err
		}
		if err := afero.WriteFile(fs, file, []byte(text), 0o600); err != nil {
			_ = fs.Remove(file) // the write's error is the one to report
			return err
		}
		return nil
	}
}

var (
	errNoShell   = errors.New("there is no shell here")
	errNoNetwork = errors.New("there is no network here")
)

func makeListMcpResources(d Deps) *tool.Tool { return discovery.ListMcpResources(d.host.Servers) }
func makeReadMcpResource(d Deps) *tool.Tool  { return discovery.ReadMcpResource(d.host.Servers) }

func makeRead(d Deps) *tool.Tool         { return file.Read(file.Deps{FS: d.FS}) }
func makeWrite(d Deps) *tool.Tool        { return file.Write(file.Deps{FS: d.FS}) }
func makeEdit(d Deps) *tool.Tool         { return file.Edit(file.Deps{FS: d.FS}) }
func makeGlob(d Deps) *tool.Tool         { return file.Glob(file.Deps{FS: d.FS}) }
func makeGrep(d Deps) *tool.Tool         { return file.Grep(file.Deps{FS: d.FS}) }
func makeNotebookEdit(d Deps) *tool.Tool { return file.NotebookEdit(file.Deps{FS: d.FS}) }

func makeAskUserQuestion(Deps) *tool.Tool { return ask.AskUserQuestion() }
func makeEnterPlanMode(Deps) *tool.Tool   { return ask.EnterPlanMode() }
func makeExitPlanMode(Deps) *tool.Tool    { return ask.ExitPlanMode() }
func makeTodoWrite(Deps) *tool.Tool       { return work.TodoWrite() }
func makeToolSearch(Deps) *tool.Tool      { return discovery.ToolSearch() }
func makeTaskOutput(d Deps) *tool.Tool    { return work.TaskOutput(work.Deps{Tasks: d.background()}) }
func makeTaskStop(d Deps) *tool.Tool      { return work.TaskStop(work.Deps{Tasks: d.background()}) }

func makeWebFetch(d Deps) *tool.Tool {
	do := d.HTTP
	if do == nil {
		do = func(*http.Request) (*http.Response, error) { return nil, errNoNetwork }
	}
	return web.WebFetch(web.Deps{Do: do, Summarize: d.Summarize})
}

func makeBash(d Deps) *tool.Tool {
	run := d.Shell
	if run == nil {
		run = func(context.Context, shell.Request) (shell.Exit, error) { return shell.Exit{}, errNoShell }
	}
	t := shell.Bash(shell.Deps{
		FS: d.FS, OutputDir: path.Join(d.host.ResultsDir, "bash"), Resolve: d.Resolve, Run: run, Sandbox: d.Sandbox, KeepBytes: d.KeepBytes,
		Start: func(c *tool.Context, j shell.Job) (string, error) {
			return d.tasks.Start(task.Spec{Kind: "bash", Title: j.Title, Command: j.Command, Agent: c.AgentID},
				func(ctx context.Context, out *task.Output) (int, error) { return j.Run(ctx, out) }), nil
		},
	})
	// An approved sed edit runs as that very edit (H3).
	edit := shell.Rewrite(d.FS)
	t.Complete = func(in tool.Input, c *tool.Context) (json.RawMessage, bool) { return edit(t, in, c) }
	return t
}

func makeSkill(d Deps) *tool.Tool {
	return discovery.Skill(discovery.Deps{FS: d.FS, Dirs: d.SkillDirs, Fetch: d.FetchSkill, MaxDepth: d.Depth})
}

func makeAgent(d Deps) *tool.Tool {
	return agent.Agent(agent.Deps{Types: d.Agents, MaxDepth: d.Depth, Start: func(c *tool.Context, j agent.Job) (string, error) {
		return d.tasks.Start(task.Spec{Kind: "agent", Title: j.Title, Agent: c.AgentID},
			func(ctx context.Context, out *task.Output) (int, error) { return j.Run(ctx, out) }), nil
	}})
}

// background gives the task tools the table as functions.
func (d Deps) background() work.Tasks {
	return work.Tasks{
		Get: func(id string) (work.Task, bool) {
			t, err := d.tasks.Get(id)
			return described(t), err == nil
		},
		List: func() []work.Task {
			var all []work.Task
			for _, t := range d.tasks.List() {
				all = append(all, described(t))
			}
			return all
		},
		Output: func(id string) (string, int64) {
			c, err := d.tasks.Output(id, 0)
			if err != nil {
				return "", 0
			}
			return c.Text, c.Missed
		},
		Wait: func(ctx context.Context, id string, timeout time.Duration) (work.Task, error) {
			t, err := d.tasks.Wait(ctx, id, timeout)
			return described(t), err
		},
		Stop: func(ctx context.Context, id string) (work.Task, error) {
			t, err := d.tasks.Stop(ctx, id)
			return described(t), err
		},
	}
}

func described(t task.Task) work.Task {
	return work.Task{
		ID: t.ID, Kind: t.Kind, Title: t.Title, Command: t.Command, Status: string(t.Status),
		Ended: t.Status != task.Running, Code: t.Exit, Error: t.Err,
	}
}
