package reports

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolbench/sim/economics"
	"toolbench/sim/world"
	"toolbench/toolsys/tool"
)

// TokensReport is what definitions cost (E8). Top is how many of the most expensive
// tools people are shown; 0 shows all.
type TokensReport struct {
	economics.ToolCosts
	Failures []world.ListFailure
	Top      int
}

// show writes a row a server, then the most expensive tools with what can be done about
// them, then what else is to be known. Each figure is under the counter that the first
// line names.
func (r TokensReport) show(p *page) {
	p.fold("", fmt.Sprintf("Counter %s: %s. %s of %s.", r.Counter.Name, r.Counter.About,
		plural(r.Total.Tools, "tool", "tools"), plural(len(r.Servers), "server", "servers")))
	p.printf("\n")
	p.tables(r.servers(), r.net(p.ASCII), r.worst(p.ASCII))
	p.section("Net", netLines(r.Sessions, p.ASCII)...)
	var advice []string
	for _, row := range leading(r.Worst, r.Top) {
		if row.Advice != "" {
			advice = append(advice, row.Name+": "+row.Advice)
		}
	}
	p.section("What can be done", advice...)
	p.section("To be known", r.notes()...)
	for _, f := range r.Failures {
		p.section(fmt.Sprintf("MCP server %s is not counted", f.Server), f.Err.Error())
	}
}

func (r TokensReport) servers() Grid {
	g := Grid{Columns: columns("Server", ">Tools", ">Whole", ">Names", ">Saved", ">Names+hint", ">Saved", ">API", ">Saved")}
	add := func(name string, c economics.Cost) {
		m := c.Modes
		g.add(name, c.Tools, c.Full, m.Names.Tokens, savedOr(m.Names.Saved, m.Names.Tokens-c.Full), m.Hints.Tokens, savedOr(m.Hints.Saved, m.Hints.Tokens-c.Full),
			m.API.Tokens, savedOr(m.API.Saved, m.API.Tokens-c.Full))
	}
	for _, s := range r.Servers {
		add(cmp.Or(Safe(s.Name), "(built in)"), s)
	}
	switch m := r.Measurement; {
	case m != nil:
		add("measured", r.Total)
	case len(r.Servers) > 1:
		add("total", r.Total)
	default:
		return g
	}
	last := len(g.Rows) - 1
	g.Rows, g.Footer = g.Rows[:last], g.Rows[last]
	if m := r.Measurement; m != nil && m.APIRefused != "" {
		g.Footer[7], g.Footer[8] = "-", "-"
	}
	return g
}

func (r TokensReport) worst(ascii bool) Grid {
	whole := ">Whole"
	if r.Measurement != nil {
		whole = ">Whole (* measured)"
	}
	g := Grid{Columns: columns("Most expensive tools", whole, ">Description", ">Schema", ">Names", ">Saved", ">Names+hint", ">Saved")}
	for _, row := range leading(r.Worst, r.Top) {
		m, full := row.Modes, strconv.Itoa(row.Full)
		if row.Basis == economics.BasisMeasured {
			full = "* " + full
		}
		g.add(cutMiddle(Safe(row.Name), 48, ascii), full, row.Description, row.Schema, m.Names.Tokens, percent(m.Names.Saved), m.Hints.Tokens, percent(m.Hints.Saved))
	}
	return g
}

func leading[T any](all []T, n int) []T {
	if n > 0 && n < len(all) {
		return all[:n]
	}
	return all
}

// notes list what the figures hold and what they leave out.
func (r TokensReport) notes() []string {
	if r.Total.Tools == 0 {
		return []string{"there is no definition to count"}
	}
	a := r.Automatic
	verdict := "would not defer"
	if a.Triggers {
		verdict = "would defer"
	}
	model := cmp.Or(a.Model, "no model named")
	lines := []string{
		fmt.Sprintf("automatic mode (%s) %s: %s; a session compares bytes / 4 of the definitions as it sends them, whatever the counter here", model, verdict, a.Reason),
		searchNote(r),
		apiNote(r),
	}
	if i := slices.IndexFunc(r.Sessions, func(s economics.SessionCost) bool { return !s.API.Marks() }); i >= 0 {
		lines = append(lines, fmt.Sprintf("recorded requests of %s are counted in the Messages API's words; that provider has no defer_loading, and adds to a prompt what is in no figure", r.Sessions[i].API))
	}
	if r.Measurement != nil {
		lines = append(lines, "count_tokens: ToolSearch is in every request, so that what the API adds to a prompt with tools stands with its own definition only; the API calls its counts an estimate")
	}
	never := tool.Count(r.Worst, func(row economics.ToolCost) bool { return row.Whole })
	lines = tallied(lines, never, "tool is never deferred and costs", "tools are never deferred and cost", " the same in every mode")
	refused := slices.DeleteFunc(each(r.Worst, func(row economics.ToolCost) string { return row.Name }), takenName.MatchString)
	lines = append(lines, nameSome("whose name the Messages API refuses (letters, digits, _ and - only, at most 128)", refused)...)
	lines = append(lines, nameSome("never called in the recording", r.Uncalled)...)
	return slices.Concat(lines, nameSome("without a schema, counted as {}", r.NoSchema), nameSome("with a schema that names no parameter", r.Empty))
}

