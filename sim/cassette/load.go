package cassette

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits keeps a hostile or damaged file from exhausting memory. A zero member means its default.
type Limits struct {
	Bytes int64 // of the file, and of its texts with aliases expanded; 64 MiB. Four times as much of request bodies that are written in part
	Nodes int   // YAML nodes with aliases expanded; 1,000,000
	Depth int   // of nesting; 100
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Bytes: cmp.Or(max(0, l.Bytes), 64<<20),
		Nodes: cmp.Or(max(0, l.Nodes), 1_000_000),
		Depth: cmp.Or(max(0, l.Depth), 100),
	}
}

// LoadFile reads the named cassette of a filesystem: see Load.
func LoadFile(fsys fs.FS, name string, limits Limits) (*Cassette, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &LoadError{File: name, Kind: ErrMissing, Problem: "there is no such cassette", Remedy: "check the name, or record it first", Cause: err}
	}
	if err != nil {
		return nil, &LoadError{File: name, Kind: ErrInvalid, Problem: "cannot be opened", Remedy: "check its permissions", Cause: err}
	}
	defer f.Close()
	return Load(name, f, limits)
}

// Load reads a cassette as go-vcr writes it: format 1 (v1, v2) or 2 (v3, v4), with an empty duration, with !!binary
// bodies (O2). The name is for messages. Every error is a *LoadError.
func Load(name string, r io.Reader, limits Limits) (*Cassette, error) {
	l := loader{file: name, limits: limits.withDefaults()}
	raw, err := l.read(r)
	if err != nil {
		return nil, err
	}
	root, err := l.parse(raw)
	if err != nil {
		return nil, err
	}
	return l.cassette(root)
}

type loader struct {
	file   string
	limits Limits
	nodes  int   // seen so far, aliases expanded
	bytes  int64 // of the scalars among them
	bodies Bodies
	shared int64 // bytes of bodies that were written in part
}

func (l *loader) fail(kind error, problem, remedy string) *LoadError {
	return &LoadError{File: l.file, Kind: kind, Problem: problem, Remedy: remedy}
}

// failAt is fail at a node's place.
func (l *loader) failAt(n *yaml.Node, kind error, problem, remedy string) *LoadError {
	e := l.fail(kind, problem, remedy)
	e.Line, e.Column = n.Line, n.Column
	return e
}

func (l *loader) read(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, l.limits.Bytes+1))
	switch {
	case err != nil:
		e := l.fail(ErrInvalid, "cannot be read", "check that it is a file and its permissions")
		e.Cause = err
		return nil, e
	case int64(len(raw)) > l.limits.Bytes:
		return nil, l.fail(ErrTooLarge, fmt.Sprintf("is larger than the limit of %d bytes", l.limits.Bytes), "split it, or raise the limit")
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, l.fail(ErrEmpty, "is empty", restore)
	case bytes.HasPrefix(raw, []byte{0x1f, 0x8b}):
		return nil, l.fail(ErrBinary, "is compressed with gzip", "unpack it first")
	case bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw):
		return nil, l.fail(ErrBinary, "is a binary file, not YAML", "name a go-vcr cassette")
	}
	return settled(raw), nil
}

// parse reads the one YAML document and measures it.
func (l *loader) parse(raw []byte) (*yaml.Node, error) {
	if a, ok := setAside(raw); ok {
		if root, err := l.document(a.short); err == nil && a.restore(root) {
			return root, l.measure(root, 0)
		}
	}
	root, err := l.document(raw) // also for the words of an error
	if err != nil {
		return nil, err
	}
	return root, l.measure(root, 0)
}

// document reads the one YAML document.
func (l *loader) document(raw []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, l.fail(ErrEmpty, "holds nothing but comments", restore)
	case err != nil:
		return nil, l.syntax(raw, err)
	}
	root := doc.Content[0]
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, l.failAt(&second, ErrNotCassette, "holds several YAML documents"+looksLike(root), "a cassette is one document with a list of interactions")
	case !errors.Is(err, io.EOF):
		return nil, l.syntax(raw, err)
	}
	return root, nil
}

// mostKeys bounds the keys of one mapping, each of which the library compares with every other one.
const mostKeys = 1000

