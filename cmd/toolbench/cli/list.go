package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/scenario"
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
	f.looks.add(cmd.Flags())
	f.addFormat(cmd.Flags())
	a.completeFlags(cmd)
	cmd.AddCommand(a.listTraceCommand(), a.listToolsCommand())
	return cmd
}

// listTraceCommand lists what expect.trace can name.
func (a *app) listTraceCommand() *cobra.Command {
	var l looks
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
	var report reports.ListReport
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
	}, "Formats: "+strings.Join(names, ", "))
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
func (a *app) completeFlags(cmd *cobra.Command) {
	offers := map[string]func() []cobra.Completion{
		"policy": func() []cobra.Completion { return scenario.Policies() },
		"format": a.formatsFor(cmd.Name()),
		"tag":    a.tagNames,
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

func (a *app) formatsFor(command string) func() []cobra.Completion {
	if command == "list" {
		return func() []cobra.Completion { return []cobra.Completion{"table", "json"} }
	}
	return formatNames
}

func (a *app) tagNames() []cobra.Completion {
	var tags []string
	for _, e := range a.suite() {
		tags = append(tags, e.Tags...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}
