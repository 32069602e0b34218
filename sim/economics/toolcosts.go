package economics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolbench/toolsys/search"
)

// Figure is tokens, what they save of the whole definitions, in percent, and what that
// is known from.
type Figure struct {
	Tokens int     `json:"tokens"`
	Saved  float64 `json:"saved_percent" maximum:"100"`
	Basis  string  `json:"basis" jsonschema:"Counted with a vocabulary, estimated from bytes, given by the API's documentation, measured by the API's count_tokens, or apportioned by bytes from what it measured." enum:"counted,estimated,documented,measured,apportioned"`
}

// Modes are what the same tools cost under each way of deferring (E4).
type Modes struct {
	Names Figure `json:"names"`
	Hints Figure `json:"names_hint"`
	API   Figure `json:"api"`
}

// figures are the three, to be changed.
func (m *Modes) figures() [3]*Figure { return [3]*Figure{&m.Names, &m.Hints, &m.API} }

// Cost is what some tools cost: Full whole, Modes when deferred.
type Cost struct {
	Name  string `json:"name"`
	Tools int    `json:"tools"`
	Full  int    `json:"full_tokens"`
	Modes Modes  `json:"modes"`
	// Basis is what Full is known from.
	Basis string `json:"-"`
}

// ToolCost is what one tool costs.
type ToolCost struct {
	Name   string `json:"name"`
	Server string `json:"server"`
	Full   int    `json:"full_tokens"`
	Basis  string `json:"full_basis" jsonschema:"Counted with a vocabulary, estimated from bytes, given by the API's documentation, measured by the API's count_tokens, or apportioned by bytes from what it measured." enum:"counted,estimated,documented,measured,apportioned"`
	// Description and Schema are parts of the whole definition.
	Description int `json:"description_tokens" jsonschema:"The description, counted by itself."`
	Schema      int `json:"schema_tokens" jsonschema:"The schema, counted by itself."`
	// Missing reports whether the tool has no schema; Whole that it is never deferred.
	Missing bool  `json:"without_schema"`
	Whole   bool  `json:"never_deferred"`
	Modes   Modes `json:"modes"`
	// Advice is what could be done about the tool; "" when there is nothing.
	Advice string `json:"advice,omitempty"`
	// Calls is nil for a tool that is not of a recording.
	Calls *int `json:"recorded_calls,omitempty" jsonschema:"With --recording: how often it was called there."`
}

// AutomaticMode is whether the automatic mode would defer (E3).
type AutomaticMode struct {
	Model string `json:"model"`
	// Window is the model's, in tokens.
	Window int  `json:"window"`
	Known  bool `json:"window_known" jsonschema:"False where the window is assumed."`
	// Percent of the window is the Threshold in tokens.
	Percent   int `json:"percent"`
	Threshold int `json:"threshold_tokens"`
	// Deferred is under the report's counter.
	Deferred int `json:"deferred_tokens" jsonschema:"What the deferrable definitions cost whole."`
	// Session is what Triggers and Reason rest on.
	Session  int    `json:"session_tokens" jsonschema:"What a session compares with the threshold, whatever the counter: bytes / 4 of the deferrable definitions as it sends them."`
	Triggers bool   `json:"triggers"`
	Reason   string `json:"reason"`
}

// With is the decision with so many tokens more: deferrable ones, and those that a session
// compares.
func (a AutomaticMode) With(deferred, session int) AutomaticMode {
	a.Deferred, a.Session = a.Deferred+deferred, a.Session+session
	a.Triggers, a.Reason = search.Final(search.FinalInput{
		Mode: search.Automatic, Percent: a.Percent, Model: a.Model, Present: true, DeferredTokens: a.Session,
	})
	return a
}

// Add adds so many times what other tools cost.
func (c *Cost) Add(o Cost, times int) {
	if c.Tools == 0 && times == 1 {
		o.Name = c.Name
		*c = o
		return
	}
	c.Tools += times * o.Tools
	c.Full += times * o.Full
	others := o.Modes.figures()
	for i, f := range c.Modes.figures() {
		f.Tokens += times * others[i].Tokens
		f.Basis = others[i].Basis
		f.Saved = saved(max(0, c.Full), f.Tokens)
	}
}

// ToolCosts is what a set of tools costs under one counter.
type ToolCosts struct {
	Counter Counter
	Total   Cost
	// Servers goes by name; the built-in tools stand as "".
	Servers []Cost
	// Worst are all tools, the dearest first.
	Worst     []ToolCost
	Automatic AutomaticMode
	// Search is what ToolSearch's own definition adds when tools are deferred; it is
	// not in the totals. 0 when it was not counted.
	Search int
	// NoSchema names the tools without a schema; Empty those whose schema names no
	// parameter: they take none, or the author of the catalogue left them out.
	NoSchema, Empty []string
	// Uncalled names the tools of recordings that nobody called there.
	Uncalled []string
	// Measurement is what the API was asked; nil under any other counter.
	Measurement *Measurement
	// Sessions are the recorded ones, over all their requests.
	Sessions []SessionCost
}

