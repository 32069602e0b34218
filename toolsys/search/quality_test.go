package search_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/search"
)

// catalogues is where tool catalogues and labelled queries may lie beside the repository.
const catalogues = "../../../shared/catalogues/"

// lines reads one JSON object a line, or skips the test.
func lines[T any](t *testing.T, file string) []T {
	f, err := os.Open(catalogues + file)
	if err != nil {
		t.Skip("no catalogue here: " + file)
	}
	defer f.Close()
	var all []T
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var one T
		require.NoError(t, d.Decode(&one))
		all = append(all, one)
	}
	return all
}

// TestTheBaselineFindsWhatItIsKnownToFind holds the seeds' scoring to figures
// it has reached on real catalogues, with whole sentences for queries, which
// are harder than what a model writes.
func TestTheBaselineFindsWhatItIsKnownToFind(t *testing.T) {
	for set, floor := range map[string][2]float64{
		"azure":    {0.55, 0.87},
		"mcpproxy": {0.34, 0.60},
		"ironclaw": {0.65, 0.77},
	} {
		t.Run(set, func(t *testing.T) {
			ix := indexed(t, set)
			first, five, asked := 0, 0, 0
			for _, q := range lines[labelled](t, set+".queries.jsonl") {
				parsed, err := search.ParseQuery(q.Query)
				if err != nil || len(q.Relevant) == 0 {
					continue
				}
				asked++
				rank := slices.IndexFunc(ix.Search(parsed, 5).Matches, func(m search.Match) bool {
					return slices.ContainsFunc(q.Relevant, func(r string) bool { return answers(m.Name, r) })
				})
				if rank == 0 {
					first++
				}
				if rank >= 0 {
					five++
				}
			}
			hit1, hit5 := float64(first)/float64(asked), float64(five)/float64(asked)
			t.Logf("%d queries, hit@1 %.3f, hit@5 %.3f", asked, hit1, hit5)
			assert.GreaterOrEqual(t, hit1, floor[0])
			assert.GreaterOrEqual(t, hit5, floor[1])
		})
	}
}

// labelled is a query and the tools that would answer it.
type labelled struct {
	Query    string
	Relevant []string
}

// answers tells whether a tool is the one a label means: server::tool, or the
// tool's name alone.
func answers(name, label string) bool {
	return name == "mcp__"+strings.Replace(label, "::", "__", 1) || strings.HasSuffix(name, "__"+label)
}

// indexed is a catalogue as a pool of MCP tools.
func indexed(t *testing.T, set string) *search.Index {
	type tool struct{ Server, Name, Description string }
	var entries []search.Entry
	for _, x := range lines[tool](t, set+".jsonl") {
		entries = append(entries, search.Entry{
			Name: "mcp__" + x.Server + "__" + x.Name, MCP: true, Server: x.Server, Description: x.Description,
		})
	}
	return search.NewIndex(entries, nil)
}
