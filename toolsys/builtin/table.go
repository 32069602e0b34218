package builtin

import (
	"fmt"
	"slices"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
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

// offer adds a tool that is there when one of some flags is on.
func offer(name string, of func(Deps) *tool.Tool, flags ...settings.Flag) {
	table = append(table, row{name: name, gate: pool.Gate{Any: flags}, make: of})
}

var (
	internal     = pool.Gate{Internal: true}
	always       = pool.Gate{}
	noEmbedded   = pool.Gate{Not: []settings.Flag{settings.EmbeddedSearch}}
	withResource = pool.Gate{Special: true, Resources: true}
	wantedForm   = pool.Gate{Special: true, Output: true}
)

// table lists the built-in tools that exist, each with its gate (C1). A tool behind a
// feature adds its own row from a file with the feature's build tag, so that the tag
// takes its code out of the binary.
var table = []row{
	{name: "Agent", gate: always, repl: true, make: func(d Deps) *tool.Tool { return work.Agent(d.work()) }},
	{name: "AskUserQuestion", gate: always, make: func(Deps) *tool.Tool { return work.AskUserQuestion() }},
	{name: "Bash", gate: always, repl: true, simple: true, make: Deps.bash},
	{name: "Brief", gate: always, make: func(Deps) *tool.Tool { return work.Brief() }},
	{name: "Config", gate: internal, make: func(Deps) *tool.Tool { return work.Config() }},
	{name: "Edit", gate: always, repl: true, simple: true, make: func(d Deps) *tool.Tool { return file.Edit(d.files()) }},
	{name: "EnterPlanMode", gate: always, make: func(Deps) *tool.Tool { return work.EnterPlanMode() }},
	{name: "ExitPlanMode", gate: always, make: func(Deps) *tool.Tool { return work.ExitPlanMode() }},
	{name: "Glob", gate: noEmbedded, repl: true, make: func(d Deps) *tool.Tool { return file.Glob(d.files()) }},
	{name: "Grep", gate: noEmbedded, repl: true, make: func(d Deps) *tool.Tool { return file.Grep(d.files()) }},
	{name: "LSP", gate: pool.Gate{LSP: true}, make: func(d Deps) *tool.Tool { return file.LSP(d.files(), d.Languages) }},
	{name: "ListMcpResources", gate: withResource, make: func(d Deps) *tool.Tool { return work.ListMcpResources(d.host.Servers) }},
	{name: "NotebookEdit", gate: always, repl: true, make: func(d Deps) *tool.Tool { return file.NotebookEdit(d.files()) }},
	{name: "REPL", gate: internal, make: func(Deps) *tool.Tool { return work.REPL() }},
	{name: "Read", gate: always, repl: true, simple: true, make: func(d Deps) *tool.Tool { return file.Read(d.files()) }},
	{name: "ReadMcpResource", gate: withResource, make: func(d Deps) *tool.Tool { return work.ReadMcpResource(d.host.Servers) }},
	{name: "SendMessage", gate: always, make: func(d Deps) *tool.Tool { return work.SendMessage(d.work()) }},
	{name: "Skill", gate: always, make: func(d Deps) *tool.Tool { return work.Skill(d.skills()) }},
	{name: "SuggestBackgroundPR", gate: internal, make: func(d Deps) *tool.Tool { return work.SuggestBackgroundPR(d.work()) }},
	{name: "SyntheticOutput", gate: wantedForm, make: func(Deps) *tool.Tool { return work.SyntheticOutput() }},
	{name: "TaskOutput", gate: always, make: func(d Deps) *tool.Tool { return work.TaskOutput(d.work()) }},
	{name: "TaskStop", gate: always, make: func(d Deps) *tool.Tool { return work.TaskStop(d.work()) }},
	{name: "TodoWrite", gate: always, make: func(Deps) *tool.Tool { return work.TodoWrite() }},
	{name: "ToolSearch", gate: pool.Gate{Search: true}, make: func(Deps) *tool.Tool { return work.ToolSearch() }},
	{name: "Tungsten", gate: internal, make: func(d Deps) *tool.Tool { return shell.Tungsten(d.Terminal) }},
	{name: "WebFetch", gate: always, make: Deps.webFetch},
	{name: "WebSearch", gate: always, make: Deps.webSearch},
	{name: "Write", gate: always, repl: true, make: func(d Deps) *tool.Tool { return file.Write(d.files()) }},
}

// Names gives the names of the built-in tools that exist.
func Names() []string {
	all := tool.Each(table, func(r row) string { return r.name })
	slices.Sort(all)
	return all
}

// All makes the built-in tools for toolsys.Config.Builtins: all of the table, or the ones
// that are named. A name that is not in it is an error.
func All(d Deps, names ...string) func(pool.Host) (pool.Kit, error) {
	return func(h pool.Host) (pool.Kit, error) {
		d := d.on(h)
		var entries []pool.Entry
		for _, r := range table {
			if len(names) > 0 && !slices.Contains(names, r.name) {
				continue
			}
			e := pool.Entry{Name: r.name, Gate: r.gate, Repl: r.repl, Simple: r.simple}
			e.Tool = r.make(d)
			entries = append(entries, e)
		}
		for _, name := range names {
			if !slices.ContainsFunc(entries, func(e pool.Entry) bool { return e.Name == name }) {
				return pool.Kit{}, fmt.Errorf("there is no built-in tool %q to keep", name)
			}
		}
		return pool.Kit{Entries: entries, Resolve: d.Resolve, Keep: Keep(d.FS), Commands: func() []tool.Command { return work.SkillCommands(d.skills()) }}, nil
	}
}
