package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// places tells where each key of a file stands, by its path: "expect.batches",
// "expect.files./repo/a.go".
type places map[string]place

type place struct{ line, column int }

func placesOf(root ast.Node) places {
	p := places{}
	p.walk("", root)
	return p
}

func (p places) walk(at string, n ast.Node) {
	switch v := n.(type) {
	case *ast.MappingNode:
		for _, m := range v.Values {
			p.walk(at, m)
		}
	case *ast.MappingValueNode:
		key := join(at, v.Key.GetToken().Value)
		if pos := v.Key.GetToken().Position; pos != nil {
			p[key] = place{pos.Line, pos.Column}
		}
		p.walk(key, v.Value)
	case *ast.SequenceNode:
		for i, m := range v.Values {
			key := join(at, strconv.Itoa(i))
			if pos := m.GetToken().Position; pos != nil {
				p[key] = place{pos.Line, pos.Column}
			}
			p.walk(key, m)
		}
	case *ast.AnchorNode:
		p.walk(at, v.Value)
	}
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// of finds a path or the nearest one above it.
func (p places) of(key string) place {
	for {
		if pl, ok := p[key]; ok {
			return pl
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return place{}
		}
		key = key[:i]
	}
}

// At words the place of a key: "name.yaml:12".
func (sc *Scenario) At(key string) string {
	pl := sc.places.of(key)
	if pl.line == 0 {
		return sc.file
	}
	return fmt.Sprintf("%s:%d", sc.file, pl.line)
}

// ErrorAt is a problem of the file at a key: "world.tools.2".
func (sc *Scenario) ErrorAt(key, problem, remedy string) *FileError {
	pl := sc.places.of(key)
	return &FileError{File: sc.file, Line: pl.line, Column: pl.column, Problem: problem, Remedy: remedy}
}

// File is where the scenario stands.
func (sc *Scenario) File() string { return sc.file }

// Cassette is the cassette's name as the file has it, "" when there is none.
func (sc *Scenario) Cassette() string { return sc.Stream.Cassette }
