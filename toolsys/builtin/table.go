package builtin

import (
	"slices"

	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// row is one line of the table: a name, its gate, and how it is made. A row
// without make is planned: it keeps its place and its gate.
type row struct {
	name string
	gate pool.Gate
	// repl and simple are the modes' lists (C3).
	repl, simple bool
	make         func(Deps) *tool.Tool
}

func flags(any ...settings.Flag) pool.Gate { return pool.Gate{Any: any} }

var (
	always      = pool.Gate{}
	internal    = pool.Gate{Internal: true}
	resourceful = pool.Gate{Special: true, Resources: true}
)

// table lists all built-ins by name, 55 of them, each with its gate (C1).
var table = []row{
	{name: "Agent", gate: always, repl: true, make: makeAgent},
	{name: "AskUserQuestion", gate: always, make: makeAskUserQuestion},
	{name: "Bash", gate: always, repl: true, simple: true, make: makeBash},
	{name: "Brief", gate: always},
	{name: "Config", gate: internal},
	{name: "CoordinatorMode", gate: flags(settings.CoordinatorMode)},
	{name: "CronCreate", gate: flags(settings.AgentTriggers)},
	{name: "CronDelete", gate: flags(settings.AgentTriggers)},
	{name: "CronList", gate: flags(settings.AgentTriggers)},
	{name: "CtxInspect", gate: flags(settings.ContextCollapse)},
	{name: "Edit", gate: always, repl: true, simple: true, make: makeEdit},
	{name: "EnterPlanMode", gate: always, make: makeEnterPlanMode},
	{name: "EnterWorktree", gate: flags(settings.WorktreeMode)},
	{name: "ExitPlanMode", gate: always, make: makeExitPlanMode},
	{name: "ExitWorktree", gate: flags(settings.WorktreeMode)},
	{name: "Glob", gate: pool.Gate{Not: []settings.Flag{settings.EmbeddedSearch}}, repl: true, make: makeGlob},
	{name: "Grep", gate: pool.Gate{Not: []settings.Flag{settings.EmbeddedSearch}}, repl: true, make: makeGrep},
	{name: "LSP", gate: pool.Gate{LSP: true}},
	{name: "ListMcpResources", gate: resourceful, make: makeListMcpResources},
	{name: "ListPeers", gate: flags(settings.AgentSwarms)},
	{name: "Monitor", gate: flags(settings.MonitorTool)},
	{name: "NotebookEdit", gate: always, repl: true, make: makeNotebookEdit},
	{name: "OverflowTest", gate: flags(settings.OverflowTest)},
	{name: "PowerShell", gate: flags(settings.PowerShellTool)},
	{name: "PushNotification", gate: flags(settings.Kairos)},
	{name: "REPL", gate: internal},
	{name: "Read", gate: always, repl: true, simple: true, make: makeRead},
	{name: "ReadMcpResource", gate: resourceful, make: makeReadMcpResource},
	{name: "RemoteTrigger", gate: flags(settings.AgentTriggers)},
	{name: "SendMessage", gate: always},
	{name: "SendUserFile", gate: flags(settings.Kairos)},
	{name: "Skill", gate: always, make: makeSkill},
	{name: "Sleep", gate: flags(settings.Proactive, settings.Kairos), make: makeSleep},
	{name: "Snip", gate: flags(settings.HistorySnip)},
	{name: "SubscribePR", gate: flags(settings.Kairos)},
	{name: "SuggestBackgroundPR", gate: internal},
	{name: "SyntheticOutput", gate: pool.Gate{Special: true}},
	{name: "TaskCreate", gate: flags(settings.TodoV2)},
	{name: "TaskGet", gate: flags(settings.TodoV2)},
	{name: "TaskList", gate: flags(settings.TodoV2)},
	{name: "TaskOutput", gate: always, make: makeTaskOutput},
	{name: "TaskStop", gate: always, make: makeTaskStop},
	{name: "TaskUpdate", gate: flags(settings.TodoV2)},
	{name: "TeamCreate", gate: flags(settings.AgentSwarms)},
	{name: "TeamDelete", gate: flags(settings.AgentSwarms)},
	{name: "TestingPermission", gate: flags(settings.Testing)},
	{name: "TodoWrite", gate: always, make: makeTodoWrite},
	{name: "ToolSearch", gate: pool.Gate{Search: true}, make: makeToolSearch},
	{name: "Tungsten", gate: internal},
	{name: "VerifyPlanExecution", gate: flags(settings.VerifyPlan)},
	{name: "WebBrowser", gate: flags(settings.WebBrowserTool)},
	{name: "WebFetch", gate: always, make: makeWebFetch},
	{name: "WebSearch", gate: always},
	{name: "Workflow", gate: flags(settings.WorkflowScripts)},
	{name: "Write", gate: always, repl: true, make: makeWrite},
}

// All makes the built-ins and gives the catalogue's entries: all of the table, or
// the rows that are named.
func All(d Deps, names ...string) []pool.Entry {
	var entries []pool.Entry
	for _, r := range table {
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		e := pool.Entry{Name: r.name, Gate: r.gate, Repl: r.repl, Simple: r.simple}
		if r.make != nil {
			e.Tool = r.make(d)
		}
		entries = append(entries, e)
	}
	return entries
}
