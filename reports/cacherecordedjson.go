package reports

import (
	"io"
	"maps"
	"slices"

	"toolbench/sim/promptcache"
)

type recordedCacheJSON struct {
	Version    int                  `json:"version"`
	Counter    string               `json:"counter"`
	Recordings []recordedJSON       `json:"recordings"`
	Skipped    []Skipped            `json:"skipped"`
	Prices     []promptcache.Prices `json:"prices"`
}

type recordedJSON struct {
	File         string         `json:"file"`
	Conversation int            `json:"conversation"`
	Agent        string         `json:"agent"`
	Turns        int            `json:"turns"`
	Requests     int            `json:"requests"`
	Marked       int            `json:"requests_with_cache_control"`
	Defers       bool           `json:"defers_by_itself"`
	Orderings    []orderingJSON `json:"estimated"`
	Changes      []changeJSON   `json:"tool_changes"`
	Measured     *measuredJSON  `json:"measured"`
	ByTurn       []measuredTurn `json:"measured_by_turn"`
	Losses       []lossJSON     `json:"measured_losses"`
}

type changeJSON struct {
	breakJSON
	Ordering string             `json:"ordering"`
	Tokens   usageJSON          `json:"estimated_tokens"`
	Lost     map[string]float64 `json:"estimated_lost_dollars"`
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
	Gap   float64 `json:"gap_seconds"`
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
