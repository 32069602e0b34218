package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/toolsys/search"
)

const listLong = `Lists scenarios by name, with their tags and what they are about. Arguments and
the flags that choose are those of run.`

const listExample = `  toolbench list                       the embedded suite
  toolbench list ./mine --tag '!slow'  your own
  toolbench list --format json         for a program`

type listFlags struct {
	looks
	selection
	format string
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use: "list [NAME|PATH...]", Short: "List scenarios", Long: listLong, Example: listExample,
		RunE:              func(_ *cobra.Command, args []string) error { return a.list(args, f) },
		ValidArgsFunction: a.completeNames,
	}
	f.selection.add(cmd.Flags())
	f.looks.add(cmd.Flags())
	f.format = "table"
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	cmd.Flags().VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"list"}}
	a.completeFlags(cmd)
	return cmd
}

func (a *app) list(args []string, f listFlags) error {
	plan, err := a.plan(args, f.selection)
	if err != nil {
		return err
	}
	var sound []entry
	code := ExitHeld
	for _, e := range plan.entries {
		if e.broken != nil {
			a.logf("%s", e.broken)
			code = ExitUsage
			continue
		}
		sound = append(sound, e)
	}
	if err := a.printList(sound, f); err != nil {
		return err
	}
	if code != ExitHeld {
		return &exitError{code: code}
	}
	return nil
}

func (a *app) printList(entries []entry, f listFlags) error {
	var all []reports.Listed
	for _, e := range entries {
		all = append(all, reports.Listed{Name: e.Name, Tags: e.Tags, About: e.About, File: e.File})
	}
	if f.format == "json" {
		return wrap(reports.ListJSON(a.Stdout, all))
	}
	return wrap(reports.ListTable(a.Stdout, all, a.drawing(f.looks)))
}

// scenarioFormat is the name of the schema of a scenario's file.
const scenarioFormat = "scenario"

func (a *app) schemaCommand() *cobra.Command {
	names := append(reports.SchemaNames(), scenarioFormat)
	slices.Sort(names)
	return &cobra.Command{
		Use: "schema FORMAT", Short: "Print the JSON Schema of a format",
		Long: "Prints a published JSON Schema: of a scenario's file (\"scenario\"), with which editors\ncomplete and check it, or of what a command writes with --format json, by the\ncommand's name.\n\nFormats: " + strings.Join(names, ", "),
		Example: `  toolbench schema scenario > scenario.schema.json
  # yaml-language-server: $schema=./scenario.schema.json   (first line of a scenario)
  toolbench schema run`,
		Args:      one("schema", names...),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == scenarioFormat {
				return a.printAll(a.bench.ScenarioSchema())
			}
			return a.printAll(reports.Schema(args[0]))
		},
	}
}

func (a *app) printAll(text []byte) error {
	_, err := io.WriteString(a.Stdout, strings.TrimRight(string(text), "\n")+"\n")
	return wrap(err)
}

// one demands exactly one of some words as the argument.
func one(what string, words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			for _, word := range words {
				if args[0] == word {
					return nil
				}
			}
			return usage("unknown %s %q%s; use one of %s", what, args[0], meant(search.Nearest(args[0], words, nil, 1)), strings.Join(words, ", "))
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
		"policy": func() []cobra.Completion { return a.bench.Policies },
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
