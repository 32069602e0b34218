package cli

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/cassette"
)

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
	module := info.Main.Version
	if module == "" {
		module = "(devel)"
	}
	_, err := io.WriteString(a.Stdout, fmt.Sprintf("toolbench %s%s\ngo        %s\nformats   run report %d, scenario %d, cassette %d\n",
		module, revision(info), info.GoVersion, reports.Version, a.bench.ScenarioVersion, cassette.FormatVersion))
	return wrap(err)
}

// revision is the commit the program was built from, when the build knows it.
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
