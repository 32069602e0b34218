package scenario

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"toolbench/toolsys/search"
)

// Texts is a list of texts; in a file one text may stand by itself.
type Texts []string

// UnmarshalYAML reads a list or a single text.
func (t *Texts) UnmarshalYAML(n ast.Node) error {
	if _, ok := n.(*ast.SequenceNode); ok {
		return yaml.NodeToValue(n, (*[]string)(t))
	}
	text, err := scalar(n)
	if err != nil {
		return err
	}
	*t = Texts{text}
	return nil
}

// UnmarshalYAML reads a catalogue's name or the whole server.
func (s *Server) UnmarshalYAML(n ast.Node) error {
	type whole Server
	return shorthand(n, (*whole)(s), &s.Catalogue)
}

// UnmarshalYAML reads a word ("unchanged") or the whole expectation.
func (f *FileExpect) UnmarshalYAML(n ast.Node) error {
	type whole FileExpect
	return shorthand(n, (*whole)(f), &f.Is)
}

// UnmarshalYAML reads a status or the whole expectation.
func (a *Answer) UnmarshalYAML(n ast.Node) error {
	type whole Answer
	return shorthand(n, (*whole)(a), &a.Status)
}

// UnmarshalYAML reads "recorded" or a pace.
func (p *Pace) UnmarshalYAML(n ast.Node) error {
	type whole Pace
	var word string
	if err := shorthand(n, (*whole)(p), &word); err != nil {
		return err
	}
	p.set = word == ""
	if word != "" && word != "recorded" {
		return problem(n, errPace)
	}
	return nil
}

// shorthand reads a mapping into whole, strictly, or a single value into word.
func shorthand(n ast.Node, whole any, word *string) error {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return yaml.NodeToValue(n, whole, yaml.Strict())
	}
	text, err := scalar(n)
	*word = text
	return err
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// nearestKey proposes a key of the format for one that is not.
func nearestKey(message string) string {
	m := unknownField.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	near := search.Nearest(m[1], keys(), nil, 1)
	if len(near) == 0 {
		return "see `toolbench schema scenario` for the keys there are"
	}
	return "did you mean " + near[0] + "?"
}

// keys lists every key of the format, sorted.
func keys() []string {
	seen := map[string]bool{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for f := range t.Fields() {
			if name := f.Tag.Get("yaml"); name != "" && name != "-" && !seen[name] {
				seen[name] = true
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[Scenario]())
	var out []string
	for k := range seen {
		out = append(out, strings.Split(k, ",")[0])
	}
	slices.Sort(out)
	return out
}
