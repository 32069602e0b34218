package promptcache

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/tool"
)

// Ordering is a way of lining up the same tools.
type Ordering struct {
	Name, About string
	// line puts whole definitions in order; nil is the pool's own.
	line func(builtins, early, late []*tool.Tool) []*tool.Tool
	// deferring sends served tools by name only.
	deferring bool
}

// Orderings are those that are compared, ours last (D1, D5).
func Orderings() []Ordering {
	return []Ordering{
		{Name: "registration", About: "as they came: servers that were there first stand before the built-in tools, a late one at the end", line: registered},
		{Name: "flat sort", About: "all by name in one list, without regard to case, as a locale's order has it", line: flat},
		{Name: "ours", About: "built-in tools by name, then served ones by name"},
		{Name: "ours, deferred", About: "the same, with served tools by name only until they are loaded", deferring: true},
	}
}

func registered(builtins, early, late []*tool.Tool) []*tool.Tool {
	return slices.Concat(early, builtins, late)
}

func flat(builtins, early, late []*tool.Tool) []*tool.Tool {
	all := slices.Concat(builtins, early, late)
	slices.SortStableFunc(all, func(a, b *tool.Tool) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return all
}

// bench makes requests' tools of a moment.
type bench struct {
	catalogue   *pool.Catalogue
	definitions *pool.Definitions
}

func newBench() (*bench, error) {
	system, err := toolsys.New(toolsys.Config{Builtins: builtin.All(builtin.Deps{})})
	if err != nil {
		return nil, err
	}
	return &bench{system.Catalogue, pool.NewDefinitions()}, nil
}

// moment is a request's tools: their definitions, and the names that are deferred.
type moment struct {
	definitions []Block
	deferred    []string
}

func (b *bench) moment(w *world, o Ordering) moment {
	early, late := w.built()
	in := pool.Inputs{Served: slices.Concat(early, late), Conditions: pool.Conditions{Search: o.deferring}}
	p := b.catalogue.Assemble(in)
	look := p.Look(pool.View{Deferring: o.deferring, Discovered: w.found})
	m := moment{definitions: blocksOf(look.Loaded(), look.Fixed(), look.Definitions(b.definitions))}
	for _, t := range look.Deferred() {
		m.deferred = append(m.deferred, t.Name)
	}
	if o.line != nil {
		m.definitions = reorder(m.definitions, o.line(p.Tools[:p.Builtins], early, late))
	}
	return m
}

// built makes tools of what the servers list, those that came before the built-in
// ones apart.
func (w *world) built() (early, late []*tool.Tool) {
	for _, s := range w.servers {
		tools, _ := mcptool.Tools(mcptool.Listing{Server: mcptool.Server{Name: s.name}, Tools: s.tools})
		if s.early {
			early = append(early, tools...)
		} else {
			late = append(late, tools...)
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
