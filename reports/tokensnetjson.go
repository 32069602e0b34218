package reports

import "toolbench/sim/tokens"

type sessionsJSON struct {
	Assumptions []string      `json:"assumptions"`
	NeverCalled []string      `json:"never_called"`
	Sessions    []sessionJSON `json:"sessions"`
}

type sessionJSON struct {
	File         string    `json:"file"`
	Conversation int       `json:"conversation"`
	Agent        string    `json:"agent"`
	Requests     int       `json:"requests"`
	Tools        int       `json:"tools"`
	Called       int       `json:"tools_called"`
	Defers       bool      `json:"defers_by_itself"`
	Searches     int       `json:"searches"`
	Loaded       int       `json:"tools_loaded"`
	Whole        int       `json:"full_tokens"`
	Resent       int       `json:"resent_tokens"`
	Basis        string    `json:"basis"`
	Net          []netJSON `json:"net"`
}

type netJSON struct {
	Style       string  `json:"style"`
	Definitions int     `json:"definition_tokens"`
	Searcher    int     `json:"tool_search_tokens"`
	History     int     `json:"search_tokens"`
	Total       int     `json:"net_tokens"`
	Saved       float64 `json:"net_saved_percent"`
	Resending   float64 `json:"saved_percent_with_resent"`
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
