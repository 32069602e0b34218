package reports

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"toolbench/reports/screen"
	"toolbench/sim/live"
	"toolbench/sim/tokens"
)

// TokensTable writes what definitions cost (E8): a row a server, then the top
// dearest tools with what can be done about them (0 shows all), then what else is to
// be known. Each figure is under the counter that the first line names.
func TokensTable(w io.Writer, r tokens.Report, failures []live.Failure, top int, o Options) error {
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
	g := screen.Grid{Columns: tokenColumns("Dearest tools", "Whole", "Description", "Schema", "Names", "Saved", "Names+hint", "Saved")}
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

// tokenNotes say what the figures hold and what they leave out.
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
	if n := whole(r); n > 0 {
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

func whole(r tokens.Report) (n int) {
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
