package pool

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"sync"

	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// generation is the number of definitions after which the older ones are forgotten;
// forms bounds how many settings and sets of built-ins are distinguished at a time.
const (
	generation = 4096
	forms      = 64
)

// Definitions writes tools as the API takes them and keeps the bytes: a pool is
// assembled for every request, its members seldom change (C1). What was not used
// for a while is forgotten, since servers that reconnect bring new tools. It is safe
// for concurrent use.
type Definitions struct {
	mu sync.Mutex
	// young is what was written or used lately; what was used before is in old.
	young, old map[definitionKey]json.RawMessage
	forms      map[form]uint64
	next       uint64
	// broken are the tools whose prompt panicked when it was written.
	broken map[string]error
}

// definitionKey holds the tool's identity, not its name: a decorated or replaced
// tool is another pointer.
type definitionKey struct {
	tool *tool.Tool
	form uint64
	// deferred adds defer_loading (E4); mark adds the cache breakpoint (D4).
	deferred, mark bool
}

// form is what a definition depends on beside its tool. The built-ins are those a
// prompt may point to, by name, joined by commas; served tools are left out, so that
// they cannot change a built-in's bytes (D4).
type form struct {
	settings settings.Settings
	builtins string
}

// NewDefinitions makes an empty store.
func NewDefinitions() *Definitions {
	return &Definitions{young: map[definitionKey]json.RawMessage{}, forms: map[form]uint64{}, broken: map[string]error{}}
}

// number names a form by a number, so that its many bytes are hashed once for a
// request and not once for each tool.
func (d *Definitions) number(f form) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, numbered := d.forms[f]
	if !numbered {
		if len(d.forms) == forms {
			clear(d.forms)
		}
		d.next++ // numbers are never used again: what was kept under one cannot be mistaken
		n = d.next
		d.forms[f] = n
	}
	return n
}

func (d *Definitions) bytes(k definitionKey, f form) json.RawMessage {
	if raw, ok := d.find(k); ok {
		return raw
	}
	var broke error
	raw := write(k, f, func(err error) { broke = err })
	d.mu.Lock()
	defer d.mu.Unlock()
	if broke != nil {
		d.broken[k.tool.Name] = broke
	}
	d.keep(k, raw)
	return raw
}

// Broken gives the tools whose prompt panicked, each with the error: their description
// was sent in its place.
func (d *Definitions) Broken() map[string]error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.broken)
}

func (d *Definitions) find(k definitionKey) (json.RawMessage, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if raw, ok := d.young[k]; ok {
		return raw, true
	}
	raw, ok := d.old[k]
	if ok {
		d.keep(k, raw)
	}
	return raw, ok
}

// keep enters a definition; the lock is held.
func (d *Definitions) keep(k definitionKey, raw json.RawMessage) {
	if len(d.young) >= generation {
		d.old, d.young = d.young, map[definitionKey]json.RawMessage{}
	}
	d.young[k] = raw
}

// write gives the canonical definition: name, description, input_schema, then
// what applies of strict, eager_input_streaming, allowed_callers, input_examples,
// defer_loading and cache_control. A tool that the API knows has its type and name instead.
func write(k definitionKey, f form, broke func(error)) json.RawMessage {
	t := k.tool
	var out bytes.Buffer
	if t.Wire.Type != "" {
		out.WriteString(`{"type":`)
		writeString(&out, t.Wire.Type)
		out.WriteString(`,"name":`)
		writeString(&out, t.Name)
	} else {
		out.WriteString(`{"name":`)
		writeString(&out, t.Name)
		out.WriteString(`,"description":`)
		writeString(&out, t.Prompt(tool.PromptOptions{Settings: f.settings, Tools: strings.FieldsFunc(f.builtins, comma), Broke: broke}))
		out.WriteString(`,"input_schema":`)
		out.Write(SchemaOf(t))
	}
	if t.Strict {
		out.WriteString(`,"strict":true`)
	}
	writeWire(&out, t.Wire)
	if k.deferred {
		out.WriteString(`,"defer_loading":true`)
	}
	if k.mark {
		out.WriteString(`,"cache_control":{"type":"ephemeral"}`)
	}
	out.WriteByte('}')
	return out.Bytes()
}

func writeWire(out *bytes.Buffer, w tool.Wire) {
	if w.Eager {
		out.WriteString(`,"eager_input_streaming":true`)
	}
	for i, caller := range w.Callers {
		out.WriteString([...]string{`,"allowed_callers":[`, `,`}[min(i, 1)])
		writeString(out, caller)
	}
	if len(w.Callers) > 0 {
		out.WriteByte(']')
	}
	for i, example := range w.Examples {
		out.WriteString([...]string{`,"input_examples":[`, `,`}[min(i, 1)])
		if json.Compact(out, example) != nil {
			out.WriteString("{}") // Build took it: it is JSON
		}
	}
	if len(w.Examples) > 0 {
		out.WriteByte(']')
	}
}

func comma(r rune) bool { return r == ',' }

// SchemaOf gives a tool's input schema as it is sent. A server's schema that
// cannot be read goes out as the plain object the API insists on.
func SchemaOf(t *tool.Tool) json.RawMessage {
	raw, err := t.Input.Raw()
	if err != nil || len(raw) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

func writeString(out *bytes.Buffer, s string) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string always encodes
	out.Truncate(out.Len() - 1)
}