// takenName are the names that the Messages API takes for tools.
var takenName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func apiNote(r TokensReport) string {
	switch m := r.Measurement; {
	case m != nil && m.APIRefused != "":
		return "API: not measured, for the API refused definitions with defer_loading (" + m.APIRefused + "); by its documentation nothing of them is in the context before a search"
	case m != nil:
		return "API: measured in the total; in the rows by its documentation"
	}
	return "API: what defer_loading leaves in the model's context before a search, by the API's documentation; not measured"
}

func searchNote(r TokensReport) string {
	text := fmt.Sprintf("deferral adds ToolSearch's own definition, %d tokens, and whatever searches load; neither is in the figures", r.Search)
	if len(r.Sessions) > 0 {
		text += " for one request; both are in the net figures"
	}
	return text
}

// maxNamed is how many names a line has room for.
const maxNamed = 5

func nameSome(what string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s %s: %s", plural(len(names), "tool", "tools"), what, strings.Join(leading(names, maxNamed), ", "))
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(", and %d more (--format json names all)", more)
	}
	return []string{text}
}

// netAssumptions are what the net figures rest on.
func netAssumptions() []string {
	return []string{
		"whole: every definition of the client's own in every request of the session; what the API defines itself is in no figure",
		"net: names or loaded definitions and ToolSearch's own definition in every request, each search's call once as output, and call and result in every later request again",
		"a turn that first calls deferred tools is taken to load them all with one select: query before, which takes one more request; nothing else is searched, and what was loaded stays",
		"by names, the result has the definitions as text and later requests have them in their tools too; with the API's defer_loading it has references, and a definition is taken to stand in the prompt once",
	}
}

// net shows recorded sessions over all their requests.
func (r TokensReport) net(ascii bool) Grid {
	g := Grid{Columns: columns("Recorded session", ">Requests", ">Tools", ">Searches", ">Whole", ">Net names", ">Saved", ">Net API", ">Saved")}
	named := sessionNames(r.Sessions, ascii)
	for i, s := range r.Sessions {
		if len(s.Ways) == 0 || s.Tools == 0 {
			continue
		}
		names, api := s.Ways[0], s.Ways[2] // hints lie a little above names; the JSON has them
		g.add(named[i], s.Requests, s.Tools, s.Searches, s.Whole, names.Total, savedOr(names.Saved, names.Total-s.Whole), api.Total, savedOr(api.Saved, api.Total-s.Whole))
	}
	return g
}

// sessionNames are names for the sessions' rows: the file's own, without its middle
// where several begin alike, and the conversation's number.
func sessionNames(sessions []economics.SessionCost, ascii bool) []string {
	const room = nameWidth - 6
	files := map[string]bool{}
	begun := map[string]int{}
	for _, s := range sessions {
		if !files[s.File] {
			begun[Cut(Safe(path.Base(s.File)), room, ascii)]++
		}
		files[s.File] = true
	}
	return each(sessions, func(s economics.SessionCost) string {
		full := Safe(path.Base(s.File))
		name := Cut(full, room, ascii)
		if begun[name] > 1 {
			name = cutMiddle(full, room, ascii)
		}
		return name + " #" + strconv.Itoa(s.Conversation)
	})
}

// netLines break the figures down, and name what they rest on.
func netLines(sessions []economics.SessionCost, ascii bool) []string {
	var lines []string
	silent, bare, defers, net := 0, 0, 0, 0
	named := sessionNames(sessions, ascii)
	for i, s := range sessions {
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
		lines = tallied(nil, defers, "conversation defers", "conversations defer", " tools already, so there is no net figure")
	}
	lines = tallied(lines, silent, "conversation is", "conversations are", " recorded without requests, as transcripts and bare streams are: which tools were sent is not known")
	lines = tallied(lines, bare, "conversation offers", "conversations offer", " no tool of the client's own")
	if net > 0 {
		lines = append(lines, netAssumptions()...)
	}
	return lines
}

// savedOr is the share that is saved or, where deferring costs more than it saves, by how
// many tokens: a share of next to nothing says nothing.
func savedOr(share float64, more int) string {
	if more > 0 {
		return fmt.Sprintf("%d more", more)
	}
	return percent(share)
}

