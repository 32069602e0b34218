package reports

import (
	_ "embed"
	"io"
	"slices"

	"toolbench/sim/promptcache"
)

// CacheVersion is that of the JSON report on the prompt cache. It changes when a
// field goes or changes its meaning; fields may be added within a version.
const CacheVersion = 1

//go:embed cache.schema.json
var cacheSchema []byte

// CacheSchema is the JSON Schema (2020-12) of the JSON report on the prompt cache.
func CacheSchema() []byte { return slices.Clone(cacheSchema) }

type cacheJSON struct {
	Version   int                  `json:"version"`
	Counter   string               `json:"counter"`
	Turns     int                  `json:"turns"`
	Orderings []orderingJSON       `json:"orderings"`
	Prices    []promptcache.Prices `json:"prices"`
}

type orderingJSON struct {
	Name        string             `json:"name"`
	About       string             `json:"about"`
	Kept        float64            `json:"builtins_kept_percent"`
	Tokens      usageJSON          `json:"tokens"`
	Dollars     map[string]float64 `json:"dollars"`
	Breaks      []breakJSON        `json:"breaks"`
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
	Byte     int    `json:"byte"`
	Before   string `json:"before"`
	Now      string `json:"now"`
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
