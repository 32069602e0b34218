package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// mcpPrefix begins the names of MCP tools.
const mcpPrefix = "mcp__"

// Index finds tools by words. It does not change once built, so that any number
// of searches may use it at a time. What a ranker needs is made by the first
// search that scores words: one that selects names does not pay for it.
type Index struct {
	docs   []doc // by name
	byName map[string]int
	total  int    // of deferred tools
	names  string // those of deferred tools in lower case, a line each

	score func() scorer
	roots func() map[string][]int // of name, hint and description, for Nearest
}

// doc is a tool in the index.
type doc struct {
	Entry
	lower    string // the name
	server   string // as names spell it
	deferred bool
}

// NewIndex builds an index over a pool: the tools that are searched, and the
// loaded ones, which only select: and Nearest find. The order of the entries
// does not matter; of equal names the built-in counts (SPEC D1). The zero ranker is
// [DefaultRanker].
func NewIndex(ranker Ranker, deferred, loaded []Entry) *Index {
	if ranker.build == nil {
		ranker = DefaultRanker()
	}
	ix := &Index{docs: collect(deferred, loaded), byName: map[string]int{}}
	var names strings.Builder
	for i, d := range ix.docs {
		ix.byName[d.Name] = i
		if d.deferred {
			ix.total++
			names.WriteString(d.lower)
			names.WriteByte('\n')
		}
	}
	ix.names = names.String()
	ix.score = sync.OnceValue(func() scorer { return ranker.build(ix.docs) })
	ix.roots = sync.OnceValue(func() map[string][]int { return rooted(ix.docs) })
	return ix
}

// collect puts the entries in order and drops repeated names.
func collect(deferred, loaded []Entry) []doc {
	docs := make([]doc, 0, len(deferred)+len(loaded))
	for _, e := range deferred {
		docs = append(docs, doc{e, strings.ToLower(e.Name), normal(e.Server), true})
	}
	for _, e := range loaded {
		docs = append(docs, doc{e, strings.ToLower(e.Name), normal(e.Server), false})
	}
	slices.SortStableFunc(docs, func(a, b doc) int {
		return cmp.Or(
			cmp.Compare(a.Name, b.Name), first(!a.MCP, !b.MCP), first(a.deferred, b.deferred),
			cmp.Compare(a.Server, b.Server), cmp.Compare(a.Description, b.Description), cmp.Compare(a.Hint, b.Hint),
			slices.Compare(a.Params, b.Params),
		)
	})
	return slices.CompactFunc(docs, func(a, b doc) bool { return a.Name == b.Name })
}

// first sorts what holds before what does not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// enter notes a tool under each word.
func enter(postings map[string][]int, words []string, i int) {
	for _, w := range words {
		postings[w] = append(postings[w], i)
	}
}

// How many tools a search answers with.
const (
	DefaultMax = 5
	HighestMax = 100
)

// Match is a tool that was found.
type Match struct {
	Name string
	// Score is what its words add up to; 0 for a tool found by its name alone.
	// Scores of different rankers cannot be compared.
	Score float64
	// Why is what it was found by, as a phrase.
	Why string
}

// Result is a search's answer (SPEC E5).
type Result struct {
	// Matches are the tools, best first; for a select: query in the order asked.
	Matches []Match
	// Missing are the names of a select: query that no tool has.
	Missing []string
	// TotalDeferred is how many tools there were to search, for an answer that
	// found none.
	TotalDeferred int
}

// Search finds deferred tools (SPEC E5). A max below 1 means DefaultMax, one
// above HighestMax means that. A select: query answers with all it names, also
// loaded tools, whatever max is. Any other is first compared with names as they stand:
// an equal one is the answer; `mcp__server` gives the server's tools; else the
// names that begin with it, then those that contain it. Only where no name
// does are the words scored. Equal ranks go by name.
func (ix *Index) Search(q Query, max int) Result {
	result := Result{TotalDeferred: ix.total}
	if len(q.Select) > 0 {
		result.Matches, result.Missing = ix.selected(q.Select)
		return result
	}
	scores, why := ix.score()(q)
	r := ranking{ix.docs, ix.names, scores, bounded(max)}
	found := r.byName(q)
	if found == nil {
		found = r.byWords(q)
	}
	for _, h := range found {
		result.Matches = append(result.Matches, ix.match(h, scores[h.tool], why))
	}
	return result
}

// bounded is the number of results to give for the number asked.
func bounded(max int) int {
	if max < 1 {
		return DefaultMax
	}
	return min(max, HighestMax)
}