// maxBroken is how many sessions are broken down in words.
const maxBroken = 3

func breakdown(name string, s economics.SessionCost) string {
	names, api := s.Ways[0], s.Ways[2]
	text := fmt.Sprintf("%s: by names, %d for definitions, %d for ToolSearch's own, %d for %s loading %s (with API: %d, %d, %d)", name,
		names.Definitions, names.Searcher, names.History, plural(s.Searches, "search", "searches"), plural(s.FirstUses, "tool", "tools"),
		api.Definitions, api.Searcher, api.History)
	if s.Resent > 0 {
		saved := "nothing"
		if names.Resending >= 0 {
			saved = percent(names.Resending)
		}
		text += fmt.Sprintf("; the further requests send %d tokens of conversation again, cached or not, and with them %s is saved", s.Resent, saved)
	}
	return text
}

type tokensJSON struct {
	Version      int                     `json:"version"`
	Counter      string                  `json:"counter" enum:"bytes4,o200k,cl100k,count_tokens"`
	Counts       string                  `json:"counts" jsonschema:"What the counter counts, in words."`
	Tools        int                     `json:"tools" jsonschema:"How many tools."`
	Servers      int                     `json:"servers" jsonschema:"How many servers; the built-in tools count as one."`
	FullTokens   int                     `json:"full_tokens" jsonschema:"All tools sent whole, a line each."`
	FullBasis    string                  `json:"full_basis" jsonschema:"Counted with a vocabulary, estimated from bytes, given by the API's documentation, measured by the API's count_tokens, or apportioned by bytes from what it measured." enum:"counted,estimated,documented,measured,apportioned"`
	Modes        economics.Modes         `json:"modes"`
	Automatic    economics.AutomaticMode `json:"automatic" jsonschema:"Whether the automatic mode would defer."`
	SearchTokens int                     `json:"tool_search_tokens" jsonschema:"ToolSearch's own definition, which deferral adds and the other figures leave out."`
	PerServer    []economics.Cost        `json:"per_server" jsonschema:"By name; the built-in tools have the name \"\"."`
	Worst        []economics.ToolCost    `json:"worst" jsonschema:"Every tool, the most expensive first."`
	NoSchema     []string                `json:"without_schema"`
	NoParameters []string                `json:"without_parameters" jsonschema:"Tools whose schema names no parameter."`
	Failures     []unlistedJSON          `json:"failures" jsonschema:"Live servers that could not be listed."`
	Recorded     *sessionsJSON           `json:"recorded,omitempty" jsonschema:"With --recording: what definitions cost over whole sessions, and what deferral would have made of it, net of its searches."`

	Measurement *measurementJSON `json:"measurement,omitempty" jsonschema:"With count_tokens: what was asked of the API."`
}

type unlistedJSON struct {
	Server string `json:"server"`
	Error  string `json:"error"`
}

type sessionsJSON struct {
	Assumptions []string                `json:"assumptions"`
	NeverCalled []string                `json:"never_called"`
	Sessions    []economics.SessionCost `json:"sessions"`
}

type measurementJSON struct {
	Model      string `json:"model"`
	Requests   int    `json:"requests"`
	Tools      int    `json:"tools_measured" jsonschema:"How many tools have a figure of their own; the others' are apportioned."`
	APIRefused string `json:"api_refused,omitempty" jsonschema:"Why the API gave no figure for defer_loading; its mode is then documented, not measured."`
}

// document has every tool in it.
func (r TokensReport) document() any {
	j := tokensJSON{
		Version: TokensVersion, Counter: r.Counter.Name, Counts: r.Counter.About, Tools: r.Total.Tools, Servers: len(r.Servers),
		FullTokens: r.Total.Full, FullBasis: r.Total.Basis, Modes: r.Total.Modes, Automatic: r.Automatic, SearchTokens: r.Search,
		PerServer: r.Servers, Worst: r.Worst, NoSchema: slices.Sorted(slices.Values(r.NoSchema)), NoParameters: slices.Sorted(slices.Values(r.Empty)),
	}
	j.Failures = each(r.Failures, func(f world.ListFailure) unlistedJSON { return unlistedJSON{f.Server, f.Err.Error()} })
	if len(r.Sessions) > 0 {
		j.Recorded = &sessionsJSON{netAssumptions(), slices.Sorted(slices.Values(r.Uncalled)), r.Sessions}
	}
	if m := r.Measurement; m != nil {
		j.Measurement = &measurementJSON{m.Model, m.Requests, len(m.Tools), m.APIRefused}
	}
	return j
}
