package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolbench/toolsys/jsonscan"
)

// kinds is a set of JSON types.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	integer
	fraction // a number that is not written as digits only
	text
	array
	object
	anything = null | boolean | integer | fraction | text | array | object
)

// node is one schema as the fast path reads it. A node it does not fully
// understand is opaque: it accepts nothing, and the validator is asked.
type node struct {
	opaque bool
	types  kinds

	members  map[string]int // name -> index into children
	children []*node
	required uint64 // bit i: children[i]
	extra    *node  // what other members must be; nil forbids them

	items              *node
	minItems, maxItems int64

	enum             []string // a closed list of strings, or nil; nothing but a string is in it
	minRunes         int64
	maxRunes         int64
	minimum, maximum int64
	bounded          bool // minimum or maximum was given
}

func opaque() *node { return &node{opaque: true} }

// plan compiles a schema's common keywords. Anything else that could reject an
// input makes the node opaque; what only annotates is passed over.
func plan(schema any) *node {
	switch s := schema.(type) {
	case bool:
		if s {
			return free()
		}
	case map[string]any:
		n := free()
		for _, keyword := range slices.Sorted(maps.Keys(s)) {
			if !n.add(keyword, s[keyword], s) {
				return opaque()
			}
		}
		return n
	}
	return opaque()
}

// free accepts every value; what stands inside is still read for duplicates.
func free() *node { return new(*whatever) }

// whatever is what stands inside where the schema says nothing about it.
var whatever = func() *node {
	n := &node{types: anything, maxItems: maxInt, maxRunes: maxInt, minimum: -maxInt, maximum: maxInt}
	n.items, n.extra = n, n
	return n
}()

// maxInt bounds what the fast path computes with: every integer up to it is exact in int64 and float64 alike.
const maxInt = 1 << 53

// add compiles one keyword and reports whether it is supported.
func (n *node) add(keyword string, v any, siblings map[string]any) bool {
	switch keyword {
	case "title", "description", "default", "examples", "$comment", "deprecated",
		"readOnly", "writeOnly", "contentEncoding", "contentMediaType", "$defs", "definitions":
		return true
	case "$schema", "format":
		return siblings["format"] == nil && siblings["$schema"] == nil || keyword == "$schema" && latest(v)
	case "type":
		return n.addType(v)
	case "properties":
		return n.addProperties(v, siblings["required"])
	case "required":
		list, ok := v.([]any)
		return siblings["properties"] != nil || ok && len(list) == 0
	case "additionalProperties":
		return n.addExtra(v)
	case "items":
		n.items = plan(v)
		return !n.items.opaque
	case "enum":
		return n.addEnum(v)
	}
	to := map[string]*int64{
		"minItems": &n.minItems, "maxItems": &n.maxItems, "minLength": &n.minRunes, "maxLength": &n.maxRunes, "minimum": &n.minimum, "maximum": &n.maximum,
	}[keyword]
	n.bounded = n.bounded || to == &n.minimum || to == &n.maximum
	return to != nil && setInt(to, v) || strings.HasPrefix(keyword, "x-")
}

// latest reports whether a `$schema` names a draft whose common keywords mean what they mean without one. Drafts
// assert `format` differently, which is why a schema with both is left to the validator.
func latest(v any) bool {
	s, _ := v.(string)
	s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "http://"), "https://"), "#")
	return slices.Contains([]string{
		"json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema",
		"json-schema.org/draft-07/schema", "json-schema.org/draft-06/schema",
	}, s)
}

func (n *node) addType(v any) bool {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	n.types = 0
	for _, t := range list {
		name, _ := t.(string)
		named, ok := typeKinds[name]
		if !ok {
			return false
		}
		n.types |= named
	}
	return true
}

// typeKinds are the types as a schema names them. It is read only.
var typeKinds = map[string]kinds{
	"null": null, "boolean": boolean, "integer": integer, "number": integer | fraction, "string": text, "array": array, "object": object,
}

func (n *node) addProperties(v, required any) bool {
	props, ok := v.(map[string]any)
	if !ok || len(props) > 64 {
		return false
	}
	n.members = make(map[string]int, len(props))
	for _, name := range slices.Sorted(maps.Keys(props)) {
		n.members[name] = len(n.children)
		n.children = append(n.children, plan(props[name]))
	}
	list, _ := required.([]any)
	for _, name := range list {
		s, _ := name.(string)
		i, known := n.members[s]
		if !known {
			return false
		}
		n.required |= 1 << i
	}
	return true
}

