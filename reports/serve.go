package reports

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/reports/screen"
	"toolbench/sim/serve"
)

// ServeTable writes what clients did with what they were served: a table a
// conversation, what contradicts its promises below (O8). No line is wider than the
// screen.
func ServeTable(w io.Writer, r serve.Report, o Options) error {
	out := bufio.NewWriter(w)
	for _, s := range r.Sessions {
		fold(out, "", served(s), o)
		drawn, err := checkGrid(s, o).Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
		for _, c := range s.Checks {
			for _, line := range findings(c) {
				fold(out, "  ", line, o)
			}
		}
		for _, line := range timing(s, o) {
			fold(out, "  ", line, o)
		}
		fmt.Fprintln(out)
	}
	for _, refused := range r.Refused {
		text := "refused: " + refused.Text
		if refused.Opening != "" {
			text += fmt.Sprintf(" (it began with %q)", refused.Opening)
		}
		fold(out, "", text, o)
	}
	fold(out, "", ServeSummary(r), o)
	return out.Flush()
}

// served words how far a conversation came.
func served(s serve.SessionReport) string {
	text := fmt.Sprintf("Conversation %d: %s, %d of %s given, %s, %s", s.Conversation, plural(s.Requests, "request", "requests"),
		s.Answers, plural(s.Of, "answer", "answers"), plural(s.Calls, "call", "calls"), plural(s.Results, "result", "results"))
	if s.Resent > 0 {
		text += fmt.Sprintf(", %d asked for again", s.Resent)
	}
	if s.Opening == "other" {
		text += "; its first message is not the recorded one"
	}
	return text
}

func checkGrid(s serve.SessionReport, o Options) screen.Grid {
	g := screen.Grid{Columns: []screen.Column{{Title: "Check"}, {Title: "Status"}, {Title: "Promise"}}}
	for _, c := range s.Checks {
		paint := map[serve.Status]screen.Paint{serve.Held: screen.Green, serve.Failed: screen.Red, serve.Differs: screen.Yellow}[c.Status]
		word := string(c.Status)
		if c.Status == serve.Failed {
			word = strings.ToUpper(word)
		}
		g.Rows = append(g.Rows, []string{c.Name, paint.On(word, o.Color), c.Promise})
	}
	return g
}

// findings are a check's, a line each.
func findings(c serve.Check) []string {
	var out []string
	for _, f := range c.Findings {
		place := "at the first request"
		if f.Turn > 0 {
			place = "after answer " + strconv.Itoa(f.Turn)
		}
		out = append(out, fmt.Sprintf("%s, %s: %s", c.Name, place, f.Text))
	}
	if c.More > 0 {
		out = append(out, fmt.Sprintf("%s: %d more", c.Name, c.More))
	}
	return out
}

// timing says what the client took, and where its cache breakpoints stand.
func timing(s serve.SessionReport, o Options) []string {
	var out []string
	if n := len(s.Latencies); n > 0 {
		took := make([]time.Duration, n)
		for i, l := range s.Latencies {
			took[i] = l.Took
		}
		slices.Sort(took)
		out = append(out, fmt.Sprintf("from the end of an answer with calls to their results: median %s, longest %s", short(took[n/2], o.ASCII), short(took[n-1], o.ASCII)))
	}
	if len(s.Breakpoints) > 0 {
		out = append(out, "cache breakpoints of the last request: "+strings.Join(s.Breakpoints, ", "))
	}
	return out
}

// ServeSummary words a report in a line.
func ServeSummary(r serve.Report) string {
	requests, failed := 0, 0
	for _, s := range r.Sessions {
		requests += s.Requests
		for _, c := range s.Checks {
			if c.Status == serve.Failed {
				failed++
			}
		}
	}
	text := fmt.Sprintf("%d of %s served, %s, %s, %d refused", r.Conversations-len(r.Unserved), plural(r.Conversations, "conversation", "conversations"),
		plural(requests, "request", "requests"), plural(failed, "check failed", "checks failed"), len(r.Refused))
	if len(r.Unserved) > 0 {
		text += "; nobody asked for " + numbers(r.Unserved)
	}
	return text
}