// CountOptions are how tools are counted.
type CountOptions struct {
	Counter Counter
	// Model is whose window the automatic threshold is taken of.
	Model string
	// Percent of the window is the threshold; 0 means 10 (E2).
	Percent int
}

// defaultPercent is the automatic mode's own share of the window (E2).
const defaultPercent = 10

// CountTools makes the report of tools.
func CountTools(tools []Tool, o CountOptions) ToolCosts {
	r := ToolCosts{Counter: o.Counter}
	sums := map[string]*weight{}
	var total weight
	for _, t := range byName(tools) {
		w := weigh(t, o.Counter)
		if sums[t.Server] == nil {
			sums[t.Server] = &weight{}
		}
		sums[t.Server].add(w)
		total.add(w)
		r.Worst = append(r.Worst, rowOf(t, w, o.Counter))
		if t.Recorded && t.Calls == 0 {
			r.Uncalled = append(r.Uncalled, t.Name)
		}
		switch {
		case t.Missing:
			r.NoSchema = append(r.NoSchema, t.Name)
		case t.empty():
			r.Empty = append(r.Empty, t.Name)
		}
	}
	r.Total = total.cost("", o.Counter)
	r.Servers = append(r.Servers, each(slices.Sorted(maps.Keys(sums)), func(name string) Cost { return sums[name].cost(name, o.Counter) })...)
	SortToolCosts(r.Worst)
	r.Automatic = automaticMode(o, o.Counter.tokens(total.deferred), tools)
	return r
}

// SortToolCosts puts the dearest tools first.
func SortToolCosts(rows []ToolCost) {
	slices.SortStableFunc(rows, func(a, b ToolCost) int { return cmp.Or(cmp.Compare(b.Full, a.Full), strings.Compare(a.Name, b.Name)) })
}

// automaticMode decides as a session would (E3).
func automaticMode(o CountOptions, deferred int, tools []Tool) AutomaticMode {
	percent := cmp.Or(o.Percent, defaultPercent)
	window, known := search.Window(o.Model, nil)
	a := AutomaticMode{Model: o.Model, Window: window, Known: known, Percent: percent, Threshold: window * percent / 100}
	return a.With(deferred, sessionTokens(tools))
}

// sessionTokens is how a session weighs deferrable definitions before a request.
func sessionTokens(tools []Tool) int {
	bytes := 0
	for _, t := range tools {
		if !t.Whole {
			bytes += len(Definition(t, false))
		}
	}
	return bytes / 4
}

// dear is from where on, in tokens, a part of a definition is worth a word.
const dear = 150

// rowOf is a tool's line in the report, with what can be done about it.
func rowOf(t Tool, w weight, c Counter) ToolCost {
	row := ToolCost{
		Name: t.Name, Server: t.Server, Full: c.tokens(w.full), Basis: c.Basis, Missing: t.Missing, Whole: t.Whole, Modes: w.modes(c),
		Description: c.Count(t.Description), Schema: c.Count(t.Schema),
	}
	if t.Recorded {
		row.Calls = &t.Calls
	}
	row.Advice = advice(t, row, c)
	return row
}

// advice is what can be done about a dear tool: it names the part that costs.
func advice(t Tool, row ToolCost, c Counter) string {
	var parts []string
	if t.Missing {
		parts = append(parts, "it has no schema, so its figure is without one: ask the server for it")
	}
	if t.Recorded && t.Calls == 0 {
		parts = append(parts, "nobody called it in the recording: defer it, or leave it out")
	}
	if row.Description >= dear {
		parts = append(parts, fmt.Sprintf("its description is %d tokens: say first what it is for, and move the rest out", row.Description))
	}
	if row.Schema >= dear {
		if name, tokens := dearest(t.Schema, c); name != "" {
			parts = append(parts, fmt.Sprintf("its schema is %d tokens, %d of them for parameter %q: shorten that first", row.Schema, tokens, name))
		}
	}
	return strings.Join(parts, "; ")
}

// dearest is the parameter that costs most, the first by name of equals.
func dearest(schema string, c Counter) (name string, tokens int) {
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal([]byte(schema), &root) != nil {
		return "", 0 // a schema of another form has no parameters to name
	}
	for key, raw := range root.Properties {
		if n := c.Count(string(raw)); n > tokens || n == tokens && key < name {
			name, tokens = key, n
		}
	}
	return name, tokens
}
