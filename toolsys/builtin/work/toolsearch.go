package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// SearchIn is what ToolSearch takes (SPEC E5).
type SearchIn struct {
	Query      string `json:"query" minLength:"1" jsonschema:"Key words, or select:NameA,NameB for tools whose names you know; a word with + in front must be in the name"`
	MaxResults int    `json:"max_results,omitempty" minimum:"1" maximum:"100" default:"5" jsonschema:"How many tools to load at most"`
}

// defaultResults is how many tools are loaded unless the call gives a number.
const defaultResults = 5

// SearchOut is what ToolSearch answers with.
type SearchOut struct {
	// Matches are the tools that were found and are loaded from here on, best first.
	Matches []string `json:"matches"`
	// Missing are names that were selected and do not exist.
	Missing []string `json:"missing,omitempty"`
	// Deferred is how many tools there were to search.
	Deferred int `json:"total_deferred_tools"`
	// Pending are servers that are still connecting, whose tools are not listed yet.
	Pending []string `json:"pending_mcp_servers,omitempty"`

	query       string
	definitions []tool.Definition
	references  bool
}

// ToolSearch loads deferred tools (SPEC E5): the definitions come back in the
// result, as text or as references where the model takes those, and the names are
// observed, so that the next request sends them in full (E6). It searches the tools
// of the call's context.
func ToolSearch() *tool.Tool {
	return tool.Must(tool.Def[SearchIn, SearchOut]{
		Name:        "ToolSearch",
		Coordinates: true,
		Describe:    func(in SearchIn) string { return "Search the tools for " + in.Query },
		Texts:       prompts.Of("toolsearch"),
		Call:        searchTools,
		Block:       SearchOut.blocks,
		Traits:      tool.Looks(tool.Class{}, func(SearchIn, *tool.Context) []string { return []string{"tools"} }),
		Loading:     tool.Loading{Always: true},
		View:        tool.Doing("Tool search", "Searching the tools for ", func(in SearchIn) string { return in.Query }),
		Draw:        tool.Drawing[SearchIn, SearchOut]{Result: drawMatches},
	})
}

// drawMatches draws the tools that are loaded now, with what they are for.
func drawMatches(_ SearchIn, o tool.Outcome[SearchOut]) []render.Node {
	about := map[string]string{}
	for _, d := range o.Data.definitions {
		about[d.Name] = message.Line(d.Description, 80)
	}
	head := "Loaded " + render.Count(len(o.Data.Matches), "tool") + " of " + strconv.Itoa(o.Data.Deferred) + ": " + strings.Join(o.Data.Matches, ", ")
	return render.Listed(message.Line(head, 100), o.Data.Matches, func(name string) render.Item {
		return render.Item{Mark: render.Bullet, Spans: []render.Span{{Text: name}, {Text: strings.TrimRight("  "+about[name], " "), Role: render.Dim}}}
	})
}

func searchTools(ctx context.Context, in SearchIn, c *tool.Context) (tool.Result[SearchOut], error) {
	if c.Search == nil {
		return tool.Result[SearchOut]{}, errors.New("no tools are deferred here; every tool there is was sent whole")
	}
	found, err := c.Search(ctx, in.Query, cmp.Or(in.MaxResults, defaultResults))
	if err != nil {
		return tool.Result[SearchOut]{}, fmt.Errorf("the search failed: %w", err)
	}
	r := tool.Done(SearchOut{
		Matches: append([]string{}, found.Names...), Missing: found.Missing, Deferred: found.Deferred, Pending: found.Pending,
		query: in.Query, definitions: found.Definitions, references: found.References,
	})
	if len(found.Names) > 0 {
		r.Observed = []tool.Observation{{Discovered: found.Names}}
	}
	return r, nil
}

func (out SearchOut) blocks() []message.Block {
	var all []message.Block
	switch {
	case len(out.Matches) == 0:
		return []message.Block{message.Text(out.nothing())}
	case out.references:
		all = tool.Each(out.Matches, message.ToolReference)
	default:
		all = append(all, message.Text(functions(out.definitions)))
	}
	if note := out.missing(); note != "" {
		all = append(all, message.Text(note))
	}
	return all
}

// nothing is the answer without a match: what there was to find, so that the next
// query can be better.
func (out SearchOut) nothing() string {
	were := "tools were"
	if out.Deferred == 1 {
		were = "tool was"
	}
	lines := []string{fmt.Sprintf("No tool matches %q; %d deferred %s searched.", out.query, out.Deferred, were)}
	if note := out.missing(); note != "" {
		lines = append(lines, note)
	}
	if len(out.Pending) > 0 {
		lines = append(lines, "Still connecting, so that their tools are not known yet: "+strings.Join(out.Pending, ", ")+". Search again in a moment.")
	}
	return strings.Join(lines, "\n")
}

func (out SearchOut) missing() string {
	if len(out.Missing) == 0 {
		return ""
	}
	return "There is no tool named " + strings.Join(out.Missing, ", ") + "."
}

// functions is the block in which tools are described to a model, a line each.
func functions(definitions []tool.Definition) string {
	var b strings.Builder
	b.WriteString("<functions>\n")
	for _, d := range definitions {
		b.WriteString("<function>" + definition(d) + "</function>\n")
	}
	return b.String() + "</functions>"
}

// definition is one line of JSON. A server words its own descriptions, so that
// none may hold what closes the block: in a JSON string, <\/ means the same as </.
func definition(d tool.Definition) string {
	if len(d.Parameters) == 0 {
		d.Parameters = json.RawMessage(`{"type":"object"}`)
	}
	line, _ := jsonscan.Marshal(d) // its schema is valid, or there were no such tool
	return strings.ReplaceAll(string(line), "</", `<\/`)
}
