package cli

import (
	"encoding/json"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/toolsys/builtin"
	toolpool "toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// listToolsCommand lists the built-in tools.
func (a *app) listToolsCommand() *cobra.Command {
	var p printing
	cmd := &cobra.Command{
		Use: "tools", Short: "List the built-in tools, with what opens their gates and what they declare",
		Args: none,
		RunE: func(*cobra.Command, []string) error { return a.listTools(p) },
	}
	p.looks.add(cmd.Flags())
	p.addFormat(cmd.Flags())
	return explained(cmd)
}

func (a *app) listTools(p printing) error {
	kit, err := builtin.All(builtin.Deps{FS: afero.NewMemMapFs()})(toolpool.Host{
		ResultsDir: "/results", Inbox: tool.NewInbox(tool.Clock{}, nil), Work: &tool.WorkList{},
	})
	if err != nil {
		return harness(err)
	}
	var report reports.ToolsReport
	for _, e := range kit.Entries {
		report.Tools = append(report.Tools, described(e))
	}
	return a.print(report, p)
}

// described is what a built-in tool declares.
func described(e toolpool.Entry) reports.BuiltinTool {
	b := reports.BuiltinTool{Name: e.Name, Planned: e.Tool == nil, Closed: e.Gate.Closed(settings.External(), toolpool.Conditions{Search: true})}
	for _, f := range e.Gate.Any {
		b.Flags = append(b.Flags, f.String())
	}
	t := e.Tool
	if t == nil {
		return b
	}
	in, _ := t.Decode(json.RawMessage("{}")) // the schema would ask for members
	traits := t.Behaviour
	b.Aliases, b.About, b.Hint, b.ResultChars = t.Aliases, t.Description, t.Hint, t.Limit.ResultChars
	b.Safe, b.ReadOnly, b.Destructive = traits.Safe(in), traits.ReadOnly(in), traits.Destructive(in)
	b.OpenWorld, b.NeedsUser, b.Interrupt = traits.OpenWorld(in), traits.NeedsUser(in), traits.Interrupt.String()
	b.Deferrable, b.Always = t.Loading.Deferrable, t.Loading.Always
	return b
}
