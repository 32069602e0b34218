package search

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// reference scores and ranks by the definitions alone: it looks at every tool for every
// term, keeps nothing and sorts everything. What an index finds is the same to the last bit.
type reference struct {
	docs   []doc
	fields [][fieldCount][]string // the terms of each tool's fields
	mean   [fieldCount]float64    // how many a tool has
	words  []string               // of all tools, as they are first met
	have   map[string]int         // how many tools have a term
}

func newReference(docs []doc) *reference {
	r := &reference{docs: docs, have: map[string]int{}}
	seen := map[string]bool{}
	for i := range docs {
		var read [fieldCount][]string
		for f, text := range docs[i].fields() {
			for _, run := range runsOf(text) {
				terms, stop := r.terms(run)
				for _, word := range terms {
					if !seen[word] {
						r.words, seen[word] = append(r.words, word), true
					}
				}
				if !stop || f == fieldName {
					read[f] = append(read[f], terms...)
				}
			}
			r.mean[f] += float64(len(read[f])) / float64(len(docs))
		}
		r.fields = append(r.fields, read)
		var all []string
		for f, words := range read {
			all = append(all, words...)
			if f <= fieldText {
				all = append(all, pairsOf(words)...)
			}
		}
		for _, term := range unique(all) {
			r.have[term]++
		}
	}
	return r
}

func (r *reference) terms(run run) (terms []string, stop bool) {
	if run.Unbroken {
		return gramsOf(run.Text), false
	}
	parts, whole := caseParts(run.Text), fold(run.Text)
	if len(parts) == 1 {
		return []string{rootOf(whole)}, builtInGlossary().stops[english][whole]
	}
	for _, p := range parts {
		terms = append(terms, rootOf(fold(p)))
	}
	return append(terms, rootOf(whole)), false
}

// pairsOf are the neighbours among words; nothing is beside what has no blanks.
func pairsOf(words []string) []string {
	var pairs []string
	for i := 1; i < len(words); i++ {
		if words[i-1][0] < 0x80 && words[i][0] < 0x80 {
			pairs = append(pairs, words[i-1]+" "+words[i])
		}
	}
	return pairs
}

// in are the terms of a field that are like this one: words, or neighbours.
func (r *reference) in(tool, f int, term string) []string {
	words := r.fields[tool][f]
	switch {
	case !strings.Contains(term, " "):
		return words
	case f <= fieldText:
		return pairsOf(words)
	}
	return nil
}

// worth is what a term counts in a tool, and whether it is in its name.
func (r *reference) worth(tool int, term string) (worth float64, named bool) {
	freq := 0.0
	for f := range fieldCount {
		norm := fieldNorms[f]
		one := fieldWeights[f] / (1 - norm + norm*float64(len(r.fields[tool][f]))/max(r.mean[f], 1e-9))
		for _, other := range r.in(tool, f, term) {
			if other == term {
				freq += one
				named = named || f == fieldName
			}
		}
	}
	if freq == 0 {
		return 0, false
	}
	return float64(float32(freq)) * (bend + 1) / (float64(float32(freq)) + bend), named
}

func (r *reference) idf(term string) float64 { return rarity(r.have[term], len(r.docs)) }

// nameWeight is what the words of a tool's name weigh together.
func (r *reference) nameWeight(tool int) float64 {
	sum := 0.0
	for _, word := range r.words {
		if slices.Contains(r.fields[tool][fieldName], word) {
			sum += r.idf(word)
		}
	}
	return sum
}

