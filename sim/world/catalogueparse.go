package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// ParseCatalogue reads a catalogue. file names it in errors and, without its ending, is the
// server's name where none is given.
func ParseCatalogue(file string, data []byte) (Catalogue, error) {
	c, left, err := ParseCatalogueRest(file, data)
	if len(left) > 0 {
		return nil, left[0]
	}
	return c, err
}

// ParseCatalogueRest reads a catalogue as ParseCatalogue does, but for tools whose name their server has
// given to another: those it leaves out, each with an error that names its place.
func ParseCatalogueRest(file string, data []byte) (c Catalogue, left []error, err error) {
	if len(data) > MaxCatalogueBytes {
		return nil, nil, fmt.Errorf("%w: %s: %d bytes; split it, a catalogue has at most %d", ErrCatalogue, file, len(data), MaxCatalogueBytes)
	}
	p := parser{file: file, stem: strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".gz"), ".zst"), data: data, seen: map[[2]string]origin{}}
	if err := p.decode(); err != nil {
		return nil, nil, err
	}
	if err := p.values(); err != nil {
		return nil, nil, err
	}
	if len(p.found) == 0 {
		return nil, nil, &noTools{fmt.Errorf("%w: %s: it holds no tool; give it at least one object with a name", ErrCatalogue, file)}
	}
	return p.found, p.left, nil
}

// ErrNoTools is wrapped, beside [ErrCatalogue], where a file of JSON is no catalogue at all: nothing in it is a tool.
var ErrNoTools = errors.New("no tools")

// noTools is an error that wraps ErrNoTools without repeating its text.
type noTools struct{ error }

func (e *noTools) Unwrap() []error { return []error{e.error, ErrNoTools} }

// deepest is how many objects may lie around a tool.
const deepest = 12

// parser walks the values of one file; offsets count from the file's start.
type parser struct {
	file  string
	stem  string // its name without the ending that packing gave it
	data  []byte
	found Catalogue
	count int
	depth int
	lists int // listings met so far
	seen  map[[2]string]origin
	left  []error // tools that were left out
}

// origin is where a tool was first met: in which listing, and how it was defined.
type origin struct {
	list       int
	definition string
}

func (p *parser) fail(offset int, format string, args ...any) error {
	where := fmt.Sprintf(":%d", line(p.data, offset))
	if ext := path.Ext(p.stem); ext == ".yaml" || ext == ".yml" { // was made JSON of, and lost its lines
		where = fmt.Sprintf(", behind %d tools", p.count)
	}
	return fmt.Errorf("%w: %s%s: %s", ErrCatalogue, p.file, where, fmt.Sprintf(format, args...))
}

// none is a failure for what is no tool: before the first one, for a file that is no catalogue.
func (p *parser) none(r gjson.Result, format string, args ...any) error {
	err := p.fail(r.Index, format, args...)
	if p.count == 0 {
		err = &noTools{err}
	}
	return err
}

func (p *parser) values() error {
	base := strings.TrimSuffix(p.stem, path.Ext(p.stem))
	dec := json.NewDecoder(bytes.NewReader(p.data))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return p.fail(p.broken(int(dec.InputOffset()), err), "%v; %s", err, remedy(err))
		}
		value := gjson.ParseBytes(raw)
		value.Index = int(dec.InputOffset()) - len(raw)
		if err := p.object(value, base, false); err != nil {
			return err
		}
	}
}

// broken is where the bytes stop being JSON.
func (p *parser) broken(read int, err error) int {
	switch syntax, is := errors.AsType[*json.SyntaxError](err); {
	case is:
		return int(syntax.Offset) - 1 // which is behind the byte
	case errors.Is(err, io.ErrUnexpectedEOF):
		return len(bytes.TrimRight(p.data, "\n"))
	}
	return read
}

// array reads the elements of a list, which may be one of tools, or of lists of them.
func (p *parser) array(list gjson.Result, server string, listed bool) error {
	p.lists++
	for _, m := range membersOf(list) {
		if err := p.object(m.Result, server, listed); err != nil {
			return err
		}
	}
	return nil
}

// object reads a tool, or whatever holds some.
func (p *parser) object(r gjson.Result, server string, listed bool) error {
	if r.IsArray() {
		return p.array(r, server, listed)
	}
	if p.depth++; p.depth > deepest {
		return p.fail(r.Index, "more than %d objects lie around this tool; take some off", deepest)
	}
	defer func() { p.depth-- }()
	e := entryOf(r, "")
	list, byNames, around := e.listing(), e.byNames(), e.within()
	switch wrong := e.wrong(); {
	case !r.IsObject():
		return p.fail(r.Index, "a tool must be a JSON object; found %s", kind(r))
	case e.of["paths"].IsObject() && (e.of["openapi"].Exists() || e.of["swagger"].Exists()):
		return p.none(r, "an OpenAPI document has operations, and no tools; take what the server lists that was made of it")
	case slices.Contains(resources, e.of["kind"].Str) && (!e.holds(deepest) || e.of["messages"].Exists() && !e.lists()):
		return nil
	case wrong != "":
		return p.fail(r.Index, "%s; members are as in the protocol's tools/list", wrong)
	case list.Exists():
		return p.array(list, e.server(server, true), true)
	case byNames.Exists():
		return p.byNames(byNames, e.server(server, true))
	case e.of["jsonrpc"].Exists() && !entryOf(around, "").lists():
		return nil // another message of a server's
	case e.of["name"].Str == "" && around.Exists():
		return p.object(around, e.server(server, false), false)
	}
	return p.alone(e, server, listed)
}

