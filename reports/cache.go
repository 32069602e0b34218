package reports

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"toolbench/reports/screen"
	"toolbench/sim/economics/promptcache"
	"toolbench/sim/economics/tokens"
)

// CacheReport is what a session costs under several orderings (D5).
type CacheReport struct {
	Counter tokens.Counter
	Session promptcache.Session
	Results []promptcache.Result
	Prices  []promptcache.Prices
}

// CacheTable writes a row an ordering, then what broke each one's prefix, then what
// the figures rest on.
func CacheTable(w io.Writer, r CacheReport, o Options) error {
	out := bufio.NewWriter(w)
	fold(out, "", fmt.Sprintf("A session of %d turns with churn, simulated. Counter %s: %s.", r.Session.Turns, r.Counter.Name, r.Counter.About), o)
	fmt.Fprintln(out)
	drawn, err := cacheGrid(r).Draw(o.Width, o.ASCII)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, drawn)
	for _, result := range r.Results {
		section(out, fmt.Sprintf("%s broke the prefix in %s", result.Ordering.Name, plural(len(result.Breaks), "turn", "turns")), breakLines(result), o)
	}
	section(out, "Orderings", orderingLines(r), o)
	section(out, "Assumed", cacheNotes(r), o)
	return out.Flush()
}

func cacheGrid(r CacheReport) screen.Grid {
	g := screen.Grid{Columns: tokenColumns("Ordering", "Built-ins kept", "Read", "Written", "Missed")}
	for _, p := range r.Prices {
		g.Columns = append(g.Columns, screen.Column{Title: "$ " + p.Name, Right: true})
	}
	for _, result := range r.Results {
		u := result.Total
		row := []string{result.Ordering.Name, percent(result.Kept), strconv.Itoa(u.Read), strconv.Itoa(u.Written), strconv.Itoa(u.Missed)}
		for _, p := range r.Prices {
			row = append(row, dollars(p.Cost(u)))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// dollars are shown to a hundredth of a cent: a session costs little.
func dollars(d float64) string { return strconv.FormatFloat(d, 'f', 4, 64) }

func breakLines(r promptcache.Result) []string {
	var lines []string
	for _, b := range r.Breaks {
		line := fmt.Sprintf("turn %d, byte %d: %s (%s)", b.Turn, b.Byte, breakText(b), b.Cause)
		if b.Builtins {
			line += "; built-in definitions behind it are lost"
		}
		lines = append(lines, line)
	}
	return lines
}

// breakText describes a break.
func breakText(b promptcache.Break) string {
	if b.Now == b.Before {
		return standing(b.Now) + " has changed"
	}
	return fmt.Sprintf("%s stands where %s stood", standing(b.Now), standing(b.Before))
}

func standing(name string) string {
	if name == "" {
		return "the end"
	}
	return name
}

func orderingLines(r CacheReport) []string {
	var lines []string
	for _, result := range r.Results {
		lines = append(lines, result.Ordering.Name+": "+result.Ordering.About)
	}
	return lines
}

// cacheNotes are what the figures rest on.
func cacheNotes(r CacheReport) []string {
	lines := []string{
		fmt.Sprintf("each turn adds %d bytes of messages, the system prompt has %d; nothing expires between turns", promptcache.MessageBytes, promptcache.SystemBytes),
		"built-ins kept: the share of built-in definitions read from the cache after the first turn, of those that are always sent whole",
		"missed: tokens that the request before had too and that were not read",
		"breakpoints stand behind the last built-in, the system prompt and the last message, under every ordering",
	}
	return append(lines, priceNotes(r.Prices)...)
}

// priceNotes are what the dollars rest on.
func priceNotes(prices []promptcache.Prices) []string {
	var lines []string
	for _, p := range prices {
		lines = append(lines, fmt.Sprintf("prices %s (%s, %s): per million tokens, input $%g, written $%g, read $%g; a read token costs %.4g of an input token",
			p.Name, p.Date, p.Source, p.Input, p.Write, p.Read, p.Read/p.Input))
		for _, a := range p.Assumptions {
			lines = append(lines, p.Name+": "+a)
		}
	}
	return lines
}

// CacheVersion is that of the JSON report on the prompt cache. It changes when a
// field goes or changes its meaning; fields may be added within a version.
const CacheVersion = 1

type cacheJSON struct {
	Version   int                  `json:"version"`
	Counter   string               `json:"counter" enum:"bytes4,o200k,cl100k"`
	Turns     int                  `json:"turns"`
	Orderings []orderingJSON       `json:"orderings"`
	Prices    []promptcache.Prices `json:"prices" jsonschema:"Dollars for a million tokens."`
}

type orderingJSON struct {
	Name        string             `json:"name"`
	About       string             `json:"about"`
	Kept        float64            `json:"builtins_kept_percent" jsonschema:"The share of built-in definitions read from the cache after the first turn." maximum:"100"`
	Tokens      usageJSON          `json:"tokens"`
	Dollars     map[string]float64 `json:"dollars" jsonschema:"By price list."`
	Breaks      []breakJSON        `json:"breaks" jsonschema:"Turns in which the request before was not a prefix."`
	TokensTurns []usageJSON        `json:"tokens_by_turn"`
}

type usageJSON struct {
	Read    int `json:"read"`
	Written int `json:"written"`
	Plain   int `json:"plain"`
	Missed  int `json:"missed"`
}

type breakJSON struct {
	Turn     int    `json:"turn"`
	Byte     int    `json:"byte" jsonschema:"The first byte that differs, from the first definition on."`
	Before   string `json:"before"`
	Now      string `json:"now" jsonschema:"What stands there instead; \"\" is the end."`
	Builtins bool   `json:"builtins_lost"`
	Cause    string `json:"cause"`
}

// CacheJSON writes one object as cache.schema.json describes it.
func CacheJSON(w io.Writer, r CacheReport) error {
	j := cacheJSON{Version: CacheVersion, Counter: r.Counter.Name, Turns: r.Session.Turns, Orderings: []orderingJSON{}, Prices: r.Prices}
	for _, result := range r.Results {
		j.Orderings = append(j.Orderings, orderingOf(result, r.Prices))
	}
	return PrintJSON(w, j)
}

func orderingOf(r promptcache.Result, prices []promptcache.Prices) orderingJSON {
	o := orderingJSON{Name: r.Ordering.Name, About: r.Ordering.About, Kept: rounded(r.Kept, 100), Tokens: usageOf(r.Total),
		Dollars: map[string]float64{}, Breaks: []breakJSON{}, TokensTurns: []usageJSON{}}
	for _, p := range prices {
		o.Dollars[p.Name] = rounded(p.Cost(r.Total), 1e6)
	}
	for _, b := range r.Breaks {
		o.Breaks = append(o.Breaks, breakJSON{b.Turn, b.Byte, b.Before, b.Now, b.Builtins, b.Cause})
	}
	for _, u := range r.Turns {
		o.TokensTurns = append(o.TokensTurns, usageOf(u))
	}
	return o
}

func usageOf(u promptcache.Usage) usageJSON {
	return usageJSON{u.Read, u.Written, u.Plain, u.Missed}
}
