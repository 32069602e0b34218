package cli

import (
	"bytes"
	"fmt"
	"strings"

	"toolbench/reports"
	"toolbench/sim/scenario"
)

// outputs are where reports go: at most one to the screen, others to files.
type outputs struct {
	screen *reports.Format
	files  []fileOutput
}

type fileOutput struct {
	format reports.Format
	file   string
}

// parseOutputs reads "FORMAT" and "FORMAT=FILE".
func parseOutputs(words []string) (outputs, error) {
	var outs outputs
	for _, word := range words {
		name, file, toFile := strings.Cut(word, "=")
		format, ok := formatOf(name)
		switch {
		case !ok:
			return outs, usage("--format %q is unknown: use %s", name, strings.Join(formatNames(), ", "))
		case toFile && file == "":
			return outs, usage("--format %q names no file after the =", word)
		case toFile:
			outs.files = append(outs.files, fileOutput{format, file})
		case outs.screen != nil:
			return outs, usage("--format %s and %s cannot both go to the standard output; send one to a file: %s=FILE", outs.screen.Name, name, name)
		default:
			outs.screen = &format
		}
	}
	return outs, nil
}

func formatOf(name string) (reports.Format, bool) {
	for _, f := range reports.Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return reports.Format{}, false
}

func formatNames() []string {
	var names []string
	for _, f := range reports.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func (f fileOutput) write(outcomes []scenario.Outcome, o reports.Options) error {
	var b bytes.Buffer
	if err := f.format.Write(&b, outcomes, o); err != nil {
		return fmt.Errorf("writing %s: %w", f.file, err)
	}
	if err := writeWhole(f.file, b.Bytes()); err != nil {
		return fmt.Errorf("writing %s: %w", f.file, err)
	}
	return nil
}
