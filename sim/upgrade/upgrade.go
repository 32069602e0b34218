package upgrade

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"toolbench/sim/scenario"
	"toolbench/sim/secret"
)

// Kind is what a file is.
type Kind string

// The kinds.
const (
	Cassette Kind = "cassette"
	Scenario Kind = "scenario"
)

// Result is a file, lifted.
type Result struct {
	Kind Kind
	// From and To are the format's versions.
	From, To int
	// Old is what was old, a few words each; empty when the file is current.
	Old []string
	// Secrets are what was blanked in a cassette, or stands in a scenario, by place.
	Secrets []secret.Count
	// Text is the file as it is to be; the same as before when nothing is old.
	Text []byte
}

// ErrNeither is wrapped for a file that is no cassette and no scenario.
var ErrNeither = errors.New("it is neither a cassette of go-vcr nor a scenario")

// File lifts one file; the name is for messages. Errors are a *cassette.LoadError or a
// *scenario.FileError, which a newer format is too, or wrap ErrNeither.
func File(name string, data []byte) (Result, error) {
	keys, err := keysOf(data)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, ErrNeither)
	}
	switch {
	case keys["interactions"] != nil:
		return cassetteFile(name, data)
	case keys["name"] != nil && (keys["stream"] != nil || keys["about"] != nil):
		return scenarioFile(name, data, keys)
	}
	return Result{}, fmt.Errorf("%s: %w", name, ErrNeither)
}

// most bounds what is parsed for its keys: the beginning of a cassette says what it is.
const most = 1 << 20

// keysOf gives the members of a file's only document.
func keysOf(data []byte) (map[string]*ast.MappingValueNode, error) {
	if isCassette(data) {
		return map[string]*ast.MappingValueNode{"interactions": {}}, nil
	}
	if len(data) > most {
		return nil, ErrNeither
	}
	file, err := scenario.Tree(data)
	if err != nil {
		return nil, err
	}
	keys := map[string]*ast.MappingValueNode{}
	for _, doc := range file.Docs {
		switch body := doc.Body.(type) {
		case *ast.MappingNode:
			for _, m := range body.Values {
				keys[m.Key.GetToken().Value] = m
			}
		case *ast.MappingValueNode:
			keys[body.Key.GetToken().Value] = body
		}
	}
	return keys, nil
}

// isCassette reports the member that only recorders' files have.
func isCassette(data []byte) bool {
	return bytes.HasPrefix(data, []byte("interactions:")) || bytes.Contains(data, []byte("\ninteractions:"))
}
