package reports

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"toolbench/reports/screen"
	"toolbench/sim/replay"
)

// ReplayTable writes a row a conversation, with the time that each policy takes and
// what that rests on; below, what is wrong with the recordings, which calls have no
// result and why, and what else is to be known (O8). No line is wider than the
// screen.
func ReplayTable(w io.Writer, all []replay.Report, skipped []Skipped, o Options) error {
	out := bufio.NewWriter(w)
	if g := replayGrid(all, o); len(g.Rows) > 0 {
		drawn, err := g.Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	for _, r := range all {
		section(out, r.File, remarks(r), o)
	}
	for _, s := range skipped {
		section(out, s.File, []string{"skipped: " + s.Reason}, o)
	}
	fold(out, "", Summary(all, len(skipped)), o)
	return out.Flush()
}

// nameWidth keeps a long file name from making a list of a table.
const nameWidth = 28

func replayGrid(all []replay.Report, o Options) screen.Grid {
	policies, measured := figureNames(all)
	g := screen.Grid{Columns: []screen.Column{
		{Title: "Recording"}, {Title: "Turns", Right: true}, {Title: "Answered", Right: true},
		{Title: "Parallel", Right: true}, {Title: "Order"},
	}}
	if measured {
		g.Columns = append(g.Columns, screen.Column{Title: "Measured", Right: true})
	}
	for _, p := range policies {
		g.Columns = append(g.Columns, screen.Column{Title: strings.ToUpper(p[:1]) + p[1:], Right: true})
	}
	g.Columns = append(g.Columns, screen.Column{Title: "Hidden", Right: true}, screen.Column{Title: "Assumed"})
	full, names := rowNames(all, o)
	for n, r := range all {
		for i := range r.Conversations {
			g.Names = append(g.Names, rowName(full[n], r, i))
			g.Rows = append(g.Rows, replayRow(rowName(names[n], r, i), &r.Conversations[i], policies, measured, o))
		}
	}
	return g
}

// figureNames are the policies that were compared, and whether any session was
// measured.
func figureNames(all []replay.Report) (policies []string, measured bool) {
	for _, r := range all {
		for _, c := range r.Conversations {
			measured = measured || c.Measured != nil
			if policies == nil {
				for _, f := range c.Figures {
					policies = append(policies, f.Name)
				}
			}
		}
	}
	return policies, measured
}

// replayRow shows one conversation. Hidden is the last policy's, which is the
// fastest; assumed what any of the figures rests on.
func replayRow(name string, c *replay.Conversation, policies []string, measured bool, o Options) []string {
	order := "call"
	if !c.InOrder() {
		order = screen.Yellow.On("other", o.Color)
	}
	row := []string{name, strconv.Itoa(c.Turns), fmt.Sprintf("%d/%d", c.Answered, c.Calls), strconv.Itoa(c.ParallelBatches), order}
	if measured {
		text := ""
		if c.Measured != nil {
			text = short(c.Measured.Makespan, o.ASCII)
		}
		row = append(row, text)
	}
	hidden, assumed := "", "nothing"
	for _, p := range policies {
		text := ""
		for _, f := range c.Figures {
			if f.Name != p {
				continue
			}
			text, hidden = short(f.Makespan, o.ASCII), percent(f.Hidden)
			if basis, ok := strings.CutPrefix(f.Basis.String(), "assumed: "); ok {
				assumed = basis
			}
		}
		row = append(row, text)
	}
	return append(row, hidden, assumed)
}

func rowName(name string, r replay.Report, i int) string {
	if len(r.Conversations) > 1 {
		name += " #" + strconv.Itoa(r.Conversations[i].Number)
	}
	return name
}

// remarks are what a table has no column for.
func remarks(r replay.Report) []string {
	var out []string
	add := func(format string, args ...any) {
		out = append(out, fmt.Sprintf(format, args...))
	}
	for _, p := range r.Problems {
		add("%s", strings.TrimPrefix(p.Place+": "+p.Text, ": "))
	}
	if r.MoreProblems > 0 {
		add("%s more", plural(r.MoreProblems, "problem", "problems"))
	}
	if r.Err != nil {
		add("%s", strings.TrimPrefix(r.Err.Error(), r.File+": "))
	}
	for _, c := range r.Conversations {
		for _, text := range conversationRemarks(&c) {
			if len(r.Conversations) > 1 {
				text = fmt.Sprintf("conversation %d: %s", c.Number, text)
			}
			add("%s", text)
		}
	}
	if len(r.Ignored) > 0 {
		add("not read: %s", ignored(r))
	}
	return out
}

func ignored(r replay.Report) string {
	words := make([]string, len(r.Ignored))
	for i, c := range r.Ignored {
		words[i] = strconv.Itoa(c.N) + " " + c.What
	}
	return strings.Join(words, ", ")
}

func conversationRemarks(c *replay.Conversation) []string {
	var out []string
	if n := c.OutOfOrder.N; n > 0 {
		out = append(out, "results are not in call order in "+turns(c.OutOfOrder))
	}
	if c.ToolsChanged.N > 0 {
		out = append(out, "the tools changed before "+turns(c.ToolsChanged))
	}
	for _, why := range c.Why {
		out = append(out, plural(why.N, "call", "calls")+" without a result: "+why.What)
	}
	for _, b := range c.Broken.First {
		first, _, _ := strings.Cut(b.Text, "\n")
		out = append(out, fmt.Sprintf("turn %d: the input of %s %s breaks its schema: %s", b.Turn, b.Tool, b.Call, first))
	}
	if more := c.Broken.N - len(c.Broken.First); more > 0 {
		out = append(out, plural(more, "input more breaks its", "inputs more break their")+" schema")
	}
	return append(out, c.Notes.First...)
}

// turns words a list of turns.
func turns(list replay.List) string {
	words := make([]string, len(list.First))
	for i, n := range list.First {
		words[i] = strconv.Itoa(n)
	}
	text := "turn " + strings.Join(words, ", ")
	if more := list.N - len(list.First); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ReplayVersion is that of the JSON report on replays. It changes when a field goes
// or changes its meaning; fields may be added within a version.
const ReplayVersion = 1

// Skipped is a file of a folder that is no recording, and why.
type Skipped struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

type replayJSON struct {
	Version    int             `json:"version"`
	Recordings []recordingJSON `json:"recordings" jsonschema:"One a file, in the order in which they were named or found."`
	Skipped    []Skipped       `json:"skipped" jsonschema:"Files of folders that are no recordings."`
}

type recordingJSON struct {
	File          string             `json:"file"`
	Format        string             `json:"format" jsonschema:"Recognized by its content; empty when nothing was recognized." enum:",go-vcr-v1,go-vcr-v2,vcrpy,ruby-vcr,httpmock-yaml,har,httprr,exchange-list,txtar,sse-text,event-lines,event-frames,jsonl-transcript,jsonl-session,json-messages,gzip"`
	Problems      []problemJSON      `json:"problems" jsonschema:"What is wrong with the recording itself; at most 100 are listed."`
	MoreProblems  int                `json:"more_problems,omitempty" jsonschema:"Problems that are only counted."`
	Ignored       []countJSON        `json:"ignored" jsonschema:"What was not read, by kind."`
	Error         string             `json:"error,omitempty" jsonschema:"Why the file could not be read, or not to its end."`
	Conversations []conversationJSON `json:"conversations"`
}

type problemJSON struct {
	Kind  string `json:"kind" enum:"cut,error,malformed,too-large,stray,repeated,unreadable"`
	Place string `json:"place,omitempty" jsonschema:"Line, interaction, conversation and turn, as far as they are known."`
	Text  string `json:"text"`
}

type countJSON struct {
	What  string `json:"what"`
	Count int    `json:"count" minimum:"1"`
}

type conversationJSON struct {
	Number             int                   `json:"number" minimum:"1"`
	ID                 string                `json:"id,omitempty" jsonschema:"The session's id, where the recording has one."`
	Agent              string                `json:"agent,omitempty" jsonschema:"The sub-agent whose conversation it is; absent for the main one."`
	Model              string                `json:"model,omitempty"`
	Turns              int                   `json:"turns" jsonschema:"Messages of the model."`
	Calls              int                   `json:"calls" jsonschema:"Calls that the client has to answer."`
	Answered           int                   `json:"answered" jsonschema:"Calls whose result is in the recording."`
	ParallelBatches    int                   `json:"parallel_batches" jsonschema:"Messages with more than one call."`
	Batches            int                   `json:"batches" jsonschema:"What the calls part into: neighbouring safe calls, or one exclusive call."`
	ResultsInCallOrder bool                  `json:"results_in_call_order" jsonschema:"True unless a turn's results stand in another order than its calls."`
	OutOfOrder         []int                 `json:"turns_out_of_order" jsonschema:"Turns, counted from 1; at most 100 are listed." minimum:"1"`
	ToolsChanged       []int                 `json:"tools_changed" jsonschema:"Turns before which the tools array changed." minimum:"1"`
	Unanswered         []unansweredJSON      `json:"unanswered" jsonschema:"Calls without a result; at most 100 are listed."`
	UnansweredWhy      []countJSON           `json:"unanswered_why" jsonschema:"All calls without a result, by reason."`
	InvalidInputs      []invalidJSON         `json:"invalid_inputs" jsonschema:"Inputs that break their own tool's schema; at most 100 are listed."`
	SafeTools          []safeJSON            `json:"safe_tools" jsonschema:"Tools that were taken for safe to run beside others, and why."`
	Policies           map[string]figureJSON `json:"policies"`
	Measured           *figureJSON           `json:"measured,omitempty" jsonschema:"What the session took when it was recorded; absent without times."`
	Notes              []string              `json:"notes,omitempty"`
	LeftOut            int                   `json:"left_out,omitempty" jsonschema:"Items of the lists above that are only counted."`
}

type unansweredJSON struct {
	Turn   int    `json:"turn" minimum:"1"`
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

type invalidJSON struct {
	Turn int    `json:"turn" minimum:"1"`
	Call string `json:"call"`
	Tool string `json:"tool"`
	Text string `json:"text"`
}

type safeJSON struct {
	Tool    string `json:"tool"`
	Because string `json:"because" enum:"annotations,given,measured"`
}

type figureJSON struct {
	MakespanMS    ms     `json:"makespan_ms" jsonschema:"The whole session, without the time a person took between messages."`
	HiddenPercent share  `json:"hidden_percent" jsonschema:"Share saved of what it takes with each stream followed by its calls, one by one."`
	Basis         string `json:"basis" jsonschema:"What the figure rests on." pattern:"^(measured|assumed: (pace|durations|safety)(, (durations|safety))*)$"`
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

// rowNames are distinct names for the recordings' rows: a file's own
// name; with its folders, where several files have it. The short ones fit a table,
// without their middle where they begin alike.
func rowNames(all []replay.Report, o Options) (full, short []string) {
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = screen.Safe(path.Base(r.File))
	}
	same := alike(names)
	for i, r := range all {
		if same[names[i]] > 1 {
			names[i] = screen.Safe(path.Clean(r.File))
		}
	}
	short = make([]string, len(names))
	for i, name := range names {
		short[i] = screen.Cut(name, nameWidth, o.ASCII)
	}
	same = alike(short)
	for i, name := range names {
		if same[short[i]] > 1 {
			short[i] = screen.CutMiddle(name, nameWidth, o.ASCII)
		}
	}
	return names, short
}

// alike counts how often each name is given.
func alike(names []string) map[string]int {
	count := map[string]int{}
	for _, name := range names {
		count[name]++
	}
	return count
}
