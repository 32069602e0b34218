package mcpserve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Parse reads a catalogue. file names it in errors and, without its ending, is the
// server's name where none is given.
func Parse(file string, data []byte) (Catalogue, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: %s: %d bytes; split it, a catalogue has at most %d", ErrCatalogue, file, len(data), MaxBytes)
	}
	p := parser{file: file, data: bytes.TrimPrefix(data, []byte("\uFEFF"))}
	if err := p.values(); err != nil {
		return nil, err
	}
	if len(p.found) == 0 {
		return nil, fmt.Errorf("%w: %s: it holds no tool; give it at least one object with a name", ErrCatalogue, file)
	}
	return p.found, nil
}

// parser walks the values of one file; offsets count from the file's start.
type parser struct {
	file  string
	data  []byte
	found Catalogue
	count int
}

// entry is one object of a catalogue.
type entry struct {
	Server      *string              `json:"server"`
	Name        string               `json:"name"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Input       json.RawMessage      `json:"inputSchema"`
	Output      json.RawMessage      `json:"outputSchema"`
	Annotations *mcp.ToolAnnotations `json:"annotations"`
	Meta        mcp.Meta             `json:"_meta"`
	// Tools makes the object a listing of a whole server, or a model's request.
	Tools []json.RawMessage `json:"tools"`
	// Result is a protocol answer around a listing.
	Result json.RawMessage `json:"result"`
	// Function, Parameters and Snake are how requests to models spell a tool.
	Function   json.RawMessage `json:"function"`
	Parameters json.RawMessage `json:"parameters"`
	Snake      json.RawMessage `json:"input_schema"`
}

// bare tells a tool out of a request to a model: its name is whole already.
func (e entry) bare() bool {
	return e.Server == nil && len(e.Input) == 0 && (len(e.Parameters) > 0 || len(e.Snake) > 0)
}

// schema is the input's, in whichever spelling.
func (e entry) schema() json.RawMessage {
	for _, raw := range []json.RawMessage{e.Input, e.Snake, e.Parameters} {
		if len(raw) > 0 {
			return raw
		}
	}
	return nil
}

func (p *parser) fail(offset int, format string, args ...any) error {
	line := 1 + bytes.Count(p.data[:min(offset, len(p.data))], []byte("\n"))
	return fmt.Errorf("%w: %s:%d: %s", ErrCatalogue, p.file, line, fmt.Sprintf(format, args...))
}

func (p *parser) values() error {
	base := strings.TrimSuffix(path.Base(p.file), path.Ext(p.file))
	dec := json.NewDecoder(bytes.NewReader(p.data))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return p.fail(p.broken(int(dec.InputOffset()), err), "%v; write one JSON object a line, an array of objects, or {\"tools\": [...]}", err)
		}
		at := int(dec.InputOffset()) - len(raw)
		if raw[0] == '[' {
			err = p.array(at, raw, base)
		} else {
			err = p.object(at, raw, base)
		}
		if err != nil {
			return err
		}
	}
}

// broken is where the bytes stop being JSON.
func (p *parser) broken(read int, err error) int {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return int(syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return len(bytes.TrimRight(p.data, "\n"))
	}
	return read
}

func (p *parser) array(at int, raw json.RawMessage, server string) error {
	var elements []json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil {
		return p.fail(at, "%v", err)
	}
	return p.elements(at, raw, elements, server)
}

// elements are verbatim parts of raw, in order, which is how their lines are found.
func (p *parser) elements(at int, raw json.RawMessage, elements []json.RawMessage, server string) error {
	from := 0
	for _, e := range elements {
		from += max(0, bytes.Index(raw[from:], e))
		if err := p.object(at+from, e, server); err != nil {
			return err
		}
		from += len(e)
	}
	return nil
}

// object reads a tool, or a listing of tools.
func (p *parser) object(at int, raw json.RawMessage, server string) error {
	if raw[0] != '{' {
		return p.fail(at, "a tool must be a JSON object; found %s", kind(raw))
	}
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return p.fail(at, "%s; members are as in the protocol's tools/list", plain(err))
	}
	if e.Server != nil {
		server = *e.Server
	}
	switch {
	case e.Tools != nil && e.Name == "":
		return p.elements(at, raw, e.Tools, server)
	case e.Name == "" && isObject(e.Result):
		return p.object(at+max(0, bytes.Index(raw, e.Result)), e.Result, server)
	case e.Name == "" && isObject(e.Function):
		return p.object(at+max(0, bytes.Index(raw, e.Function)), e.Function, server)
	}
	return p.tool(at, e, server)
}

func (p *parser) tool(at int, e entry, server string) error {
	for _, c := range []struct{ what, name string }{{"server", server}, {"tool", e.Name}} {
		switch {
		case c.name == "":
			return p.fail(at, "the %s has no name; give it one", c.what)
		case len(c.name) > MaxName:
			return p.fail(at, "the %s's name has %d bytes; shorten it to %d", c.what, len(c.name), MaxName)
		}
	}
	input, err := schemaOf(e.schema())
	if err != nil {
		return p.fail(at, "tool %q: inputSchema: %v", e.Name, err)
	}
	output, err := schemaOf(e.Output)
	if err != nil {
		return p.fail(at, "tool %q: outputSchema: %v", e.Name, err)
	}
	if p.count++; p.count > MaxTools {
		return p.fail(at, "more than %d tools; split the catalogue", MaxTools)
	}
	p.found, err = p.found.add(server, &mcp.Tool{
		Meta: e.Meta, Annotations: e.Annotations, Name: e.Name, Title: e.Title,
		Description: e.Description, InputSchema: input, OutputSchema: output,
	})
	if err != nil {
		return p.fail(at, "%v", err)
	}
	if i, _ := p.found.find(server); e.bare() {
		p.found[i].Bare = true
	}
	return nil
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// schemaOf is nil for a schema that is absent or null.
func schemaOf(raw json.RawMessage) (any, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] != '{':
		return nil, fmt.Errorf("a schema must be a JSON object; found %s; leave it out for a tool without one", kind(raw))
	}
	return raw, nil
}

func kind(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// plain words a type error without the names of Go types.
func plain(err error) string {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return fmt.Sprintf("%s cannot be a %s", mismatch.Field, mismatch.Value)
	}
	return err.Error()
}
