package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"toolbench/fixtures"
	"toolbench/sim/cassette"
)

// Limits of one scenario's file. A scenario is written by hand; what is larger
// is a mistake or an attack.
const (
	MaxFileBytes = 1 << 20
	maxNodes     = 1_000_000
	maxDepth     = 200
)

var (
	errTooMuch = errors.New("the document is too much")
	errTooDeep = fmt.Errorf("%w: it is nested more than %d deep", errTooMuch, maxDepth)
)

// Load reads one scenario. Errors are *FileError.
func Load(fsys fs.FS, name string) (*Scenario, error) {
	data, err := read(fsys, name)
	if err != nil {
		return nil, err
	}
	sc, err := Parse(name, data)
	if err != nil {
		return nil, err
	}
	sc.fsys = fsys
	return sc, nil
}

// Parse reads a scenario from memory; name is used in messages and to find what
// the scenario points to.
func Parse(name string, data []byte) (*Scenario, error) {
	doc, err := document(name, data)
	if err != nil {
		return nil, err
	}
	if other := otherFile(name, doc); other != nil {
		return nil, other
	}
	sc := &Scenario{file: name, dir: path.Dir(name)}
	sc.recording = sync.OnceValues(sc.readRecording)
	if err := Strict(doc, sc); err != nil {
		return nil, InFile(name, err)
	}
	sc.places, sc.named = places{at: map[string]place{}}, sc.mentions()
	sc.places.walk("", doc)
	if err := sc.validate(); err != nil {
		return nil, err
	}
	for path, at := range sc.places.at { // without the values: each keeps the tree of the whole file in memory
		sc.places.at[path] = place{line: at.line, column: at.column}
	}
	return sc, nil
}

func read(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, &FileError{File: name, Problem: plainly(err), Remedy: "check the path"}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	switch {
	case err != nil:
		return nil, &FileError{File: name, Problem: plainly(err)}
	case len(data) > MaxFileBytes && looksLikeCassette(data[:cassetteHead]):
		return []byte("interactions: []"), nil // what it is matters more than its size
	case len(data) > MaxFileBytes:
		return nil, &FileError{File: name, Problem: fmt.Sprintf("the file is larger than %d bytes", MaxFileBytes),
			Remedy: "move large trees and streams into files of their own"}
	}
	return data, nil
}

// plainly drops the operation and the path, which the message has already.
func plainly(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// byteOrderMark is what some editors put before a text.
var byteOrderMark = []byte("\ufeff")

func document(name string, data []byte) (ast.Node, error) {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, &FileError{File: name, Problem: "the file is empty", Remedy: "start from the example in the README"}
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return nil, &FileError{File: name, Problem: "the file is binary, not YAML", Remedy: "a scenario is a UTF-8 text file"}
	}
	file, err := Tree(data)
	if err != nil {
		return nil, InFile(name, err)
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) != 1 {
		return nil, &FileError{File: name, Problem: fmt.Sprintf("the file holds %d documents", len(docs)), Remedy: "write one scenario a file"}
	}
	if kind := docs[0].Body.Type(); kind != ast.MappingType && kind != ast.MappingValueType {
		return nil, &FileError{File: name, Line: 1, Column: 1, Problem: "a scenario is a mapping of keys to values", Remedy: "begin with `name:`"}
	}
	return docs[0].Body, nil
}

// Tree parses YAML, unless it is nested deeper than a scenario may be or grows too large with its
// aliases written out. A byte order mark is no part of it. [InFile] words its errors.
func Tree(data []byte) (*ast.File, error) {
	tokens := lexer.Tokenize(strings.ReplaceAll(string(bytes.TrimPrefix(data, byteOrderMark)), "\r\n", "\n")) // which counts a comment's end twice otherwise
	if deep := tooDeep(tokens); deep != nil {
		return nil, &nodeError{deep.Position.Line, deep.Position.Column, errTooDeep}
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, err
	}
	c := measure{anchors: map[string]size{}}
	for _, doc := range file.Docs {
		c.of(doc.Body, 0)
	}
	return file, c.err
}

// tooDeep gives the first token that is nested deeper than a scenario may be, or nil. It
// looks before the parser does, which calls itself at each level until memory ends. In
// brackets each opening one is a level, and each tag, anchor or key before a value; in
// block style each column further to the right.
func tooDeep(tokens token.Tokens) *token.Token {
	var columns []int
	brackets, marks := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.CommentType, token.SpaceType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			brackets, marks = brackets+1, 0
		case token.SequenceEndType, token.MappingEndType:
			brackets, marks = max(0, brackets-1), 0
		case token.CollectEntryType:
			marks = 0
		case token.TagType, token.AnchorType, token.MappingKeyType, token.MappingValueType:
			marks++
		}
		if brackets == 0 {
			marks = 0
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, t.Position.Column)
		}
		if len(columns)+brackets+marks > maxDepth {
			return t
		}
	}
	return nil
}