// byNames reads an object of tools, or of servers, some of which may have none.
func (p *parser) byNames(r gjson.Result, server string) error {
	all := membersOf(r)
	if len(all) == 0 || byName(all) {
		return p.named(all, server)
	}
	if sought, err := p.seek(all, server); sought || err != nil {
		return err
	}
	return p.none(r, "tools by name must each be an object with a description or a schema; %.40q is none", all[0].as)
}

// alone reads an object that is no listing and around none: a tool, tools by name, or what holds some somewhere.
func (p *parser) alone(e entry, server string, listed bool) error {
	all := membersOf(e.Result)
	if listed && e.name() == "" {
		e.as = e.provided()
	}
	name := e.name()
	if name == "" && byName(all) {
		return p.named(all, e.server(server, false))
	}
	if schema, _ := e.schema(); schema == "" {
		sought, err := p.seek(all, e.server(server, true))
		switch other := e.other(); {
		case sought || err != nil || name == "cachePoint": // the last is a mark among a request's tools
			return err
		case name == "":
			return p.none(e.Result, "%s", nameless(all))
		case other != "" && !listed:
			return p.none(e.Result, "%q has no schema, but %.40q, as no tool has; give it a schema, or take out what is no tool", name, other)
		}
	}
	return p.tool(e, e.server(server, false))
}

// seek reads the tools that stand somewhere in values of which nothing is known, and reports whether there are any. What is no
// tool beyond doubt is passed over. A listing's server is called as what it stands under.
func (p *parser) seek(all []member, server string) (sought bool, err error) {
	p.depth++
	defer func() { p.depth-- }()
	for _, m := range all {
		r, as := unwritten(m.Result), server
		e := entryOf(r, "")
		if m.as != "" && e.lists() {
			as = m.as
		}
		found := e.wrong() == "" && e.holds(deepest)
		switch {
		case found:
			err = p.object(r, as, false)
		case p.depth <= deepest:
			if r.IsArray() {
				p.lists++
			}
			found, err = p.seek(membersOf(r), as)
		}
		if sought = sought || found; err != nil {
			return true, err
		}
	}
	return sought, nil
}

// named reads tools, or listings of servers, that stand under their names.
func (p *parser) named(all []member, server string) error {
	p.lists++
	servers := slices.ContainsFunc(all, func(m member) bool { return entryOf(m.Result, "").lists() })
	for _, m := range all {
		e := entryOf(m.Result, "")
		var err error
		switch {
		case servers && e.IsObject() && !e.lists() && e.other() != "" && !e.holds(deepest): // a server whose tools nobody wrote down
		case m.IsArray() || e.lists():
			err = p.object(m.Result, e.server(m.as, false), true)
		case m.IsObject() && e.wrong() == "" && e.name() == "" && !e.within().Exists():
			e.as = m.as
			err = p.tool(e, e.server(server, false))
		default:
			err = p.object(m.Result, server, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) tool(e entry, server string) error {
	name := e.name()
	for _, c := range []struct{ what, name string }{{"server", server}, {"tool", name}} {
		switch {
		case c.name == "":
			return p.fail(e.Index, "the %s has no name; give it one", c.what)
		case len(c.name) > MaxName:
			return p.fail(e.Index, "the %s's name has %d bytes; shorten it to %d", c.what, len(c.name), MaxName)
		}
	}
	schema, bare := e.schema()
	t := mcp.Tool{Name: name, Title: e.of["title"].Str, Description: e.about()}
	var err error
	if t.InputSchema, err = schemaOf(schema); err != nil {
		return p.fail(e.Index, "tool %q: inputSchema: %v", name, err)
	}
	if t.OutputSchema, err = schemaOf(e.of["outputschema"].Raw); err != nil {
		return p.fail(e.Index, "tool %q: outputSchema: %v", name, err)
	}
	besides := struct {
		Annotations **mcp.ToolAnnotations `json:"annotations"`
		Meta        *mcp.Meta             `json:"_meta"`
	}{&t.Annotations, &t.Meta}
	if err := json.Unmarshal([]byte(e.Raw), &besides); err != nil {
		return p.fail(e.Index, "%s; members are as in the protocol's tools/list", Plain(err))
	}
	switch again, known := p.again(server, name, t.Description, schema); {
	case again:
		return nil
	case known:
		p.left = append(p.left, p.fail(e.Index, "%v", twice(server, name)))
		return nil
	}
	if p.count++; p.count > MaxTools {
		return p.fail(e.Index, "more than %d tools; split the catalogue", MaxTools)
	}
	p.found = p.found.add(server, &t)
	i, _ := p.found.find(server)
	p.found[i].Bare = p.found[i].Bare || bare
	return nil
}

// again reports whether another listing has defined a tool in the same words, as requests
// of one conversation repeat theirs, from one that is known and was defined otherwise.
func (p *parser) again(server, name, description, schema string) (again, known bool) {
	key, here := [2]string{server, name}, origin{p.lists, description + "\x00" + schema}
	before, known := p.seen[key]
	if !known {
		p.seen[key] = here
	}
	return known && before.list != here.list && before.definition == here.definition, known
}

// schemaOf is nil for a schema that is absent or null. A boolean stays one: servers list such, and theirs are saved so.
func schemaOf(raw string) (any, error) {
	switch r := gjson.Parse(raw); {
	case r.Type == gjson.Null:
		return nil, nil
	case !r.IsObject() && !r.IsBool():
		return nil, fmt.Errorf("a schema must be a JSON object; found %s; leave it out for a tool without one", kind(r))
	}
	return json.RawMessage(raw), nil
}