// score is what a tool scores on the groups of a query. Which these are depends on what
// the index has of words, near and begun.
func (r *reference) score(tool int, groups []group, want intent, text func(int32) string) float64 {
	sum, named := 0.0, 0.0
	for _, g := range groups {
		best, inName := 0.0, 0.0
		for _, m := range g.members {
			worth, isNamed := r.worth(tool, text(m.term))
			best = max(best, m.weight*min(r.idf(text(m.term)), g.most)*worth)
			if isNamed && m.term >= 0 {
				inName = max(inName, m.weight*r.idf(text(m.term)))
			}
		}
		sum += g.weight * best
		named += g.weight * inName
	}
	if sum == 0 {
		return 0
	}
	full := min(1, named/max(r.nameWeight(tool), 1e-9))
	return sum * ((1 + fullName*full) * (1 + fitting*want.fit(intentOfName(r.docs[tool].ownName()))))
}

// near are the words nearest in spelling to another, if they are near enough.
func (r *reference) near(word string) []string {
	asked, bound := []rune(word), 0
	if len(asked) >= oneTypo {
		bound = 1
	}
	if len(asked) >= twoTypos {
		bound = 2
	}
	var found []string
	for away := 0; away <= bound && found == nil; away++ {
		for _, other := range r.words {
			if len([]rune(other)) >= oneTypo-1 && fullDistance(asked, []rune(other)) == away {
				found = append(found, other)
			}
		}
	}
	return found[:min(len(found), maxSimilar)]
}

func (r *reference) begun(word string) []string {
	var found []string
	for _, other := range r.words {
		if len([]rune(word)) >= oneTypo-1 && strings.HasPrefix(other, word) && len(found) < maxSimilar {
			found = append(found, other)
		}
	}
	return found
}

// fullDistance is Damerau and Levenshtein's, the whole table of it.
func fullDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			default:
				d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost(a[i-1], b[j-1]))
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
	}
	return d[len(a)][len(b)]
}

// ranked is what a query finds by scores that are known.
func ranked(docs []doc, q Query, scores []float64, why func(int) string, most int) []Match {
	server, isServer := serverOf(q.Text)
	levels := []func(d doc) closeness{
		func(d doc) closeness { return map[bool]closeness{true: same}[d.lower == q.Text] },
		func(d doc) closeness { return map[bool]closeness{true: ofServer}[isServer && d.server == server] },
		func(d doc) closeness {
			switch {
			case strings.HasPrefix(d.lower, q.Text):
				return begins
			case strings.Contains(d.lower, q.Text):
				return contains
			}
			return 0
		},
	}
	type ranked struct {
		tool  int
		close closeness
	}
	var found []ranked
	for _, level := range levels {
		for i, d := range docs {
			if c := level(d); len(q.Required) == 0 && d.deferred && c > 0 {
				found = append(found, ranked{i, c})
			}
		}
		if found != nil {
			break
		}
	}
	if found == nil {
		for i, d := range docs {
			if d.deferred && d.hasAll(q.Required) && (len(q.Required) > 0 || scores[i] > 0) {
				found = append(found, ranked{i, byWord})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.close, a.close), cmp.Compare(scores[b.tool], scores[a.tool]))
	})
	var all []Match
	for _, f := range found[:min(len(found), most)] {
		reasons := strings.Trim(f.close.why(&docs[f.tool])+"; "+why(f.tool), "; ")
		all = append(all, Match{docs[f.tool].Name, scores[f.tool], reasons})
	}
	return all
}

// compared is an index of a reader beside the reference.
type compared struct {
	*lexicon
	ix  *Index
	ref *reference
}

func compare(r *Reader, deferred, loaded []*Doc) compared {
	ix := r.Index(Lexicon(), deferred, loaded)
	return compared{newLexicon(ix.docs, r), ix, newReference(ix.docs)}
}

// query compares what a query finds.
func (c compared) query(t require.TestingT, text string, most int) {
	q, err := ParseQuery(text)
	if err != nil || len(q.Select) > 0 {
		return
	}
	groups, want := c.expand(q)
	scores := make([]float64, len(c.ix.docs))
	for i := range scores {
		scores[i] = c.ref.score(i, groups, want, c.text)
	}
	why := func(tool int) string { return c.why(tool, groups) }
	require.Equal(t, ranked(c.ix.docs, q, scores, why, most), c.ix.Search(q, most).Matches, text)
}