func numbers(list []int) string {
	const most = 10
	words := make([]string, 0, most)
	for _, n := range list[:min(len(list), most)] {
		words = append(words, strconv.Itoa(n))
	}
	text := strings.Join(words, ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ServeVersion is that of the JSON report on what was served. It changes when a field
// goes or changes its meaning; fields may be added within a version.
const ServeVersion = 1

//go:embed serve.schema.json
var serveSchema []byte

// ServeSchema is the JSON Schema (2020-12) of the JSON report on what was served.
func ServeSchema() []byte { return slices.Clone(serveSchema) }

type serveJSON struct {
	Version       int           `json:"version"`
	Source        string        `json:"source"`
	Held          bool          `json:"held"`
	Conversations int           `json:"conversations"`
	Unserved      []int         `json:"unserved"`
	Refused       []refusedJSON `json:"refused"`
	Sessions      []servedJSON  `json:"sessions"`
}

type refusedJSON struct {
	Text    string `json:"text"`
	Opening string `json:"opening,omitempty"`
}

type servedJSON struct {
	Conversation int           `json:"conversation"`
	Opening      string        `json:"opening"`
	Requests     int           `json:"requests"`
	Resent       int           `json:"resent"`
	Answers      int           `json:"answers"`
	Of           int           `json:"answers_recorded"`
	Calls        int           `json:"calls"`
	Results      int           `json:"results"`
	Checks       []checkJSON   `json:"checks"`
	Breakpoints  []string      `json:"breakpoints"`
	Latencies    []latencyJSON `json:"latencies"`
}

type checkJSON struct {
	Name     string        `json:"name"`
	Promise  string        `json:"promise"`
	Status   serve.Status  `json:"status"`
	Findings []findingJSON `json:"findings"`
	More     int           `json:"more_findings,omitempty"`
}

type findingJSON struct {
	Answer int    `json:"after_answer"`
	Text   string `json:"text"`
}

type latencyJSON struct {
	Answer int `json:"after_answer"`
	Calls  int `json:"calls"`
	Took   ms  `json:"took_ms"`
}

// ServeJSON writes one object as serve.schema.json describes it.
func ServeJSON(w io.Writer, r serve.Report) error {
	j := serveJSON{
		Version: ServeVersion, Source: r.Source, Held: r.Held(), Conversations: r.Conversations,
		Unserved: append([]int{}, r.Unserved...), Refused: []refusedJSON{}, Sessions: []servedJSON{},
	}
	for _, refused := range r.Refused {
		j.Refused = append(j.Refused, refusedJSON(refused))
	}
	for _, s := range r.Sessions {
		j.Sessions = append(j.Sessions, servedOf(s))
	}
	return PrintJSON(w, j)
}

func servedOf(s serve.SessionReport) servedJSON {
	j := servedJSON{
		Conversation: s.Conversation, Opening: s.Opening, Requests: s.Requests, Resent: s.Resent, Answers: s.Answers, Of: s.Of,
		Calls: s.Calls, Results: s.Results, Checks: []checkJSON{}, Breakpoints: append([]string{}, s.Breakpoints...), Latencies: []latencyJSON{},
	}
	for _, c := range s.Checks {
		check := checkJSON{Name: c.Name, Promise: c.Promise, Status: c.Status, Findings: []findingJSON{}, More: c.More}
		for _, f := range c.Findings {
			check.Findings = append(check.Findings, findingJSON{f.Turn, f.Text})
		}
		j.Checks = append(j.Checks, check)
	}
	for _, l := range s.Latencies {
		j.Latencies = append(j.Latencies, latencyJSON{l.Turn, l.Calls, ms(l.Took)})
	}
	return j
}
