package cli

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"toolbench/reports"
	"toolbench/reports/screen"
	"toolbench/sim/retrieval"
	"toolbench/toolsys/search"
)

// drawStandings writes a row a ranker, then one a ranker and class, and one a ranker
// and language where there are several.
func drawStandings(w io.Writer, c catalogue, ks []int, all []retrieval.Standing, o reports.Options) error {
	out := bufio.NewWriter(w)
	foldLines(out, []string{measured(c, all[0])}, o)
	fmt.Fprintln(out)
	grids := []screen.Grid{
		overall(ks, all),
		grouped("Class", ks, all, func(s retrieval.Standing) []retrieval.Group { return s.Classes }),
		grouped("Language", ks, all, func(s retrieval.Standing) []retrieval.Group { return s.Langs }),
	}
	for i, g := range grids {
		if i > 0 && len(g.Rows) <= len(all) {
			continue // one class is all
		}
		drawn, err := g.Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	foldLines(out, remarksOn(all), o)
	return out.Flush()
}

// measured says what the figures rest on.
func measured(c catalogue, s retrieval.Standing) string {
	text := fmt.Sprintf("queries %d, tools %d, servers %d", s.All.Queries, c.Tools, c.Servers)
	if s.Skipped > 0 {
		text += fmt.Sprintf(", skipped %d (none of their labels is a tool here)", s.Skipped)
	}
	return text
}

// foldLines writes lines no wider than the screen.
func foldLines(w io.Writer, lines []string, o reports.Options) {
	for _, line := range lines {
		for _, part := range screen.Fold(line, o.Width) {
			fmt.Fprintln(w, part)
		}
	}
}

// overall compares the rankers: on all queries, then hit@k of the halves.
func overall(ks []int, all []retrieval.Standing) screen.Grid {
	g := screen.Grid{Columns: append([]screen.Column{{Title: "Ranker"}}, figureColumns(ks)...)}
	for _, half := range []string{"even", "odd"} {
		for _, k := range ks {
			g.Columns = append(g.Columns, screen.Column{Title: fmt.Sprintf("%s@%d", half, k), Right: true})
		}
	}
	for _, s := range all {
		row := append([]string{s.Ranker.Name}, figures(ks, s.All)...)
		for _, half := range s.Half {
			for i := range ks {
				row = append(row, share(half.Hit(i)))
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// grouped compares the rankers by class or by language.
func grouped(title string, ks []int, all []retrieval.Standing, of func(retrieval.Standing) []retrieval.Group) screen.Grid {
	columns := []screen.Column{{Title: title}, {Title: "Ranker"}, {Title: "Queries", Right: true}}
	g := screen.Grid{Columns: append(columns, figureColumns(ks)...)}
	for i, group := range of(all[0]) {
		for _, s := range all {
			mine := of(s)[i]
			row := []string{screen.Safe(group.Name), s.Ranker.Name, strconv.Itoa(mine.Queries)}
			g.Rows = append(g.Rows, append(row, figures(ks, mine.Figures)...))
		}
	}
	return g
}

func figureColumns(ks []int) []screen.Column {
	var columns []screen.Column
	for _, what := range []string{"hit", "recall"} {
		for _, k := range ks {
			columns = append(columns, screen.Column{Title: fmt.Sprintf("%s@%d", what, k), Right: true})
		}
	}
	return append(columns, screen.Column{Title: "MRR", Right: true})
}

func figures(ks []int, f *retrieval.Figures) []string {
	var cells []string
	for i := range ks {
		cells = append(cells, share(f.Hit(i)))
	}
	for i := range ks {
		cells = append(cells, share(f.Recall(i)))
	}
	return append(cells, share(f.MRR()))
}

// share is a figure from 0 to 1.
func share(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

// remarksOn says what the columns are, and what the tables do not show.
func remarksOn(all []retrieval.Standing) []string {
	lines := []string{"even@k and odd@k are hit@k of the queries at even and at odd places, from 0."}
	if none := all[0].NoneExpected; none > 0 {
		var given []string
		for _, s := range all {
			given = append(given, fmt.Sprintf("%s %d", s.Ranker.Name, s.NoneGiven))
		}
		lines = append(lines, fmt.Sprintf("Queries for which there is no tool: %d; answered with nothing: %s.", none, strings.Join(given, ", ")))
	}
	for _, s := range all {
		if isDefault(s.Ranker) {
			lines = append(lines, s.Ranker.Name+" is the ranker that ToolSearch uses unless told otherwise.")
		}
	}
	return lines
}

// drawFindings writes what each ranker found, best first.
func drawFindings(w io.Writer, c catalogue, all []finding, o reports.Options) error {
	out := bufio.NewWriter(w)
	for _, f := range all {
		foldLines(out, []string{f.ranker.Name + ": " + f.ranker.About}, o)
		g := screen.Grid{Columns: []screen.Column{{Title: "Tool"}, {Title: "Score", Right: true}, {Title: "Why"}}}
		for _, m := range f.Matches {
			g.Rows = append(g.Rows, []string{screen.Safe(m.Name), score(m.Score), screen.Safe(m.Why)})
		}
		for _, name := range f.Missing {
			foldLines(out, []string{screen.Safe("  no tool is named " + name)}, o)
		}
		switch drawn, err := g.Draw(o.Width, o.ASCII); {
		case err != nil:
			return err
		case len(g.Rows) == 0:
			fmt.Fprintf(out, "  nothing, of %d tools\n\n", c.Tools)
		default:
			fmt.Fprintln(out, drawn)
		}
	}
	return out.Flush()
}

// score is written with as many decimals as tell scores apart.
func score(f float64) string {
	return strconv.FormatFloat(f, 'f', 2, 64)
}

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
