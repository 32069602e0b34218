package tokens

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"toolbench/sim/world/mcpserve"
)

// Tool is one definition to be counted.
type Tool struct {
	// Name is what the model calls; Server is whose it is, "" for a built-in one.
	Name, Server string
	// Description is what the model is told; Hint is the tool's own hint or "".
	Description, Hint string
	// Schema is the input's JSON Schema, compact; Missing says that there was none
	// and an object's stands in for it.
	Schema  string
	Missing bool
	// Whole tools are never deferred (E1).
	Whole bool
	// Recorded tools come from a recording, in which they were called Calls times.
	Recorded bool
	Calls    int
}

// empty says that the schema names no parameter.
func (t Tool) empty() bool {
	var root map[string]json.RawMessage
	if json.Unmarshal([]byte(t.Schema), &root) != nil {
		return false
	}
	for key, raw := range root {
		switch key {
		case "type", "required", "title", "description", "$schema", "additionalProperties":
		case "properties":
			if strings.TrimSpace(string(raw)) != "{}" {
				return false
			}
		default: // $ref, anyOf and the like may name some
			return false
		}
	}
	return true
}

// metaHint and metaAlways are the keys of a tool's _meta that are read (N2).
const (
	metaHint   = "anthropic/searchHint"
	metaAlways = "anthropic/alwaysLoad"
)

// Served gives the tools of a catalogue, in its order: a server's name stands in the
// tools' names as it is in the catalogue.
func Served(c mcpserve.Catalogue) []Tool {
	var tools []Tool
	for _, s := range c {
		for _, t := range s.Tools {
			name := "mcp__" + s.Name + "__" + t.Name
			if s.Bare || strings.HasPrefix(t.Name, "mcp__") {
				name = t.Name
			}
			hint, _ := t.Meta[metaHint].(string)
			schema, missing := schemaOf(t.InputSchema)
			tools = append(tools, Tool{
				Name: name, Server: s.Name, Description: t.Description, Hint: hint, Schema: schema, Missing: missing,
				Whole: t.Meta[metaAlways] == true,
			})
		}
	}
	return tools
}

// byName puts tools in the order in which they are reported.
func byName(tools []Tool) []Tool {
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b Tool) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Name, b.Name))
	})
	return sorted
}
