package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/jsonscan"
)

// keywordOrder is the order in which a schema's keywords are written; others follow in byte order. A model reads a
// schema from the top, so what a value is comes first, then its parts.
var keywordOrder = []string{
	"$schema", "$id", "type", "title", "description", "format", "enum", "const", "default",
	"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "pattern",
	"properties", "patternProperties", "items", "prefixItems", "minItems", "maxItems",
	"required", "additionalProperties",
}

// shape is what a keyword's value holds.
type shape int

const (
	isValue      shape = iota // data, copied as it stands
	isSchema                  // a schema, or a list of schemas
	isNamedItems              // a map whose values are schemas
)

func shapeOf(keyword string) shape {
	switch keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return isNamedItems
	case "items", "prefixItems", "additionalItems", "additionalProperties", "unevaluatedItems",
		"unevaluatedProperties", "contains", "propertyNames", "contentSchema",
		"not", "if", "then", "else", "allOf", "anyOf", "oneOf":
		return isSchema
	}
	return isValue
}

// Canonical writes a schema compactly with its keywords in one fixed order and no needless escapes, so that equal
// schemas are equal bytes whoever wrote them (SPEC D3). The members of `properties` keep their order, which carries
// meaning to a reader; a property that allows anything is {}.
//
// Errors: not JSON, or a member named twice.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	if _, r, err := read(raw); err != nil {
		return nil, fmt.Errorf("schema is not JSON: %w", err)
	} else if i := slices.IndexFunc(r.found, func(p Problem) bool { return p.Keyword == "duplicate" }); i >= 0 {
		return nil, errors.New("schema: " + r.found[i].Message)
	}
	w := writer{Cursor: jsonscan.Cursor{JSON: raw}}
	w.Space()
	w.schema()
	return w.out.Bytes(), nil
}

// writer copies from its cursor, which was checked to hold JSON.
type writer struct {
	jsonscan.Cursor
	out bytes.Buffer
}

// member is a part of an object: its name as text and its written value.
type member struct {
	name  string
	value []byte
}

func (w *writer) schema() {
	switch w.Peek() {
	case '{':
		w.ordered(w.keywords())
	case '[':
		w.list(w.schema)
	default:
		w.data()
	}
}

func (w *writer) keywords() []member {
	found := w.collect(func(name string) {
		switch shapeOf(name) {
		case isNamedItems:
			w.named()
		case isSchema:
			w.schema()
		default:
			w.data()
		}
	})
	slices.SortStableFunc(found, func(a, b member) int {
		rank := func(m member) uint { return uint(slices.Index(keywordOrder, m.name)) } // others last
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.name, b.name))
	})
	return found
}

func (w *writer) named() {
	if w.Peek() != '{' {
		w.data()
		return
	}
	w.ordered(w.collect(func(string) {
		if w.Word("true") {
			w.out.WriteString("{}")
			return
		}
		w.schema()
	}))
}

// data copies a value that is not a schema, its members as they stand.
func (w *writer) data() {
	switch w.Peek() {
	case '{':
		w.ordered(w.collect(func(string) { w.data() }))
	case '[':
		w.list(w.data)
	case '"':
		body, plain, _ := w.Text()
		w.out.Write(jsonscan.AppendQuoted(w.out.AvailableBuffer(), unquote(body, plain)))
	default:
		start := w.At
		w.Skip()
		w.out.Write(w.JSON[start:w.At])
	}
}

// collect reads an object, capturing what write puts out for each member.
func (w *writer) collect(write func(name string)) []member {
	var found []member
	w.Members(func(body []byte, plain bool) bool {
		name, mark := unquote(body, plain), w.out.Len()
		write(name)
		found = append(found, member{name, bytes.Clone(w.out.Bytes()[mark:])})
		w.out.Truncate(mark)
		return true
	})
	return found
}

func (w *writer) ordered(found []member) {
	w.out.WriteByte('{')
	for i, m := range found {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.out.Write(jsonscan.AppendQuoted(w.out.AvailableBuffer(), m.name))
		w.out.WriteByte(':')
		w.out.Write(m.value)
	}
	w.out.WriteByte('}')
}

func (w *writer) list(write func()) {
	w.out.WriteByte('[')
	w.Items(func(i int) bool {
		if i > 0 {
			w.out.WriteByte(',')
		}
		write()
		return true
	})
	w.out.WriteByte(']')
}
