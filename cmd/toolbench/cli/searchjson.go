package cli

import (
	_ "embed"
	"io"
	"math"
	"strconv"

	"toolbench/reports"
	"toolbench/sim/retrieval"
	"toolbench/toolsys/search"
)

// SearchVersion is that of the JSON that search writes. It changes when a field goes
// or changes its meaning; fields may be added within a version.
const SearchVersion = 1

// searchSchema is the JSON Schema (2020-12) of what search writes.
//
//go:embed search.schema.json
var searchSchema []byte

type standingsJSON struct {
	Version   int            `json:"version"`
	Catalogue catalogue      `json:"catalog"`
	Queries   queriesJSON    `json:"queries"`
	Ks        []int          `json:"ks"`
	Rankers   []standingJSON `json:"rankers"`
}

type queriesJSON struct {
	File         string `json:"file"`
	Counted      int    `json:"counted"`
	Skipped      int    `json:"skipped"`
	NoneExpected int    `json:"none_expected"`
}

type standingJSON struct {
	Name      string                 `json:"name"`
	About     string                 `json:"about"`
	Default   bool                   `json:"default"`
	All       figuresJSON            `json:"all"`
	Even      figuresJSON            `json:"even"`
	Odd       figuresJSON            `json:"odd"`
	Classes   map[string]figuresJSON `json:"classes"`
	Languages map[string]figuresJSON `json:"languages"`
	NoneGiven int                    `json:"none_given"`
}

type figuresJSON struct {
	Queries int                `json:"queries"`
	Hit     map[string]float64 `json:"hit"`
	Recall  map[string]float64 `json:"recall"`
	MRR     float64            `json:"mrr"`
}

func printStandings(w io.Writer, f searchFlags, c catalogue, all []retrieval.Standing) error {
	s := all[0]
	report := standingsJSON{
		Version: SearchVersion, Catalogue: c, Ks: f.ks,
		Queries: queriesJSON{f.queries, s.All.Queries, s.Skipped, s.NoneExpected},
	}
	for _, s := range all {
		report.Rankers = append(report.Rankers, standingJSON{
			Name: s.Ranker.Name, About: s.Ranker.About, Default: isDefault(s.Ranker),
			All: figuresOf(s.All, f.ks), Even: figuresOf(s.Half[0], f.ks), Odd: figuresOf(s.Half[1], f.ks),
			Classes: groupsOf(s.Classes, f.ks), Languages: groupsOf(s.Langs, f.ks), NoneGiven: s.NoneGiven,
		})
	}
	return reports.PrintJSON(w, report)
}

func isDefault(r search.Ranker) bool { return r.Name == search.DefaultRanker().Name }

func figuresOf(f *retrieval.Figures, ks []int) figuresJSON {
	j := figuresJSON{Queries: f.Queries, Hit: map[string]float64{}, Recall: map[string]float64{}, MRR: fourDigits(f.MRR())}
	for i, k := range ks {
		j.Hit[strconv.Itoa(k)] = fourDigits(f.Hit(i))
		j.Recall[strconv.Itoa(k)] = fourDigits(f.Recall(i))
	}
	return j
}

func groupsOf(groups []retrieval.Group, ks []int) map[string]figuresJSON {
	all := map[string]figuresJSON{}
	for _, g := range groups {
		all[g.Name] = figuresOf(g.Figures, ks)
	}
	return all
}

// fourDigits rounds to four decimals: more would be noise.
func fourDigits(f float64) float64 { return math.Round(f*1e4) / 1e4 }

type findingsJSON struct {
	Version   int           `json:"version"`
	Catalogue catalogue     `json:"catalog"`
	Query     string        `json:"query"`
	Rankers   []findingJSON `json:"rankers"`
}

type findingJSON struct {
	Name    string      `json:"name"`
	About   string      `json:"about"`
	Default bool        `json:"default"`
	Matches []matchJSON `json:"matches"`
	Missing []string    `json:"missing"`
}

type matchJSON struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
	Why   string  `json:"why"`
}

func printFindings(w io.Writer, words string, c catalogue, all []finding) error {
	report := findingsJSON{Version: SearchVersion, Catalogue: c, Query: words}
	for _, f := range all {
		j := findingJSON{
			Name: f.ranker.Name, About: f.ranker.About, Default: isDefault(f.ranker),
			Matches: []matchJSON{}, Missing: append([]string{}, f.Missing...),
		}
		for _, m := range f.Matches {
			j.Matches = append(j.Matches, matchJSON{m.Name, fourDigits(m.Score), m.Why})
		}
		report.Rankers = append(report.Rankers, j)
	}
	return reports.PrintJSON(w, report)
}
