package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"toolbench/sim/cassette"
)

// FileError is what is wrong with a scenario's file, where, and what to do.
type FileError struct {
	File         string
	Line, Column int
	Problem      string
	Remedy       string
}

func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(cassette.Printable(e.File)) // a file may have any name
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": " + e.Problem)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// nodeError is a problem of one node, on its way to becoming a FileError.
type nodeError struct {
	line, column int
	err          error
}

func (e *nodeError) Error() string { return e.err.Error() }

func (e *nodeError) Unwrap() error { return e.err }

func problem(n ast.Node, err error) error {
	e := &nodeError{err: err}
	if t := n.GetToken(); t != nil && t.Position != nil {
		e.line, e.column = t.Position.Line, t.Position.Column
	}
	return e
}

// InFile words an error of [Tree] or [Strict] for people, and finds the place.
func InFile(file string, err error) *FileError {
	out := &FileError{File: file, Problem: err.Error()}
	var own *nodeError
	var lib yaml.Error
	switch {
	case errors.As(err, &own):
		out.Line, out.Column, out.Problem = own.line, own.column, own.err.Error()
	case errors.As(err, &lib):
		if t := lib.GetToken(); t != nil && t.Position != nil {
			out.Line, out.Column = t.Position.Line, t.Position.Column
		}
		out.Problem = lib.GetMessage()
		if kind, ok := lib.(*yaml.TypeError); ok {
			out.Problem = yamlName(kind.SrcType) + " was used where " + yamlName(kind.DstType) + " is expected"
		}
	}
	out.Remedy = remedy(err, out)
	return out
}

// yamlName is what YAML calls the kind of a value in Go, nil being that of none.
func yamlName(t reflect.Type) string {
	if t == nil {
		return "null"
	}
	named := map[reflect.Kind]string{reflect.Slice: "sequence", reflect.Map: "mapping", reflect.Struct: "mapping"}
	return cmp.Or(named[t.Kind()], t.Kind().String())
}

func remedy(err error, e *FileError) string {
	var unknown *yaml.UnknownFieldError
	var twice *yaml.DuplicateKeyError
	var kind *yaml.TypeError
	var node *yaml.UnexpectedNodeTypeError
	var syntax *yaml.SyntaxError
	switch {
	case errors.Is(err, errTooMuch):
		return "write it out in less, without aliases of aliases"
	case errors.As(err, &unknown):
		return nearestKey(e.Problem)
	case errors.As(err, &twice) || strings.Contains(e.Problem, "already defined"):
		return "keep one of the two"
	case errors.As(err, &kind) || errors.As(err, &node):
		return "see `toolbench schema scenario` for what belongs here"
	case errors.As(err, &syntax):
		switch {
		case strings.HasPrefix(e.Problem, "tab character"), strings.Contains(e.Problem, "'\t'"):
			return "YAML is indented with spaces; put them in place of the tab"
		case strings.HasPrefix(e.Problem, "mapping value is not allowed"):
			return "a text with a colon and a space in it stands in quotes"
		case strings.HasSuffix(e.File, ".jsonl") || strings.HasSuffix(e.File, ".ndjson"):
			return "a scenario is a file in YAML; `toolbench replay` and `toolbench init --from` take recordings"
		}
		return "the file is not valid YAML from there on; is it cut off?"
	}
	return ""
}

// places are where the keys of a file stand, by their paths: "expect.batches",
// "expect.files./repo/a.go". Those of a case that must fail have its own path in front.
type places struct {
	at  map[string]place
	own string // "must_fail.3.", or "" for the scenario itself
}

type place struct {
	line, column int
	// value is nil once the file was validated.
	value ast.Node
}

func (p places) walk(at string, n ast.Node) {
	switch v := n.(type) {
	case *ast.MappingNode:
		for _, m := range v.Values {
			p.walk(at, m)
		}
	case *ast.MappingValueNode:
		p.add(join(at, v.Key.GetToken().Value), v.Key, v.Value)
	case *ast.SequenceNode:
		for i, m := range v.Values {
			p.add(join(at, strconv.Itoa(i)), m, m)
		}
	case *ast.AnchorNode:
		p.walk(at, v.Value)
	}
}

