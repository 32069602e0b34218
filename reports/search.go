package reports

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"toolbench/reports/screen"
	"toolbench/sim/economics/retrieval"
	"toolbench/toolsys/search"
)

// SearchVersion is the version of the JSON that search writes. It changes when a field
// goes or changes its meaning; fields may be added within a version.
const SearchVersion = 1

// SearchedTools are the tools that were searched, and where they come from.
type SearchedTools struct {
	Files   []string `json:"files"`
	Servers int      `json:"servers"`
	Tools   int      `json:"tools"`
}

// SearchReport is how rankers did on labelled queries, one standing a ranker.
type SearchReport struct {
	Tools     SearchedTools
	File      string // of the queries
	Ks        []int
	Standings []retrieval.Standing
}

// FindingsReport is what rankers found for words.
type FindingsReport struct {
	Tools SearchedTools
	Words string
	Found []Finding
}

// Finding is what one ranker found.
type Finding struct {
	Ranker search.Ranker
	search.Result
}

// SearchTable writes a row a ranker, then one a ranker and class, and one a ranker
// and language where there are several.
func SearchTable(w io.Writer, r SearchReport, o Options) error {
	out := bufio.NewWriter(w)
	foldLines(out, []string{searchBasis(r.Tools, r.Standings[0])}, o)
	fmt.Fprintln(out)
	grids := []screen.Grid{
		rankerGrid(r),
		groupGrid("Class", r, func(s retrieval.Standing) []retrieval.Group { return s.Classes }),
		groupGrid("Language", r, func(s retrieval.Standing) []retrieval.Group { return s.Langs }),
	}
	for i, g := range grids {
		if i > 0 && len(g.Rows) <= len(r.Standings) {
			continue // there is one class only
		}
		drawn, err := g.Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	foldLines(out, searchNotes(r.Standings), o)
	return out.Flush()
}

// searchBasis names what the figures rest on.
func searchBasis(tools SearchedTools, s retrieval.Standing) string {
	text := fmt.Sprintf("queries %d, tools %d, servers %d", s.All.Queries, tools.Tools, tools.Servers)
	if s.Skipped > 0 {
		text += fmt.Sprintf(", skipped %d (none of their labels is a tool here)", s.Skipped)
	}
	return text
}

// rankerGrid compares the rankers on all queries, then by hit@k of the halves.
func rankerGrid(r SearchReport) screen.Grid {
	g := screen.Grid{Columns: append([]screen.Column{{Title: "Ranker"}}, figureColumns(r.Ks)...)}
	for _, half := range []string{"even", "odd"} {
		for _, k := range r.Ks {
			g.Columns = append(g.Columns, screen.Column{Title: fmt.Sprintf("%s@%d", half, k), Right: true})
		}
	}
	for _, s := range r.Standings {
		row := append([]string{s.Ranker.Name}, figureCells(r.Ks, s.All)...)
		for _, half := range s.Half {
			for i := range r.Ks {
				row = append(row, threeDigits(half.Hit(i)))
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// groupGrid compares the rankers by class or by language.
func groupGrid(title string, r SearchReport, of func(retrieval.Standing) []retrieval.Group) screen.Grid {
	columns := []screen.Column{{Title: title}, {Title: "Ranker"}, {Title: "Queries", Right: true}}
	g := screen.Grid{Columns: append(columns, figureColumns(r.Ks)...)}
	for i, group := range of(r.Standings[0]) {
		for _, s := range r.Standings {
			mine := of(s)[i]
			row := []string{screen.Safe(group.Name), s.Ranker.Name, strconv.Itoa(mine.Queries)}
			g.Rows = append(g.Rows, append(row, figureCells(r.Ks, mine.Figures)...))
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

func figureCells(ks []int, f *retrieval.Figures) []string {
	var cells []string
	for i := range ks {
		cells = append(cells, threeDigits(f.Hit(i)))
	}
	for i := range ks {
		cells = append(cells, threeDigits(f.Recall(i)))
	}
	return append(cells, threeDigits(f.MRR()))
}

// threeDigits writes a figure from 0 to 1.
func threeDigits(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

// searchNotes explain the columns, and name what the tables do not show.
func searchNotes(all []retrieval.Standing) []string {
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
			lines = append(lines, s.Ranker.Name+" is the ranker that ToolSearch uses by default.")
		}
	}
	return lines
}

// FindingsTable writes what each ranker found, best first.
func FindingsTable(w io.Writer, r FindingsReport, o Options) error {
	out := bufio.NewWriter(w)
	for _, f := range r.Found {
		foldLines(out, []string{f.Ranker.Name + ": " + f.Ranker.About}, o)
		g := screen.Grid{Columns: []screen.Column{{Title: "Tool"}, {Title: "Score", Right: true}, {Title: "Why"}}}
		for _, m := range f.Matches {
			g.Rows = append(g.Rows, []string{screen.Safe(m.Name), strconv.FormatFloat(m.Score, 'f', 2, 64), screen.Safe(m.Why)})
		}
		for _, name := range f.Missing {
			foldLines(out, []string{screen.Safe("  no tool is named " + name)}, o)
		}
		switch drawn, err := g.Draw(o.Width, o.ASCII); {
		case err != nil:
			return err
		case len(g.Rows) == 0:
			fmt.Fprintf(out, "  nothing, of %d tools\n\n", r.Tools.Tools)
		default:
			fmt.Fprintln(out, drawn)
		}
	}
	return out.Flush()
}

type standingsJSON struct {
	Version   int            `json:"version"`
	Catalogue SearchedTools  `json:"catalog"`
	Queries   queriesJSON    `json:"queries"`
	Ks        []int          `json:"ks" minimum:"1"`
	Rankers   []standingJSON `json:"rankers"`
}

type queriesJSON struct {
	File         string `json:"file"`
	Counted      int    `json:"counted" jsonschema:"Queries that the figures rest on."`
	Skipped      int    `json:"skipped" jsonschema:"Queries whose labels are no tools of the catalogue."`
	NoneExpected int    `json:"none_expected" jsonschema:"Queries for which the catalogue has nothing."`
}

type standingJSON struct {
	Name      string                 `json:"name"`
	About     string                 `json:"about"`
	Default   bool                   `json:"default" jsonschema:"Whether ToolSearch uses it by default."`
	All       figuresJSON            `json:"all"`
	Even      figuresJSON            `json:"even" jsonschema:"Of the queries at even places of the file, from 0."`
	Odd       figuresJSON            `json:"odd" jsonschema:"Of the queries at odd places."`
	Classes   map[string]figuresJSON `json:"classes"`
	Languages map[string]figuresJSON `json:"languages"`
	NoneGiven int                    `json:"none_given" jsonschema:"Queries for which the catalogue has nothing, and which were answered with nothing."`
}

type figuresJSON struct {
	Queries int                `json:"queries" jsonschema:"Queries with a relevant tool to find."`
	Hit     map[string]portion `json:"hit" jsonschema:"Share of queries with a relevant tool among the first k."`
	Recall  map[string]portion `json:"recall" jsonschema:"Mean share of a query's relevant tools among the first k."`
	MRR     portion            `json:"mrr" jsonschema:"Mean of 1/rank of the first relevant tool, 0 below rank 100." maximum:"1"`
}

// portion is a share or a mean from 0 to 1, rounded to four decimals: more would be noise.
type portion float64

func fourDigits(f float64) float64 { return math.Round(f*1e4) / 1e4 }

// SearchJSON writes one object as search.schema.json describes it.
func SearchJSON(w io.Writer, r SearchReport) error {
	first := r.Standings[0]
	report := standingsJSON{
		Version: SearchVersion, Catalogue: r.Tools, Ks: r.Ks,
		Queries: queriesJSON{r.File, first.All.Queries, first.Skipped, first.NoneExpected},
	}
	for _, s := range r.Standings {
		report.Rankers = append(report.Rankers, standingJSON{
			Name: s.Ranker.Name, About: s.Ranker.About, Default: isDefault(s.Ranker),
			All: figuresOf(s.All, r.Ks), Even: figuresOf(s.Half[0], r.Ks), Odd: figuresOf(s.Half[1], r.Ks),
			Classes: groupsOf(s.Classes, r.Ks), Languages: groupsOf(s.Langs, r.Ks), NoneGiven: s.NoneGiven,
		})
	}
	return PrintJSON(w, report)
}

func isDefault(r search.Ranker) bool { return r.Name == search.DefaultRanker().Name }

func figuresOf(f *retrieval.Figures, ks []int) figuresJSON {
	j := figuresJSON{Queries: f.Queries, Hit: map[string]portion{}, Recall: map[string]portion{}, MRR: portion(fourDigits(f.MRR()))}
	for i, k := range ks {
		j.Hit[strconv.Itoa(k)] = portion(fourDigits(f.Hit(i)))
		j.Recall[strconv.Itoa(k)] = portion(fourDigits(f.Recall(i)))
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

type findingsJSON struct {
	Version   int              `json:"version"`
	Catalogue SearchedTools    `json:"catalog"`
	Query     string           `json:"query"`
	Rankers   []toolsFoundJSON `json:"rankers"`
}

type toolsFoundJSON struct {
	Name    string      `json:"name"`
	About   string      `json:"about"`
	Default bool        `json:"default"`
	Matches []matchJSON `json:"matches" jsonschema:"Best first."`
	Missing []string    `json:"missing" jsonschema:"Names after select: that no tool has."`
}

type matchJSON struct {
	Name  string  `json:"name"`
	Score float64 `json:"score" jsonschema:"Comparable within one ranker only; 0 for a tool found by its name alone."`
	Why   string  `json:"why"`
}

// FindingsJSON writes one object as search.schema.json describes it.
func FindingsJSON(w io.Writer, r FindingsReport) error {
	report := findingsJSON{Version: SearchVersion, Catalogue: r.Tools, Query: r.Words}
	for _, f := range r.Found {
		j := toolsFoundJSON{
			Name: f.Ranker.Name, About: f.Ranker.About, Default: isDefault(f.Ranker),
			Matches: []matchJSON{}, Missing: present(f.Missing),
		}
		for _, m := range f.Matches {
			j.Matches = append(j.Matches, matchJSON{m.Name, fourDigits(m.Score), m.Why})
		}
		report.Rankers = append(report.Rankers, j)
	}
	return PrintJSON(w, report)
}
