package builtin

import (
	"slices"

	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
)

var internal = pool.Gate{Internal: true}

// planned are the built-ins that have no code yet, with the gates they will have (C1).
// They keep their places in the catalogue, so that its counts for the named profiles
// stand, and never enter a pool.
var planned = []pool.Entry{
	{Name: "Brief", Gate: always},
	{Name: "Config", Gate: internal},
	{Name: "CoordinatorMode", Gate: flags(settings.CoordinatorMode)},
	{Name: "CronCreate", Gate: flags(settings.AgentTriggers)},
	{Name: "CronDelete", Gate: flags(settings.AgentTriggers)},
	{Name: "CronList", Gate: flags(settings.AgentTriggers)},
	{Name: "CtxInspect", Gate: flags(settings.ContextCollapse)},
	{Name: "EnterWorktree", Gate: flags(settings.WorktreeMode)},
	{Name: "ExitWorktree", Gate: flags(settings.WorktreeMode)},
	{Name: "LSP", Gate: pool.Gate{LSP: true}},
	{Name: "ListPeers", Gate: flags(settings.AgentSwarms)},
	{Name: "Monitor", Gate: flags(settings.MonitorTool)},
	{Name: "OverflowTest", Gate: flags(settings.OverflowTest)},
	{Name: "PowerShell", Gate: flags(settings.PowerShellTool)},
	{Name: "PushNotification", Gate: flags(settings.Kairos)},
	{Name: "REPL", Gate: internal},
	{Name: "RemoteTrigger", Gate: flags(settings.AgentTriggers)},
	{Name: "SendMessage", Gate: always},
	{Name: "SendUserFile", Gate: flags(settings.Kairos)},
	{Name: "Snip", Gate: flags(settings.HistorySnip)},
	{Name: "SubscribePR", Gate: flags(settings.Kairos)},
	{Name: "SuggestBackgroundPR", Gate: internal},
	{Name: "SyntheticOutput", Gate: pool.Gate{Special: true}},
	{Name: "TaskCreate", Gate: flags(settings.TodoV2)},
	{Name: "TaskGet", Gate: flags(settings.TodoV2)},
	{Name: "TaskList", Gate: flags(settings.TodoV2)},
	{Name: "TaskUpdate", Gate: flags(settings.TodoV2)},
	{Name: "TeamCreate", Gate: flags(settings.AgentSwarms)},
	{Name: "TeamDelete", Gate: flags(settings.AgentSwarms)},
	{Name: "TestingPermission", Gate: flags(settings.Testing)},
	{Name: "Tungsten", Gate: internal},
	{Name: "VerifyPlanExecution", Gate: flags(settings.VerifyPlan)},
	{Name: "WebBrowser", Gate: flags(settings.WebBrowserTool)},
	{Name: "WebSearch", Gate: always},
	{Name: "Workflow", Gate: flags(settings.WorkflowScripts)},
}

// Planned gives the catalogue's entries of the built-ins that have no code yet.
func Planned() []pool.Entry { return slices.Clone(planned) }
