package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"

	"github.com/spf13/afero"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/pool"
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
	// Shell runs one command line of Bash to its end; nil leaves Bash and PowerShell without
	// a shell. PlainShell reports whether it may be another than Bash, to which some commands mean something else.
	// KeepBytes is how much of each of its streams is kept in memory; 0 means 1 MiB.
	Shell      shell.Runner
	PlainShell bool
	KeepBytes  int
	// Worktrees makes the copies of EnterWorktree; nil has git do it, in Shell.
	Worktrees shell.Worktrees
	// Sandbox gives the reason why a command may not run in the sandbox, or ""; nil
	// where there is no sandbox, and then going round it is never asked about.
	Sandbox func(command string) (problem string)
	// Terminal opens the terminals of Tungsten; nil has none. Whoever made it ends them.
	Terminal func(context.Context, shell.TerminalRequest) (shell.Terminal, error)
	// HTTP does the requests of WebFetch and WebSearch, without following redirects; nil
	// refuses them.
	HTTP func(*http.Request) (*http.Response, error)
	// Search is WebSearch's engine; nil is DuckDuckGo through HTTP, which needs no account.
	Search web.Engine
	// Summarize answers WebFetch's prompt from a page's text; nil gives the text itself.
	Summarize func(ctx context.Context, prompt, text string, c *tool.Context) (string, error)
	// Browser is what WebBrowser drives; nil refuses its calls. Whoever made it closes it.
	Browser web.Browser
	// Languages are the language servers that LSP asks; nil has none. Whoever made them closes them.
	Languages *file.Languages
	// Push brings PushNotification's notifications to the user; nil refuses them.
	Push web.Channel
	// Agents are the kinds of sub-agent on offer, the first being the default; Depth is
	// how deep agents may start agents, where 0 and 1 leave it to the main conversation.
	Agents []work.AgentType
	Depth  int
	// AgentDirs are folders of files with further kinds, the more important first.
	AgentDirs []string
	// SkillDirs are folders of skills, the more important first; FetchSkill gets the text
	// of a remote skill, nil where there are none.
	SkillDirs  []string
	FetchSkill func(ctx context.Context, ref string) (string, error)
	// WorkflowDirs are folders of workflows' files, the more important first.
	WorkflowDirs []string

	host pool.Host
	kept map[string]any // what several tools of one system share
}

// shared gives what the tools of a feature share, which the first of them makes.
func shared[T any](d Deps, name string, of func() T) T {
	if _, made := d.kept[name]; !made {
		d.kept[name] = of()
	}
	return d.kept[name].(T)
}

// on completes the dependencies with the system that the tools join.
func (d Deps) on(h pool.Host) Deps {
	d.host, d.kept = h, map[string]any{}
	d.FS = cmp.Or(d.FS, afero.NewMemMapFs())
	if d.HTTP == nil {
		d.HTTP = func(*http.Request) (*http.Response, error) { return nil, errNoNetwork }
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

func (d Deps) webFetch() *tool.Tool { return web.WebFetch(d.web()) }

func (d Deps) web() web.Deps {
	return web.Deps{Do: d.HTTP, Summarize: d.Summarize, Tasks: d.host.Tasks, Inbox: d.host.Inbox}
}

// worktrees are those of the program, or git's.
func (d Deps) worktrees() shell.Worktrees {
	if d.Worktrees != nil {
		return d.Worktrees
	}
	return shell.GitWorktrees{Run: d.runner()}
}

func (d Deps) runner() shell.Runner {
	if d.Shell != nil {
		return d.Shell
	}
	return func(context.Context, shell.Request) (shell.Exit, error) { return shell.Exit{}, errNoShell }
}

func (d Deps) webSearch() *tool.Tool {
	if d.Search != nil {
		return web.WebSearch(d.Search)
	}
	return web.WebSearch(web.DuckDuckGo(d.HTTP))
}

func (d Deps) bash() *tool.Tool {
	t := shell.Bash(d.shell())
	// An approved sed edit runs as that very edit (H3).
	edit := shell.Rewrite(d.FS)
	t.Complete = func(in tool.Input, c *tool.Context) (json.RawMessage, bool) { return edit(t, in, c) }
	return t
}

func (d Deps) shell() shell.Deps {
	return shell.Deps{
		FS: d.FS, OutputDir: path.Join(d.host.ResultsDir, "bash"), Resolve: d.Resolve, Run: d.runner(), Plain: d.PlainShell, Sandbox: d.Sandbox, KeepBytes: d.KeepBytes,
		Start: func(c *tool.Context, j shell.Job) (string, error) {
			return d.host.Tasks.Start(tool.TaskSpec{Kind: "bash", Title: j.Title, Command: j.Command, Agent: c.AgentID}, j.Run), nil
		},
	}
}

// files, and the functions below, give the families' own dependencies.
func (d Deps) files() file.Deps { return file.Deps{FS: d.FS} }

func (d Deps) skills() work.SkillDeps {
	return work.SkillDeps{FS: d.FS, Dirs: d.SkillDirs, Fetch: d.FetchSkill, MaxDepth: d.Depth}
}

func (d Deps) work() work.Deps {
	return work.Deps{Tasks: d.host.Tasks, Inbox: d.host.Inbox, Work: d.host.Work, Agents: d.Agents, FS: d.FS, AgentDirs: d.AgentDirs, MaxDepth: d.Depth}
}
