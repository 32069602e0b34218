package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// mcpPrefix begins the names of MCP tools.
const mcpPrefix = "mcp__"

// Index finds tools by words. It does not change once built, so that any number of searches may use it at a time.
// What a ranker needs is made by the first search that scores words: one that selects names does not pay for it.
type Index struct {
	docs    []doc // by name
	names   lines // those of deferred tools in lower case
	tools   []int32
	servers map[string][]int32 // the deferred tools of each, as names spell it

	score func() scorer
	roots func() map[string][]int // of name, hint and description, for Nearest
}

// doc is a tool in the index.
type doc struct {
	*Doc
	deferred bool
}

// NewIndex builds an index over a pool: the tools that are searched, and the loaded ones, which only select: and
// Nearest find. The order of the entries does not matter; of equal names the built-in counts (SPEC D1). The zero
// ranker is [DefaultRanker].
func NewIndex(ranker Ranker, deferred, loaded []Entry) *Index {
	return new(Reader).Index(ranker, newDocs(deferred), newDocs(loaded))
}

func newDocs(entries []Entry) []*Doc {
	docs := make([]*Doc, len(entries))
	for i, e := range entries {
		docs[i] = NewDoc(e)
	}
	return docs
}

// Index is [NewIndex] over tools that may have been in others.
func (r *Reader) Index(ranker Ranker, deferred, loaded []*Doc) *Index {
	if ranker.build == nil {
		ranker = DefaultRanker()
	}
	ix := &Index{docs: collect(deferred, loaded), servers: map[string][]int32{}}
	for i, d := range ix.docs {
		if d.deferred {
			ix.names.add(d.lower)
			ix.tools = append(ix.tools, int32(i))
			ix.servers[d.server] = append(ix.servers[d.server], int32(i))
		}
	}
	ix.score = sync.OnceValue(func() scorer {
		r.mu.Lock()
		defer r.mu.Unlock()
		return ranker.build(ix.docs, r)
	})
	ix.roots = sync.OnceValue(func() map[string][]int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return rooted(ix.docs)
	})
	return ix
}