// word compares what the index has of a word, near it and begun by it.
func (c compared) word(t require.TestingT, word string) {
	texts := func(terms []int32) (all []string) {
		for _, id := range terms {
			all = append(all, c.text(id))
		}
		return all
	}
	_, known := c.lexicon.word(word)
	require.Equal(t, slices.Contains(c.ref.words, word), known, word)
	if !known {
		require.Equal(t, c.ref.near(word), texts(c.spelling().near(word)), word)
		require.Equal(t, c.ref.begun(word), texts(c.spelling().begun(word)), word)
	}
}

// slip draws a word as it is or with up to three typos.
func slip(t *rapid.T, word string) string {
	runes := []rune(word)
	for range rapid.IntRange(0, 3).Draw(t, "slips") {
		i := rapid.IntRange(0, max(0, len(runes)-2)).Draw(t, "at")
		switch kind := rapid.IntRange(0, 3).Draw(t, "slip"); {
		case len(runes) < 4:
		case kind == 0:
			runes[i], runes[i+1] = runes[i+1], runes[i]
		case kind == 1:
			runes = slices.Delete(runes, i, i+1)
		case kind == 2:
			runes[i] = 'e'
		default:
			runes = slices.Insert(runes, i, 'é')
		}
	}
	return string(runes)
}

// vocabulary has words of which some are forms of others, some begin others and some are
// near others, stop words, and words of other scripts.
var vocabulary = strings.Fields(`send sends message messages messaging list lists listing stargazer starred issue issues the with please this
	create creates createPullRequest calendar calendars environment environments file files café weather forecast 天气 预报 날씨 буква a x2`)

func phrase(t *rapid.T, least, most int, what string) string {
	words := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return slip(t, rapid.SampledFrom(vocabulary).Draw(t, "word"))
	}), least, most).Draw(t, what)
	return strings.Join(words, rapid.SampledFrom([]string{" ", "_", "-"}).Draw(t, "joint"))
}

// tools draws tools of which some have the same name.
func tools(t *rapid.T) []*Doc {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *Doc {
		e := Entry{Name: phrase(t, 1, 3, "name"), Hint: phrase(t, 0, 3, "hint"), Description: phrase(t, 0, 12, "text")}
		for range rapid.IntRange(0, 2).Draw(t, "parameters") {
			e.Params = append(e.Params, phrase(t, 1, 2, "parameter")+": "+phrase(t, 0, 4, "its text"))
		}
		if e.Server = rapid.SampledFrom([]string{"", "slack", "git hub"}).Draw(t, "server"); e.Server != "" {
			e.MCP, e.Name = true, "mcp__"+normal(e.Server)+"__"+e.Name
		}
		return NewDoc(e)
	}), 0, 6).Draw(t, "tools")
}

// However often tools come and go, a reader's index finds what one made anew by the
// definitions does, in the same order and with the same scores.
func TestPropertyAnIndexFindsWhatTheReferenceDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Reader
		deferred, loaded := tools(t), tools(t)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			c := compare(&r, deferred, loaded)
			for range 3 {
				c.query(t, phrase(t, 1, 6, "query"), rapid.SampledFrom([]int{1, 3, 100}).Draw(t, "max"))
				c.word(t, rootOf(fold(slip(t, rapid.SampledFrom(vocabulary).Draw(t, "word")))))
			}
			if len(deferred) > 0 {
				d := rapid.SampledFrom(deferred).Draw(t, "tool")
				name := d.lower[:rapid.IntRange(1, len(d.lower)).Draw(t, "bytes")]
				c.query(t, strings.ToValidUTF8(name, ""), 3)
				c.query(t, "+"+strings.ToValidUTF8(name, "")+" send", 3)
				c.query(t, "mcp__"+d.server, 3)
				deferred = slices.Delete(slices.Clone(deferred), 0, 1)
			}
			for i := 1; i < len(c.ix.docs); i++ { // what goes from one name into the next is in none
				a, b := c.ix.docs[i-1].lower, c.ix.docs[i].lower
				c.query(t, strings.ToValidUTF8(a[len(a)/2:]+b[:len(b)/2], ""), 3)
			}
			deferred = append(deferred, tools(t)...)
		}
	})
}

