package reports

import (
	"fmt"
	"path"
	"strconv"

	"toolbench/reports/screen"
	"toolbench/sim/economics/tokens"
)

// netAssumptions are what the net figures rest on.
func netAssumptions() []string {
	return []string{
		"whole: every definition of the client's own in every request of the session; what the API defines itself is in no figure",
		"net: names or loaded definitions and ToolSearch's own definition in every request, each search's call once as output, and call and result in every later request again",
		"a turn that first calls deferred tools is taken to load them all with one select: query before, which takes one more request; nothing else is searched, and what was loaded stays",
		"by names, the result has the definitions as text and later requests have them in their tools too; with the API's defer_loading it has references, and a definition is taken to stand in the prompt once",
	}
}

// netGrid shows recorded sessions over all their requests.
func netGrid(r tokens.Report) screen.Grid {
	g := screen.Grid{Columns: tokenColumns("Recorded session", "Requests", "Tools", "Searches", "Whole", "Net names", "Saved", "Net API", "Saved")}
	named := sessionNames(r.Sessions)
	for i, s := range r.Sessions {
		if len(s.Ways) == 0 || s.Tools == 0 {
			continue
		}
		names, api := s.Ways[0], s.Ways[2] // hints lie a little above names; the JSON has them
		g.Rows = append(g.Rows, []string{named[i], strconv.Itoa(s.Requests), strconv.Itoa(s.Tools), strconv.Itoa(s.Searches), strconv.Itoa(s.Whole),
			strconv.Itoa(names.Total), percent(names.Saved), strconv.Itoa(api.Total), percent(api.Saved)})
	}
	return g
}

// sessionNames are names for the sessions' rows: the file's own, without its middle
// where several begin alike, and the conversation's number.
func sessionNames(sessions []tokens.Session) []string {
	const room = nameWidth - 6
	files := map[string]bool{}
	begun := map[string]int{}
	for _, s := range sessions {
		if !files[s.File] {
			begun[screen.Cut(screen.Safe(path.Base(s.File)), room, true)]++
		}
		files[s.File] = true
	}
	names := make([]string, len(sessions))
	for i, s := range sessions {
		full := screen.Safe(path.Base(s.File))
		name := screen.Cut(full, room, true)
		if begun[name] > 1 {
			name = screen.CutMiddle(full, room, true)
		}
		names[i] = name + " #" + strconv.Itoa(s.Conversation)
	}
	return names
}

// netLines break the figures down, and name what they rest on.
func netLines(r tokens.Report) []string {
	if len(r.Sessions) == 0 {
		return nil
	}
	var lines []string
	silent, bare, defers, net := 0, 0, 0, 0
	named := sessionNames(r.Sessions)
	for i, s := range r.Sessions {
		switch {
		case s.Requests == 0:
			silent++
		case s.Tools == 0:
			bare++
		case s.Defers:
			defers++
			lines = append(lines, named[i]+": it defers tools by itself, so no net figure is given")
		default:
			net++
			lines = append(lines, breakdown(named[i], s))
		}
	}
	if net > maxBroken { // a folder of many: the grid has the figures
		lines = nil
		if defers > 0 {
			lines = append(lines, plural(defers, "conversation defers", "conversations defer")+" tools already, so there is no net figure")
		}
	}
	if silent > 0 {
		lines = append(lines, plural(silent, "conversation is", "conversations are")+" recorded without requests, as transcripts and bare streams are: which tools were sent is not known")
	}
	if bare > 0 {
		lines = append(lines, plural(bare, "conversation offers", "conversations offer")+" no tool of the client's own")
	}
	if net > 0 {
		lines = append(lines, netAssumptions()...)
	}
	return lines
}

// maxBroken is how many sessions are broken down in words.
const maxBroken = 3

func breakdown(name string, s tokens.Session) string {
	names, api := s.Ways[0], s.Ways[2]
	text := fmt.Sprintf("%s: by names, %d for definitions, %d for ToolSearch's own, %d for %s loading %s (with API: %d, %d, %d)", name,
		names.Definitions, names.Searcher, names.History, plural(s.Searches, "search", "searches"), plural(s.FirstUses, "tool", "tools"),
		api.Definitions, api.Searcher, api.History)
	if s.Resent > 0 {
		text += fmt.Sprintf("; the further requests send %d tokens of conversation again, cached or not, and with them %s is saved", s.Resent, percent(names.Resending))
	}
	return text
}

type sessionsJSON struct {
	Assumptions []string      `json:"assumptions"`
	NeverCalled []string      `json:"never_called"`
	Sessions    []sessionJSON `json:"sessions"`
}

type sessionJSON struct {
	File         string    `json:"file"`
	Conversation int       `json:"conversation"`
	Agent        string    `json:"agent"`
	Requests     int       `json:"requests" jsonschema:"Those in the recording; 0 for a transcript, whose tools are unknown."`
	Tools        int       `json:"tools" jsonschema:"The client's own; what the API defines itself is in no figure."`
	Called       int       `json:"tools_called"`
	Defers       bool      `json:"defers_by_itself" jsonschema:"Then net is empty."`
	Searches     int       `json:"searches" jsonschema:"Turns that would have had to search, each one more request."`
	Loaded       int       `json:"tools_loaded" jsonschema:"As many searches as a model takes that loads one tool at a time."`
	Whole        int       `json:"full_tokens" jsonschema:"Every definition whole in every request."`
	Resent       int       `json:"resent_tokens" jsonschema:"What the further requests send again of the conversation; in no net figure."`
	Basis        string    `json:"basis" jsonschema:"Counted with a vocabulary, estimated from bytes, given by the API's documentation, measured by the API's count_tokens, or apportioned by bytes from what it measured." enum:"counted,estimated,documented,measured,apportioned"`
	Net          []netJSON `json:"net"`
}

type netJSON struct {
	Style       string  `json:"style" enum:"names,names_hint,api"`
	Definitions int     `json:"definition_tokens"`
	Searcher    int     `json:"tool_search_tokens" jsonschema:"ToolSearch's own definition in every request."`
	History     int     `json:"search_tokens" jsonschema:"Calls of ToolSearch and their results, in every later request again."`
	Total       int     `json:"net_tokens"`
	Saved       float64 `json:"net_saved_percent" jsonschema:"Below 0 where deferral costs more than it saves." maximum:"100"`
	Resending   float64 `json:"saved_percent_with_resent" maximum:"100"`
}

// sessionsOf is nil where no recording was counted.
func sessionsOf(r tokens.Report, basis string) *sessionsJSON {
	if len(r.Sessions) == 0 {
		return nil
	}
	j := &sessionsJSON{Assumptions: netAssumptions(), NeverCalled: sortedNames(r.Uncalled)}
	for _, s := range r.Sessions {
		one := sessionJSON{
			s.File, s.Conversation, s.Agent, s.Requests, s.Tools, s.Called, s.Defers, s.Searches, s.FirstUses, s.Whole, s.Resent, basis, []netJSON{},
		}
		for _, w := range s.Ways {
			one.Net = append(one.Net, netJSON{w.Name, w.Definitions, w.Searcher, w.History, w.Total, w.Saved, w.Resending})
		}
		j.Sessions = append(j.Sessions, one)
	}
	return j
}

// callsOf is how often a recorded tool was called; nil for one that is not recorded.
func callsOf(row tokens.Row) *int {
	if !row.Recorded {
		return nil
	}
	return &row.Calls
}
