package economics

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
)

// SessionCost is what the definitions of one recorded session cost over all its requests,
// and what deferral would have made of it, net of its searches (E8). API-defined tools
// are in no figure: their definitions are not in the requests.
type SessionCost struct {
	File         string      `json:"file"`
	Conversation int         `json:"conversation"`
	Agent        string      `json:"agent"`
	API          dialect.API `json:"api" jsonschema:"In whose words the requests were recorded; empty for the Messages API in a transcript."`
	Requests     int         `json:"requests" jsonschema:"Those in the recording; 0 for a transcript, whose tools are unknown."`
	Tools        int         `json:"tools" jsonschema:"The client's own; what the API defines itself is in no figure."`
	Called       int         `json:"tools_called"`
	Defers       bool        `json:"defers_by_itself" jsonschema:"Then net is empty."`
	Searches     int         `json:"searches" jsonschema:"Turns that would have had to search, each one more request."`
	FirstUses    int         `json:"tools_loaded" jsonschema:"As many searches as a model takes that loads one tool at a time."`
	Whole        int         `json:"full_tokens" jsonschema:"Every definition whole in every request."`
	Resent       int         `json:"resent_tokens" jsonschema:"What the further requests send again of the conversation; in no net figure."`
	Basis        string      `json:"basis" jsonschema:"Counted with a vocabulary, estimated from bytes, given by the API's documentation, measured by the API's count_tokens, or apportioned by bytes from what it measured." enum:"counted,estimated,documented,measured,apportioned"`
	// Ways are net figures: by names, names with hints, and the API's defer_loading.
	Ways []Net `json:"net"`
}

// Net is a session under one way of deferring, in tokens over all requests: Total is the
// sum of the three before it.
type Net struct {
	Name        string  `json:"style" enum:"names,names_hint,api"`
	Definitions int     `json:"definition_tokens"`
	Searcher    int     `json:"tool_search_tokens" jsonschema:"ToolSearch's own definition in every request."`
	History     int     `json:"search_tokens" jsonschema:"Calls of ToolSearch and their results, in every later request again."`
	Total       int     `json:"net_tokens"`
	Saved       float64 `json:"net_saved_percent" jsonschema:"Below 0 where deferral costs more than it saves." maximum:"100"`
	Resending   float64 `json:"saved_percent_with_resent" maximum:"100"`
}

// styles names the ways of deferring, in the order of SessionCost.Ways.
var styles = []string{"names", "names_hint", "api"}

// Recordings gathers sessions and their tools.
type Recordings struct {
	Sessions []SessionCost
	// Model is the first one that was asked; "" where no request names it.
	Model string
	tools map[string]Tool
	whole map[string]bool
}

// NewRecordings begins without any.
func NewRecordings() *Recordings {
	whole, _ := fixed()
	return &Recordings{tools: map[string]Tool{}, whole: whole}
}

// Add counts a recording's sessions.
func (r *Recordings) Add(file *recording.PromptFile, c Counter) {
	for _, s := range file.Sessions {
		sent := s.Sent()
		one := SessionCost{File: file.Name, Conversation: s.Number, Agent: s.Agent, API: s.API, Requests: len(sent), Defers: defers(sent), Basis: c.Basis}
		one.Tools, one.Called = r.use(sent)
		one.count(sent, c)
		r.Sessions = append(r.Sessions, one)
	}
}

// Tools are the client's own definitions, the last of each name, by server and name.
func (r *Recordings) Tools() []Tool { return byName(slices.Collect(maps.Values(r.tools))) }

// use notes which tools a session has, and which it calls.
func (r *Recordings) use(sent []recording.PromptTurn) (tools, called int) {
	offered, calls := map[string]bool{}, map[string]int{}
	for _, t := range sent {
		r.Model = cmp.Or(r.Model, t.Prompt.Model)
		for _, d := range t.Prompt.Tools {
			if d.Kind == "" {
				offered[d.Name] = true
				tool := recorded(serverOf(d.Name), d)
				tool.Recorded, tool.Whole, tool.Calls = true, r.whole[d.Name], r.tools[d.Name].Calls
				r.tools[d.Name] = tool
			}
		}
		for _, name := range t.Calls {
			calls[name]++
		}
	}
	for name, n := range calls {
		if offered[name] {
			called++
			tool := r.tools[name]
			tool.Calls += n
			r.tools[name] = tool
		}
	}
	return len(offered), called
}

