package recording

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"gopkg.in/yaml.v3"

	"toolbench/sim/cassette"
	"toolbench/sim/dialect"
)

var (
	errNodes = errors.New("is nested too deeply, or has too many parts")
	errEmpty = errors.New("it is empty")
)

// parseYAML parses one document within the limits. Tags are never acted on, and
// aliases are followed only where a value is looked at.
func (s *scanner) parseYAML(raw []byte) (*yaml.Node, error) {
	if parts(raw) > s.limits.Nodes {
		return nil, errNodes // before the parser makes a tree of it
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, errEmpty
	}
	if left := s.limits.Nodes; !measure(doc.Content[0], s.limits.Depth, &left) {
		return nil, errNodes
	}
	return doc.Content[0], nil
}

// measure counts nodes as if aliases were written out.
func measure(n *yaml.Node, depth int, left *int) bool {
	if *left--; *left < 0 || depth < 0 {
		return false
	}
	if n.Kind == yaml.AliasNode {
		return measure(n.Alias, depth-1, left)
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !measure(c, depth-1, left) })
}

// parts is about how many nodes a text has at most: what may part two of them,
// counted outside of texts, which is where nearly all bytes of a recording are.
func parts(raw []byte) int {
	n, quote := 0, byte(0)
	block := -1 // the indentation of the key whose text goes on
	for l := range bytes.Lines(raw) {
		l = bytes.TrimRight(l, "\r\n")
		rest := bytes.TrimLeft(l, " ")
		indent := len(l) - len(rest)
		if quote == 0 && block >= 0 {
			if len(rest) == 0 || indent > block {
				continue
			}
			block = -1
		}
		n++
		begins := true // a value may begin here
		for i := 0; i < len(rest); i++ {
			c := rest[i]
			switch {
			case quote == '"' && c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case begins && (c == '"' || c == '\''):
				quote = c
			case c == ',' || c == '[' || c == '{' || c == ':' || c == '-':
				n++
				begins = true
			case c != ' ':
				begins = false
			}
		}
		if quote == 0 && opensText(rest) {
			block = indent + dashes(rest)
		}
	}
	return n
}

// opensText reports whether a line ends in the mark of a text that follows.
func opensText(rest []byte) bool {
	rest = bytes.TrimRight(rest, "0123456789+- \t")
	n := len(rest)
	return n > 0 && (rest[n-1] == '|' || rest[n-1] == '>') && (n == 1 || rest[n-2] == ' ')
}

// dashes is how far the marks of list items indent the key behind them.
func dashes(rest []byte) int {
	n := 0
	for bytes.HasPrefix(rest[n:], []byte("- ")) {
		n += 2
		for n < len(rest) && rest[n] == ' ' {
			n++
		}
	}
	return n
}

func fromBase64(value string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value), ""))
	if err != nil {
		return nil, fmt.Errorf("a binary text is no base64: %w", err)
	}
	return b, nil
}

// expansion is how much larger a part may be in JSON, aliases written out.
const expansion = 8

// inJSON writes a value as JSON, its members in their order, so that what was read of
// YAML is looked at as what stands in JSON.
func (s *scanner) inJSON(n *yaml.Node) (gjson.Result, error) {
	w := jsonWriter{left: expansion * s.limits.Part}
	w.value(cassette.Resolved(n))
	if w.left < 0 {
		return gjson.Result{}, errNodes
	}
	return gjson.ParseBytes(w.out), nil
}

// jsonWriter writes JSON until its room is used up.
type jsonWriter struct {
	out  []byte
	left int64
}

func (w *jsonWriter) put(text []byte) {
	if w.left -= int64(len(text)); w.left >= 0 {
		w.out = append(w.out, text...)
	}
}

// value reads scalars by YAML's own rules, and any tag of another language as the text that it stands before.
func (w *jsonWriter) value(n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		w.put([]byte("{"))
		for i := 0; i+1 < len(n.Content) && w.left > 0; i += 2 {
			if i > 0 {
				w.put([]byte(","))
			}
			w.put(append(dialect.JSON(keyOf(cassette.Resolved(n.Content[i]))), ':'))
			w.value(cassette.Resolved(n.Content[i+1]))
		}
		w.put([]byte("}"))
	case yaml.SequenceNode:
		w.put([]byte("["))
		for i, c := range n.Content {
			if i > 0 {
				w.put([]byte(","))
			}
			w.value(cassette.Resolved(c))
		}
		w.put([]byte("]"))
	default:
		w.put(scalar(n))
	}
}

// keyOf is a member's name, also in the state of an object that is like a text.
func keyOf(n *yaml.Node) string {
	for _, c := range n.Content {
		if c = cassette.Resolved(c); c.Kind == yaml.ScalarNode && c.Value != "" {
			return c.Value
		}
	}
	return n.Value
}

func scalar(n *yaml.Node) []byte {
	switch n.Tag {
	case "!!binary", "!binary":
		return dialect.JSON(map[string]string{base64Member: n.Value})
	case "!!int", "!!float", "!!bool", "!!null":
		var v any
		if n.Decode(&v) == nil {
			return dialect.JSON(v)
		}
	}
	return dialect.JSON(n.Value)
}
