package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/search"
)

// pool is a small one: built-ins with hints, three servers, two of them with
// names that begin alike.
func pool() []search.Entry {
	mcp := func(server, tool, description string) search.Entry {
		return search.Entry{Name: "mcp__" + server + "__" + tool, MCP: true, Server: server, Description: description}
	}
	return []search.Entry{
		{Name: "NotebookEdit", Hint: "edit jupyter notebook cells", Description: "Replaces the source of one cell."},
		{Name: "WebFetch", Hint: "fetch content from URL", Description: "Gets a page."},
		{Name: "TaskCreate", Hint: "create new subtask", Description: "Adds a task to the list."},
		{Name: "TaskGet", Hint: "get subtask details", Description: "Reads one task."},
		{Name: "SendMessage", Hint: "send message to team member", Description: "Talks to another agent."},
		mcp("slack", "send_message", "Send a message to a channel."),
		mcp("slack", "list_channels", "List the channels."),
		mcp("git", "log", "Show commits."),
		mcp("github", "create_pull_request", "Open a pull request from a branch."),
		mcp("github", "getIssueComments", "Comments of an issue."),
		mcp("gitlab", "createMRNote", "Says something."),
		mcp("git__hub", "x", "A server with the separator in its name."),
	}
}

// loaded are the tools that are not searched.
func loaded() []search.Entry {
	return []search.Entry{{Name: "Read", Description: "Reads a file."}, {Name: "Bash", Description: "Sends a message to the shell."}}
}

// find searches the small pool.
func find(t require.TestingT, text string, max int) search.Result {
	return findBy(t, search.DefaultRanker(), text, max)
}

// findBy searches the small pool under one ranker.
func findBy(t require.TestingT, ranker search.Ranker, text string, max int) search.Result {
	q, err := search.ParseQuery(text)
	require.NoError(t, err)
	return search.NewIndex(ranker, pool(), loaded()).Search(q, max)
}

// underEach proves an invariant under every ranker.
func underEach(t *testing.T, holds func(t *testing.T, ranker search.Ranker)) {
	for _, ranker := range search.Rankers() {
		t.Run(ranker.Name, func(t *testing.T) { holds(t, ranker) })
	}
}

// names are those found, in order.
func names(r search.Result) []string {
	found := []string{}
	for _, m := range r.Matches {
		found = append(found, m.Name)
	}
	return found
}

func TestSelectFindsExactlyWhatWasAsked(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		r := findBy(t, ranker, "select: TaskGet,Read , NoSuch,taskget,,mcp__git__log", 1)
		assert.Equal(t, []string{"TaskGet", "Read", "mcp__git__log"}, names(r), "in order, each once, loaded ones too")
		assert.Equal(t, []string{"NoSuch"}, r.Missing)
		assert.Equal(t, []string{"WebFetch"}, names(findBy(t, ranker, "SELECT:webfetch", 5)), "case is forgiven where only case differs")
		assert.Empty(t, findBy(t, ranker, "select:mcp__git", 5).Matches, "a server is no name")
	})
}

func TestAFullNameBeatsWords(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		assert.Equal(t, []string{"mcp__slack__send_message"}, names(findBy(t, ranker, "mcp__slack__send_message", 5)))
		assert.Equal(t, []string{"TaskGet"}, names(findBy(t, ranker, " taskget ", 5)))
		assert.ElementsMatch(t, []string{"TaskCreate", "TaskGet"}, names(findBy(t, ranker, "task", 5)), "names that begin so, by score and name")
		assert.Equal(t, []string{"mcp__slack__send_message"}, names(findBy(t, ranker, "send_mess", 5)), "names that contain it")
		assert.Equal(t, []string{"SendMessage", "mcp__slack__send_message"}, names(findBy(t, ranker, "send", 5)), "beginning before containing")
	})
}

