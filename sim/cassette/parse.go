package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// parse reads the one YAML document and measures it.
func (l *loader) parse(raw []byte) (*yaml.Node, error) {
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
	return root, l.measure(root, 0)
}

// measure counts the nodes as if aliases were written out, so that a small
// file cannot stand for a huge one.
func (l *loader) measure(n *yaml.Node, depth int) error {
	if l.nodes++; l.nodes > l.limits.Nodes {
		return l.failAt(n, ErrTooLarge, fmt.Sprintf("expands to more than %d YAML nodes", l.limits.Nodes), "go-vcr writes no aliases: "+recordAgain)
	}
	if depth > l.limits.Depth {
		return l.failAt(n, ErrTooLarge, fmt.Sprintf("is nested deeper than %d levels", l.limits.Depth), recordAgain)
	}
	if l.bytes += int64(len(n.Value)); l.bytes > l.limits.Bytes {
		return l.failAt(n, ErrTooLarge, fmt.Sprintf("expands to more than %d bytes", l.limits.Bytes), "go-vcr writes no aliases: "+recordAgain)
	}
	if n.Kind == yaml.AliasNode {
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

// syntax words a YAML error. The library gives the line only, and some errors
// not even that; the column is where that line's text begins.
func (l *loader) syntax(raw []byte, err error) *LoadError {
	text := err.Error()
	e := l.fail(ErrSyntax, "is not valid YAML", "repair the line, or "+restore)
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	if m := yamlPlace.FindStringSubmatch(text); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	e.Cause = errors.New(text)
	if e.Line == 0 && strings.Contains(text, "end of stream") || e.Line >= len(lines) {
		e.Kind, e.Problem, e.Remedy = ErrTruncated, "is cut off in the middle", restore
		e.Line = len(lines)
	}
	if e.Line > 0 && e.Line <= len(lines) {
		line := lines[e.Line-1]
		e.Column = len(line) - len(strings.TrimLeft(line, " ")) + 1
	}
	return e
}
