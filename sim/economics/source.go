package economics

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"toolbench/sim/world"
	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Tool is one definition to be counted.
type Tool struct {
	// Name is what the model calls; Server is whose it is, "" for a built-in one.
	Name, Server string
	// Description is what is sent to the model; Hint is the tool's own hint or "".
	Description, Hint string
	// Schema is the input's JSON Schema, compact; Missing reports whether there was none
	// and an object's stands in for it.
	Schema  string
	Missing bool
	// Whole tools are never deferred (E1).
	Whole bool
	// Recorded tools come from a recording, in which they were called Calls times.
	Recorded bool
	Calls    int
}

// empty reports whether the schema names no parameter.
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
func Served(c world.Catalogue) []Tool {
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

// each gives what f makes of each thing.
func each[T, U any](all []T, f func(T) U) []U { return tool.Each(all, f) }

// byName puts tools in the order in which they are reported.
func byName(tools []Tool) []Tool {
	return slices.SortedStableFunc(slices.Values(tools), func(a, b Tool) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Name, b.Name))
	})
}

// Builtins gives the built-in tools of a pool under s, without ToolSearch, and
// ToolSearch by itself, which only deferral needs.
func Builtins(s settings.Settings) (tools []Tool, searcher Tool) {
	p := builtins().Assemble(pool.Inputs{Settings: s, Conditions: pool.Conditions{Search: true}})
	names := p.Names()
	for _, t := range p.Tools {
		one := Tool{
			Name: t.Name, Hint: t.Hint, Schema: string(pool.SchemaOf(t)), Whole: !pool.Deferred(t, s),
			Description: t.Prompt(tool.PromptOptions{Settings: s, Tools: names}),
		}
		if t.Name == search.ToolName {
			searcher = one
			continue
		}
		tools = append(tools, one)
	}
	return tools, searcher
}

// builtins is the catalogue of the built-in tools alone.
func builtins() *pool.Catalogue {
	system, err := toolsys.New(toolsys.Config{Builtins: builtin.All(builtin.Deps{})})
	if err != nil {
		panic(err) // the same tools are built in every time
	}
	return system.Catalogue
}

// noSchema stands in for a schema that is missing.
const noSchema = `{}`

// hintLength is where a description that stands in for a hint is cut, in characters.
const hintLength = 100

// whole is the line of a tool that is sent whole.
func (t Tool) whole() string {
	return `<function>{"description":` + quoted(t.Description) + `,"name":` + quoted(t.Name) + `,"parameters":` + t.Schema + "}</function>\n"
}

// named is the line of a tool that goes by its name.
func (t Tool) named() string { return t.Name + "\n" }

// hinted is the line with the name and what the tool is good for.
func (t Tool) hinted() string { return t.Name + ": " + t.hint() + "\n" }

func (t Tool) hint() string {
	if t.Hint != "" {
		return t.Hint
	}
	text, _, _ := strings.Cut(t.Description, "\n")
	text, _, _ = strings.Cut(text, ". ")
	if utf8.RuneCountInString(text) > hintLength {
		text = string([]rune(text)[:hintLength])
	}
	return text
}

// quoted is a JSON string with nothing escaped that need not be.
func quoted(s string) string { return separators.Replace(string(jsonscan.AppendQuoted(nil, s))) }

// separators unescapes the two that JSON needs no escape for. A backslash that is itself escaped escapes nothing.
var separators = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// schemaOf writes a schema compactly, the members in their order and characters
// unescaped. missing reports whether there is none.
func schemaOf(schema any) (text string, missing bool) {
	raw, ok := schema.(json.RawMessage)
	if !ok && schema != nil {
		var err error
		if raw, err = json.Marshal(schema); err != nil {
			return noSchema, true
		}
	}
	if len(raw) == 0 || string(raw) == "null" {
		return noSchema, true
	}
	return compact(raw), false
}

// compact is valid JSON without its blanks, its strings unescaped where they can be.
func compact(raw []byte) string {
	var out strings.Builder
	for c := (jsonscan.Cursor{JSON: raw}); !c.End(); {
		if c.Peek() != '"' {
			out.WriteByte(c.Peek())
			c.At++
		} else if body, _, ok := c.Text(); ok {
			out.WriteString(quoted(string(jsonscan.AppendText(nil, body))))
		}
	}
	return out.String()
}
