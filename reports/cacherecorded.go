package reports

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"toolbench/reports/screen"
	"toolbench/sim/economics/promptcache"
	"toolbench/sim/economics/tokens"
)

// RecordedCacheReport is what the requests of recorded sessions cost (D5).
type RecordedCacheReport struct {
	Counter  tokens.Counter
	Sessions []promptcache.Recorded
	Prices   []promptcache.Prices
	Skipped  []Skipped
}

// RecordedCacheTable writes a table a session of several turns, a row an ordering,
// and what the API measured in a row of its own; then where the tools changed, and
// what the figures rest on.
func RecordedCacheTable(w io.Writer, r RecordedCacheReport, o Options) error {
	out := bufio.NewWriter(w)
	fold(out, "", fmt.Sprintf("Recorded requests under a model of the prompt cache. Counter %s: %s. All is estimated but rows marked measured.", r.Counter.Name, r.Counter.About), o)
	fmt.Fprintln(out)
	single := 0
	for _, s := range r.Sessions {
		if s.Turns < 2 {
			single++
			continue
		}
		if err := recordedSession(out, s, r.Prices, o); err != nil {
			return err
		}
	}
	for _, s := range r.Skipped {
		section(out, s.File, []string{"skipped: " + s.Reason}, o)
	}
	section(out, "Orderings", recordedOrderings(r), o)
	section(out, "Assumed", recordedNotes(r, single), o)
	return out.Flush()
}

func recordedSession(out *bufio.Writer, s promptcache.Recorded, prices []promptcache.Prices, o Options) error {
	fold(out, "", sessionTitle(s), o)
	if g := recordedGrid(s, prices); len(g.Rows) > 0 {
		drawn, err := g.Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprint(out, drawn)
	}
	for _, line := range recordedLines(s, prices) {
		fold(out, "  ", line, o)
	}
	fmt.Fprintln(out)
	return nil
}

func sessionTitle(s promptcache.Recorded) string {
	text := fmt.Sprintf("%s, conversation %d", s.File, s.Conversation)
	if s.Agent != "" {
		text += " (agent " + s.Agent + ")"
	}
	return text + ": " + plural(s.Turns, "turn", "turns")
}

func recordedGrid(s promptcache.Recorded, prices []promptcache.Prices) screen.Grid {
	g := screen.Grid{Columns: tokenColumns("Ordering", "Read", "Written", "Plain", "Missed")}
	for _, p := range prices {
		g.Columns = append(g.Columns, screen.Column{Title: "$ " + p.Name, Right: true})
	}
	row := func(name, missed string, u promptcache.Usage) {
		cells := []string{name, strconv.Itoa(u.Read), strconv.Itoa(u.Written), strconv.Itoa(u.Plain), missed}
		for _, p := range prices {
			cells = append(cells, dollars(p.Cost(u)))
		}
		g.Rows = append(g.Rows, cells)
	}
	for _, result := range s.Results {
		row(result.Ordering.Name, strconv.Itoa(result.Total.Missed), result.Total)
	}
	if s.Counted > 0 {
		row("measured by the API", "-", measuredUsage(s))
	}
	return g
}

// measuredUsage is what the API counted, in the model's terms.
func measuredUsage(s promptcache.Recorded) promptcache.Usage {
	return promptcache.Usage{Read: s.Measured.Read, Written: s.Measured.Written, Plain: s.Measured.Input}
}

// recordedLines list where the tools changed and what that cost, and where the API
// read less than it had kept.
func recordedLines(s promptcache.Recorded, prices []promptcache.Prices) []string {
	var lines []string
	switch {
	case s.Requests == 0:
		lines = append(lines, "the recording holds no requests (transcripts and bare streams do not): which tools were sent, and in which order, is not known; what the API measured is shown")
	case s.Marked == 0:
		lines = append(lines, "no request sets cache_control, so as recorded nothing is kept")
	case s.Marked < s.Requests:
		lines = append(lines, fmt.Sprintf("%d of %d requests set cache_control", s.Marked, s.Requests))
	}
	if s.Counted > 0 && s.Counted < s.Turns {
		lines = append(lines, fmt.Sprintf("measured: %d of %d turns have the API's count", s.Counted, s.Turns))
	}
	if s.Requests > 1 && len(s.Changes) == 0 {
		lines = append(lines, "the tools are the same in every request")
	}
	if s.Defers {
		lines = append(lines, "it defers tools by itself, so no row defers them again")
	}
	for _, c := range s.Changes {
		lines = append(lines, changeLine(c, prices))
	}
	for _, l := range s.Losses {
		lines = append(lines, lossLine(l))
	}
	return lines
}

