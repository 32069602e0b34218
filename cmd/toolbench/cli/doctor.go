package cli

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/reports"
)

// helpers are the programs that commands and tests find on a machine, what each is for, and
// how its version is asked for.
var helpers = []struct {
	names   []string
	version string
	what    string
}{
	{[]string{"go"}, "version", "building, and the tests"},
	{[]string{"bash"}, "--version", "fuzz --engine shell, and samples of the documents"},
	{[]string{"git"}, "--version", "worktrees on a real disk"},
	{[]string{"node"}, "--version", "tests with clients and servers from npm"},
	{[]string{"npm"}, "--version", "tests with clients and servers from npm"},
	{[]string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}, "--version", "the tool WebBrowser, and tests of HTML reports"},
	{[]string{"gopls"}, "version", "the tool LSP on Go files"},
	{[]string{"bwrap"}, "--version", "the sandbox of real commands; without it Landlock, where the kernel has it"},
	{[]string{"pwsh"}, "--version", "the tool PowerShell"},
}

func (a *app) doctorCommand() *cobra.Command {
	var l displayFlags
	cmd := explained(&cobra.Command{
		Use: "doctor", Short: "Show what is in force here, and what this machine has", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd, l) },
	})
	l.add(cmd.Flags())
	return cmd
}

// doctor shows the project's file and what it and the environment set, and the programs
// there are.
func (a *app) doctor(cmd *cobra.Command, l displayFlags) error {
	looks := a.drawing(l)
	file := cmp.Or(a.config.file, "none; "+ConfigFile+" is looked for in this folder and above it")
	rows := [][]string{{"project's file", file}, {"terminal", terminalWords(looks)}, {"cache", cmp.Or(a.Cache, "none")}}
	rows = append(rows, each(a.config.settings, func(s setting) []string {
		return []string{"from the file", s.command + ": " + s.flag + ": " + strings.Join(s.values, ", ")}
	})...)
	for _, p := range slices.Concat(a.config.tools, a.config.checks) {
		rows = append(rows, []string{"program", p.name + ": " + strings.Join(p.Command, " ") + "; started with run --trust only"})
	}
	rows = append(rows, each(a.variables(cmd.Root()), func(pair string) []string { return []string{"from the environment", pair} })...)
	for _, h := range helpers {
		rows = append(rows, []string{h.names[0], programFound(cmd.Context(), h.names, h.version) + "; for " + h.what})
	}
	var text strings.Builder
	blank := reports.Options{Secrets: a.secrets()}.Blank()
	for _, row := range rows {
		indent := reports.Pad(row[0], len("from the environment")+2)
		for _, line := range reports.Fold(reports.Safe(blank(row[1])), max(0, looks.Width-len(indent))) {
			text.WriteString(strings.TrimRight(indent+line, " ") + "\n")
			indent = strings.Repeat(" ", len(indent))
		}
	}
	return a.printAll([]byte(text.String()))
}

func terminalWords(o reports.Options) string {
	words := []string{"as wide as it comes"}
	if o.Width > 0 {
		words[0] = strconv.Itoa(o.Width) + " columns"
	}
	words = append(words, map[bool]string{true: "colours", false: "no colours"}[o.Color], map[bool]string{true: "ASCII", false: "Unicode"}[o.ASCII])
	return strings.Join(words, ", ")
}

// variables are the set variables that stand for a flag of any command.
func (a *app) variables(root *cobra.Command) (pairs []string) {
	known := map[string]bool{"TOOLBENCH_CONFIG": true, "TOOLBENCH_DEBUG": true, "NO_COLOR": true, "FORCE_COLOR": true, "CI": true, "COLUMNS": true, "GITHUB_ACTIONS": true}
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[envVariable(f.Name)] = true })
	}
	for _, pair := range a.Env {
		if name, value, _ := strings.Cut(pair, "="); known[name] && value != "" {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// programFound is where the first of some programs is, and which version.
func programFound(ctx context.Context, names []string, version string) string {
	for _, name := range names {
		file, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, file, version)
		cmd.Env, cmd.WaitDelay = os.Environ(), time.Second
		out, err := cmd.Output()
		first, _, _ := strings.Cut(string(bytes.TrimSpace(out)), "\n")
		if err != nil || first == "" {
			return file + ", which does not give its version"
		}
		return file + ", " + strings.TrimSpace(first)
	}
	return "not found on " + runtime.GOOS
}
