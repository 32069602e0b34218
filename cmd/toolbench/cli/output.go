package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"toolbench/reports"
)

// outputs are where reports go: at most one to the screen, others to files. It is
// the value of a flag that can be repeated.
type outputs struct {
	// names are the formats there are to choose from; without them, those of outcomes.
	names  []string
	words  []string
	screen string
	files  []fileOutput
}

type fileOutput struct{ format, file string }

var _ pflag.Value = (*outputs)(nil)

// Set takes one more "FORMAT" or "FORMAT=FILE".
func (outs *outputs) Set(word string) error {
	name, file, toFile := strings.Cut(word, "=")
	switch {
	case !slices.Contains(outs.names, name):
		return fmt.Errorf("use %s", strings.Join(outs.names, ", "))
	case toFile && file == "":
		return errors.New("it names no file after the =")
	case toFile:
		outs.files = append(outs.files, fileOutput{name, file})
	case outs.screen != "":
		return fmt.Errorf("%s goes to the standard output already; send one of them to a file: %s=FILE", outs.screen, name)
	default:
		outs.screen = name
	}
	outs.words = append(outs.words, word)
	return nil
}

// String is what was set.
func (outs *outputs) String() string { return strings.Join(outs.words, ",") }

// Type is how help names the value.
func (outs *outputs) Type() string { return "FORMAT[=FILE]" }

// forPeople reports whether the screen shows the report as a text.
func (outs *outputs) forPeople() bool { return outs.screen == "" || outs.screen == "table" }

// timelines are the formats that show what was played over time.
func timelines() []string { return []string{"html", "perfetto", "otlp"} }

// wants reports whether one of some formats was asked for.
func (outs *outputs) wants(formats ...string) bool {
	return slices.Contains(formats, outs.screen) || slices.ContainsFunc(outs.files, func(f fileOutput) bool { return slices.Contains(formats, f.format) })
}

// formatNames are the reports of outcomes.
func formatNames() []string {
	var names []string
	for _, f := range reports.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// formatNamed is a report of outcomes; outputs know their names.
func formatNamed(name string) reports.Format {
	return reports.Formats()[slices.Index(formatNames(), name)]
}

// writeFiles writes a report to each file that was asked for.
func (a *app) writeFiles(outs outputs, write func(w io.Writer, format string) error) error {
	for _, f := range outs.files {
		var b bytes.Buffer
		err := write(&b, f.format)
		if err == nil {
			err = writeWhole(a.path(f.file), b.Bytes())
		}
		if err != nil {
			return harness(fmt.Errorf("writing %s: %w", f.file, err))
		}
	}
	return nil
}
