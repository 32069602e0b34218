package reports

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"toolbench/reports/screen"
	"toolbench/sim/economics/tokens"
	"toolbench/sim/world/mcpserve"
)

// TokensTable writes what definitions cost (E8): a row a server, then the top
// most expensive tools with what can be done about them (0 shows all), then what else is to
// be known. Each figure is under the counter that the first line names.
func TokensTable(w io.Writer, r tokens.Report, failures []mcpserve.ListFailure, top int, o Options) error {
	out := bufio.NewWriter(w)
	fold(out, "", fmt.Sprintf("Counter %s: %s. %s of %s.", r.Counter.Name, r.Counter.About,
		plural(r.Total.Tools, "tool", "tools"), plural(len(r.Servers), "server", "servers")), o)
	fmt.Fprintln(out)
	for _, g := range []screen.Grid{serverGrid(r), netGrid(r), worstGrid(r, top)} {
		if len(g.Rows) == 0 {
			continue
		}
		drawn, err := g.Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	section(out, "Net", netLines(r), o)
	section(out, "What can be done", adviceLines(r, top), o)
	section(out, "To be known", tokenNotes(r), o)
	for _, f := range failures {
		section(out, fmt.Sprintf("MCP server %s is not counted", f.Server), []string{f.Err.Error()}, o)
	}
	return out.Flush()
}

func serverGrid(r tokens.Report) screen.Grid {
	g := screen.Grid{Columns: tokenColumns("Server", "Tools", "Whole", "Names", "Saved", "Names+hint", "Saved", "API", "Saved")}
	for _, s := range r.Servers {
		g.Rows = append(g.Rows, costCells(serverName(s.Name), s))
	}
	switch {
	case r.Measurement != nil:
		g.Footer = costCells("measured", r.Total)
		if r.Measurement.APIRefused != "" {
			g.Footer[len(g.Footer)-2], g.Footer[len(g.Footer)-1] = "-", "-"
		}
	case len(r.Servers) > 1:
		g.Footer = costCells("total", r.Total)
	}
	return g
}

func worstGrid(r tokens.Report, top int) screen.Grid {
	g := screen.Grid{Columns: tokenColumns("Most expensive tools", "Whole", "Description", "Schema", "Names", "Saved", "Names+hint", "Saved")}
	if r.Measurement != nil {
		g.Columns[1].Title = "Whole (* measured)"
	}
	for _, row := range leading(r.Worst, top) {
		m := row.Modes
		g.Rows = append(g.Rows, []string{screen.Cut(screen.Safe(row.Name), 48, true), wholeCell(row), strconv.Itoa(row.Description), strconv.Itoa(row.Schema),
			strconv.Itoa(m.Names.Tokens), percent(m.Names.Saved), strconv.Itoa(m.Hints.Tokens), percent(m.Hints.Saved)})
	}
	return g
}

// wholeCell marks what was measured.
func wholeCell(row tokens.Row) string {
	if row.Measured {
		return "* " + strconv.Itoa(row.Full)
	}
	return strconv.Itoa(row.Full)
}

// tokenColumns heads a name and numbers.
func tokenColumns(name string, numbers ...string) []screen.Column {
	columns := []screen.Column{{Title: name}}
	for _, n := range numbers {
		columns = append(columns, screen.Column{Title: n, Right: true})
	}
	return columns
}

func costCells(name string, c tokens.Cost) []string {
	cells := []string{name, strconv.Itoa(c.Tools), strconv.Itoa(c.Full)}
	for _, f := range []tokens.Figure{c.Modes.Names, c.Modes.Hints, c.Modes.API} {
		cells = append(cells, strconv.Itoa(f.Tokens), percent(f.Saved))
	}
	return cells
}

func serverName(name string) string {
	if name == "" {
		return "(built in)"
	}
	return screen.Safe(name)
}

func leading[T any](all []T, n int) []T {
	if n > 0 && n < len(all) {
		return all[:n]
	}
	return all
}

func adviceLines(r tokens.Report, top int) []string {
	var lines []string
	for _, row := range leading(r.Worst, top) {
		if row.Advice != "" {
			lines = append(lines, row.Name+": "+row.Advice)
		}
	}
	return lines
}

// tokenNotes list what the figures hold and what they leave out.
func tokenNotes(r tokens.Report) []string {
	if r.Total.Tools == 0 {
		return []string{"there is no definition to count"}
	}
	a := r.Automatic
	verdict := "would not defer"
	if a.Triggers {
		verdict = "would defer"
	}
	model := a.Model
	if model == "" {
		model = "no model named"
	}
	lines := []string{
		fmt.Sprintf("automatic mode (%s) %s: %s; a session compares bytes / 4 of the definitions as it sends them, whatever the counter here", model, verdict, a.Reason),
		searchNote(r),
		apiNote(r),
	}
	if r.Measurement != nil {
		lines = append(lines, "count_tokens: ToolSearch is in every request, so that what the API adds to a prompt with tools stands with its own definition only; the API calls its counts an estimate")
	}
	if n := neverDeferred(r); n > 0 {
		lines = append(lines, plural(n, "tool is never deferred and costs", "tools are never deferred and cost")+" the same in every mode")
	}
	lines = append(lines, nameSome("never called in the recording", r.Uncalled)...)
	lines = append(lines, nameSome("without a schema, counted as {}", r.NoSchema)...)
	return append(lines, nameSome("with a schema that names no parameter", r.Empty)...)
}

func apiNote(r tokens.Report) string {
	switch m := r.Measurement; {
	case m != nil && m.APIRefused != "":
		return "API: not measured, for the API refused definitions with defer_loading (" + m.APIRefused + "); by its documentation nothing of them is in the context before a search"
	case m != nil:
		return "API: measured in the total; in the rows by its documentation"
	}
	return "API: what defer_loading leaves in the model's context before a search, by the API's documentation; not measured"
}

func searchNote(r tokens.Report) string {
	text := fmt.Sprintf("deferral adds ToolSearch's own definition, %d tokens, and whatever searches load; neither is in the figures", r.Search)
	if len(r.Sessions) > 0 {
		text += " for one request; both are in the net figures"
	}
	return text
}

func neverDeferred(r tokens.Report) (n int) {
	for _, row := range r.Worst {
		if row.Whole {
			n++
		}
	}
	return n
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

// sortedNames keeps a list that is empty from being null.
func sortedNames(names []string) []string {
	sorted := append([]string{}, names...)
	slices.Sort(sorted)
	return sorted
}

// TokensVersion is that of the JSON report on tokens. It changes when a field goes
// or changes its meaning; fields may be added within a version.
const TokensVersion = 1

type tokensJSON struct {
	Version      int            `json:"version"`
	Counter      string         `json:"counter" enum:"bytes4,o200k,cl100k,count_tokens"`
	Counts       string         `json:"counts" jsonschema:"What the counter counts, in words."`
	Tools        int            `json:"tools" jsonschema:"How many tools."`
	Servers      int            `json:"servers" jsonschema:"How many servers; the built-in tools count as one."`
	FullTokens   int            `json:"full_tokens" jsonschema:"All tools sent whole, a line each."`
	FullBasis    string         `json:"full_basis" jsonschema:"Counted with a vocabulary, estimated from bytes, given by the API's documentation, measured by the API's count_tokens, or apportioned by bytes from what it measured." enum:"counted,estimated,documented,measured,apportioned"`
	Modes        modesJSON      `json:"modes"`
	Automatic    automaticJSON  `json:"automatic" jsonschema:"Whether the automatic mode would defer."`
	SearchTokens int            `json:"tool_search_tokens" jsonschema:"ToolSearch's own definition, which deferral adds and the other figures leave out."`
	PerServer    []costJSON     `json:"per_server" jsonschema:"By name; the built-in tools have the name \"\"."`
	Worst        []toolCostJSON `json:"worst" jsonschema:"Every tool, the most expensive first."`
	NoSchema     []string       `json:"without_schema"`
	NoParameters []string       `json:"without_parameters" jsonschema:"Tools whose schema names no parameter."`
	Failures     []unlistedJSON `json:"failures" jsonschema:"Live servers that could not be listed."`
	Recorded     *sessionsJSON  `json:"recorded,omitempty" jsonschema:"With --recording: what definitions cost over whole sessions, and what deferral would have made of it, net of its searches."`

	Measurement *measurementJSON `json:"measurement,omitempty" jsonschema:"With count_tokens: what was asked of the API."`
}

type modesJSON struct {
	Names modeJSON `json:"names"`
	Hints modeJSON `json:"names_hint"`
	API   modeJSON `json:"api"`
}

type modeJSON struct {
	Tokens int     `json:"tokens"`
	Saved  float64 `json:"saved_percent" maximum:"100"`
	Basis  string  `json:"basis" jsonschema:"Counted with a vocabulary, estimated from bytes, given by the API's documentation, measured by the API's count_tokens, or apportioned by bytes from what it measured." enum:"counted,estimated,documented,measured,apportioned"`
}

type automaticJSON struct {
	Model       string `json:"model"`
	Window      int    `json:"window"`
	WindowKnown bool   `json:"window_known" jsonschema:"False where the window is assumed."`
	Percent     int    `json:"percent"`
	Threshold   int    `json:"threshold_tokens"`
	Deferred    int    `json:"deferred_tokens" jsonschema:"What the deferrable definitions cost whole."`
	Session     int    `json:"session_tokens" jsonschema:"What a session compares with the threshold, whatever the counter: bytes / 4 of the deferrable definitions as it sends them."`
	Triggers    bool   `json:"triggers"`
	Reason      string `json:"reason"`
}

type costJSON struct {
	Name       string    `json:"name"`
	Tools      int       `json:"tools"`
	FullTokens int       `json:"full_tokens"`
	Modes      modesJSON `json:"modes"`
}

type toolCostJSON struct {
	Name        string    `json:"name"`
	Server      string    `json:"server"`
	FullTokens  int       `json:"full_tokens"`
	FullBasis   string    `json:"full_basis" jsonschema:"Counted with a vocabulary, estimated from bytes, given by the API's documentation, measured by the API's count_tokens, or apportioned by bytes from what it measured." enum:"counted,estimated,documented,measured,apportioned"`
	Description int       `json:"description_tokens" jsonschema:"The description, counted by itself."`
	Schema      int       `json:"schema_tokens" jsonschema:"The schema, counted by itself."`
	NoSchema    bool      `json:"without_schema"`
	Whole       bool      `json:"never_deferred"`
	Modes       modesJSON `json:"modes"`
	Advice      string    `json:"advice,omitempty"`
	Calls       *int      `json:"recorded_calls,omitempty" jsonschema:"With --recording: how often it was called there."`
}

type unlistedJSON struct {
	Server string `json:"server"`
	Error  string `json:"error"`
}

// TokensJSON writes one object as tokens.schema.json describes it, every tool in it.
func TokensJSON(w io.Writer, r tokens.Report, failures []mcpserve.ListFailure) error {
	a := r.Automatic
	basis := r.Counter.Basis()
	j := tokensJSON{
		Version: TokensVersion, Counter: r.Counter.Name, Counts: r.Counter.About, Tools: r.Total.Tools, Servers: len(r.Servers),
		FullTokens: r.Total.Full, FullBasis: totalBasis(r), Modes: totalModes(r), SearchTokens: r.Search,
		Automatic:    automaticJSON{a.Model, a.Window, a.Known, a.Percent, a.Threshold, a.Deferred, a.Session, a.Triggers, a.Reason},
		NoSchema:     sortedNames(r.NoSchema),
		NoParameters: sortedNames(r.Empty), Failures: []unlistedJSON{}, PerServer: []costJSON{}, Worst: []toolCostJSON{},
	}
	for _, s := range r.Servers {
		j.PerServer = append(j.PerServer, costJSON{s.Name, s.Tools, s.Full, modesOf(s.Modes, basis)})
	}
	for _, t := range r.Worst {
		j.Worst = append(j.Worst, toolCostJSON{t.Name, t.Server, t.Full, rowBasis(r, t), t.Description, t.Schema, t.Missing, t.Whole, modesOf(t.Modes, basis), t.Advice, callsOf(t)})
	}
	for _, f := range failures {
		j.Failures = append(j.Failures, unlistedJSON{f.Server, f.Err.Error()})
	}
	j.Recorded, j.Measurement = sessionsOf(r, basis), measurementOf(r.Measurement)
	return PrintJSON(w, j)
}

// totalModes are those of all tools: measured where the API was asked.
func totalModes(r tokens.Report) modesJSON {
	j := modesOf(r.Total.Modes, r.Counter.Basis())
	if m := r.Measurement; m != nil {
		j.Names.Basis, j.Hints.Basis = measuredBasis, measuredBasis
		if m.APIRefused == "" {
			j.API.Basis = measuredBasis
		}
	}
	return j
}

// measuredBasis is that of a figure that the API itself gave.
const measuredBasis = "measured"

func rowBasis(r tokens.Report, row tokens.Row) string {
	if row.Measured {
		return measuredBasis
	}
	return r.Counter.Basis()
}

func totalBasis(r tokens.Report) string {
	if r.Measurement != nil {
		return measuredBasis
	}
	return r.Counter.Basis()
}

type measurementJSON struct {
	Model      string `json:"model"`
	Requests   int    `json:"requests"`
	Tools      int    `json:"tools_measured" jsonschema:"How many tools have a figure of their own; the others' are apportioned."`
	APIRefused string `json:"api_refused,omitempty" jsonschema:"Why the API gave no figure for defer_loading; its mode is then documented, not measured."`
}

func measurementOf(m *tokens.Measurement) *measurementJSON {
	if m == nil {
		return nil
	}
	return &measurementJSON{m.Model, m.Requests, len(m.Tools), m.APIRefused}
}

func modesOf(m tokens.Modes, basis string) modesJSON {
	return modesJSON{
		Names: modeJSON{m.Names.Tokens, m.Names.Saved, basis},
		Hints: modeJSON{m.Hints.Tokens, m.Hints.Saved, basis},
		API:   modeJSON{m.API.Tokens, m.API.Saved, "documented"},
	}
}