// fromRecording stands for the server of a client's own tools.
const fromRecording = "recorded"

func serverOf(name string) string {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return server
	}
	return fromRecording
}

// count plays the plan and weighs each request.
func (s *SessionCost) count(sent []recording.PromptTurn, c Counter) {
	w := weightCounter{counter: c, known: map[string]int{}, plan: newPlan(sent)}
	for _, step := range w.plan.Steps {
		if len(step.Find) > 0 {
			s.Searches++
			s.FirstUses += len(step.Find)
		}
		w.step(step)
	}
	s.Whole, s.Resent = c.tokens(w.whole), c.tokens(w.resent)
	if s.Defers || len(sent) == 0 {
		return
	}
	for i, name := range styles {
		p := w.parts[i]
		total := p.definitions + p.searcher + p.history
		s.Ways = append(s.Ways, Net{
			Name: name, Definitions: c.tokens(p.definitions), Searcher: c.tokens(p.searcher), History: c.tokens(p.history), Total: c.tokens(total),
			Saved: saved(w.whole, total), Resending: saved(w.whole, total+w.resent),
		})
	}
}

// weightCounter adds up a session's weights.
type weightCounter struct {
	counter Counter
	plan    plan
	known   map[string]int

	whole, resent int
	parts         [3]struct{ definitions, searcher, history int }
	// searched is what searches have put into the history so far, by style.
	searched [3]int
}

// of weighs a text, each once.
func (w *weightCounter) of(text string) int {
	n, ok := w.known[text]
	if !ok {
		n = w.counter.weigh(text)
		w.known[text] = n
	}
	return n
}

// listed frames the names of deferred tools in a request (E4).
const listed = "<available-deferred-tools>\n</available-deferred-tools>\n"

// step weighs one request, and what its answer searches for.
func (w *weightCounter) step(s planStep) {
	own := slices.DeleteFunc(slices.Clone(s.Turn.Prompt.Tools), func(t recording.PromptTool) bool { return t.Kind != "" })
	full := w.lines(own, Tool.whole)
	if s.Again {
		w.resent += w.conversation(s.Turn.Prompt)
	} else {
		w.whole += full
	}
	waiting := s.Waiting()
	sent := full - w.lines(waiting, Tool.whole)
	for i, line := range []func(Tool) string{Tool.named, Tool.hinted, nil} {
		p := &w.parts[i]
		p.definitions += sent
		if line != nil && len(waiting) > 0 {
			p.definitions += w.lines(waiting, line) + w.of(listed)
		}
		if w.plan.Defers() {
			p.searcher += w.of(recorded("", w.plan.Searcher).whole())
		}
		p.history += w.searched[i]
	}
	if len(s.Find) > 0 {
		w.search(s)
	}
}

// search puts a search into the histories to come.
func (w *weightCounter) search(s planStep) {
	call := w.of(SearchCall(s.Find))
	for i, result := range []string{SearchResult(s.Found()), SearchResult(s.Found()), searchReferences(s.Found())} {
		w.parts[i].history += call
		w.searched[i] += call + w.of(result)
	}
}

func (w *weightCounter) lines(tools []recording.PromptTool, line func(Tool) string) (n int) {
	for _, t := range tools {
		n += w.of(line(recorded("", t)))
	}
	return n
}

func (w *weightCounter) conversation(r *recording.Prompt) (n int) {
	for _, pieces := range [][]recording.PromptBlock{r.System, r.Messages} {
		for _, p := range pieces {
			n += w.of(p.Text)
		}
	}
	return n
}
