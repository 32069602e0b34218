package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/toolsys/builtin"
	toolpool "toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

type listFlags struct {
	printing
	selection
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	cmd := explained(&cobra.Command{
		Use: "list [NAME|PATH...]", Short: "List scenarios",
		RunE:              func(_ *cobra.Command, args []string) error { return a.list(args, f) },
		ValidArgsFunction: a.completeNames,
	})
	f.selection.add(cmd.Flags())
	f.printing.add(cmd.Flags())
	a.completeFlags(cmd, f.outputs.names)
	cmd.AddCommand(a.listTraceCommand(), a.listToolsCommand())
	return cmd
}

// listTraceCommand lists what expect.trace can name.
func (a *app) listTraceCommand() *cobra.Command {
	var l displayFlags
	cmd := &cobra.Command{
		Use: "trace", Short: "List the events of a run that expect.trace can name",
		Long: "Lists the kinds of events that a run leaves behind and the members they hold, which\na scenario names under expect.trace and expect.never.",
		Args: none,
		RunE: func(*cobra.Command, []string) error { return wrap(reports.TraceKinds(a.Stdout, a.drawing(l))) },
	}
	l.add(cmd.Flags())
	return cmd
}

func (a *app) list(args []string, f listFlags) error {
	plan, err := a.plan(a.arguments("list", args), f.selection)
	if err != nil {
		return err
	}
	report := reports.ListReport{Version: reports.ListVersion}
	code := ExitHeld
	for _, e := range plan.entries {
		if e.broken != nil {
			a.logf("%s", e.broken)
			code = ExitUsage
			continue
		}
		report.Scenarios = append(report.Scenarios, reports.Listed{Name: e.Name, Tags: e.Tags, About: e.About, File: e.File})
	}
	if err := a.print(report, f.printing); err != nil || code == ExitHeld {
		return err
	}
	return &exitError{code: code}
}

// scenarioFormat is the name of the schema of a scenario's file.
const scenarioFormat = "scenario"

func (a *app) schemaCommand() *cobra.Command {
	names := append(reports.SchemaNames(), scenarioFormat)
	slices.Sort(names)
	return explained(&cobra.Command{
		Use: "schema FORMAT", Short: "Print the JSON Schema of a format",
		Args:      one("schema", names...),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == scenarioFormat {
				return a.printAll(scenario.Schema())
			}
			return a.printAll(reports.Schema(args[0]))
		},
	}, narrowed("Formats: "+strings.Join(names, ", "), 80))
}

// one demands exactly one of some words as the argument.
func one(what string, words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			if slices.Contains(words, args[0]) {
				return nil
			}
			return usage("unknown %s %q%s; use one of %s", what, args[0], closest(args[0], words), strings.Join(words, ", "))
		}
		return usage("name one %s: %s", what, strings.Join(words, ", "))
	}
}

// completeNames offers the embedded scenarios with what they are about; the shell
// adds files.
func (a *app) completeNames(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, e := range a.suite() {
		if strings.HasPrefix(e.Name, typed) && !slices.Contains(args, e.Name) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.About))
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeFlags offers the values of the flags that have a list of them.
func (a *app) completeFlags(cmd *cobra.Command, formats []string) {
	offers := map[string]func() []cobra.Completion{
		"policy": func() []cobra.Completion { return scenario.Policies() },
		"format": func() []cobra.Completion { return formats },
		"tag": func() []cobra.Completion {
			return slices.Compact(slices.Sorted(slices.Values(slices.Concat(each(a.suite(), func(e entry) []string { return e.Tags })...))))
		},
	}
	for flag, offer := range offers {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return offer(), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(err) // a flag registered twice is our mistake
		}
	}
}

// listToolsCommand lists the built-in tools.
func (a *app) listToolsCommand() *cobra.Command {
	var p printing
	cmd := &cobra.Command{
		Use: "tools", Short: "List the built-in tools, their gates and what they declare",
		Args: none,
		RunE: func(*cobra.Command, []string) error {
			return a.print(reports.ToolsReport{Version: reports.ListVersion, Tools: each(builtins(), described)}, p)
		},
	}
	p.add(cmd.Flags())
	return explained(cmd)
}

// builtins are the built-in tools, to be looked at and not to be called.
func builtins() []toolpool.Entry {
	kit, err := builtin.All(builtin.Deps{FS: afero.NewMemMapFs()})(toolpool.Host{
		ResultsDir: "/results", Inbox: tool.NewInbox(tool.Clock{}, nil), Work: &tool.WorkList{},
	})
	if err != nil {
		panic(err) // the same tools are built in every time
	}
	return kit.Entries
}

func toolsOf(entries []toolpool.Entry) []*tool.Tool {
	return each(entries, func(e toolpool.Entry) *tool.Tool { return e.Tool })
}

// described is what a built-in tool declares.
func described(e toolpool.Entry) reports.BuiltinTool {
	b := reports.BuiltinTool{Name: e.Name, Planned: e.Tool == nil, Closed: e.Gate.Closed(settings.External(), toolpool.Conditions{Search: true})}
	b.Flags = append(b.Flags, each(e.Gate.Any, func(f settings.Flag) string { return f.String() })...)
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