func (n *node) addExtra(v any) bool {
	if v == false {
		n.extra = nil
		return true
	}
	n.extra = plan(v)
	return !n.extra.opaque
}

func (n *node) addEnum(v any) bool {
	list, _ := v.([]any)
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return false
		}
		n.enum = append(n.enum, s)
	}
	return n.enum != nil
}

func setInt(to *int64, v any) bool {
	token, ok := v.(json.Number)
	if !ok {
		return false
	}
	i, err := strconv.ParseInt(string(token), 10, 64)
	*to = i
	return err == nil && i >= -maxInt && i <= maxInt
}

// maxFreeMembers is how many members that the schema does not name the fast
// path compares with each other for duplicates.
const maxFreeMembers = 8

// acceptor walks an input along the plan.
type acceptor struct{ jsonscan.Cursor }

// accepts reports whether raw is certainly valid: JSON without trailing data, without duplicated members or outsize
// numbers, and right by the schema. False means only that the validator must be asked. It does not allocate.
func (s *Schema) accepts(raw []byte) bool {
	a := acceptor{Cursor: jsonscan.Cursor{JSON: raw}}
	a.Space()
	return a.value(s.fast) && a.End()
}

func (a *acceptor) value(n *node) bool {
	first := a.Peek()
	if n.opaque || n.enum != nil && first != '"' {
		return false
	}
	switch first {
	case '{':
		return n.types&object != 0 && a.object(n)
	case '[':
		return n.types&array != 0 && a.array(n)
	case '"':
		_, _, ok := a.string(n)
		return ok
	case 't':
		return n.types&boolean != 0 && a.Word("true")
	case 'f':
		return n.types&boolean != 0 && a.Word("false")
	case 'n':
		return n.types&null != 0 && a.Word("null")
	}
	_, _, ok := a.number(n)
	return ok
}

// string reads a string that n accepts, as [jsonscan.Cursor.Text] gives it.
func (a *acceptor) string(n *node) (body []byte, plain, ok bool) {
	body, plain, ok = a.Text()
	return body, plain, ok && n.types&text != 0 && n.takes(body, plain)
}

// takes reports whether n accepts a text, given what stands between its quotes.
func (n *node) takes(body []byte, plain bool) bool {
	if n.enum != nil && (!plain || !slices.Contains(n.enum, string(body))) {
		return false
	}
	if n.minRunes <= 0 && n.maxRunes == maxInt {
		return true
	}
	length := int64(utf8.RuneCount(body))
	return plain && length >= n.minRunes && length <= n.maxRunes
}

// number reads a number that n accepts, as [jsonscan.Cursor.Number] gives it.
func (a *acceptor) number(n *node) (token []byte, digitsOnly, ok bool) {
	token, digitsOnly, ok = a.Number()
	return token, digitsOnly, ok && len(token) <= 300 && n.counts(token, digitsOnly)
}

func (n *node) counts(token []byte, digitsOnly bool) bool {
	switch {
	case !digitsOnly:
		// An exponent may be huge, and 1.0 is an integer: both for the validator.
		return n.types&fraction != 0 && !n.bounded && !bytes.ContainsAny(token, "eE")
	case n.types&integer == 0:
		return false
	case !n.bounded:
		return true
	case len(token) > 18:
		return false
	}
	i := integerOf(token)
	return i >= n.minimum && i <= n.maximum
}

func (a *acceptor) array(n *node) bool {
	count := int64(0)
	ok := a.Items(func(int) bool {
		count++
		return a.value(n.items)
	})
	return ok && count >= n.minItems && count <= n.maxItems
}

func (a *acceptor) object(n *node) bool {
	var (
		seen  uint64
		free  [maxFreeMembers][]byte
		extra int
	)
	ok := a.Members(func(name []byte, plain bool) bool {
		if !plain {
			return false
		}
		if i, known := n.members[string(name)]; known {
			twice := seen&(1<<i) != 0
			seen |= 1 << i
			return !twice && a.value(n.children[i])
		}
		if n.extra == nil || extra == len(free) || !utf8.Valid(name) { // bytes that differ may be one name
			return false
		}
		for _, other := range free[:extra] {
			if string(other) == string(name) {
				return false
			}
		}
		free[extra] = name
		extra++
		return a.value(n.extra)
	})
	return ok && seen&n.required == n.required
}