// measure counts the nodes as if aliases were written out, so that a small file cannot stand for a huge one.
func (l *loader) measure(n *yaml.Node, depth int) error {
	l.nodes++
	l.bytes += int64(len(n.Value))
	switch {
	case l.nodes > l.limits.Nodes:
		return l.failAt(n, ErrTooLarge, fmt.Sprintf("expands to more than %d YAML nodes", l.limits.Nodes), "go-vcr writes no aliases: "+recordAgain)
	case depth > l.limits.Depth:
		return l.failAt(n, ErrTooLarge, fmt.Sprintf("is nested deeper than %d levels", l.limits.Depth), recordAgain)
	case l.bytes > l.limits.Bytes:
		return l.failAt(n, ErrTooLarge, fmt.Sprintf("expands to more than %d bytes", l.limits.Bytes), "go-vcr writes no aliases: "+recordAgain)
	case n.Kind == yaml.MappingNode && len(n.Content) > 2*mostKeys:
		return l.failAt(n, ErrTooLarge, fmt.Sprintf("has more than %d keys in one mapping", mostKeys), recordAgain)
	case n.Kind == yaml.AliasNode:
		return l.measure(n.Alias, depth+1)
	}
	for _, c := range n.Content {
		if err := l.measure(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

var yamlPlace = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// Misread is the line at which a text stops being YAML, from 1, and why. The library's own line
// is one too low where its parser fails, and often only that of the mapping around the mistake.
func Misread(raw []byte, err error) (line int, why string) {
	lines := slices.Collect(bytes.Lines(bytes.TrimRight(raw, "\n")))
	place := yamlPlace.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(place[1])
	cut := func(n int) error { return yaml.Unmarshal(bytes.Join(lines[:n], nil), new(yaml.Node)) }
	if len(raw) <= mostSought {
		// Where a text of several lines is cut, it is no YAML either, but for another reason.
		line = 1 + sort.Search(len(lines)-1, func(n int) bool { e := cut(n + 1); return e != nil && e.Error() == err.Error() })
		for n := 1; n < min(line, mostBack); n++ { // a bracket that is not closed shows some lines behind it
			if cut(line-n) == nil {
				line -= n - 1
				break
			}
		}
	}
	return max(1, min(line, len(lines))), err.Error()[len(place[0]):]
}

// mostSought is how many bytes are read again and again for the line: of more, the library's is named. mostBack is how
// many lines in front of it may be the one.
const mostSought, mostBack = 1 << 20, 8

// syntax words a YAML error. The column is where the line's text begins.
func (l *loader) syntax(raw []byte, err error) *LoadError {
	e := l.fail(ErrSyntax, "is not valid YAML", "repair the line, or "+restore)
	line, why := Misread(raw, err)
	e.Line, e.Cause = line, errors.New(why)
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	if line == len(lines) && !strings.Contains(why, "expected key") { // which is how a slip shows, and no cut
		e.Kind, e.Problem, e.Remedy = ErrTruncated, "is cut off in the middle", restore
	}
	e.Column = len(lines[line-1]) - len(strings.TrimLeft(lines[line-1], " ")) + 1
	return e
}

// The kinds of LoadError, for errors.Is.
var (
	ErrMissing     = errors.New("no such cassette")
	ErrEmpty       = errors.New("empty cassette")
	ErrBinary      = errors.New("binary file")
	ErrTooLarge    = errors.New("cassette over a limit")
	ErrTruncated   = errors.New("truncated cassette")
	ErrSyntax      = errors.New("invalid YAML")
	ErrNotCassette = errors.New("not a go-vcr cassette") // perhaps another recorder's file
	ErrInvalid     = errors.New("invalid cassette")
)

// LoadError is what is wrong with a cassette, where, and what to do (O9).
type LoadError struct {
	File         string
	Line, Column int    // from 1; 0 where the place is the file as such
	Problem      string // what was found
	Remedy       string // what to do about it
	Kind         error  // one of the sentinels above
	Cause        error  // the error of a library, or nil
}

// Error gives "file:line:column: problem: cause; remedy".
func (e *LoadError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, max(e.Column, 1))
	}
	b.WriteString(": " + e.Problem)
	if e.Cause != nil {
		b.WriteString(": " + e.Cause.Error())
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Unwrap gives the kind and the cause.
func (e *LoadError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

const (
	recordAgain = "record it again"
	restore     = "restore it from version control or record it again"
)
