package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits keeps a hostile or damaged file from exhausting memory. A zero member
// means its default.
type Limits struct {
	Bytes int64 // of the file, and of its texts with aliases expanded; 64 MiB
	Nodes int   // YAML nodes with aliases expanded; 1,000,000
	Depth int   // of nesting; 100
}

func (l Limits) withDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	if l.Nodes <= 0 {
		l.Nodes = 1_000_000
	}
	if l.Depth <= 0 {
		l.Depth = 100
	}
	return l
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

// Load reads a cassette as go-vcr writes it: format 1 (v1, v2) or 2 (v3, v4),
// with an empty duration, with !!binary bodies (O2). The name is for messages.
// Every error is a *LoadError.
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
	return raw, nil
}
