package cli

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"toolbench/docs"
	"toolbench/reports"
)

// topic is a text that help prints beside those of the commands.
type topic struct{ name, title, text string }

// topics are the exit codes and environment, and the documents of the project with their
// notes: every start of the program lists them, and few print one.
func topics() []topic {
	all := []topic{{"exit-codes", "Exit codes and environment", helpText("codes")}}
	files, err := docs.Files.ReadDir(".")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, f := range files {
		data, err := docs.Files.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		title, text, _ := strings.Cut(string(data), "\n")
		all = append(all, topic{strings.TrimSuffix(f.Name(), path.Ext(f.Name())), strings.TrimPrefix(title, "# "), text})
	}
	return all
}

// notes are what the tests of the documents read, and no person.
var notes = regexp.MustCompile(`(?m)^<!-- .* -->\n`)

// helpCommand is cobra's with topics, and what is neither a command nor a topic is an error.
func (a *app) helpCommand() *cobra.Command {
	var names []string
	long := "Explains a command, or a topic:\n"
	all := topics()
	for _, t := range all {
		names = append(names, t.name)
		long += "\n  " + reports.Pad(t.name, 16) + t.title
	}
	return &cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "Explain a command or a topic", Long: long, ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if i := slices.Index(names, args[0]); i >= 0 {
					text := strings.TrimSpace(notes.ReplaceAllString(all[i].text, ""))
					return a.printAll([]byte(narrowed(strings.ToUpper(all[i].title)+"\n\n"+text, a.helpWidth())))
				}
			}
			command, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				near := append(cmd.Root().SuggestionsFor(args[0]), alike(args[0], names)...)
				return usage("unknown command %q%s; no topic has that name either: see `toolbench help help`", args[0], meant(near))
			}
			command.InitDefaultHelpFlag()
			return command.Help()
		},
	}
}

// narrowHelp lets no line of a help text be wider than the terminal.
func (a *app) narrowHelp(root *cobra.Command) {
	width := a.helpWidth()
	if width == 0 {
		return
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", width)))
	whole := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		var text bytes.Buffer
		cmd.SetOut(&text)
		whole(cmd, args)
		cmd.SetOut(out)
		fmt.Fprint(out, narrowed(text.String(), width)) // as cobra does, which has no error to give
	})
}

// helpWidth is the width that texts of help are folded to: that of a terminal, or what was
// asked for; 0 folds nothing.
func (a *app) helpWidth() int {
	if !isTerminal(a.Stdout) && a.env("COLUMNS") == "" {
		return 0
	}
	return max(a.width(0), reports.Narrowest)
}

// narrowed folds the lines that are too wide, the rest of an item below its text. What is left of a line is joined with the
// next one where that goes on with it, which lines of code and rows of tables never do.
func narrowed(text string, width int) string {
	if width == 0 {
		return text
	}
	var out []string
	rest, at, code := "", 0, false
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n")+"\n", "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		column := max(indent, len(itemKey.FindString(line))) // where the text of an item begins behind its key
		fence := strings.HasPrefix(line, "```")
		alone := fence || code || strings.HasPrefix(line, "|")
		code = code != fence
		joined := rest != "" && line != "" && indent == at && column == at && !alone
		if joined {
			line, column = line[:at]+rest+" "+line[at:], at
		} else if rest != "" {
			out = append(out, strings.Repeat(" ", at)+rest)
		}
		rest = ""
		if !joined && reports.Width(line) <= width {
			out = append(out, line)
			continue
		}
		head, hangs := column, joined || !alone && (indent == 0 || column > indent) && column <= width-reports.Narrowest/2
		if !hangs {
			head, column = indent, indent+2
		}
		below := "\n" + strings.Repeat(" ", column)
		parts := strings.Split(line[:head]+strings.Join(reports.Fold(line[head:], max(1, width-column)), below), "\n")
		if last := len(parts) - 1; hangs {
			rest, at, parts = parts[last][column:], column, parts[:last]
		}
		out = append(out, parts...)
	}
	return strings.Join(out, "\n")
}

// itemKey is what stands before the text of an item: the mark of a list, or a name with blanks behind it.
var itemKey = regexp.MustCompile(`^ *(?:[-*]|\d+[.]) +|^ +\S.*?  +`)

func (a *app) manCommand() *cobra.Command {
	out := "man"
	cmd := explained(&cobra.Command{Use: "man", Short: "Write manual pages", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.man(cmd.Root(), out) }})
	cmd.Flags().StringVar(&out, "out", out, "the folder to write into")
	return cmd
}

// man writes a page for each command, the same in every build.
func (a *app) man(root *cobra.Command, out string) error {
	root.DisableAutoGenTag = true
	all := slices.DeleteFunc(append([]*cobra.Command{root}, root.Commands()...), func(c *cobra.Command) bool { return c.Name() == "help" })
	for _, cmd := range all {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		var page bytes.Buffer
		header := &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Source: "toolbench", Manual: "toolbench"}
		header.Date = new(time.Unix(0, 0).UTC())
		cmd.Long = verbatim(cmd.Long)
		if err := doc.GenMan(cmd, header, &page); err != nil {
			return harness(err)
		}
		file := filepath.Join(out, name+".1")
		if err := a.writeNamed(file, page.Bytes()); err != nil {
			return err
		}
	}
	return a.printAll(fmt.Appendf(nil, "wrote %d pages into %s; read one with: man -l %s", len(all), out, filepath.Join(out, "toolbench.1")))
}

// verbatim makes a help text Markdown that has it line by line: what is indented is a
// block of its own, and a bracket no tag.
func verbatim(text string) string {
	var lines []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !inside:
			lines = append(lines, "", "  "+line)
		case indented:
			lines = append(lines, "  "+line)
		default:
			lines = append(lines, strings.ReplaceAll(line, "<", "\\<"))
		}
		inside = indented
	}
	return strings.Join(lines, "\n")
}
