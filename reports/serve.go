package reports

import (
	"bufio"
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
// conversation, what contradicts the demands below (O8). No line is wider than the
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
	g := screen.Grid{Columns: []screen.Column{{Title: "Check"}, {Title: "Status"}, {Title: "Demand"}}}
	for _, c := range s.Checks {
		paint := map[serve.Status]screen.Paint{serve.Held: screen.Green, serve.Failed: screen.Red, serve.Differs: screen.Yellow}[c.Status]
		word := string(c.Status)
		if c.Status == serve.Failed {
			word = strings.ToUpper(word)
		}
		g.Rows = append(g.Rows, []string{c.Name, paint.On(word, o.Color), c.Demand})
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

// timing lists the times the client took, and where its cache breakpoints stand.
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
		text += "; not asked for: " + numbers(r.Unserved)
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

type serveJSON struct {
	Version       int           `json:"version"`
	Source        string        `json:"source" jsonschema:"The recording or scenario that was served."`
	Held          bool          `json:"held" jsonschema:"Something was asked, nothing was refused, and no check failed: the command ends with 0."`
	Conversations int           `json:"conversations" jsonschema:"Conversations in the recording."`
	Unserved      []int         `json:"unserved" jsonschema:"Conversations that were not asked for, by number." minimum:"1"`
	Refused       []refusedJSON `json:"refused" jsonschema:"Requests that were answered with an error because the recording has nothing for them, or because they are none."`
	Sessions      []servedJSON  `json:"sessions" jsonschema:"Conversations of clients, in the order in which they began."`
}

type refusedJSON struct {
	Text    string `json:"text"`
	Opening string `json:"opening,omitempty" jsonschema:"The beginning of the first user message."`
}

type servedJSON struct {
	Conversation int           `json:"conversation" jsonschema:"The recorded conversation that was served." minimum:"1"`
	Opening      string        `json:"opening" jsonschema:"How the first user message compares with the recorded one." enum:"same,other,unknown"`
	Requests     int           `json:"requests"`
	Resent       int           `json:"resent" jsonschema:"Requests that repeat the one before, byte for byte, and got the same answer."`
	Answers      int           `json:"answers" jsonschema:"Answers that were given."`
	Of           int           `json:"answers_recorded"`
	Calls        int           `json:"calls" jsonschema:"Calls in the answers that were given."`
	Results      int           `json:"results" jsonschema:"Results that came back."`
	Checks       []checkJSON   `json:"checks"`
	Breakpoints  []string      `json:"breakpoints" jsonschema:"Places of the last request's cache breakpoints, in the order of the prompt."`
	Latencies    []latencyJSON `json:"latencies" jsonschema:"From the end of an answer with calls to the request with their results."`
}

type checkJSON struct {
	Name     string        `json:"name" enum:"results,order,placement,roles,echo,tools,cache,recorded"`
	Promise  string        `json:"promise"`
	Status   serve.Status  `json:"status" jsonschema:"differs: results are not the recorded ones, which is a failure with --strict only; untested: nothing came that could be checked." enum:"held,failed,differs,untested"`
	Findings []findingJSON `json:"findings" jsonschema:"What contradicts the demand; at most 10 are listed."`
	More     int           `json:"more_findings,omitempty"`
}

type findingJSON struct {
	Answer int    `json:"after_answer" jsonschema:"The answer to which the request at fault reacts, from 1; 0: the first request."`
	Text   string `json:"text"`
}

type latencyJSON struct {
	Answer int `json:"after_answer" minimum:"1"`
	Calls  int `json:"calls" minimum:"1"`
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
		check := checkJSON{Name: c.Name, Promise: c.Demand, Status: c.Status, Findings: []findingJSON{}, More: c.More}
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
