package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolbench/sim/economics"
	"toolbench/toolsys/search"
)

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
	Standings []economics.RankerStanding
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

// show writes a row a ranker, then one a ranker and class, and one a ranker and
// language where there are several.
func (r SearchReport) show(p *page) {
	first := r.Standings[0]
	basis := fmt.Sprintf("queries %d, tools %d, servers %d", first.All.Queries, r.Tools.Tools, r.Tools.Servers)
	if first.Skipped > 0 {
		basis += fmt.Sprintf(", skipped %d (none of their labels is a tool here)", first.Skipped)
	}
	p.lines(basis)
	p.printf("\n")
	p.grid(r.rankers())
	p.printf("\n")
	for _, g := range []Grid{
		r.groups("Class", func(s economics.RankerStanding) []economics.SearchGroup { return s.Classes }),
		r.groups("Language", func(s economics.RankerStanding) []economics.SearchGroup { return s.Langs }),
	} {
		if len(g.Rows) > len(r.Standings) { // there are several
			p.tables(g)
		}
	}
	p.lines(searchNotes(r.Standings)...)
}

// rankers compares the rankers on all queries, then by hit@k of the halves.
func (r SearchReport) rankers() Grid {
	g := Grid{Columns: columns(slices.Concat([]string{"Ranker"}, figureTitles(r.Ks), titlesAt(r.Ks, "even", "odd"))...)}
	for _, s := range r.Standings {
		g.add(slices.Concat([]any{s.Ranker.Name}, figureCells(r.Ks, s.All), cellsAt(r.Ks, s.Half[0].Hit, s.Half[1].Hit))...)
	}
	return g
}

// groups compares the rankers by class or by language.
func (r SearchReport) groups(title string, of func(economics.RankerStanding) []economics.SearchGroup) Grid {
	g := Grid{Columns: columns(append([]string{title, "Ranker", ">Queries"}, figureTitles(r.Ks)...)...)}
	for i, group := range of(r.Standings[0]) {
		for _, s := range r.Standings {
			mine := of(s)[i]
			g.add(append([]any{Safe(group.Name), s.Ranker.Name, mine.Queries}, figureCells(r.Ks, mine.SearchFigures)...)...)
		}
	}
	return g
}

func figureTitles(ks []int) []string { return append(titlesAt(ks, "hit", "recall"), ">MRR") }

func figureCells(ks []int, f *economics.SearchFigures) []any {
	return append(cellsAt(ks, f.Hit, f.Recall), threeDigits(f.MRR()))
}

// titlesAt head the columns of figures at each k.
func titlesAt(ks []int, figures ...string) (titles []string) {
	for _, figure := range figures {
		titles = append(titles, each(ks, func(k int) string { return fmt.Sprintf(">%s@%d", figure, k) })...)
	}
	return titles
}

// cellsAt are figures at each k, by its place.
func cellsAt(ks []int, figures ...func(int) float64) (cells []any) {
	for _, figure := range figures {
		for i := range ks {
			cells = append(cells, threeDigits(figure(i)))
		}
	}
	return cells
}

// threeDigits writes a figure from 0 to 1.
func threeDigits(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

// searchNotes explain the columns, and name what the tables do not show.
func searchNotes(all []economics.RankerStanding) []string {
	lines := []string{"even@k and odd@k are hit@k of the queries at even and at odd places, from 0."}
	if none := all[0].NoneExpected; none > 0 {
		given := each(all, func(s economics.RankerStanding) string { return fmt.Sprintf("%s %d", s.Ranker.Name, s.NoneGiven) })
		lines = append(lines, fmt.Sprintf("Queries for which there is no tool: %d; answered with nothing: %s.", none, strings.Join(given, ", ")))
	}
	for _, s := range all {
		if s.Ranker.IsDefault() {
			lines = append(lines, s.Ranker.Name+" is the ranker that ToolSearch uses by default.")
		}
	}
	return lines
}

// show writes what each ranker found, best first.
func (r FindingsReport) show(p *page) {
	for _, f := range r.Found {
		p.lines(f.Ranker.Name + ": " + f.Ranker.About)
		g := Grid{Columns: columns("Tool", ">Score", "Why")}
		for _, m := range f.Matches {
			g.add(Safe(m.Name), strconv.FormatFloat(m.Score, 'f', 2, 64), Safe(m.Why))
		}
		for _, name := range f.Missing {
			p.lines(Safe("  no tool is named " + name))
		}
		if len(g.Rows) == 0 {
			p.printf("  nothing, of %d tools\n\n", r.Tools.Tools)
		}
		p.tables(g)
	}
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

func (r SearchReport) document() any {
	first := r.Standings[0]
	rankers := each(r.Standings, func(s economics.RankerStanding) standingJSON {
		return standingJSON{
			Name: s.Ranker.Name, About: s.Ranker.About, Default: s.Ranker.IsDefault(),
			All: figuresOf(s.All, r.Ks), Even: figuresOf(s.Half[0], r.Ks), Odd: figuresOf(s.Half[1], r.Ks),
			Classes: groupsOf(s.Classes, r.Ks), Languages: groupsOf(s.Langs, r.Ks), NoneGiven: s.NoneGiven,
		}
	})
	return standingsJSON{SearchVersion, r.Tools, queriesJSON{r.File, first.All.Queries, first.Skipped, first.NoneExpected}, r.Ks, rankers}
}

func figuresOf(f *economics.SearchFigures, ks []int) figuresJSON {
	j := figuresJSON{Queries: f.Queries, Hit: map[string]portion{}, Recall: map[string]portion{}, MRR: portion(rounded(f.MRR(), 1e4))}
	for i, k := range ks {
		j.Hit[strconv.Itoa(k)] = portion(rounded(f.Hit(i), 1e4))
		j.Recall[strconv.Itoa(k)] = portion(rounded(f.Recall(i), 1e4))
	}
	return j
}

func groupsOf(groups []economics.SearchGroup, ks []int) map[string]figuresJSON {
	all := map[string]figuresJSON{}
	for _, g := range groups {
		all[g.Name] = figuresOf(g.SearchFigures, ks)
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

func (r FindingsReport) document() any {
	return findingsJSON{SearchVersion, r.Tools, r.Words, each(r.Found, func(f Finding) toolsFoundJSON {
		matches := each(f.Matches, func(m search.Match) matchJSON { return matchJSON{m.Name, rounded(m.Score, 1e4), m.Why} })
		return toolsFoundJSON{f.Ranker.Name, f.Ranker.About, f.Ranker.IsDefault(), matches, f.Missing}
	})}
}