// measure finds what a document would be with every alias written out, and why that is too much.
type measure struct {
	anchors map[string]size
	err     error
}

// size is how many values there are, long texts counting as several, and how deep they lie.
type size struct{ values, depth int }

func (m *measure) of(n ast.Node, depth int) size {
	if n == nil || m.err != nil {
		return size{}
	}
	all := size{values: 1}
	add := func(inner size) {
		all.values += inner.values
		all.depth = max(all.depth, inner.depth+1)
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		for _, member := range v.Values {
			add(m.of(member, depth+1))
		}
	case *ast.MappingValueNode:
		add(m.of(v.Key, depth+1))
		add(m.of(v.Value, depth+1))
	case *ast.SequenceNode:
		for _, element := range v.Values {
			add(m.of(element, depth+1))
		}
	case *ast.AnchorNode:
		add(m.of(v.Value, depth+1))
		m.anchors[v.Name.GetToken().Value] = all
	case *ast.AliasNode:
		add(m.anchors[v.Value.GetToken().Value])
	case *ast.TagNode:
		add(m.of(v.Value, depth+1))
	case ast.ScalarNode:
		all.values += len(v.GetToken().Value) / 64
	}
	switch {
	case m.err != nil:
	case depth+all.depth > maxDepth:
		m.err = problem(n, errTooDeep)
	case all.values > maxNodes:
		m.err = problem(n, fmt.Errorf("%w: it grows beyond %d values, its aliases written out", errTooMuch, maxNodes))
	}
	return all
}

// Strict decodes a node in which no other keys may stand than those of out. Of several that are
// unknown the first in the file is the error; the library names one by chance.
func Strict(n ast.Node, out any) error {
	asWritten(n, reflect.TypeOf(out))
	var first error
	var at *token.Position
	for {
		err := yaml.NodeToValue(n, out, yaml.Strict())
		unknown, is := errors.AsType[*yaml.UnknownFieldError](err)
		switch {
		case first == nil && !is:
			return err
		case first != nil && (!is || !before(unknown.Token.Position, at)):
			return first
		}
		first, at = err, unknown.Token.Position
		ast.Walk(cut{at}, n)
	}
}

// asWritten gives a node for a value of a type, in which a number or a truth value that stands for a
// text is that text, as somebody wrote it: the library would make 1.1 of the version 1.10.
func asWritten(n ast.Node, t reflect.Type) ast.Node {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		if t.Kind() == reflect.String {
			return ast.String(n.GetToken())
		}
	case *ast.TagNode:
		v.Value = asWritten(v.Value, t)
	case *ast.AnchorNode:
		v.Value = asWritten(v.Value, t)
	case *ast.SequenceNode:
		for i := 0; i < len(v.Values) && t.Kind() == reflect.Slice; i++ {
			v.Values[i] = asWritten(v.Values[i], t.Elem())
		}
	}
	for _, m := range membersIn(n) {
		switch t.Kind() {
		case reflect.Map:
			m.Key, _ = asWritten(m.Key, t.Key()).(ast.MapKeyNode)
			m.Value = asWritten(m.Value, t.Elem())
		case reflect.Struct:
			if of := typesOf(t)[m.Key.GetToken().Value]; of != nil {
				m.Value = asWritten(m.Value, of)
			}
		}
	}
	return n
}

// memberTypes has, by the type of a struct, the types of its members by their names in a file.
var memberTypes sync.Map

func typesOf(t reflect.Type) map[string]reflect.Type {
	if known, ok := memberTypes.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	types := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		types[name] = f.Type
	}
	memberTypes.Store(t, types)
	return types
}

// cut takes from a tree what begins at a place of the file or behind it.
type cut struct{ at *token.Position }

// Visit implements ast.Visitor.
func (c cut) Visit(n ast.Node) ast.Visitor {
	switch v := n.(type) {
	case *ast.MappingNode:
		v.Values = slices.DeleteFunc(v.Values, func(m *ast.MappingValueNode) bool { return !before(m.Key.GetToken().Position, c.at) })
	case *ast.SequenceNode:
		v.Values = slices.DeleteFunc(v.Values, func(e ast.Node) bool { return !before(e.GetToken().Position, c.at) })
	}
	return c
}

func before(a, b *token.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}

// Find loads every scenario under the given paths; a folder stands for all .yaml
// and .yml files below it. What cannot be read is in the errors, the rest is
// loaded all the same.
func Find(fsys fs.FS, paths ...string) ([]*Scenario, []error) {
	var all []*Scenario
	var errs []error
	for _, p := range paths {
		found, bad := findOne(fsys, path.Clean(p))
		all, errs = append(all, found...), append(errs, bad...)
	}
	return all, append(errs, sameNames(all)...)
}

