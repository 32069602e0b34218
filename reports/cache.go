package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"toolbench/sim/economics"
)

// CacheReport is what a session costs under several orderings (D5).
type CacheReport struct {
	Counter economics.Counter
	Session economics.ChurnSession
	Results []economics.OrderingCost
	Prices  []economics.Prices
}

// show writes a row an ordering, then what broke each one's prefix, then what the
// figures rest on.
func (r CacheReport) show(p *page) {
	p.fold("", fmt.Sprintf("A session of %d turns with churn, simulated. Counter %s: %s.", r.Session.Turns, r.Counter.Name, r.Counter.About))
	p.printf("\n")
	g := Grid{Columns: pricedColumns(r.Prices, "Ordering", ">Built-ins kept", ">Read", ">Written", ">Missed")}
	for _, result := range r.Results {
		u := result.Total
		g.add(append([]any{result.Ordering.Name, percent(result.Kept), u.Read, u.Written, u.Missed}, costs(r.Prices, u)...)...)
	}
	p.tables(g)
	if p.Grouped {
		p.worstBreaks(r.Results)
		return
	}
	for _, result := range r.Results {
		p.section(fmt.Sprintf("%s broke the prefix in %s", result.Ordering.Name, plural(len(result.Breaks), "turn", "turns")), breakLines(result)...)
	}
	p.section("Orderings", orderingLines(r.Results)...)
	p.section("Assumed", append([]string{
		fmt.Sprintf("each turn adds %d bytes of messages, the system prompt has %d; nothing expires between turns", economics.MessageBytes, economics.SystemBytes),
		"built-ins kept: the share of built-in definitions read from the cache after the first turn, of those that are always sent whole",
		"missed: tokens that the request before had too and that were not read",
		"breakpoints stand behind the last built-in, the system prompt and the last message, under every ordering",
	}, priceNotes(r.Prices)...)...)
}

// pricedColumns are columns with one for each price list behind them.
func pricedColumns(prices []economics.Prices, titles ...string) []Column {
	return append(columns(titles...), each(prices, func(p economics.Prices) Column { return Column{Title: "$ " + p.Name, Right: true} })...)
}

// costs are the cells of the columns of price lists.
func costs(prices []economics.Prices, u economics.Usage) []any {
	return each(prices, func(p economics.Prices) any { return dollars(p.Cost(u)) })
}

// dollars are shown to a hundredth of a cent: a session costs little.
func dollars(d float64) string { return strconv.FormatFloat(d, 'f', 4, 64) }

func breakLines(r economics.OrderingCost) []string {
	return each(r.Breaks, func(b economics.CacheBreak) string {
		line := fmt.Sprintf("turn %d, byte %d: %s (%s)", b.Turn, b.Byte, breakText(b), b.Cause)
		if b.Builtins {
			line += "; built-in definitions behind it are lost"
		}
		return line
	})
}

// breakText describes a break; what has no name is the end.
func breakText(b economics.CacheBreak) string {
	now, before := cmp.Or(b.Now, "the end"), cmp.Or(b.Before, "the end")
	if now == before {
		return now + " has changed"
	}
	return fmt.Sprintf("%s stands where %s stood", now, before)
}