// selected finds tools by exact name, or by one that differs in case only.
func (ix *Index) selected(names []string) (matches []Match, missing []string) {
	taken := map[int]bool{}
	for _, name := range names {
		i, ok := ix.find(name)
		switch {
		case !ok:
			missing = append(missing, name)
		case !taken[i]:
			taken[i] = true
			matches = append(matches, Match{Name: ix.docs[i].Name, Why: "selected"})
		}
	}
	return matches, missing
}

// find looks a name up, exactly if possible.
func (ix *Index) find(name string) (int, bool) {
	if i, ok := ix.byName[name]; ok {
		return i, true
	}
	i := slices.IndexFunc(ix.docs, func(d doc) bool { return strings.EqualFold(d.Name, name) })
	return i, i >= 0
}

// hit is a tool that was found. The larger its rank the better, before any score.
type hit struct {
	tool, rank int
	why        string
}

// match is what a caller gets of a hit.
func (ix *Index) match(h hit, score float64, why func(int) string) Match {
	return Match{Name: ix.docs[h.tool].Name, Score: score, Why: strings.Trim(h.why+"; "+why(h.tool), "; ")}
}

// ranking puts tools in order: as many as are wanted, by the scores there are.
type ranking struct {
	docs   []doc
	names  string
	scores []float64
	most   int
}

// byWords ranks the deferred tools that have all required words in their name
// and score on any word.
func (r ranking) byWords(q Query) []hit {
	return r.ranked(len(q.Required) == 0, func(d *doc) (string, int) {
		for _, word := range q.Required {
			if !strings.Contains(d.lower, word) {
				return "", 0
			}
		}
		return "", 1
	})
}

// byName compares the query as it stands with names; nil where none is like it.
func (r ranking) byName(q Query) []hit {
	if len(q.Required) > 0 {
		return nil
	}
	for _, level := range r.levels(q.Text) {
		if found := r.ranked(false, func(d *doc) (string, int) { return level(d, q.Text) }); found != nil {
			return found
		}
	}
	return nil
}

// levels are the ways in which some name may be like a text, the closest first: a text that
// no name contains is not held against each.
func (r ranking) levels(text string) []func(*doc, string) (string, int) {
	var all []func(*doc, string) (string, int)
	contained := strings.Contains(r.names, text)
	if contained {
		all = append(all, equal)
	}
	if server, is := serverOf(text); is {
		all = append(all, func(d *doc, _ string) (string, int) { return ofServer(d, server) })
	}
	if contained {
		all = append(all, partial)
	}
	return all
}

// ranked gives the first of the deferred tools that have a rank above 0: by rank,
// score and name, which is the order of the index. Keeping only as many as are
// wanted is quicker than to sort them all. Scored leaves out those without a score.
func (r ranking) ranked(scored bool, rank func(d *doc) (why string, rank int)) []hit {
	var found []hit
	for i := range r.docs {
		if scored && r.scores[i] == 0 {
			continue
		}
		d := &r.docs[i]
		if !d.deferred {
			continue
		}
		if why, level := rank(d); level > 0 {
			found = r.insert(found, hit{i, level, why})
		}
	}
	return found
}

// insert keeps hits in order and drops those beyond what is wanted.
func (r ranking) insert(found []hit, h hit) []hit {
	full := len(found) == r.most
	if full && r.compare(found[len(found)-1], h) < 0 {
		return found
	}
	at, _ := slices.BinarySearchFunc(found, h, r.compare)
	if full {
		found = found[:len(found)-1]
	}
	return slices.Insert(found, at, h)
}

// compare puts the better hit first. No two are equal.
func (r ranking) compare(a, b hit) int {
	return cmp.Or(b.rank-a.rank, cmp.Compare(r.scores[b.tool], r.scores[a.tool]), a.tool-b.tool)
}

// equal is the name itself, in any case.
func equal(d *doc, text string) (string, int) {
	if d.lower == text {
		return "the name itself", 1
	}
	return "", 0
}

// ofServer is mcp__server for a tool of that server and no other whose name
// merely begins alike.
func ofServer(d *doc, server string) (string, int) {
	if server == d.server {
		return "a tool of server " + d.Server, 1
	}
	return "", 0
}

// serverOf is the server that a text is the beginning of names of, as names spell it.
func serverOf(text string) (string, bool) {
	server, is := strings.CutPrefix(strings.TrimRight(text, "*_"), mcpPrefix)
	return normal(server), is && server != ""
}

// normal writes a server's name as tool names do (SPEC N1), in lower case.
func normal(server string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (isWord(r) || r == '-') {
			return r
		}
		return '_'
	}, strings.ToLower(server))
}

// partial is a name that begins with the text or, second best, contains it.
func partial(d *doc, text string) (string, int) {
	switch {
	case strings.HasPrefix(d.lower, text):
		return "name begins so", 2
	case strings.Contains(d.lower, text):
		return "name contains it", 1
	}
	return "", 0
}
