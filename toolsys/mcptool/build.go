package mcptool

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/schema"
	"toolbench/toolsys/tool"
)

// CallLimit bounds one call of a server's tool that does not report progress, and
// CallTotal one that does: progress puts the limit off, but not for ever (N4).
const (
	CallLimit = 100 * time.Second
	CallTotal = 10 * time.Minute
)

// Keys of a tool's _meta that are read (N2).
const (
	metaHint   = "anthropic/searchHint"
	metaAlways = "anthropic/alwaysLoad"
)

// anyObject stands in for a schema that the API would not take.
const anyObject = `{"type":"object"}`

// build fills the template for one server tool. A tool that cannot be built at all
// is nil, with a report.
func build(o listedTool, r ref, name string) (*tool.Tool, []Report) {
	report := func(what string) []Report { return []Report{{r.server, r.tool, name, what}} }
	raw, doubt := inputSchema(o.tool.InputSchema)
	var out json.RawMessage
	var unusable error
	if o.output, unusable = output(o.tool.OutputSchema); o.output != nil {
		out = o.output.Raw()
	}
	t, err := tool.Build(template(o, r, name, raw, out))
	if err != nil {
		return nil, report("it is not loaded: " + err.Error())
	}
	var reports []Report
	if unusable != nil {
		reports = report("its output schema is not used: " + unusable.Error())
	}
	if doubt == "" {
		if _, err := t.Input.Schema(); err != nil {
			doubt = err.Error()
		}
	}
	if doubt != "" {
		reports = append(reports, report("its input is not validated here: "+doubt)...)
	}
	return t, reports
}

// template is what all servers' tools have in common (N2).
func template(o listedTool, r ref, name string, input, output json.RawMessage) tool.Def[json.RawMessage, []message.Block] {
	notes := cmp.Or(o.tool.Annotations, &mcp.ToolAnnotations{})
	sent, rest := taken(input)
	hint, _ := o.tool.Meta[metaHint].(string)
	title := cmp.Or(o.tool.Title, notes.Title, o.tool.Name)
	type in = json.RawMessage
	return tool.Def[in, []message.Block]{
		Name: name, Hint: hint, Origin: &tool.Origin{Server: r.server, Tool: r.tool},
		Description: o.tool.Description + rest, InputSchema: input, Wire: tool.Wire{Schema: sent}, OutputSchema: output,
		Call: o.call, Block: func(blocks []message.Block) []message.Block { return blocks },
		// The general rules decide, whatever the server declares (N7).
		Permit: func(in, *tool.Context) permission.Opinion {
			return permission.Opinion{Behaviour: permission.Passthrough}
		},
		Traits: tool.Traits[in]{
			Safe: is[in](notes.ReadOnlyHint), ReadOnly: is[in](notes.ReadOnlyHint),
			Destructive: is[in](yes(notes.DestructiveHint)), OpenWorld: is[in](yes(notes.OpenWorldHint)),
			// What another than a reading one changes, on its server or elsewhere, is not declared (J8).
			Effects: func(in, *tool.Context) tool.Effects {
				if !notes.ReadOnlyHint {
					return tool.Effects{Everything: true}
				}
				return tool.Effects{Reads: []string{"mcp:" + r.server}}
			},
		},
		Loading: tool.Loading{Deferrable: true, Always: o.tool.Meta[metaAlways] == true},
		Shaping: tool.Shaping[in]{Equivalent: jsonscan.Equal[in], Classifier: func(i in) string { return name + " " + string(i) }},
		Limits:  tool.Limits[in]{Timeout: func(in) time.Duration { return CallLimit }, Total: CallTotal},
		View: tool.View[in]{
			Title: func(in) string { return title + " (" + r.server + ")" }, Summary: tool.FirstText,
			Activity: func(i in) string {
				return strings.TrimSpace("Asking " + r.server + ": " + title + " " + tool.FirstText(i))
			},
		},
		Draw: tool.Drawing[in, []message.Block]{Tag: func(in) string { return declared(notes) }},
	}
}

func is[In any](b bool) func(In) bool { return func(In) bool { return b } }

// yes reports whether a hint is given and true: its absence means no, whatever the protocol's default is.
func yes(hint *bool) bool { return hint != nil && *hint }

// declared words what a server says of its tool, which nobody has checked.
func declared(notes *mcp.ToolAnnotations) string {
	switch {
	case notes.ReadOnlyHint:
		return "declared as reading only"
	case yes(notes.DestructiveHint):
		return "declared as destructive"
	}
	return ""
}

// inputSchema gives the schema and, where it cannot be the server's own, why. One that only lacks the type
// of an object gets it, since the API refuses a request with a tool without one.
func inputSchema(listed any) (raw json.RawMessage, doubt string) {
	members, isObject := listed.(map[string]any)
	kind, typed := members["type"]
	switch {
	case listed == nil:
		return json.RawMessage(anyObject), "the server gives no schema"
	case !isObject:
		return json.RawMessage(anyObject), "the server's schema is no JSON object"
	case typed && kind != "object":
		return json.RawMessage(anyObject), schema.ErrRootNotObject.Error()
	}
	members = maps.Clone(members)
	members["type"] = "object"
	raw, err := schema.Canonical(written(members)) // so that equal ones are equal bytes
	if err != nil {
		return json.RawMessage(anyObject), err.Error()
	}
	return raw, ""
}

// taken gives what the API takes of a schema, nil for the whole, and the rest for the description. It
// refuses each request, whatever that asks, with a tool whose schema combines others at the top, or has
// a property of another name than its own.
func taken(raw json.RawMessage) (json.RawMessage, string) {
	var members, properties map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // it is an object
	_ = json.Unmarshal(members["properties"], &properties)
	apart, rest := []string{"allOf", "anyOf", "oneOf"}, map[string]json.RawMessage{}
	for name := range properties {
		if !propertyName.MatchString(name) {
			apart = append(apart, "additionalProperties", "properties", "required")
		}
	}
	for _, name := range apart {
		if value, has := members[name]; has {
			rest[name] = value
			delete(members, name)
		}
	}
	if len(rest) == 0 {
		return nil, ""
	}
	return written(members), "\n\nIts input, as JSON Schema: " + string(written(rest))
}

// propertyName is what the API takes for the name of a property.
var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// output is the schema of a result's structured content; nil without one, or, with the
// reason, when it cannot be used.
func output(listed any) (*schema.Schema, error) {
	if listed == nil {
		return nil, nil
	}
	if _, isObject := listed.(map[string]any); !isObject {
		return nil, errors.New("it is no JSON object")
	}
	raw, err := schema.Canonical(written(listed))
	if err != nil {
		return nil, err
	}
	return schema.Compile(raw)
}