func changeLine(c promptcache.Change, prices []promptcache.Prices) string {
	line := fmt.Sprintf("turn %d: tools changed at byte %d, %s: %s; %s: read %d, written %d, missed %d", c.Turn, c.Byte, breakText(c.Break), c.Cause, c.As, c.Cost.Read, c.Cost.Written, c.Cost.Missed)
	for _, p := range prices {
		line += fmt.Sprintf(", lost $%s (%s)", dollars(p.Lost(c.Cost)), p.Name)
	}
	if c.Measured != nil {
		line += fmt.Sprintf("; measured: read %d, written %d", c.Measured.Read, c.Measured.Written)
	}
	return line
}

// lossLine describes a lost prefix and what may have been the cause.
func lossLine(l promptcache.Loss) string {
	line := fmt.Sprintf("turn %d, measured: read %d of the %d tokens that the turn before had left in the cache", l.Turn, l.Read, l.Kept)
	switch {
	case l.Model:
		line += "; another model was asked, which has a cache of its own"
	case l.Gap >= 5*time.Minute:
		line += fmt.Sprintf("; %s after it, so that it may have expired", l.Gap.Round(time.Second))
	case l.Gap > 0:
		line += fmt.Sprintf("; %s after it", l.Gap.Round(time.Second))
	}
	return line
}

func recordedOrderings(r RecordedCacheReport) []string {
	var lines []string
	seen := map[string]bool{}
	for _, s := range r.Sessions {
		for _, result := range s.Results {
			if s.Turns > 1 && !seen[result.Ordering.Name] {
				seen[result.Ordering.Name] = true
				lines = append(lines, result.Ordering.Name+": "+result.Ordering.About)
			}
		}
	}
	return lines
}

// recordedNotes are what the figures rest on.
func recordedNotes(r RecordedCacheReport, single int) []string {
	var lines []string
	if single > 0 {
		lines = append(lines, plural(single, "conversation has", "conversations have")+" one turn, where order is worth nothing, and no row")
	}
	lines = append(lines,
		"nothing expires and no prefix is too short to be kept; the API keeps none below some thousand tokens, by model, so small sessions are measured as plain where the model keeps them",
		"missed: tokens that the request before had too and that were not read; lost: what that cost beyond reading them",
		"measured counts the API's own tokens, also of what it adds to a prompt; dollars beside it are those tokens at the price, without output",
	)
	return append(lines, priceNotes(r.Prices)...)
}

type recordedCacheJSON struct {
	Version    int                  `json:"version"`
	Counter    string               `json:"counter" enum:"bytes4,o200k,cl100k"`
	Recordings []recordedJSON       `json:"recordings"`
	Skipped    []Skipped            `json:"skipped"`
	Prices     []promptcache.Prices `json:"prices" jsonschema:"Dollars for a million tokens."`
}

type recordedJSON struct {
	File         string         `json:"file"`
	Conversation int            `json:"conversation"`
	Agent        string         `json:"agent"`
	Turns        int            `json:"turns"`
	Requests     int            `json:"requests" jsonschema:"Turns whose request is in the recording; a transcript has none."`
	Marked       int            `json:"requests_with_cache_control"`
	Defers       bool           `json:"defers_by_itself" jsonschema:"The session searches for tools itself; no ordering defers them again."`
	Orderings    []orderingJSON `json:"estimated" jsonschema:"By ordering, as recorded first; empty without requests."`
	Changes      []changeJSON   `json:"tool_changes" jsonschema:"Turns whose tools array is not that of the turn before; byte counts from the first definition."`
	Measured     *measuredJSON  `json:"measured" jsonschema:"What the API counted, over the turns that have its count; null where none has."`
	ByTurn       []measuredTurn `json:"measured_by_turn"`
	Losses       []lossJSON     `json:"measured_losses" jsonschema:"Turns that read less than the turn before had read and written."`
}

