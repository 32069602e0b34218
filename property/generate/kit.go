package generate

import (
	_ "embed" // the families
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// A case has the five built-ins of Builtins always, and some families of the others in its
// Kit: all of them together would hide what a few can show, and make each request as long
// as it can be.

// kitTool is a built-in tool of the families: what its gate needs, and the inputs that
// cases give it.
type kitTool struct {
	deferrable bool
	// settings are the variables that offer the tool.
	settings map[string]string
	draw     func(*SystemMaker) object
}

// object is an input.
type object = map[string]any

const on = "true"

func feature(name string) map[string]string { return map[string]string{"FEATURE_" + name: on} }

var (
	internal = map[string]string{"USER_TYPE": "ant"}
	kairos   = feature("KAIROS")
	triggers = feature("AGENT_TRIGGERS")
	swarms   = feature("AGENT_SWARMS")
	todoV2   = feature("TODO_V2")
	worktree = feature("WORKTREE_MODE")
)

// kit are the tools of the families, by name.
var kit map[string]kitTool

func init() { // the draws look the table up
	kit = map[string]kitTool{
		"AskUserQuestion": {draw: drawQuestion},
		"Bash":            {draw: drawBash},
		"Brief":           {draw: input(has("message", "It goes on.", "Two of **three** are done.", "  "), maybe("status", "normal", "proactive"))},
		"Config":          {settings: internal, draw: drawConfig},
		"CoordinatorMode": {deferrable: true, settings: feature("COORDINATOR_MODE"), draw: func(m *SystemMaker) object { return object{"active": m.odds(2, 3)} }},
		"CronCreate":      {deferrable: true, settings: triggers, draw: drawCronCreate},
		"CronDelete":      {deferrable: true, settings: triggers, draw: input(derived("id", func(m *SystemMaker) string { return m.numbered("cron_", m.made.crons) }))},
		"CronList":        {deferrable: true, settings: triggers, draw: input()},
		"CtxInspect":      {settings: feature("CONTEXT_COLLAPSE"), draw: input(maybe("top", 1, 3))},
		"EnterPlanMode":   {deferrable: true, draw: input()},
		"EnterWorktree":   {deferrable: true, settings: worktree, draw: drawEnterWorktree},
		"ExitPlanMode":    {deferrable: true, draw: input(has("plan", "Write it.", "Read, then write."))},
		"ExitWorktree":    {deferrable: true, settings: worktree, draw: input(has("action", "keep", "remove"), maybe("discard_changes", true))},
		"Glob":            {draw: input(has("pattern", "*", "**/*.go", "[", "docs/*"), maybe("path", "/repo/docs", "/repo/missing", "/etc"))},
		"Grep": {draw: input(
			has("pattern", "func", "(", "o", "nowhere"), maybe("output_mode", "content", "count"), maybe("path", "/repo/docs", "/repo/a.go"), maybe("head_limit", 2))},
		"LSP": {deferrable: true, settings: map[string]string{"ENABLE_LSP_TOOL": on}, draw: input(
			has("operation", "definition", "references", "hover", "implementation", "document_symbols", "workspace_symbols", "incoming_calls"),
			has("file_path", "/repo/a.go", "/repo/a.go", "/repo/missing.go", "/repo/x.py"), maybe("line", 1, 3, 900), maybe("character", 1, 4), maybe("symbol", "greet"))},
		"ListMcpResources": {deferrable: true, draw: input(maybe("server", "git", "nobody"))},
		"ListPeers":        {settings: swarms, draw: input()},
		"Monitor": {settings: feature("MONITOR_TOOL"), draw: input(
			derived("task_id", (*SystemMaker).job), has("pattern", "two", "o", "((", "^late$"), maybe("once", true), maybe("timeout", 1_000, 60_000))},
		"NotebookEdit": {deferrable: true, draw: input(
			has("notebook_path", "/repo/nb.ipynb", "/repo/nb.ipynb", "/repo/a.go", "/repo/missing.ipynb"), has("new_source", "print(2)"),
			maybe("cell_id", "one", "two"), maybe("edit_mode", "insert", "delete", "replace"), maybe("cell_type", "code", "markdown"))},
		"OverflowTest":        {settings: feature("OVERFLOW_TEST"), draw: input(has("chars", 0, 300, 49_999, 50_001, 90_000))},
		"PowerShell":          {deferrable: true, settings: feature("POWERSHELL_TOOL"), draw: input(has("command", "Get-Content a.go", "Get-ChildItem", "Remove-Item a.go", "Get-Content /etc/passwd", " "))},
		"PushNotification":    {settings: kairos, draw: input(has("message", "The tests pass.", " "), maybe("priority", "low", "high"))},
		"REPL":                {settings: internal, draw: drawREPL},
		"ReadMcpResource":     {deferrable: true, draw: input(has("server", "git", "weather", "nobody"), has("uri", "note:one", "note:two"))},
		"RemoteTrigger":       {deferrable: true, settings: triggerSettings, draw: drawTrigger},
		"SendMessage":         {deferrable: true, draw: drawSend},
		"SendUserFile":        {settings: kairos, draw: input(derived("files", func(m *SystemMaker) []string { return []string{m.file()} }), maybe("caption", "As you asked."))},
		"Skill":               {draw: input(has("skill", "greet", "greet", "missing"), maybe("args", "the world"))},
		"Sleep":               {settings: feature("PROACTIVE"), draw: input(has("seconds", 0, 0.5, 3, 700))},
		"Snip":                {settings: feature("HISTORY_SNIP"), draw: drawSnip},
		"SubscribePR":         {settings: pullSettings, draw: drawSubscribe},
		"SuggestBackgroundPR": {settings: internal, draw: drawSuggest},
		"SyntheticOutput":     {draw: input(has("n", 1, 2, "none"))},
		"TaskCreate":          {deferrable: true, settings: todoV2, draw: drawTaskCreate},
		"TaskGet":             {deferrable: true, settings: todoV2, draw: input(derived("taskId", (*SystemMaker).task))},
		"TaskList":            {deferrable: true, settings: todoV2, draw: input()},
		"TaskOutput":          {draw: input(derived("task_id", (*SystemMaker).job), maybe("block", false, true), maybe("timeout", 1_000, 60_000))},
		"TaskStop":            {deferrable: true, draw: input(derived("task_id", (*SystemMaker).job))},
		"TaskUpdate":          {deferrable: true, settings: todoV2, draw: drawTaskUpdate},
		"TeamCreate":          {deferrable: true, settings: swarms, draw: input(has("team_name", "pair", "crew", "two words"))},
		"TeamDelete":          {deferrable: true, settings: swarms, draw: input()},
		"TestingPermission":   {settings: feature("TESTING"), draw: input(maybe("note", "one"))},
		"TodoWrite":           {deferrable: true, draw: drawTodos},
		"Tungsten":            {settings: internal, draw: drawTungsten},
		"VerifyPlanExecution": {settings: feature("VERIFY_PLAN"), draw: func(m *SystemMaker) object { return object{"summary": prompt(&Call{ID: m.id()})} }},
		"WebBrowser":          {settings: feature("WEB_BROWSER_TOOL"), draw: drawBrowser},
		"WebFetch": {deferrable: true, draw: input(
			has("url", "https://example.com/page", "https://example.com/old", "https://example.com/away", "https://nowhere.example/", "file:///etc/passwd", "http://localhost/"),
			has("prompt", "What does it say?"))},
		"WebSearch": {deferrable: true, draw: drawSearch},
		"Workflow":  {deferrable: true, settings: feature("WORKFLOW_SCRIPTS"), draw: drawWorkflow},
	}
}

// family are tools that work on the same things. Its opening is a course of messages that gets
// them going, since what is drawn call by call seldom does.
type family struct {
	Tools   []string
	Opening [][]step
}

// step is a call of an opening: of a file or an agent, or with an input, in which %s is the call's id.
type step struct {
	Tool, Of string
	Input    json.RawMessage
}

//go:embed families.json
var familyTable []byte

var families = sync.OnceValue(func() (all []family) {
	if err := json.Unmarshal(familyTable, &all); err != nil {
		panic(err) // every test of this package reads it
	}
	return all
})

// KitNames are the built-ins that cases may have beyond Builtins.
func KitNames() []string { return slices.Sorted(maps.Keys(kit)) }

func (s *SystemCase) checkKit() error {
	for _, name := range s.Kit {
		if _, known := kit[name]; !known {
			return fmt.Errorf("no case has a built-in %q in its kit", name)
		}
	}
	return nil
}

// InKit reports whether a tool is one of the case's Kit.
func (s *SystemCase) InKit(name string) bool { return slices.Contains(s.Kit, name) }

// Makes reports whether the case makes a call of one of these tools.
func (s *SystemCase) Makes(tools ...string) (is bool) {
	s.Each(func(c *Call, _ int, _ *Call) { is = is || slices.Contains(tools, c.Tool) })
	return is
}

// Lively reports whether messages may come to the conversation that are not the user's: from
// agents, jobs and what is watched.
func (s *SystemCase) Lively() (is bool) {
	s.Each(func(c *Call, _ int, _ *Call) { is = is || c.Background })
	return is || s.Makes("CronCreate", "Monitor", "SubscribePR", "SuggestBackgroundPR", "SendMessage", "SyntheticOutput")
}

// Unsettled reports whether a call of the case may change what becomes of others: the mode,
// the folder that is worked in, who does the work.
func (s *SystemCase) Unsettled() bool {
	return s.Makes("EnterPlanMode", "ExitPlanMode", "Config", "CoordinatorMode", "EnterWorktree", "ExitWorktree", "Skill", "Bash")
}

// settings are the variables that the case's tools need.
func (s *SystemCase) settings() map[string]string {
	values := map[string]string{}
	if s.Search != "" {
		values["ENABLE_TOOL_SEARCH"] = s.Search
	}
	if s.Forks {
		maps.Copy(values, feature("FORK_SUBAGENT"))
	}
	for _, name := range s.Kit {
		maps.Copy(values, kit[name].settings)
	}
	return values
}
