package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
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

// node is what the fast path knows of one schema. A node it does not fully
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

	words            []string // a closed list of strings, or nil
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
		if !s {
			return opaque()
		}
		return free()
	case map[string]any:
		n := free()
		for _, keyword := range slices.Sorted(maps.Keys(s)) {
			if !n.learn(keyword, s[keyword], s) {
				return opaque()
			}
		}
		return n
	}
	return opaque()
}

// free accepts every value; what stands inside is still read for duplicates.
func free() *node {
	n := &node{types: anything, maxItems: maxInt, maxRunes: maxInt, minimum: -maxInt, maximum: maxInt}
	n.items, n.extra = n, n
	return n
}

// maxInt bounds what the fast path computes with: every whole number up to it
// is exact in int64 and float64 alike.
const maxInt = 1 << 53

// learn takes in one keyword and reports whether it was understood.
func (n *node) learn(keyword string, v any, whole map[string]any) bool {
	switch keyword {
	case "title", "description", "default", "examples", "$comment", "deprecated",
		"readOnly", "writeOnly", "contentEncoding", "contentMediaType", "$defs", "definitions":
		return true
	case "$schema", "format":
		return whole["format"] == nil && whole["$schema"] == nil || keyword == "$schema" && latest(v)
	case "type":
		return n.learnType(v)
	case "properties":
		return n.learnProperties(v, whole["required"])
	case "required":
		return whole["properties"] != nil || isEmpty(v)
	case "additionalProperties":
		return n.learnExtra(v)
	case "items":
		n.items = plan(v)
		return !n.items.opaque
	case "enum":
		return n.learnWords(v)
	case "minItems":
		return learnInt(&n.minItems, v)
	case "maxItems":
		return learnInt(&n.maxItems, v)
	case "minLength":
		return learnInt(&n.minRunes, v)
	case "maxLength":
		return learnInt(&n.maxRunes, v)
	case "minimum":
		n.bounded = true
		return learnInt(&n.minimum, v)
	case "maximum":
		n.bounded = true
		return learnInt(&n.maximum, v)
	}
	return strings.HasPrefix(keyword, "x-")
}

// latest says that a `$schema` names a draft whose common keywords mean what
// they mean without one. Drafts assert `format` differently, which is why a
// schema with both is left to the validator.
func latest(v any) bool {
	s, _ := v.(string)
	s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "http://"), "https://"), "#")
	switch s {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema",
		"json-schema.org/draft-07/schema", "json-schema.org/draft-06/schema":
		return true
	}
	return false
}

func isEmpty(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) == 0
}

func (n *node) learnType(v any) bool {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	n.types = 0
	for _, t := range list {
		switch t {
		case "null":
			n.types |= null
		case "boolean":
			n.types |= boolean
		case "integer":
			n.types |= integer
		case "number":
			n.types |= integer | fraction
		case "string":
			n.types |= text
		case "array":
			n.types |= array
		case "object":
			n.types |= object
		default:
			return false
		}
	}
	return true
}

func (n *node) learnProperties(v, required any) bool {
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

func (n *node) learnExtra(v any) bool {
	if v == false {
		n.extra = nil
		return true
	}
	n.extra = plan(v)
	return !n.extra.opaque
}

func (n *node) learnWords(v any) bool {
	list, _ := v.([]any)
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return false
		}
		n.words = append(n.words, s)
	}
	n.types &= text
	return n.words != nil
}

func learnInt(to *int64, v any) bool {
	token, ok := v.(json.Number)
	if !ok {
		return false
	}
	i, err := strconv.ParseInt(string(token), 10, 64)
	*to = i
	return err == nil && i >= -maxInt && i <= maxInt
}