func TestAServersNameGivesThatServersTools(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		slack := []string{"mcp__slack__list_channels", "mcp__slack__send_message"}
		for _, text := range []string{"mcp__slack", "mcp__slack__", "mcp__slack__*", "MCP__Slack"} {
			assert.ElementsMatch(t, slack, names(findBy(t, ranker, text, 5)), text)
		}
		assert.Equal(t, []string{"mcp__git__log"}, names(findBy(t, ranker, "mcp__git", 5)), "neither github nor git__hub")
		assert.Equal(t, []string{"mcp__git__hub__x"}, names(findBy(t, ranker, "mcp__git__hub", 5)))
		assert.Equal(t, []string{"mcp__github__create_pull_request", "mcp__github__getIssueComments"}, names(findBy(t, ranker, "mcp__gith", 5)), "no such server: a prefix")
	})
}

func TestTheSeedsWeights(t *testing.T) {
	find := func(t require.TestingT, text string, max int) search.Result {
		return findBy(t, search.Seed(), text, max)
	}
	for _, c := range []struct {
		query, name string
		score       float64
		why         string
	}{
		{"slack post", "mcp__slack__send_message", 12, "slack: name 12"},
		{"notebook cell", "NotebookEdit", 10 + 4 + 2, "notebook: name 10 + hint 4; cell: description 2"},
		{"note edits", "NotebookEdit", 5, "note: in name 5"},
		{"slac post", "mcp__slack__list_channels", 6, "slac: in name 6"},
		{"comments github", "mcp__github__getIssueComments", 12 + 2 + 12, "comments: name 12 + description 2; github: name 12"},
		{"message message", "mcp__slack__send_message", 12 + 2, "message: name 12 + description 2"},
		{"fetch a URL", "WebFetch", 10 + 4 + 4, "fetch: name 10 + hint 4; url: hint 4"},
		{"getissuecomments nothing", "mcp__github__getIssueComments", 12, "getissuecomments: name 12"},
		{"pull-request branch", "mcp__github__create_pull_request", 12 + 2 + 12 + 2 + 2, "pull: name 12 + description 2; request: name 12 + description 2; branch: description 2"},
		{"mr gitlab", "mcp__gitlab__createMRNote", 12 + 12, "mr: name 12; gitlab: name 12"},
		{"mcp server nothing", "mcp__git__hub__x", 2, "server: description 2"},
	} {
		i := slices.IndexFunc(find(t, c.query, 100).Matches, func(m search.Match) bool { return m.Name == c.name })
		require.GreaterOrEqual(t, i, 0, c.query)
		m := find(t, c.query, 100).Matches[i]
		assert.Equal(t, c.score, m.Score, c.query)
		assert.Equal(t, c.why, m.Why, c.query)
	}
}

func TestTheSeedCountsHintAndDescriptionAtWordBoundariesOnly(t *testing.T) {
	assert.Empty(t, findBy(t, search.Seed(), "jupyte bran", 5).Matches)
	assert.Empty(t, find(t, "e qqq", 5).Matches, "a letter is inside everything")
	assert.Equal(t, []string{"NotebookEdit"}, names(find(t, "JUPYTER zzz", 5)))
}

func TestAPlusWordMustBeInTheName(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		assert.Equal(t, []string{"mcp__slack__send_message", "mcp__slack__list_channels"}, names(findBy(t, ranker, "+slack send", 5)))
		assert.Equal(t, []string{"mcp__slack__send_message"}, names(findBy(t, ranker, "+slack +send_message", 5)))
		assert.Equal(t, []string{"mcp__slack__send_message"}, names(findBy(t, ranker, "+slack__s", 5)))
		assert.Equal(t, []string{"mcp__slack__send_message"}, names(findBy(t, ranker, "+k__s", 5)), "even where no word scores")
		assert.Empty(t, findBy(t, ranker, "+nosuch send", 5).Matches)
		q, err := search.ParseQuery("+Slack, +slack send")
		require.NoError(t, err)
		assert.Equal(t, []string{"slack"}, q.Required)
	})
}

func TestOnlyDeferredToolsAreSearched(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		for _, text := range []string{"bash", "message shell", "+bash", "Reads file"} {
			for _, name := range names(findBy(t, ranker, text, 100)) {
				assert.NotContains(t, []string{"Bash", "Read"}, name, text)
			}
		}
	})
}