// Words of tools that are gone do not fill the memory, and what took their place is found.
func TestAReaderForgetsWhatIsGone(t *testing.T) {
	var r Reader
	var most int
	stays := NewDoc(Entry{Name: "stays", Description: "from the first to the last"})
	for round := range 30 {
		var text strings.Builder
		for i := range 4000 {
			fmt.Fprintf(&text, "w%dx%d ", round, i)
		}
		c := compare(&r, append(newDocs([]Entry{{Name: "many", Description: text.String()}, {Name: "other", Description: "else"}}), stays), nil)
		c.query(t, "first other", 5)
		c.query(t, fmt.Sprintf("w%dx77", round), 5)
		most = max(most, len(c.texts))
	}
	require.Less(t, most, 90_000, "of 120,000 words")
}

// Searches go on while another index of the same reader is built.
func TestSearchesOfOneReaderDoNotDisturbEachOther(t *testing.T) {
	var r Reader
	all := newDocs(thousand())
	before := r.Index(Lexicon(), all[:500], nil)
	q, err := ParseQuery("alpha12 beta bata13")
	require.NoError(t, err)
	want := before.Search(q, 5)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			after := r.Index(Lexicon(), all[100*i:], nil)
			for range 20 {
				require.Equal(t, want, before.Search(q, 5))
				after.Search(q, 5)
			}
		})
	}
	wg.Wait()
}

// thousand are tools with words of which some are near others.
func thousand() []Entry {
	var all []Entry
	for i := range 1000 {
		all = append(all, Entry{Name: fmt.Sprintf("alpha%d", i), Description: fmt.Sprintf("beta beta%d and gamma%d of alpha%d", i, i/2, i/3)})
	}
	return all
}

// The same holds for the catalogues that may lie beside the repository.
func TestRealCataloguesAreSearchedAsByTheReference(t *testing.T) {
	files, err := filepath.Glob("../../../shared/catalogues/*.queries.jsonl")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no catalogues here")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".queries.jsonl"), func(t *testing.T) {
			var r Reader
			docs := newDocs(listed(t, strings.Replace(file, ".queries", "", 1)))
			r.Index(Lexicon(), docs[len(docs)/3:], nil).score() // and the rest is read later
			c := compare(&r, docs, nil)
			for i, text := range asked(t, file) {
				if i%(1+len(docs)/10) == 0 { // the reference takes its time over many tools
					c.query(t, text, 5)
				}
			}
		})
	}
}

// listed are the tools of a catalogue, asked its queries.
func listed(t *testing.T, file string) []Entry {
	var all []Entry
	eachRow(t, file, func(row map[string]json.RawMessage) {
		server, name := memberOf(row, "server"), memberOf(row, "name")
		all = append(all, Entry{
			Name: "mcp__" + normal(server) + "__" + name, MCP: true, Server: server, Description: memberOf(row, "description"),
			Params: Parameters(row["inputSchema"]),
		})
	})
	return all
}

func asked(t *testing.T, file string) []string {
	var all []string
	eachRow(t, file, func(row map[string]json.RawMessage) { all = append(all, memberOf(row, "query")) })
	require.NotEmpty(t, strings.Join(all, ""))
	return all
}

func eachRow(t *testing.T, file string, do func(map[string]json.RawMessage)) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var row map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		do(row)
	}
}

func memberOf(row map[string]json.RawMessage, key string) string {
	var text string
	_ = json.Unmarshal(row[key], &text)
	return text
}

// cost is that of putting one letter for another.
func cost(x, y rune) int {
	if x == y {
		return 0
	}
	return 1
}