type changeJSON struct {
	breakJSON
	Ordering string             `json:"ordering" jsonschema:"The ordering under which the turn was played: the recording's own."`
	Tokens   usageJSON          `json:"estimated_tokens"`
	Lost     map[string]float64 `json:"estimated_lost_dollars" jsonschema:"What the missed tokens cost beyond reading them, by price list."`
	Measured *apiJSON           `json:"measured"`
}

type apiJSON struct {
	Input   int `json:"input"`
	Read    int `json:"read"`
	Written int `json:"written"`
	Output  int `json:"output"`
}

type measuredJSON struct {
	Turns int `json:"turns"`
	apiJSON
	Dollars map[string]float64 `json:"dollars_without_output"`
}

type measuredTurn struct {
	Turn int `json:"turn"`
	apiJSON
}

type lossJSON struct {
	Turn  int     `json:"turn"`
	Read  int     `json:"read"`
	Kept  int     `json:"kept"`
	Gap   float64 `json:"gap_seconds" jsonschema:"Since the turn before; 0 where it is unknown."`
	Model bool    `json:"another_model"`
}

// RecordedCacheJSON writes one object as cache.schema.json describes it.
func RecordedCacheJSON(w io.Writer, r RecordedCacheReport) error {
	j := recordedCacheJSON{Version: CacheVersion, Counter: r.Counter.Name, Recordings: []recordedJSON{}, Skipped: append([]Skipped{}, r.Skipped...), Prices: r.Prices}
	for _, s := range r.Sessions {
		j.Recordings = append(j.Recordings, recordedOf(s, r.Prices))
	}
	return PrintJSON(w, j)
}

func recordedOf(s promptcache.Recorded, prices []promptcache.Prices) recordedJSON {
	j := recordedJSON{
		File: s.File, Conversation: s.Conversation, Agent: s.Agent, Turns: s.Turns, Requests: s.Requests, Marked: s.Marked, Defers: s.Defers,
		Orderings: []orderingJSON{}, Changes: []changeJSON{}, ByTurn: []measuredTurn{}, Losses: []lossJSON{},
	}
	for _, result := range s.Results {
		j.Orderings = append(j.Orderings, orderingOf(result, prices))
	}
	for _, c := range s.Changes {
		j.Changes = append(j.Changes, changeOf(c, prices))
	}
	if s.Counted > 0 {
		m := s.Measured
		j.Measured = &measuredJSON{s.Counted, apiJSON{m.Input, m.Read, m.Written, m.Output}, priced(prices, measuredUsage(s), promptcache.Prices.Cost)}
	}
	for _, turn := range slices.Sorted(maps.Keys(s.ByTurn)) {
		u := s.ByTurn[turn]
		j.ByTurn = append(j.ByTurn, measuredTurn{turn, apiJSON{u.Input, u.Read, u.Written, u.Output}})
	}
	for _, l := range s.Losses {
		j.Losses = append(j.Losses, lossJSON{l.Turn, l.Read, l.Kept, rounded(l.Gap.Seconds(), 1000), l.Model})
	}
	return j
}

func changeOf(c promptcache.Change, prices []promptcache.Prices) changeJSON {
	j := changeJSON{
		breakJSON: breakJSON{c.Turn, c.Byte, c.Before, c.Now, c.Builtins, c.Cause}, Ordering: c.As,
		Tokens: usageOf(c.Cost), Lost: priced(prices, c.Cost, promptcache.Prices.Lost),
	}
	if m := c.Measured; m != nil {
		j.Measured = &apiJSON{m.Input, m.Read, m.Written, m.Output}
	}
	return j
}

// priced is what a usage comes to under each list.
func priced(prices []promptcache.Prices, u promptcache.Usage, of func(promptcache.Prices, promptcache.Usage) float64) map[string]float64 {
	out := map[string]float64{}
	for _, p := range prices {
		out[p.Name] = rounded(of(p, u), 1e6)
	}
	return out
}
