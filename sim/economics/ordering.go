package economics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/tool"
)

// Ordering is a way of lining up the same tools.
type Ordering struct {
	Name, About string
	// line puts whole definitions in order; nil is the pool's own.
	line func(builtins, early, late []*tool.Tool) []*tool.Tool
	// deferring sends served tools by name only; inPlace keeps the definitions of the first
	// request, and changes of them stand in the messages.
	deferring, inPlace bool
}

// Orderings are those that are compared, ours last (D1, D5).
func Orderings() []Ordering {
	return []Ordering{
		{Name: "registration", About: "as they came: servers that were there first stand before the built-in tools, a late one at the end", line: func(builtins, early, late []*tool.Tool) []*tool.Tool { return slices.Concat(early, builtins, late) }},
		{Name: "flat sort", About: "all by name in one list, without regard to case, as a locale's order has it", line: flat},
		{Name: "ours", About: "built-in tools by name, then served ones by name"},
		{Name: "ours, in place", About: "the same; later changes are blocks of messages, tool_addition and tool_removal, under the API's betas mid-conversation-tool-changes-2026-07-01 and inline-tools-2026-09-15", inPlace: true},
		{Name: "ours, deferred", About: "the same, with served tools by name only until they are loaded", deferring: true},
	}
}

func flat(builtins, early, late []*tool.Tool) []*tool.Tool {
	all := slices.Concat(builtins, early, late)
	slices.SortStableFunc(all, func(a, b *tool.Tool) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all
}

// bench makes requests' tools of a moment.
type bench struct {
	catalogue   *pool.Catalogue
	definitions *pool.Definitions
}

// moment is a request's tools: their definitions, and the names that are deferred.
type moment struct {
	definitions []Block
	deferred    []string
}

func (b *bench) moment(w *toolset, o Ordering) moment {
	early, late := w.built()
	in := pool.Inputs{Served: slices.Concat(early, late), Conditions: pool.Conditions{Search: o.deferring}}
	p := b.catalogue.Assemble(in)
	look := p.Look(pool.View{Deferring: o.deferring, Discovered: w.found})
	m := moment{definitions: blocksOf(look.Loaded(), look.Fixed(), look.Definitions(b.definitions))}
	m.deferred = each(look.Deferred(), func(t *tool.Tool) string { return t.Name })
	if o.line != nil {
		m.definitions = reorder(m.definitions, o.line(p.Tools[:p.Builtins], early, late))
	}
	return m
}

// changes are the tools of a conversation whose changes stand in its messages.
type changes struct {
	first []Block
	now   map[string]string
}

// to gives the blocks that bring the tools to those of a moment: removals, then additions, in
// the moment's order. A tool that was edited is removed and added anew.
func (c *changes) to(tools []Block) (blocks []Block) {
	was, is := c.now, map[string]string{}
	for _, t := range tools {
		is[t.Name] = t.Text
	}
	c.now = is
	if was == nil {
		c.first = tools
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if is[name] != was[name] {
			blocks = append(blocks, Block{Name: "tool_removal " + name, Text: `{"type":"tool_removal","tool":{"type":"tool_reference","name":"` + name + `"}}`})
		}
	}
	for _, t := range tools {
		if was[t.Name] != t.Text {
			blocks = append(blocks, Block{Name: "tool_addition " + t.Name, Text: `{"type":"tool_addition","tool":{"type":"tool_definition","definition":` + t.Text + `}}`})
		}
	}
	return blocks
}

// built are the tools of what the servers list, those that came before the built-in
// ones apart.
func (w *toolset) built() (early, late []*tool.Tool) {
	for _, s := range w.servers {
		if s.early {
			early = append(early, s.tools...)
		} else {
			late = append(late, s.tools...)
		}
	}
	return early, late
}

// mark is the pool's own breakpoint, which is not part of what is hashed.
var mark = []byte(`,"cache_control":{"type":"ephemeral"}`)

func blocksOf(tools []*tool.Tool, fixed int, definitions []json.RawMessage) []Block {
	blocks := make([]Block, len(tools))
	for i, t := range tools {
		text := definitions[i]
		if i == fixed-1 {
			text = bytes.Replace(text, mark, nil, 1)
		}
		blocks[i] = Block{Name: t.Name, Text: string(text), Builtin: i < fixed}
	}
	return blocks
}

// reorder lines up the same blocks in the order of tools.
func reorder(blocks []Block, tools []*tool.Tool) []Block {
	byName := map[string]Block{}
	for _, b := range blocks {
		byName[b.Name] = b
	}
	var out []Block
	for _, t := range tools {
		if b, ok := byName[t.Name]; ok {
			out = append(out, b)
			delete(byName, t.Name)
		}
	}
	return out
}

// Churn is the built-in session: 40 turns in which servers connect late, drop,
// return and change what they list (D5).
func Churn() ChurnSession {
	mail, vcs, wiki, chat := made("mail", 3), made("vcs", 6), made("wiki", 8), made("chat", 4)
	edited := made("wiki", 8)
	edited[2].Description += " It may take a while."
	return ChurnSession{Turns: 40, Events: []PoolEvent{
		{Turn: 0, Server: "mail", Tools: mail, About: "server mail is there from the start"},
		{Turn: 3, Server: "vcs", Tools: vcs, About: "server vcs connects late"},
		{Turn: 7, Server: "wiki", Tools: wiki, About: "server wiki connects late"},
		{Turn: 9, Found: []string{"mcp__wiki__tool_1", "mcp__vcs__tool_0"}, About: "ToolSearch loads two tools"},
		{Turn: 12, Server: "mail", Tools: made("mail", 4), About: "server mail adds tool_3 (list_changed)"},
		{Turn: 16, Server: "vcs", About: "server vcs drops"},
		{Turn: 18, Server: "vcs", Tools: vcs, About: "server vcs returns"},
		{Turn: 22, Server: "wiki", Tools: edited, About: "server wiki edits the description of tool_2 (list_changed)"},
		{Turn: 26, Server: "chat", Tools: chat, About: "server chat connects late"},
		{Turn: 30, Server: "mail", About: "server mail drops"},
		{Turn: 34, Server: "mail", Tools: made("mail", 4), About: "server mail returns"},
		{Turn: 38, Server: "wiki", Tools: edited[:7], About: "server wiki takes tool_7 away (list_changed)"},
	}}
}

// made gives n tools of a server, of a middling size.
func made(server string, n int) []*mcp.Tool {
	var tools []*mcp.Tool
	for i := range n {
		tools = append(tools, &mcp.Tool{
			Name:        fmt.Sprint("tool_", i),
			Description: fmt.Sprintf("Does thing %d of %s. It takes what it works on and how to do it, and answers with what came of it, a line for each change that was made.", i, server),
			InputSchema: map[string]any{
				"type": "object", "required": []any{"target"},
				"properties": map[string]any{
					"target": map[string]any{"type": "string", "description": "What it works on: an address, a path or an id."},
					"limit":  map[string]any{"type": "integer", "minimum": 1, "maximum": 100, "description": "How many answers at most."},
					"dry":    map[string]any{"type": "boolean", "description": "Only say what would be done."},
				},
			},
		})
	}
	return tools
}

// PoolEvent is something that happens to the tools before a turn is sent.
type PoolEvent struct {
	// Turn counts from 1; 0 is before the program has registered its built-in tools.
	Turn int
	// About is what happens, for a person.
	About string
	// Server has Tools from now on; none means that it is gone.
	Server string
	Tools  []*mcp.Tool
	// Found are tools that ToolSearch loads, by their whole names; it matters only
	// where tools are deferred.
	Found []string
}

// ChurnSession is a conversation with churn.
type ChurnSession struct {
	Turns  int
	Events []PoolEvent
}

// at gives what happens before a turn.
func (s ChurnSession) at(turn int) []PoolEvent {
	return slices.DeleteFunc(slices.Clone(s.Events), func(e PoolEvent) bool { return max(e.Turn, 1) != turn })
}

// toolset is the tools of one moment.
type toolset struct {
	// servers are those that are connected, in the order in which they came.
	servers []server
	found   []string
}

// server is a connected one; an early one came before the built-in tools.
type server struct {
	name  string
	early bool
	tools []*tool.Tool
}

func (w *toolset) apply(e PoolEvent) {
	w.found = append(w.found, e.Found...)
	if e.Server == "" {
		return
	}
	tools, _ := mcptool.Tools(mcptool.Listing{Server: mcptool.Server{Name: e.Server}, Tools: e.Tools})
	i := slices.IndexFunc(w.servers, func(s server) bool { return s.name == e.Server })
	switch {
	case i < 0 && len(e.Tools) > 0:
		w.servers = append(w.servers, server{e.Server, e.Turn < 1, tools})
	case i >= 0 && len(e.Tools) == 0:
		w.servers = slices.Delete(w.servers, i, i+1)
	case i >= 0:
		w.servers[i].tools = tools
	}
}