// orderingLines are what the orderings are, each once.
func orderingLines(results []economics.OrderingCost) []string {
	var lines []string
	for _, result := range results {
		if line := result.Ordering.Name + ": " + result.Ordering.About; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// priceNotes are what the dollars rest on.
func priceNotes(prices []economics.Prices) []string {
	var lines []string
	for _, p := range prices {
		lines = append(lines, fmt.Sprintf("prices %s (%s, %s): per million tokens, input $%g, written $%g, read $%g; a read token costs %.4g of an input token",
			p.Name, p.Date, p.Source, p.Input, p.Write, p.Read, p.Read/p.Input))
		lines = append(lines, each(p.Assumptions, func(a string) string { return p.Name + ": " + a })...)
	}
	return lines
}

type cacheJSON struct {
	Version   int                `json:"version"`
	Counter   string             `json:"counter" enum:"bytes4,o200k,cl100k"`
	Turns     int                `json:"turns"`
	Orderings []orderingJSON     `json:"orderings"`
	Prices    []economics.Prices `json:"prices" jsonschema:"Dollars for a million tokens."`
}

type orderingJSON struct {
	Name    string                 `json:"name"`
	About   string                 `json:"about"`
	Kept    float64                `json:"builtins_kept_percent" jsonschema:"The share of built-in definitions read from the cache after the first turn." maximum:"100"`
	Tokens  economics.Usage        `json:"tokens"`
	Dollars map[string]float64     `json:"dollars" jsonschema:"By price list."`
	Breaks  []economics.CacheBreak `json:"breaks" jsonschema:"Turns in which the request before was not a prefix."`
	Turns   []economics.Usage      `json:"tokens_by_turn"`
}

func (r CacheReport) document() any {
	return cacheJSON{CacheVersion, r.Counter.Name, r.Session.Turns, orderingsOf(r.Results, r.Prices), r.Prices}
}

func orderingsOf(results []economics.OrderingCost, prices []economics.Prices) []orderingJSON {
	return each(results, func(r economics.OrderingCost) orderingJSON {
		return orderingJSON{
			Name: r.Ordering.Name, About: r.Ordering.About, Kept: rounded(r.Kept, 100), Tokens: r.Total,
			Dollars: priced(prices, r.Total, economics.Prices.Cost), Breaks: r.Breaks, Turns: r.Turns,
		}
	})
}

// priced is what a usage comes to under each list.
func priced(prices []economics.Prices, u economics.Usage, of func(economics.Prices, economics.Usage) float64) map[string]float64 {
	out := map[string]float64{}
	for _, p := range prices {
		out[p.Name] = rounded(of(p, u), 1e6)
	}
	return out
}

// RecordedCacheReport is what the requests of recorded sessions cost (D5).
type RecordedCacheReport struct {
	Counter  economics.Counter
	Sessions []economics.RecordedCache
	Prices   []economics.Prices
	Skipped  []Skipped
}

// show writes a table a session of several turns, a row an ordering, and what the API
// measured in a row of its own; then where the tools changed, and what the figures
// rest on.
func (r RecordedCacheReport) show(p *page) {
	p.fold("", fmt.Sprintf("Recorded requests under a model of the prompt cache. Counter %s: %s. All is estimated but rows marked measured.", r.Counter.Name, r.Counter.About))
	p.printf("\n")
	if p.Grouped && len(r.Sessions) > 1 {
		p.sessions(r)
		return
	}
	single := 0
	var results []economics.OrderingCost
	for _, s := range r.Sessions {
		if s.Turns < 2 {
			single++
			continue
		}
		p.recordedCache(s, r.Prices)
		results = append(results, s.Results...)
	}
	p.skipped(r.Skipped)
	p.section("Orderings", orderingLines(results)...)
	p.section("Assumed", recordedNotes(r, single)...)
}

func (p *page) recordedCache(s economics.RecordedCache, prices []economics.Prices) {
	title := fmt.Sprintf("%s, conversation %d", s.File, s.Conversation)
	if s.Agent != "" {
		title += " (agent " + s.Agent + ")"
	}
	p.fold("", title+": "+plural(s.Turns, "turn", "turns"))
	g := Grid{Columns: pricedColumns(prices, "Ordering", ">Read", ">Written", ">Plain", ">Missed")}
	row := func(name string, missed any, u economics.Usage) {
		g.add(append([]any{name, u.Read, u.Written, u.Plain, missed}, costs(prices, u)...)...)
	}
	for _, result := range s.Results {
		row(result.Ordering.Name, result.Total.Missed, result.Total)
	}
	if a := s.Automatic; a != nil && a.Minimum > 0 {
		g.add(append([]any{"automatic", a.Tokens.Read, 0, a.Tokens.Plain, "-"}, slices.Repeat([]any{"-"}, len(prices))...)...) // they are other providers'
	}
	if s.Counted > 0 {
		row("measured by the API", "-", measuredUsage(s))
	}
	if len(g.Rows) > 0 {
		p.grid(g)
	}
	p.fold("  ", recordedLines(s, prices)...)
	p.printf("\n")
}

// automaticLines word what is known of a provider that keeps prompts without breakpoints.
func automaticLines(s economics.RecordedCache) []string {
	head := fmt.Sprintf("the requests are %s': that provider keeps prompts by rules of its own; ", s.API)
	rest := "other estimates are of the Messages API's rules, and no price here is its"
	a := s.Automatic
	if a == nil || a.Minimum == 0 {
		return []string{head + "none are published for the models that were asked, so they are not modelled; " + rest}
	}
	price := "what a read token costs is not known here"
	if a.Read > 0 {
		price = fmt.Sprintf("a read token costs %g of an input token", a.Read)
	}
	lines := []string{fmt.Sprintf("%sautomatic: what %s published (%s, %s): beginnings of %d tokens or more are read for %s; %s; %s", head, a.Provider, a.Date, a.Source, a.Minimum, a.Model, price, rest)}
	if a.Left > 0 {
		lines = append(lines, fmt.Sprintf("automatic: left out: %s to models of which nothing is published", plural(a.Left, "request", "requests")))
	}
	return append(lines, each(a.Notes, func(note string) string { return "automatic: " + note })...)
}

// measuredUsage is what the API counted, in the model's terms.
func measuredUsage(s economics.RecordedCache) economics.Usage {
	return economics.Usage{Read: s.Measured.Read, Written: s.Measured.Written, Plain: s.Measured.Input}
}

// recordedLines list where the tools changed and what that cost, and where the API
// read less than it had kept.
func recordedLines(s economics.RecordedCache, prices []economics.Prices) []string {
	var lines []string
	switch {
	case s.Requests == 0:
		lines = append(lines, "the recording holds no requests (transcripts and bare streams do not): which tools were sent, and in which order, is not known; what the API measured is shown")
	case !s.API.Marks():
		lines = append(lines, automaticLines(s)...)
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
	lines = append(lines, each(s.Changes, func(c economics.PoolChange) string { return changeLine(c, prices) })...)
	lines = append(lines, each(s.Losses, lossLine)...)
	for _, r := range s.Reasons {
		lines = append(lines, fmt.Sprintf("turn %d, the API's own diagnosis: %s, %d tokens missed; the model: %d missed", r.Turn, r.Word, r.Missed, r.Estimate))
	}
	if s.Measured.Hour > 0 {
		lines = append(lines, fmt.Sprintf("measured: %d of the %d written tokens are kept for an hour, at twice the price of input; dollars count them as the others", s.Measured.Hour, s.Measured.Written))
	}
	return lines
}

func changeLine(c economics.PoolChange, prices []economics.Prices) string {
	line := fmt.Sprintf("turn %d: tools changed at byte %d, %s: %s; %s: read %d, written %d, missed %d", c.Turn, c.Byte, breakText(c.CacheBreak), c.Cause, c.As, c.Cost.Read, c.Cost.Written, c.Cost.Missed)
	for _, p := range prices {
		line += fmt.Sprintf(", lost $%s (%s)", dollars(p.Lost(c.Cost)), p.Name)
	}
	if c.Measured != nil {
		line += fmt.Sprintf("; measured: read %d, written %d", c.Measured.Read, c.Measured.Written)
	}
	return line
}

// lossLine describes a lost prefix and what may have been the cause.
func lossLine(l economics.CacheLoss) string {
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

// recordedNotes are what the figures rest on.
func recordedNotes(r RecordedCacheReport, single int) []string {
	lines := tallied(nil, single, "conversation has", "conversations have", " one turn, where order is worth nothing, and no row")
	lines = append(lines,
		"nothing expires and no prefix is too short to be kept; the API keeps none below some thousand tokens, by model, so small sessions are measured as plain where the model keeps them",
		"missed: tokens that the request before had too and that were not read; lost: what that cost beyond reading them",
		"measured counts the API's own tokens, also of what it adds to a prompt; dollars beside it are those tokens at the price, without output",
	)
	return append(lines, priceNotes(r.Prices)...)
}

type recordedCacheJSON struct {
	Version    int                `json:"version"`
	Counter    string             `json:"counter" enum:"bytes4,o200k,cl100k"`
	Recordings []recordedJSON     `json:"recordings"`
	Skipped    []Skipped          `json:"skipped"`
	Prices     []economics.Prices `json:"prices" jsonschema:"Dollars for a million tokens."`
}

type recordedJSON struct {
	economics.RecordedCache
	Orderings []orderingJSON         `json:"estimated" jsonschema:"By ordering, as recorded first; empty without requests."`
	Changes   []changeJSON           `json:"tool_changes" jsonschema:"Turns whose tools array is not that of the turn before; byte counts from the first definition."`
	Measured  *measuredJSON          `json:"measured" jsonschema:"What the API counted, over the turns that have its count; null where none has."`
	ByTurn    []measuredTurn         `json:"measured_by_turn"`
	Losses    []lossJSON             `json:"measured_losses" jsonschema:"Turns that read less than the turn before had read and written."`
	Reasons   []economics.MissReason `json:"api_diagnoses" jsonschema:"Turns of which the API itself said why it could not read more."`
}

type changeJSON struct {
	economics.CacheBreak
	Ordering string             `json:"ordering" jsonschema:"The ordering under which the turn was played: the recording's own."`
	Tokens   economics.Usage    `json:"estimated_tokens"`
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

func (r RecordedCacheReport) document() any {
	recordings := each(r.Sessions, func(s economics.RecordedCache) recordedJSON { return recordedOf(s, r.Prices) })
	return recordedCacheJSON{CacheVersion, r.Counter.Name, recordings, r.Skipped, r.Prices}
}

func recordedOf(s economics.RecordedCache, prices []economics.Prices) recordedJSON {
	j := recordedJSON{RecordedCache: s, Orderings: orderingsOf(s.Results, prices), Reasons: s.Reasons}
	for _, c := range s.Changes {
		change := changeJSON{CacheBreak: c.CacheBreak, Ordering: c.As, Tokens: c.Cost, Lost: priced(prices, c.Cost, economics.Prices.Lost)}
		if m := c.Measured; m != nil {
			change.Measured = &apiJSON{m.Input, m.Read, m.Written, m.Output}
		}
		j.Changes = append(j.Changes, change)
	}
	if m := s.Measured; s.Counted > 0 {
		j.Measured = &measuredJSON{s.Counted, apiJSON{m.Input, m.Read, m.Written, m.Output}, priced(prices, measuredUsage(s), economics.Prices.Cost)}
	}
	for _, turn := range slices.Sorted(maps.Keys(s.ByTurn)) {
		m := s.ByTurn[turn]
		j.ByTurn = append(j.ByTurn, measuredTurn{turn, apiJSON{m.Input, m.Read, m.Written, m.Output}})
	}
	for _, l := range s.Losses {
		j.Losses = append(j.Losses, lossJSON{l.Turn, l.Read, l.Kept, rounded(l.Gap.Seconds(), 1000), l.Model})
	}
	return j
}
