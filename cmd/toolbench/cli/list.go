package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/reports/screen"
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
			a.say("%s", e.broken)
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
	if f.format == "json" {
		return wrap(reports.PrintJSON(a.Stdout, listOf(entries)))
	}
	looks := a.drawing(f.looks)
	grid := screen.Grid{Columns: []screen.Column{{Title: "Scenario"}, {Title: "Tags"}, {Title: "About"}}}
	for _, e := range entries {
		grid.Rows = append(grid.Rows, []string{
			screen.Safe(e.Name), screen.Safe(strings.Join(e.Tags, " ")), screen.Safe(e.About),
		})
	}
	drawn, err := grid.Draw(looks.Width, looks.ASCII)
	if err != nil {
		return wrap(err)
	}
	_, err = fmt.Fprint(a.Stdout, drawn)
	return wrap(err)
}

type listJSON struct {
	Version   int         `json:"version"`
	Scenarios []entryJSON `json:"scenarios"`
}

type entryJSON struct {
	Name  string   `json:"name"`
	Tags  []string `json:"tags"`
	About string   `json:"about"`
	File  string   `json:"file"`
}

func listOf(entries []entry) listJSON {
	list := listJSON{Version: 1, Scenarios: []entryJSON{}}
	for _, e := range entries {
		list.Scenarios = append(list.Scenarios, entryJSON{e.Name, append([]string{}, e.Tags...), e.About, e.File})
	}
	return list
}

// schemas are the published formats, by the command that reads or writes them.
func (a *app) schemas() map[string]func() []byte {
	return map[string]func() []byte{
		"scenario": a.bench.ScenarioSchema, "run": reports.RunSchema, "replay": reports.ReplaySchema, "tokens": reports.TokensSchema,
		"cache": reports.CacheSchema, "search": func() []byte { return searchSchema }, "serve": reports.ServeSchema,
		"record": reports.RecordSchema, "upgrade": func() []byte { return upgradeSchema }, "fuzz": reports.FuzzSchema,
	}
}

func (a *app) schemaCommand() *cobra.Command {
	names := slices.Sorted(maps.Keys(a.schemas()))
	return &cobra.Command{
		Use: "schema FORMAT", Short: "Print the JSON Schema of a format",
		Long: "Prints a published JSON Schema: of a scenario's file (\"scenario\"), with which editors\ncomplete and check it, or of what a command writes with --format json, by the\ncommand's name.\n\nFormats: " + strings.Join(names, ", "),
		Example: `  toolbench schema scenario > scenario.schema.json
  # yaml-language-server: $schema=./scenario.schema.json   (first line of a scenario)
  toolbench schema run`,
		Args:      one("schema", names...),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.printAll(a.schemas()[args[0]]())
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