func findOne(fsys fs.FS, root string) ([]*Scenario, []error) {
	info, err := fs.Stat(fsys, root)
	if err != nil {
		return nil, []error{&FileError{File: root, Problem: plainly(err), Remedy: "check the path"}}
	}
	if !info.IsDir() {
		return load(fsys, []string{root})
	}
	var files []string
	var unread []error
	err = fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unread = append(unread, &FileError{File: p, Problem: plainly(err)}) // what is beside it is read all the same
		case d.IsDir() && p != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir // .git, .github
		case !d.IsDir() && isScenario(p) && !liesBeside(fsys, p):
			files = append(files, p)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, []error{&FileError{File: root, Problem: plainly(err)}}
	case len(files) == 0 && len(unread) == 0:
		return nil, []error{&FileError{File: root, Problem: "there is no scenario in this folder", Remedy: "scenarios end in .yaml or .yml"}}
	}
	all, errs := load(fsys, files)
	return all, append(unread, errs...)
}

// isScenario reports whether a file is a scenario: cassettes are YAML as well and live beside.
func isScenario(p string) bool {
	ext := path.Ext(p)
	return (ext == ".yaml" || ext == ".yml") && !slices.Contains(strings.Split(path.Dir(p), "/"), "cassettes")
}

// load reads the files on all processors: parsing a suite takes a fifth of running it.
func load(fsys fs.FS, files []string) ([]*Scenario, []error) {
	read, failed, broke := make([]*Scenario, len(files)), make([]error, len(files)), make([]any, len(files))
	one := func(i int) {
		defer func() { broke[i] = recover() }()
		read[i], failed[i] = Load(fsys, files[i])
	}
	var readers sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				one(i)
			}
		})
	}
	readers.Wait()
	for _, v := range broke {
		if v != nil {
			panic(v) // who called can report it; on a reader's goroutine nobody could
		}
	}
	var all []*Scenario
	var errs []error
	for i, sc := range read {
		if failed[i] != nil {
			errs = append(errs, failed[i])
			continue
		}
		all = append(all, sc)
	}
	return all, errs
}

func sameNames(all []*Scenario) []error {
	var errs []error
	first := map[string]string{}
	for _, sc := range all {
		if other, taken := first[sc.Name]; taken && other != sc.file {
			errs = append(errs, sc.ErrorAt("name", fmt.Sprintf("the name %q is taken by %s", sc.Name, other), "names are unique"))
			continue
		}
		first[sc.Name] = sc.file
	}
	return errs
}

// Resource finds a file a scenario points to: beside the scenario, then from the
// root of where it was loaded, then among the fixtures.
func (sc *Scenario) Resource(name string) (fs.FS, string, error) {
	for _, c := range []struct {
		fsys fs.FS
		path string
	}{{sc.fsys, path.Join(sc.dir, name)}, {sc.fsys, name}, {fixtures.Files, name}} {
		if c.fsys == nil || !fs.ValidPath(c.path) {
			continue
		}
		_, err := fs.Stat(c.fsys, c.path)
		if err == nil {
			return c.fsys, c.path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("%s does not exist, neither beside the scenario nor among the fixtures", name)
}

// Recording is the cassette that the model answers from. It is read once, however often the
// scenario and its cases that must fail are played: that takes a third of what a play does
// under the race detector.
func (sc *Scenario) Recording() (*cassette.Cassette, error) { return sc.recording() }

func (sc *Scenario) readRecording() (*cassette.Cassette, error) {
	fsys, name, err := sc.Resource(sc.Stream.Cassette)
	if err != nil {
		return nil, sc.ErrorAt("stream.cassette", err.Error(), "record it, or check the name")
	}
	c, err := cassette.LoadFile(fsys, name, cassette.Limits{})
	if err != nil {
		return nil, sc.ErrorAt("stream.cassette", err.Error(), "")
	}
	return c, nil
}

// Open reads a resource whole; key is where the scenario names it.
func (sc *Scenario) Open(key, name string) ([]byte, error) {
	fsys, p, err := sc.Resource(name)
	if err != nil {
		return nil, sc.ErrorAt(key, err.Error(), "check the name; paths are relative to the scenario")
	}
	data, err := fs.ReadFile(fsys, p)
	if err != nil {
		return nil, sc.ErrorAt(key, plainly(err), "")
	}
	return data, nil
}

// CassetteFile is the content of the scenario's cassette, nil when it names none.
// Errors are *FileError.
func (sc *Scenario) CassetteFile() ([]byte, error) {
	if sc.Stream.Cassette == "" {
		return nil, nil
	}
	return sc.Open("stream.cassette", sc.Stream.Cassette)
}

// Cassette is the cassette's name as the file has it, "" when there is none.
func (sc *Scenario) Cassette() string { return sc.Stream.Cassette }