func (p places) add(path string, key, value ast.Node) {
	if pos := key.GetToken().Position; pos != nil {
		p.at[path] = place{pos.Line, pos.Column, value}
	}
	p.walk(path, value)
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// written is where the value of a path stands. A result may be written as its status
// alone, and what becomes of a file as one word or in full.
func (p places) written(path string) place {
	if whole, ok := p.at[path+".is"]; ok {
		return whole
	}
	if at, ok := p.at[path]; ok {
		return at
	}
	return p.at[strings.TrimSuffix(path, ".status")]
}

// find finds a path. A case has expectations of its own alone, and else what the scenario has in
// place of what it leaves out.
func (p places) find(path string) (place, bool) {
	pl, ok := p.at[p.own+path]
	if !ok && p.own != "" && !strings.HasPrefix(path, "expect") {
		if strings.HasPrefix(path, "must_fail") {
			path = strings.TrimSuffix(p.own, ".")
		}
		pl, ok = p.at[path]
	}
	return pl, ok
}

// of finds a path or the nearest one above it.
func (p places) of(key string) place {
	for {
		if pl, ok := p.find(key); ok {
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

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// nearestKey proposes a key of the format for one that is not.
func nearestKey(message string) string {
	m := unknownField.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	keys := keys()
	if homes := keys[m[1]]; len(homes) > 0 {
		return "it belongs " + strings.Join(homes[:min(len(homes), 3)], ", or ")
	}
	return cmp.Or(nearest(m[1], slices.Sorted(maps.Keys(keys))), "see `toolbench schema scenario` for the keys there are")
}

// keys gives every key of the format with the places where it belongs, in words.
func keys() map[string][]string {
	homes := map[string][]string{}
	var walk func(t reflect.Type, path string)
	walk = func(t reflect.Type, path string) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for f := range t.Fields() {
			switch name := f.Tag.Get("yaml"); {
			case name == ",inline":
				walk(f.Type, path)
			case name == "" || name == "-":
			case path == "":
				homes[name] = append(homes[name], "at the top of the file")
				walk(f.Type, name)
			default:
				homes[name] = append(homes[name], "under "+path)
				walk(f.Type, path+"."+name)
			}
		}
	}
	walk(reflect.TypeFor[Scenario](), "")
	return homes
}

// settingsFile is a project's file of flags, which lies beside scenarios.
const settingsFile = "toolbench.yaml"

// otherFile is what a file is that has nothing of a scenario, and which command takes it;
// nil for one that may be meant as a scenario.
func otherFile(name string, doc ast.Node) *FileError {
	var keys []string
	for _, m := range membersIn(doc) {
		keys = append(keys, m.Key.GetToken().Value)
	}
	has := func(wanted ...string) bool {
		return slices.ContainsFunc(wanted, func(k string) bool { return slices.Contains(keys, k) })
	}
	recorded := fmt.Sprintf("`toolbench replay %s` plays it, and `toolbench init --from %s` makes a scenario of it", name, name)
	what, remedy := "", "see `toolbench schema scenario` for what a scenario has; `toolbench init` writes one, and `toolbench replay` takes recordings"
	switch {
	case len(keys) == 0 || has("name", "about", "stream"):
		return nil
	case has("interactions", "http_interactions"):
		what, remedy = "a cassette, that is a recording", recorded
	case has("messages", "log", "events"):
		what, remedy = "what may be a recording", recorded
	case path.Base(name) == settingsFile:
		what, remedy = "a project's file of flags", "`toolbench doctor` shows what it sets"
	default:
		what = "another file, with " + strings.Join(keys[:min(len(keys), 3)], ", ")
	}
	return &FileError{File: name, Line: 1, Column: 1, Problem: "this is no scenario, but " + what, Remedy: remedy}
}

// membersIn are the members of a mapping; nil where the node is none.
func membersIn(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// liesBeside reports whether a file of a folder belongs to scenarios and is none: a
// cassette, or a project's file of flags.
func liesBeside(fsys fs.FS, name string) bool {
	if path.Base(name) == settingsFile {
		return true
	}
	f, err := fsys.Open(name)
	if err != nil {
		return false // the error comes when it is loaded
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, cassetteHead))
	return err == nil && looksLikeCassette(head)
}

// cassetteHead is how much of a file shows that it is a cassette.
const cassetteHead = 4 << 10
