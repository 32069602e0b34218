package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"toolbench/reports"
	"toolbench/sim/scenario/check"
)

// outputs are where reports go: at most one to the screen, others to files. It is
// the value of a flag that can be repeated.
type outputs struct {
	words  []string
	screen *reports.Format
	files  []fileOutput
}

type fileOutput struct {
	format reports.Format
	file   string
}

var _ pflag.Value = (*outputs)(nil)

// Set takes one more "FORMAT" or "FORMAT=FILE".
func (outs *outputs) Set(word string) error {
	name, file, toFile := strings.Cut(word, "=")
	format, ok := formatOf(name)
	switch {
	case !ok:
		return fmt.Errorf("use %s", strings.Join(formatNames(), ", "))
	case toFile && file == "":
		return errors.New("it names no file after the =")
	case toFile:
		outs.files = append(outs.files, fileOutput{format, file})
	case outs.screen != nil:
		return fmt.Errorf("%s goes to the standard output already; send one of them to a file: %s=FILE", outs.screen.Name, name)
	default:
		outs.screen = &format
	}
	outs.words = append(outs.words, word)
	return nil
}

// String is what was set.
func (outs *outputs) String() string { return strings.Join(outs.words, ",") }

// Type is how help names the value.
func (outs *outputs) Type() string { return "FORMAT[=FILE]" }

func formatOf(name string) (reports.Format, bool) {
	i := slices.Index(formatNames(), name)
	if i < 0 {
		return reports.Format{}, false
	}
	return reports.Formats()[i], true
}

func formatNames() []string {
	var names []string
	for _, f := range reports.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// writeFile writes one report to its file.
func (a *app) writeFile(f fileOutput, outcomes []check.Result, o reports.Options) error {
	var b bytes.Buffer
	if err := f.format.Write(&b, outcomes, o); err != nil {
		return fmt.Errorf("writing %s: %w", f.file, err)
	}
	if err := writeWhole(a.path(f.file), b.Bytes()); err != nil {
		return fmt.Errorf("writing %s: %w", f.file, err)
	}
	return nil
}
