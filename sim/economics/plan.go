package economics

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"toolbench/sim/recording"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
)

// plan is a recorded session as a pool that defers would have sent it (E4, E8).
//
// What is assumed: every tool of the client's is deferrable but those that are named
// as a built-in of ours that never is; what the API defines itself stays. The model
// loads what it needs when it needs it, and nothing else: where a turn first calls
// deferred tools, it asks ToolSearch for all of them in one `select:` query instead,
// which takes one more request, and then calls them. What was loaded stays loaded.
type plan struct {
	Steps []planStep
	// Searcher is ToolSearch's own definition.
	Searcher recording.PromptTool
}

// planStep is one request of a plan.
type planStep struct {
	Turn recording.PromptTurn
	// Find are the tools that its answer asks ToolSearch for; Again reports whether it is
	// the further request that a search takes.
	Find  []string
	Again bool

	whole  map[string]bool
	loaded map[string]bool
}

// newPlan plans the turns whose requests are known.
func newPlan(sent []recording.PromptTurn) plan {
	whole, searcher := fixed()
	p := plan{Searcher: recording.PromptTool{
		Name: searcher.Name, Description: searcher.Description, Schema: searcher.Schema, Text: string(Definition(searcher, false)),
	}}
	loaded := map[string]bool{}
	for _, t := range sent {
		step := planStep{Turn: t, whole: whole, loaded: maps.Clone(loaded)}
		step.Find = step.wanted()
		p.Steps = append(p.Steps, step)
		if len(step.Find) == 0 {
			continue
		}
		for _, name := range step.Find {
			loaded[name] = true
		}
		p.Steps = append(p.Steps, planStep{Turn: t, Again: true, whole: whole, loaded: maps.Clone(loaded)})
	}
	return p
}

// fixed are the names of built-in tools that are never deferred, and ToolSearch.
func fixed() (whole map[string]bool, searcher Tool) {
	own, searcher := Builtins(settings.Settings{})
	whole = map[string]bool{search.ToolName: true}
	for _, t := range own {
		whole[t.Name] = t.Whole
	}
	return whole, searcher
}

// defers reports whether a session defers by itself: it offers a search of tools, ours
// or the API's, or sends definitions with defer_loading.
func defers(sent []recording.PromptTurn) bool {
	return slices.ContainsFunc(sent, func(t recording.PromptTurn) bool {
		return slices.ContainsFunc(t.Prompt.Tools, func(d recording.PromptTool) bool {
			return d.Name == search.ToolName || d.Deferred || strings.HasPrefix(d.Kind, "tool_search_tool")
		})
	})
}

// Defers reports whether there is anything to defer; without it ToolSearch stays out.
func (p plan) Defers() bool {
	return slices.ContainsFunc(p.Steps, func(s planStep) bool { return slices.ContainsFunc(s.Turn.Prompt.Tools, s.deferrable) })
}

func (s planStep) deferrable(t recording.PromptTool) bool { return t.Kind == "" && !s.whole[t.Name] }

// Whole are the tools that are always sent whole, in the request's order.
func (s planStep) Whole() []recording.PromptTool {
	return s.some(func(t recording.PromptTool) bool { return !s.deferrable(t) })
}

// Loaded are the deferrable tools that were found before.
func (s planStep) Loaded() []recording.PromptTool {
	return s.some(func(t recording.PromptTool) bool { return s.deferrable(t) && s.loaded[t.Name] })
}

// Waiting are the tools that go by their names.
func (s planStep) Waiting() []recording.PromptTool {
	return s.some(func(t recording.PromptTool) bool { return s.deferrable(t) && !s.loaded[t.Name] })
}

// Deferred names the waiting ones, sorted.
func (s planStep) Deferred() []string {
	return slices.Sorted(slices.Values(each(s.Waiting(), func(t recording.PromptTool) string { return t.Name })))
}

// Found are the definitions that its search answers with, in the order asked.
func (s planStep) Found() []recording.PromptTool {
	return slices.Concat(each(s.Find, func(name string) []recording.PromptTool {
		return s.some(func(t recording.PromptTool) bool { return t.Name == name })
	})...)
}

func (s planStep) some(keep func(recording.PromptTool) bool) []recording.PromptTool {
	return slices.DeleteFunc(slices.Clone(s.Turn.Prompt.Tools), func(t recording.PromptTool) bool { return !keep(t) })
}

// wanted are the waiting tools that the turn calls, in the order of the calls.
func (s planStep) wanted() []string {
	waiting := s.Deferred()
	var names []string
	for _, name := range s.Turn.Calls {
		if slices.Contains(waiting, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// aCall stands for the id of a call, which has this length.
const aCall = "toolu_000000000000000000000000"

// SearchCall is the block with which a model asks for tools by name (E5).
func SearchCall(names []string) string {
	return `{"type":"tool_use","id":"` + aCall + `","name":"` + search.ToolName + `","input":{"query":` + quoted("select:"+strings.Join(names, ",")) + `}}`
}

// SearchResult is the block that answers it, the definitions in its text (E5).
func SearchResult(found []recording.PromptTool) string {
	var text strings.Builder
	text.WriteString("<functions>\n")
	for _, t := range found {
		text.WriteString(recorded("", t).whole())
	}
	text.WriteString("</functions>")
	return answer(`{"type":"text","text":` + quoted(text.String()) + "}")
}

// searchReferences is the answer where the model takes references (E4, API mode).
func searchReferences(found []recording.PromptTool) string {
	reference := func(t recording.PromptTool) string {
		return `{"type":"tool_reference","tool_name":` + quoted(t.Name) + "}"
	}
	return answer(strings.Join(each(found, reference), ","))
}

func answer(content string) string {
	return `{"type":"tool_result","tool_use_id":"` + aCall + `","content":[` + content + "]}"
}

// recorded makes a tool to be counted of one that was sent.
func recorded(server string, t recording.PromptTool) Tool {
	schema, missing := schemaOf(json.RawMessage(t.Schema))
	return Tool{Name: t.Name, Server: server, Description: t.Description, Schema: schema, Missing: missing}
}
