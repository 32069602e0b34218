package upgrade

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"toolbench/sim/scenario"
	"toolbench/sim/secret"
)

func scenarioFile(name string, data []byte, keys map[string]*ast.MappingValueNode) (Result, error) {
	r := Result{Kind: Scenario, From: scenario.FormatVersion, To: scenario.FormatVersion, Text: data}
	if f := keys["format"]; f != nil {
		version, err := strconv.Atoi(f.Value.GetToken().Value)
		if at := f.Value.GetToken().Position; err == nil && version > scenario.FormatVersion {
			return r, &scenario.FileError{File: name, Line: at.Line, Column: at.Column,
				Problem: fmt.Sprintf("format %d is newer than this program, which knows up to %d", version, scenario.FormatVersion), Remedy: "use a newer toolbench"}
		}
	} else {
		r.Old = []string{"no format"}
		r.Text = slices.Insert(slices.Clone(data), firstKey(data, keys), fmt.Appendf(nil, "format: %d\n", scenario.FormatVersion)...)
	}
	r.Secrets = secretsOf(data)
	_, err := scenario.Parse(name, r.Text)
	return r, err
}

// secretsOf counts what looks like a secret, by line.
func secretsOf(text []byte) []secret.Count {
	var all []secret.Count
	finder, n := secret.New(), 0
	for line := range strings.Lines(string(text)) {
		n++
		var tally secret.Tally
		finder.Text(line, tally.At(fmt.Sprintf("line %d", n)))
		all = append(all, tally.Counts()...)
	}
	return all
}

// firstKey is where the line of the first member begins: what is said above it stays
// above.
func firstKey(data []byte, keys map[string]*ast.MappingValueNode) int {
	line := len(data)
	for _, k := range keys {
		line = min(line, k.Key.GetToken().Position.Line)
	}
	at := 0
	for range line - 1 {
		for data[at] != '\n' {
			at++
		}
		at++
	}
	if at == 0 && bytes.HasPrefix(data, []byte("\ufeff")) {
		return len("\ufeff") // a byte order mark stays first
	}
	return at
}
