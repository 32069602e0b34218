package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/reports"
	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/toolsys/search"
)

// root is the table of commands; cobra sorts it and adds help and completion.
func (a *app) root() *cobra.Command {
	root := explained(&cobra.Command{
		Use: "toolbench", Short: "Prove an agent's tool system",
		SilenceErrors: true, SilenceUsage: true,
		Args:              known,
		RunE:              explain,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.givenFlags(cmd) },
	}, helpText("codes"))
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		a.runCommand(), a.listCommand(), a.initCommand(), a.replayCommand(), a.recordCommand(), a.chatCommand(), a.playCommand(), a.serveCommand(), a.tryCommand(), a.tapCommand(), a.driftCommand(), a.mcpCommand(), a.upgradeCommand(),
		a.fuzzCommand(), a.spreadCommand(), a.workerCommand(), a.rulesCommand(), a.tokensCommand(), a.cacheCommand(), a.searchCommand(), a.compareCommand(), a.blessCommand(), a.mergeCommand(), a.doctorCommand(), a.manCommand(), a.schemaCommand(), a.versionCommand())
	root.SetHelpCommand(a.helpCommand())
	a.narrowHelp(root)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		strict(cmd)
	}
	return root
}

// strict makes a command that only groups others explain itself, and refuse what it
// does not have.
func strict(cmd *cobra.Command) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args, cmd.RunE, cmd.SuggestionsMinimumDistance = known, explain, 2
	}
}

func explain(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// known refuses what is no command, with a suggestion.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("unknown command %q%s; see `%s --help`", args[0], meant(cmd.SuggestionsFor(args[0])), cmd.CommandPath())
}

// flagError describes what is wrong with a flag, and proposes one that exists.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	text := err.Error()
	switch {
	case errors.As(err, &missing):
		text += meant(nearestFlag(cmd, missing.GetSpecifiedName()))
	case errors.As(err, &invalid):
		text = fmt.Sprintf("%q is no value for --%s: %s", invalid.GetValue(), invalid.GetFlag().Name, cause(err))
	}
	return usage("%s; see `%s --help`", text, cmd.CommandPath())
}

func nearestFlag(cmd *cobra.Command, name string) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := search.Nearest(name, names, nil, 1)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return near
}

// meant asks for some suggestions, if there are any.
func meant(suggestions []string) string {
	if len(suggestions) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", strings.Join(suggestions, " or "))
}

// closest asks for the name that is spelt most like a word, if one is.
func closest(word string, names []string) string { return meant(search.Nearest(word, names, nil, 1)) }

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the versions of the program and of its formats",
		Args: none,
		RunE: func(*cobra.Command, []string) error { return a.version() },
	}
}

func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no argument, but got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

func (a *app) version() error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: "unknown"}
	}
	module := cmp.Or(info.Main.Version, "(devel)")
	_, err := io.WriteString(a.Stdout, fmt.Sprintf("toolbench %s%s\ngo        %s\nformats   run report %d, scenario %d, cassette %d\n",
		module, revision(info), info.GoVersion, reports.Version, scenario.FormatVersion, cassette.FormatVersion))
	return wrap(err)
}

// revision is the commit the program was built from, when the build has it.
func revision(info *debug.BuildInfo) string {
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = " " + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " with changes"
		}
	}
	return commit + dirty
}
