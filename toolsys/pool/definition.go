package pool

import (
	"bytes"
	"encoding/json"
	"sync"

	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Definitions writes tools as the API takes them and keeps the bytes: a pool is
// assembled for every request, its members seldom change (C1). It is safe for
// concurrent use.
type Definitions struct {
	mu    sync.Mutex
	ready map[definitionKey]json.RawMessage
}

// definitionKey holds the tool's identity, not its name: a decorated or replaced
// tool is another pointer.
type definitionKey struct {
	tool     *tool.Tool
	settings settings.Settings
	builtins string
	deferred bool
	mark     bool
}

// NewDefinitions makes an empty store.
func NewDefinitions() *Definitions {
	return &Definitions{ready: map[definitionKey]json.RawMessage{}}
}

// form is how one tool is to be written.
type form struct {
	settings settings.Settings
	// builtins are the names a prompt may point to; served tools are left out, so
	// that they cannot change a built-in's bytes (D4).
	builtins []string
	joined   string
	// deferred adds defer_loading (E4); mark adds the cache breakpoint (D4).
	deferred, mark bool
}

func (d *Definitions) bytes(t *tool.Tool, f form) json.RawMessage {
	key := definitionKey{t, f.settings, f.joined, f.deferred, f.mark}
	d.mu.Lock()
	raw, ok := d.ready[key]
	d.mu.Unlock()
	if ok {
		return raw
	}
	raw = write(t, f)
	d.mu.Lock()
	d.ready[key] = raw
	d.mu.Unlock()
	return raw
}

// write gives the canonical definition: name, description, input_schema, then
// what applies of strict, defer_loading and cache_control.
func write(t *tool.Tool, f form) json.RawMessage {
	var out bytes.Buffer
	out.WriteString(`{"name":`)
	writeString(&out, t.Name)
	out.WriteString(`,"description":`)
	writeString(&out, t.Prompt(tool.PromptOptions{Settings: f.settings, Tools: f.builtins}))
	out.WriteString(`,"input_schema":`)
	out.Write(SchemaOf(t))
	if t.Strict {
		out.WriteString(`,"strict":true`)
	}
	if f.deferred {
		out.WriteString(`,"defer_loading":true`)
	}
	if f.mark {
		out.WriteString(`,"cache_control":{"type":"ephemeral"}`)
	}
	out.WriteByte('}')
	return out.Bytes()
}

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