func TestNoHitReportsHowManyToolsThereAre(t *testing.T) {
	r := find(t, "quantum chromodynamics", 5)
	assert.Empty(t, r.Matches)
	assert.Equal(t, len(pool()), r.TotalDeferred)
	assert.Zero(t, search.NewIndex(search.Ranker{}, nil, nil).Search(search.Query{Words: []string{"x"}}, 5).TotalDeferred)
}

func TestAQueryThatAsksForNothingIsAnError(t *testing.T) {
	for _, text := range []string{"", "  \t", "select:", "select: , ,", "+", "+ +", "?!", "+?"} {
		_, err := search.ParseQuery(text)
		assert.Error(t, err, text)
	}
}

func TestStopWordsAreDroppedUnlessThereIsNothingElse(t *testing.T) {
	q, err := search.ParseQuery("How do I send a message to the team?")
	require.NoError(t, err)
	assert.Equal(t, []string{"send", "message", "team"}, q.Words)
	q, err = search.ParseQuery("to do")
	require.NoError(t, err)
	assert.Equal(t, []string{"to", "do"}, q.Words)
}

func TestTheNumberOfResultsIsBounded(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		var many []search.Entry
		for i := range 300 {
			many = append(many, search.Entry{Name: fmt.Sprintf("tool_%03d", i), Deferrable: true})
		}
		ix := search.NewIndex(ranker, many, nil)
		q, err := search.ParseQuery("tool")
		require.NoError(t, err)
		for asked, got := range map[int]int{-1: 5, 0: 5, 1: 1, 5: 5, 100: 100, 1000: 100} {
			assert.Len(t, ix.Search(q, asked).Matches, got)
		}
		assert.Equal(t, "tool_000", ix.Search(q, 1).Matches[0].Name, "ties go by name")
	})
}

func TestTiesGoByNameHoweverManyThereAre(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		var many []search.Entry
		for i := range 300 {
			e := search.Entry{Name: fmt.Sprintf("tool_%03d", i), Hint: strings.Repeat("hinted", i%3/2)}
			many = append(many, e)
		}
		q, err := search.ParseQuery("tool hinted")
		require.NoError(t, err)
		found := names(search.NewIndex(ranker, many, nil).Search(q, 100))
		assert.True(t, slices.IsSorted(found))
		assert.Equal(t, "tool_002", found[0])
		assert.Equal(t, "tool_299", found[99])
		q, err = search.ParseQuery("tool nothing")
		require.NoError(t, err)
		assert.True(t, slices.IsSorted(names(search.NewIndex(ranker, many, nil).Search(q, 100))))
	})
}

func TestACollisionOfMCPNamesIsSettledTheSameWayEachTime(t *testing.T) {
	entries := []search.Entry{{Name: "x", MCP: true, Server: "b"}, {Name: "x", MCP: true, Server: "a"}}
	q, err := search.ParseQuery("mcp__a")
	require.NoError(t, err)
	for range 2 {
		assert.Equal(t, "a tool of server a", search.NewIndex(search.Ranker{}, entries, nil).Search(q, 5).Matches[0].Why)
		slices.Reverse(entries)
	}
}

func TestWordsOfAnyScriptAreFound(t *testing.T) {
	entries := []search.Entry{
		{Name: "weather", Hint: "天气预报", Description: "Прогноз погоды. Météo."},
		{Name: "ÜberPrüfung", Description: "x"},
	}
	for text, want := range map[string]string{
		"天气预报": "weather", "ПРОГНОЗ завтра": "weather", "MÉTÉO demain": "weather", "PRÜFUNG heute": "ÜberPrüfung",
	} {
		q, err := search.ParseQuery(text)
		require.NoError(t, err)
		assert.Equal(t, []string{want}, names(search.NewIndex(search.Ranker{}, entries, nil).Search(q, 5)), text)
	}
}

func TestABuiltInWinsOverAnMCPToolOfTheSameName(t *testing.T) {
	entries := []search.Entry{{Name: "Grep", MCP: true, Server: "s"}, {Name: "Grep", Hint: "ours"}}
	for range 2 {
		q, err := search.ParseQuery("grep ours")
		require.NoError(t, err)
		r := search.NewIndex(search.Seed(), entries, nil).Search(q, 5)
		assert.Equal(t, []search.Match{{Name: "Grep", Score: 14, Why: "grep: name 10; ours: hint 4"}}, r.Matches)
		assert.Equal(t, 1, r.TotalDeferred)
		slices.Reverse(entries)
	}
}

