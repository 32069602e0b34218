package search

import (
	"encoding/json"
	"maps"
	"slices"
)

// maxDepth is how far down a schema parameters are looked for.
const maxDepth = 12

// schemaNode is the part of a JSON Schema that names and describes values.
type schemaNode struct {
	Description string                     `json:"description"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Items       json.RawMessage            `json:"items"`
	Prefix      []json.RawMessage          `json:"prefixItems"`
	Values      json.RawMessage            `json:"additionalProperties"`
	AllOf       []json.RawMessage          `json:"allOf"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// Parameters lists what a tool's input schema names, nested values too, as an
// [Entry] holds it: "name" or "name: description". A parameter comes before what
// is in it, neighbours go by name. What is no schema has none.
func Parameters(schema json.RawMessage) []string {
	var found []string
	var node schemaNode
	if json.Unmarshal(schema, &node) == nil {
		node.list(&found, 0)
	}
	return found
}

// list appends the parameters below a node.
func (n schemaNode) list(found *[]string, depth int) {
	if depth > maxDepth {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		visit(n.Properties[name], name, found, depth)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Defs)) {
		visit(n.Defs[name], "", found, depth)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Definitions)) {
		visit(n.Definitions[name], "", found, depth)
	}
	for _, raw := range slices.Concat([]json.RawMessage{n.Items, n.Values}, n.Prefix, n.AllOf, n.AnyOf, n.OneOf) {
		visit(raw, "", found, depth)
	}
}

// visit lists one value and what is in it. Booleans stand for schemas too, and
// name nothing.
func visit(raw json.RawMessage, name string, found *[]string, depth int) {
	var node schemaNode
	if len(raw) > 0 && json.Unmarshal(raw, &node) != nil {
		node = schemaNode{}
	}
	switch {
	case name != "" && node.Description != "":
		*found = append(*found, name+": "+node.Description)
	case name != "" || node.Description != "":
		*found = append(*found, name+node.Description)
	}
	if len(raw) > 0 {
		node.list(found, depth+1)
	}
}
