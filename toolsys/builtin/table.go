package builtin

import (
	"fmt"
	"slices"

	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/task"
	"toolbench/toolsys/tool"
)

// row is one line of the table: a name, its gate, and how it is made.
type row struct {
	name string
	gate pool.Gate
	// repl and simple are the modes' lists (C3).
	repl, simple bool
	make         func(Deps) *tool.Tool
}

func flags(any ...settings.Flag) pool.Gate { return pool.Gate{Any: any} }

var (
	always       = pool.Gate{}
	noEmbedded   = pool.Gate{Not: []settings.Flag{settings.EmbeddedSearch}}
	withResource = pool.Gate{Special: true, Resources: true}
)

// table lists the built-in tools that exist, each with its gate (C1). A tool behind a
// feature adds its own row from a file with the feature's build tag, so that the tag
// takes its code out of the binary.
var table = []row{
	{name: "Agent", gate: always, repl: true, make: makeAgent},
	{name: "AskUserQuestion", gate: always, make: makeAskUserQuestion},
	{name: "Bash", gate: always, repl: true, simple: true, make: makeBash},
	{name: "Edit", gate: always, repl: true, simple: true, make: makeEdit},
	{name: "EnterPlanMode", gate: always, make: makeEnterPlanMode},
	{name: "ExitPlanMode", gate: always, make: makeExitPlanMode},
	{name: "Glob", gate: noEmbedded, repl: true, make: makeGlob},
	{name: "Grep", gate: noEmbedded, repl: true, make: makeGrep},
	{name: "ListMcpResources", gate: withResource, make: makeListMcpResources},
	{name: "NotebookEdit", gate: always, repl: true, make: makeNotebookEdit},
	{name: "Read", gate: always, repl: true, simple: true, make: makeRead},
	{name: "ReadMcpResource", gate: withResource, make: makeReadMcpResource},
	{name: "Skill", gate: always, make: makeSkill},
	{name: "TaskOutput", gate: always, make: makeTaskOutput},
	{name: "TaskStop", gate: always, make: makeTaskStop},
	{name: "TodoWrite", gate: always, make: makeTodoWrite},
	{name: "ToolSearch", gate: pool.Gate{Search: true}, make: makeToolSearch},
	{name: "WebFetch", gate: always, make: makeWebFetch},
	{name: "Write", gate: always, repl: true, make: makeWrite},
}

// Names gives the names of the built-in tools that exist.
func Names() []string {
	var all []string
	for _, r := range table {
		all = append(all, r.name)
	}
	slices.Sort(all)
	return all
}

// All makes the built-in tools for toolsys.Config.Builtins: the table with what is
// planned beside it, or the ones that are named. A name of neither is an error.
func All(d Deps, names ...string) func(pool.Host, *task.Table) (pool.Kit, error) {
	return func(h pool.Host, tasks *task.Table) (pool.Kit, error) {
		d := d.on(h, tasks)
		var entries []pool.Entry
		for _, r := range table {
			if len(names) > 0 && !slices.Contains(names, r.name) {
				continue
			}
			e := pool.Entry{Name: r.name, Gate: r.gate, Repl: r.repl, Simple: r.simple}
			e.Tool = r.make(d)
			entries = append(entries, e)
		}
		for _, e := range Planned() {
			if len(names) == 0 || slices.Contains(names, e.Name) {
				entries = append(entries, e)
			}
		}
		for _, name := range names {
			if !slices.ContainsFunc(entries, func(e pool.Entry) bool { return e.Name == name }) {
				return pool.Kit{}, fmt.Errorf("there is no built-in tool %q to keep", name)
			}
		}
		return pool.Kit{Entries: entries, Resolve: d.Resolve, Keep: Keep(d.FS)}, nil
	}
}