// catalogue draws a pool of tools with names that share words.
func catalogue(t *rapid.T) []search.Entry {
	words := rapid.SampledFrom([]string{"send", "message", "list", "Issue", "git", "hub", "create", "PR", "天气"})
	texts := rapid.SampledFrom([]string{"", "Send a message.", "List issues of git", "create things", "天气 预报"})
	var entries []search.Entry
	for i := range rapid.IntRange(1, 20).Draw(t, "tools") {
		name := strings.Join(rapid.SliceOfN(words, 1, 3).Draw(t, "name"), rapid.SampledFrom([]string{"_", "", "-", "__"}).Draw(t, "joint"))
		e := search.Entry{
			Name: fmt.Sprintf("%s%d", name, i), Hint: texts.Draw(t, "hint"), Description: texts.Draw(t, "text"),
			Params: rapid.SliceOfN(texts, 0, 2).Draw(t, "params"),
		}
		if rapid.Bool().Draw(t, "mcp") {
			e.MCP, e.Server = true, "srv"
			e.Name = "mcp__srv__" + e.Name
		}
		entries = append(entries, e)
	}
	return entries
}

// question draws a query of words, some of them required.
func question(t *rapid.T) search.Query {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{
		"send", "+send", "message", "issues", "git", "+git", "hub", "create", "pr", "天气", "mcp__srv", "e", "the",
	}), 1, 4).Draw(t, "words")
	q, err := search.ParseQuery(strings.Join(words, " "))
	require.NoError(t, err)
	return q
}

func TestEveryToolIsFoundFirstByItsOwnName(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		rapid.Check(t, func(t *rapid.T) {
			entries := catalogue(t)
			ix := search.NewIndex(ranker, entries, nil)
			for _, e := range entries {
				q, err := search.ParseQuery(e.Name)
				require.NoError(t, err)
				assert.Equal(t, []string{e.Name}, names(ix.Search(q, 1)))
			}
		})
	})
}

func TestResultsDoNotDependOnTheOrderOfEntries(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		rapid.Check(t, func(t *rapid.T) {
			entries, q := catalogue(t), question(t)
			before := search.NewIndex(ranker, entries, loaded()).Search(q, 7)
			rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)).Shuffle(len(entries), func(i, j int) {
				entries[i], entries[j] = entries[j], entries[i]
			})
			assert.Equal(t, before, search.NewIndex(ranker, entries, loaded()).Search(q, 7))
		})
	})
}

func TestResultsHoldTheirInvariants(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		rapid.Check(t, func(t *rapid.T) {
			entries, q := catalogue(t), question(t)
			limit := rapid.IntRange(1, 9).Draw(t, "max")
			ix := search.NewIndex(ranker, entries, loaded())
			few, all := ix.Search(q, limit).Matches, ix.Search(q, 100).Matches
			assert.LessOrEqual(t, len(few), limit)
			assert.Equal(t, all[:len(few)], few, "a smaller answer is the head of a larger one")
			seen := map[string]bool{}
			for _, m := range all {
				assert.False(t, seen[m.Name], "each once")
				seen[m.Name] = true
				assert.NotEmpty(t, m.Why+strings.Join(q.Required, ""))
				for _, word := range q.Required {
					assert.Contains(t, strings.ToLower(m.Name), word)
				}
			}
		})
	})
}

