package reports

import (
	_ "embed"
	"fmt"
	"io"
	"slices"

	"toolbench/sim/replay"
)

// ReplayVersion is that of the JSON report on replays. It changes when a field goes
// or changes its meaning; fields may be added within a version.
const ReplayVersion = 1

//go:embed replay.schema.json
var replaySchema []byte

// ReplaySchema is the JSON Schema (2020-12) of the JSON report on replays.
func ReplaySchema() []byte { return slices.Clone(replaySchema) }

// Skipped is a file of a folder that is no recording, and why.
type Skipped struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

type replayJSON struct {
	Version    int             `json:"version"`
	Recordings []recordingJSON `json:"recordings"`
	Skipped    []Skipped       `json:"skipped"`
}

type recordingJSON struct {
	File          string             `json:"file"`
	Format        string             `json:"format"`
	Problems      []problemJSON      `json:"problems"`
	MoreProblems  int                `json:"more_problems,omitempty"`
	Ignored       []countJSON        `json:"ignored"`
	Error         string             `json:"error,omitempty"`
	Conversations []conversationJSON `json:"conversations"`
}

type problemJSON struct {
	Kind  string `json:"kind"`
	Place string `json:"place,omitempty"`
	Text  string `json:"text"`
}

type countJSON struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

type conversationJSON struct {
	Number             int                   `json:"number"`
	ID                 string                `json:"id,omitempty"`
	Agent              string                `json:"agent,omitempty"`
	Model              string                `json:"model,omitempty"`
	Turns              int                   `json:"turns"`
	Calls              int                   `json:"calls"`
	Answered           int                   `json:"answered"`
	ParallelBatches    int                   `json:"parallel_batches"`
	Batches            int                   `json:"batches"`
	ResultsInCallOrder bool                  `json:"results_in_call_order"`
	OutOfOrder         []int                 `json:"turns_out_of_order"`
	ToolsChanged       []int                 `json:"tools_changed"`
	Unanswered         []unansweredJSON      `json:"unanswered"`
	UnansweredWhy      []countJSON           `json:"unanswered_why"`
	InvalidInputs      []invalidJSON         `json:"invalid_inputs"`
	SafeTools          []safeJSON            `json:"safe_tools"`
	Policies           map[string]figureJSON `json:"policies"`
	Measured           *figureJSON           `json:"measured,omitempty"`
	Notes              []string              `json:"notes,omitempty"`
	LeftOut            int                   `json:"left_out,omitempty"`
}

type unansweredJSON struct {
	Turn   int    `json:"turn"`
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

type invalidJSON struct {
	Turn int    `json:"turn"`
	Call string `json:"call"`
	Tool string `json:"tool"`
	Text string `json:"text"`
}

type safeJSON struct {
	Tool    string `json:"tool"`
	Because string `json:"because"`
}

type figureJSON struct {
	MakespanMS    ms     `json:"makespan_ms"`
	HiddenPercent share  `json:"hidden_percent"`
	Basis         string `json:"basis"`
}

// ReplayJSON writes one object as replay.schema.json describes it.
func ReplayJSON(w io.Writer, all []replay.Report, skipped []Skipped) error {
	out := replayJSON{Version: ReplayVersion, Recordings: []recordingJSON{}, Skipped: append([]Skipped{}, skipped...)}
	for _, r := range all {
		out.Recordings = append(out.Recordings, recordingOf(r))
	}
	return PrintJSON(w, out)
}

func recordingOf(r replay.Report) recordingJSON {
	j := recordingJSON{File: r.File, Format: r.Format, Problems: []problemJSON{}, MoreProblems: r.MoreProblems, Ignored: countsOf(r.Ignored), Conversations: []conversationJSON{}}
	for _, p := range r.Problems {
		j.Problems = append(j.Problems, problemJSON{p.Kind, p.Place, p.Text})
	}
	if r.Err != nil {
		j.Error = r.Err.Error()
	}
	for i := range r.Conversations {
		j.Conversations = append(j.Conversations, conversationOf(&r.Conversations[i]))
	}
	return j
}

func countsOf(list []replay.Count) []countJSON {
	out := []countJSON{}
	for _, c := range list {
		out = append(out, countJSON{c.What, c.N})
	}
	return out
}

func conversationOf(c *replay.Conversation) conversationJSON {
	j := conversationJSON{
		Number: c.Number, ID: c.ID, Agent: c.Agent, Model: c.Model, Turns: c.Turns, Calls: c.Calls, Answered: c.Answered,
		ParallelBatches: c.ParallelBatches, Batches: c.Batches, ResultsInCallOrder: c.InOrder(),
		OutOfOrder: append([]int{}, c.OutOfOrder.First...), ToolsChanged: append([]int{}, c.ToolsChanged.First...),
		Unanswered: []unansweredJSON{}, UnansweredWhy: countsOf(c.Why), InvalidInputs: []invalidJSON{}, SafeTools: []safeJSON{}, Policies: map[string]figureJSON{},
		Notes: c.Notes.First, LeftOut: leftOut(c),
	}
	for _, u := range c.Unanswered.First {
		j.Unanswered = append(j.Unanswered, unansweredJSON(u))
	}
	for _, b := range c.Broken.First {
		j.InvalidInputs = append(j.InvalidInputs, invalidJSON(b))
	}
	for _, s := range c.Safe {
		j.SafeTools = append(j.SafeTools, safeJSON(s))
	}
	for _, f := range c.Figures {
		j.Policies[f.Name] = figureOf(f)
	}
	if c.Measured != nil {
		f := figureOf(*c.Measured)
		j.Measured = &f
	}
	return j
}

// leftOut is how many items of the lists are only counted.
func leftOut(c *replay.Conversation) int {
	return c.OutOfOrder.N - len(c.OutOfOrder.First) + c.ToolsChanged.N - len(c.ToolsChanged.First) +
		c.Unanswered.N - len(c.Unanswered.First) + c.Broken.N - len(c.Broken.First) + c.Notes.N - len(c.Notes.First)
}

func figureOf(f replay.Figure) figureJSON {
	return figureJSON{ms(f.Makespan), share(f.Hidden), f.Basis.String()}
}

// Summary words a replay in a line, for a screen's last one.
func Summary(all []replay.Report, skipped int) string {
	conversations, calls, problems := 0, 0, 0
	for _, r := range all {
		problems += len(r.Problems) + r.MoreProblems
		conversations += len(r.Conversations)
		for _, c := range r.Conversations {
			calls += c.Calls
		}
	}
	text := fmt.Sprintf("%s, %s, %s, %s", plural(len(all), "recording", "recordings"), plural(conversations, "conversation", "conversations"),
		plural(calls, "call", "calls"), plural(problems, "problem of their own", "problems of their own"))
	if skipped > 0 {
		text += ", " + plural(skipped, "other file", "other files")
	}
	return text
}
