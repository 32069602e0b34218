package settings

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Flag is one feature that a build tag can remove and a FEATURE_ variable can
// switch on (SPEC C1, C2).
type Flag uint8

// The feature flags, by name. What each one gates stands in [Keys].
const (
	AgentSwarms Flag = iota
	AgentTriggers
	ContextCollapse
	CoordinatorMode
	DeferAgent
	DeferBrief
	DeltaDiscovery
	EmbeddedSearch
	ForkSubagent
	HistorySnip
	Kairos
	KairosBridge
	MonitorTool
	OverflowTest
	PowerShellTool
	Proactive
	ReplMode
	Testing
	TodoV2
	VerifyPlan
	WebBrowserTool
	WorkflowScripts
	WorktreeMode
)

// FlagPrefix is what a feature flag's variable begins with.
const FlagPrefix = "FEATURE_"

// flagTable is indexed by Flag and sorted by name.
var flagTable = [...]struct {
	name, about string
}{
	AgentSwarms:     {"AGENT_SWARMS", "teams of agents: TeamCreate, TeamDelete, ListPeers"},
	AgentTriggers:   {"AGENT_TRIGGERS", "scheduled agents: CronCreate, CronDelete, CronList, RemoteTrigger"},
	ContextCollapse: {"CONTEXT_COLLAPSE", "a look into the context window: CtxInspect"},
	CoordinatorMode: {"COORDINATOR_MODE", "one agent that directs the others: CoordinatorMode"},
	DeferAgent:      {"DEFER_AGENT", "makes Agent deferrable, which it is not by default"},
	DeferBrief:      {"DEFER_BRIEF", "makes Brief deferrable, which it is not by default"},
	DeltaDiscovery:  {"DELTA_DISCOVERY", "announces discovered tools in system reminders that replace the list of deferred names"},
	EmbeddedSearch:  {"EMBEDDED_SEARCH", "search is embedded elsewhere: no Glob, no Grep"},
	ForkSubagent:    {"FORK_SUBAGENT", "sub-agents by fork: Agent is never deferred"},
	HistorySnip:     {"HISTORY_SNIP", "cuts out of the history: Snip"},
	Kairos:          {"KAIROS", "the always-on assistant: Sleep, PushNotification, SendUserFile, SubscribePR; Brief is never deferred"},
	KairosBridge:    {"KAIROS_BRIDGE", "the assistant's bridge to the user is active: with KAIROS, SendUserFile is never deferred"},
	MonitorTool:     {"MONITOR_TOOL", "watches a background task: Monitor"},
	OverflowTest:    {"OVERFLOW_TEST", "a tool for tests that overflows the context: OverflowTest"},
	PowerShellTool:  {"POWERSHELL_TOOL", "PowerShell beside Bash, on by itself on Windows"},
	Proactive:       {"PROACTIVE", "the agent acts unasked: Sleep"},
	ReplMode:        {"REPL_MODE", "file and shell tools are reached through the REPL only"},
	Testing:         {"TESTING", "a tool for tests that always asks: TestingPermission"},
	TodoV2:          {"TODO_V2", "tasks instead of a todo list: TaskCreate, TaskGet, TaskUpdate, TaskList"},
	VerifyPlan:      {"VERIFY_PLAN", "checks that a plan was carried out: VerifyPlanExecution"},
	WebBrowserTool:  {"WEB_BROWSER_TOOL", "drives a browser: WebBrowser"},
	WorkflowScripts: {"WORKFLOW_SCRIPTS", "runs workflow scripts: Workflow"},
	WorktreeMode:    {"WORKTREE_MODE", "isolated git worktrees: EnterWorktree, ExitWorktree"},
}

// Flags lists every flag, by name, also those that this build left out.
func Flags() []Flag {
	all := make([]Flag, len(flagTable))
	for i := range all {
		all[i] = Flag(i)
	}
	return all
}

// String is the flag's name without the prefix: KAIROS.
func (f Flag) String() string {
	if int(f) >= len(flagTable) {
		return fmt.Sprintf("Flag(%d)", uint8(f))
	}
	return flagTable[f].name
}

// Variable is the environment variable that sets the flag: FEATURE_KAIROS.
func (f Flag) Variable() string { return FlagPrefix + f.String() }

// BuildTag is the tag that takes the flag's code out of the binary: no_kairos.
func (f Flag) BuildTag() string { return "no_" + strings.ToLower(f.String()) }

// About is a phrase on what the flag brings.
func (f Flag) About() string {
	if int(f) >= len(flagTable) {
		return ""
	}
	return flagTable[f].about
}

// Compiled reports whether this build holds the flag's code (SPEC C1).
func (f Flag) Compiled() bool { return int(f) < len(flagTable) && leftOut&(1<<f) == 0 }

// leftOut are the flags whose build tags this program was built with. The tags take
// the code itself out where it stands: each tool or function behind a feature is
// registered from a file with the feature's tag.
var leftOut = flagsOfTags(buildTags())

// buildTags are the tags that this program was built with, as the go command notes
// them in it.
func buildTags() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return strings.Split(s.Value, ",")
		}
	}
	return nil
}

func flagsOfTags(tags []string) (flags uint64) {
	for _, f := range Flags() {
		if slices.Contains(tags, f.BuildTag()) {
			flags |= 1 << f
		}
	}
	return flags
}