// collect puts the tools in order and drops repeated names.
func collect(deferred, loaded []*Doc) []doc {
	docs := make([]doc, 0, len(deferred)+len(loaded))
	for _, d := range deferred {
		docs = append(docs, doc{d, true})
	}
	for _, d := range loaded {
		docs = append(docs, doc{d, false})
	}
	slices.SortStableFunc(docs, func(a, b doc) int {
		if byName := strings.Compare(a.Name, b.Name); byName != 0 { // as nearly always
			return byName
		}
		return cmp.Or(
			first(!a.MCP, !b.MCP), first(a.deferred, b.deferred),
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
	// TotalDeferred is how many tools there were to search, for an answer that found none.
	TotalDeferred int
}

// Search finds deferred tools (SPEC E5). A most below 1 means DefaultMax, one above HighestMax means that. A select:
// query answers with all it names, also loaded tools, whatever most is. Any other is first compared with names as
// they stand: an equal one is the answer; `mcp__server` gives the server's tools; else the names that begin with it,
// then those that contain it. Only where no name does are the words scored. Equal ranks go by name.
func (ix *Index) Search(q Query, most int) Result {
	result := Result{TotalDeferred: len(ix.tools)}
	if len(q.Select) > 0 {
		result.Matches, result.Missing = ix.selected(q.Select)
		return result
	}
	scored := ix.score()(q)
	r := ranking{Index: ix, scores: scored.of, most: min(cmp.Or(max(most, 0), DefaultMax), HighestMax)}
	if r.byName(q); len(r.found) == 0 {
		r.byWords(q, scored.found)
	}
	for _, h := range r.found {
		d := &ix.docs[h.tool]
		why := strings.Trim(h.close.why(d)+"; "+scored.why(int(h.tool)), "; ")
		result.Matches = append(result.Matches, Match{Name: d.Name, Score: scored.of[h.tool], Why: why})
	}
	scored.back()
	return result
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
	if i, ok := slices.BinarySearchFunc(ix.docs, name, func(d doc, name string) int { return strings.Compare(d.Name, name) }); ok {
		return i, true
	}
	i := slices.IndexFunc(ix.docs, func(d doc) bool { return strings.EqualFold(d.Name, name) })
	return i, i >= 0
}

// hit is a tool that was found. The closer, the better, before any score.
type hit struct {
	tool  int32
	close closeness
}

// closeness is how like a tool's name is to what was asked.
type closeness int32

const (
	byWord closeness = iota
	contains
	begins
	ofServer
	same
)

// why words a closeness.
func (c closeness) why(d *doc) string {
	switch c {
	case contains:
		return "name contains it"
	case begins:
		return "name begins so"
	case ofServer:
		return "a tool of server " + d.Server
	case same:
		return "the name itself"
	}
	return ""
}

// ranking puts tools in order: as many as are wanted, by the scores there are.
type ranking struct {
	*Index
	scores []float64
	most   int
	found  []hit
}

// byWords ranks the deferred tools that have all required words in their name, and
// without such words those that score on any.
func (r *ranking) byWords(q Query, scored []int32) {
	if len(q.Required) > 0 {
		r.names.with(q.Required[0], func(line int, _ bool) {
			if i := r.tools[line]; r.docs[i].hasAll(q.Required) {
				r.take(hit{i, byWord})
			}
		})
		return
	}
	for _, i := range scored {
		if r.docs[i].deferred {
			r.take(hit{i, byWord})
		}
	}
}

// hasAll reports whether a tool's name contains all words.
func (d *Doc) hasAll(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(d.lower, word) })
}

// byName compares the query as it stands with names: one that is equal, else those of tools of the server that is
// asked for, else those that begin with it or, second best, contain it.
func (r *ranking) byName(q Query) {
	if len(q.Required) > 0 {
		return
	}
	equal := false
	r.names.with(q.Text, func(line int, begin bool) {
		i := r.tools[line]
		switch is := len(r.docs[i].lower) == len(q.Text); {
		case is && !equal:
			r.found, equal = append(r.found[:0], hit{i, same}), true
		case is:
			r.take(hit{i, same})
		case equal:
		case begin:
			r.take(hit{i, begins})
		default:
			r.take(hit{i, contains})
		}
	})
	server, is := serverOf(q.Text)
	if tools := r.servers[server]; is && !equal && len(tools) > 0 {
		r.found = r.found[:0]
		for _, i := range tools {
			r.take(hit{i, ofServer})
		}
	}
}

// take keeps the best hits in order and drops those beyond what is wanted. Keeping only
// so many is quicker than to sort them all.
func (r *ranking) take(h hit) {
	n := len(r.found)
	if n == r.most && r.compare(r.found[n-1], h) < 0 {
		return
	}
	if n < r.most {
		r.found = append(r.found, h)
		n++
	}
	at := n - 1
	for ; at > 0 && r.compare(h, r.found[at-1]) < 0; at-- {
		r.found[at] = r.found[at-1]
	}
	r.found[at] = h
}

// compare puts the better hit first: the closer, the higher in score, the first by name,
// which is the order of the index. No two are equal.
func (r *ranking) compare(a, b hit) int {
	if a.close != b.close {
		return int(b.close - a.close)
	}
	if byScore := cmp.Compare(r.scores[b.tool], r.scores[a.tool]); byScore != 0 {
		return byScore
	}
	return int(a.tool - b.tool)
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

// lines are many texts behind each other, so that a word is looked for in all of them at once.
type lines struct {
	text   strings.Builder
	ends   []int     // of each
	bytes  [256]bool // that occur
	length int       // of the longest
}

func (l *lines) add(text string) {
	l.text.WriteString(text)
	l.ends = append(l.ends, l.text.Len())
	l.length = max(l.length, len(text))
	for i := range len(text) {
		l.bytes[text[i]] = true
	}
}

// with gives each text that has a word, by its place, and whether it begins with it.
func (l *lines) with(word string, each func(line int, begins bool)) {
	if !l.may(word) {
		return
	}
	text := l.text.String()
	from, line := 0, 0
	for line < len(l.ends) {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return
		}
		at += from
		for l.ends[line] <= at && line+1 < len(l.ends) {
			line++
		}
		if at+len(word) > l.ends[line] { // it goes over an end
			from = at + 1
			continue
		}
		each(line, at == beginOf(l.ends, line))
		from = l.ends[line]
		line++
	}
}

// beginOf is where the i-th of several things begins that lie behind each other.
func beginOf[E int | int32](ends []E, i int) E {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// may reports whether any text may have a word: sentences have blanks, which names have not.
func (l *lines) may(word string) bool {
	return len(word) <= l.length && !slices.ContainsFunc([]byte(word), func(b byte) bool { return !l.bytes[b] })
}
