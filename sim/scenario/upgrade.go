package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"toolbench/sim/cassette"
	"toolbench/sim/secret"
)

// FileKind is what a file is.
type FileKind string

// The kinds.
const (
	KindCassette FileKind = "cassette"
	KindScenario FileKind = "scenario"
)

// Upgraded is a file, lifted.
type Upgraded struct {
	Kind FileKind
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

// Upgrade lifts a file of an earlier format: a cassette as versions 1 to 4 of go-vcr write
// it, or a scenario; the name is for messages. A cassette gains a duration and event times
// in every response and loses members that replay never used; it is written anew only if
// something in it is old, and must read back as the same recording. A scenario without a
// format line comes from before there was a second format and gains the line. Errors are a *cassette.LoadError or a
// *FileError, which a newer format is too, or wrap ErrNeither.
func Upgrade(name string, data []byte) (Upgraded, error) {
	keys, err := membersOf(data)
	if err != nil {
		return Upgraded{}, fmt.Errorf("%s: %w: %w", name, ErrNeither, InFile(name, err))
	}
	switch {
	case keys["interactions"] != nil:
		return upgradeCassette(name, data)
	case keys["name"] != nil && (keys["stream"] != nil || keys["about"] != nil):
		return upgradeScenario(name, data, keys)
	}
	return Upgraded{}, fmt.Errorf("%s: %w", name, ErrNeither)
}

// maxKeyBytes bounds what is parsed for its keys: the beginning of a cassette identifies it.
const maxKeyBytes = 1 << 20

// membersOf gives the members of a file's only document.
func membersOf(data []byte) (map[string]*ast.MappingValueNode, error) {
	if looksLikeCassette(data) {
		return map[string]*ast.MappingValueNode{"interactions": {}}, nil
	}
	if len(data) > maxKeyBytes {
		return nil, fmt.Errorf("it is longer than the %d bytes that are read of a scenario here", maxKeyBytes)
	}
	file, err := Tree(data)
	if err != nil {
		return nil, err
	}
	keys := map[string]*ast.MappingValueNode{}
	for _, doc := range file.Docs {
		for _, m := range membersIn(doc.Body) {
			keys[m.Key.GetToken().Value] = m
		}
	}
	return keys, nil
}

// looksLikeCassette reports whether data has the member that only recorders' files have.
func looksLikeCassette(data []byte) bool {
	return bytes.HasPrefix(data, []byte("interactions:")) || bytes.Contains(data, []byte("\ninteractions:"))
}

func upgradeScenario(name string, data []byte, keys map[string]*ast.MappingValueNode) (Upgraded, error) {
	r := Upgraded{Kind: KindScenario, From: FormatVersion, To: FormatVersion, Text: data}
	if f := keys["format"]; f != nil {
		version, err := strconv.Atoi(f.Value.GetToken().Value)
		if at := f.Value.GetToken().Position; err == nil && version > FormatVersion {
			return r, &FileError{File: name, Line: at.Line, Column: at.Column,
				Problem: fmt.Sprintf("format %d is newer than this program, which reads up to %d", version, FormatVersion), Remedy: "use a newer toolbench"}
		}
	} else {
		r.Old = []string{"no format"}
		text := bytes.TrimPrefix(data, byteOrderMark) // which stays first
		at, between := firstKey(text, keys)
		r.Text = slices.Insert(slices.Clone(data), len(data)-len(text)+at, fmt.Appendf(nil, "format: %d%s", FormatVersion, between)...)
	}
	r.Secrets = secretsOf(data)
	for _, text := range [][]byte{data, r.Text} { // the file's own comes first, so that an error has its place there
		if _, err := Parse(name, text); err != nil {
			return r, err
		}
	}
	return r, nil
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

// firstKey is where the first member begins, and what goes between it and one before it: what stands above
// it stays above.
func firstKey(data []byte, keys map[string]*ast.MappingValueNode) (at int, between string) {
	var first *token.Token
	for _, k := range keys {
		if t := k.Key.GetToken(); first == nil || t.Position.Offset < first.Position.Offset {
			first = t
		}
	}
	at = offset(first.Position.Line, first.Position.Column, lineOffsets(data), data)
	between = map[bool]string{true: "\r\n", false: "\n"}[bytes.Contains(data, []byte("\r\n"))]
	if before := first.Prev; before != nil && before.Type == token.MappingStartType {
		return at, ", "
	}
	return at, between + strings.Repeat(" ", first.Position.Column-1)
}

// noDuration is how go-vcr v1 writes a duration.
var noDuration = regexp.MustCompile(`(?m)^\s+duration:\s*(""|'')?\s*$`)

func upgradeCassette(name string, data []byte) (Upgraded, error) {
	c, err := cassette.Load(name, bytes.NewReader(data), cassette.Limits{})
	if err != nil {
		return Upgraded{}, err
	}
	r := Upgraded{Kind: KindCassette, From: c.Version, To: cassette.FormatVersion, Old: oldIn(c, data), Text: data}
	r.Secrets = c.Redact(secret.New())
	if n := secret.Total(r.Secrets); n > 0 {
		r.Old = append(r.Old, plural(n, "secret"))
	}
	if len(r.Old) == 0 {
		return r, nil
	}
	text, err := c.YAML()
	if err != nil {
		return Upgraded{}, fmt.Errorf("%s: %w", name, err)
	}
	r.Text = append(leadingComments(data), text...)
	return r, sameCassette(name, c, r.Text)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func oldIn(c *cassette.Cassette, data []byte) []string {
	var old []string
	if c.Version != cassette.FormatVersion {
		old = append(old, fmt.Sprintf("format %d", c.Version))
	}
	if n := len(noDuration.FindAll(data, -1)); n > 0 {
		old = append(old, fmt.Sprintf("%d without a duration", n))
	}
	bare := 0
	for k := range c.Interactions {
		if c.Interactions[k].Untimed() {
			bare++
		}
	}
	if bare > 0 {
		old = append(old, fmt.Sprintf("%d without event times", bare))
	}
	return old
}

// leadingComments are the lines before the document, such as one that marks the recording as
// partial.
func leadingComments(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		out = append(out, line...)
	}
	return out
}

// sameCassette holds what was written against what was read.
func sameCassette(name string, c *cassette.Cassette, text []byte) error {
	again, err := cassette.Load(name, bytes.NewReader(text), cassette.Limits{})
	if err != nil {
		return fmt.Errorf("%s: what was written cannot be read: %w", name, err)
	}
	if len(again.Interactions) != len(c.Interactions) {
		return fmt.Errorf("%s: %d interactions became %d", name, len(c.Interactions), len(again.Interactions))
	}
	for k := range c.Interactions {
		was, is := c.Interactions[k], again.Interactions[k]
		wasEvents, wasErr := was.Events()
		isEvents, isErr := is.Events()
		if was.Request.Body != is.Request.Body || was.Request.URL != is.Request.URL || was.Request.Method != is.Request.Method ||
			was.Response.Body != is.Response.Body || was.Response.Code != is.Response.Code || was.Response.Duration != is.Response.Duration ||
			was.IsStream() && (!reflect.DeepEqual(wasEvents, isEvents) || (wasErr == nil) != (isErr == nil)) {
			return fmt.Errorf("%s: interaction %d would not be the same", name, k+1)
		}
	}
	return nil
}