func TestSelectingNamesGivesThoseNames(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		rapid.Check(t, func(t *rapid.T) {
			entries := catalogue(t)
			var asked []string
			for _, e := range entries {
				if rapid.Bool().Draw(t, "ask") {
					asked = append(asked, e.Name)
				}
			}
			q, err := search.ParseQuery("select:" + strings.Join(append(asked, "NoSuchTool"), ","))
			require.NoError(t, err)
			r := search.NewIndex(ranker, entries, nil).Search(q, 1)
			assert.ElementsMatch(t, asked, names(r))
			assert.Equal(t, []string{"NoSuchTool"}, r.Missing)
		})
	})
}

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{"select:A,B", "+slack send", "天气预报", "select:\xff", "+", "mcp__a__*", "<a_b> x@y http://z", "ﬀ ＡＢ ก็"} {
		f.Add(seed)
	}
	var indexes []*search.Index
	for _, ranker := range search.Rankers() {
		indexes = append(indexes, search.NewIndex(ranker, pool(), loaded()))
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := search.ParseQuery(text)
		if err != nil {
			return
		}
		for _, ix := range indexes {
			r := ix.Search(q, 3)
			if len(q.Select) == 0 {
				assert.LessOrEqual(t, len(r.Matches), 3)
			}
			for _, m := range r.Matches {
				assert.False(t, math.IsNaN(m.Score) || math.IsInf(m.Score, 0) || m.Score < 0)
				for _, word := range q.Required {
					assert.Contains(t, strings.ToLower(m.Name), word)
				}
			}
		}
	})
}

// largePool has 1,500 tools on 30 servers with descriptions of 40 words.
func largePool(n int) []search.Entry {
	random := rand.New(rand.NewPCG(1, 2))
	verbs := []string{"get", "list", "create", "delete", "update", "search", "send", "read", "merge", "assign"}
	word := func() string { return fmt.Sprintf("%s%d", verbs[random.IntN(len(verbs))], random.IntN(400)) }
	var entries []search.Entry
	for i := range n {
		var text []string
		for range 40 {
			text = append(text, word())
		}
		server := fmt.Sprintf("server%d", i%30)
		entries = append(entries, search.Entry{
			Name: fmt.Sprintf("mcp__%s__%s_%s_%d", server, verbs[i%len(verbs)], word(), i),
			MCP:  true, Server: server, Description: strings.Join(text, " "),
		})
	}
	return entries
}

var benchmarked = []struct{ about, text string }{
	{"keywords", "create send12 update7 in server3"},
	{"sentence", "please list all the open issues that get assigned to me and update the search labels"},
	{"slips", "craete snd12 updtae7 qqqqqqq zzzzzzzz"},
	{"chinese", "请帮我列出所有分配给我的问题，并更新标签"},
	{"name", "mcp__server7"},
	{"contained", "e"},
}

// A search in 10,000 tools takes under a millisecond.
func BenchmarkSearch(b *testing.B) {
	for _, ranker := range search.Rankers() {
		for _, tools := range []int{1500, 10_000} {
			ix := search.NewIndex(ranker, largePool(tools), nil)
			for _, c := range benchmarked {
				q, err := search.ParseQuery(c.text)
				require.NoError(b, err)
				ix.Search(q, 5) // the first builds the index
				b.Run(fmt.Sprintf("%s/%d/%s", ranker.Name, tools, c.about), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						ix.Search(q, 5)
					}
				})
			}
		}
	}
}

// An index is built with the first search for words, and again when the pool changed: cold
// is the first of a reader, changed one of which a thirtieth was not read before.
func BenchmarkIndex(b *testing.B) {
	q, err := search.ParseQuery("create server3")
	require.NoError(b, err)
	for _, ranker := range search.Rankers() {
		entries := largePool(10_000)
		b.Run(ranker.Name+"/cold", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				search.NewIndex(ranker, entries, nil).Search(q, 5)
			}
		})
		b.Run(ranker.Name+"/changed", func(b *testing.B) {
			change := changing(entries)
			change(ranker, q)
			b.ReportAllocs()
			for b.Loop() {
				change(ranker, q)
			}
		})
	}
}

// changing gives a search of an index of one reader in which each time the tools of one
// server in thirty are new.
func changing(entries []search.Entry) func(search.Ranker, search.Query) {
	var reader search.Reader
	docs := make([]*search.Doc, len(entries))
	for i, e := range entries {
		docs[i] = search.NewDoc(e)
	}
	return func(ranker search.Ranker, q search.Query) {
		for i := 0; i < len(docs); i += 30 {
			docs[i] = search.NewDoc(entries[i])
		}
		reader.Index(ranker, docs, nil).Search(q, 5)
	}
}
