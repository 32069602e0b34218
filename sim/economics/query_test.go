package economics_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/economics"
)

func TestAFileOfQueriesIsReadLineByLine(t *testing.T) {
	queries, err := economics.ParseQueries("q.jsonl", []byte("\uFEFF"+`{"id":"a","query":"find it","lang":"en","class":"easy","relevant":["s::t"],"grades":{"s::t":2}}

{"query":"天气","relevant":["t"],"unresolved":["gone"]}
`))
	require.NoError(t, err)
	assert.Equal(t, []economics.Query{
		{ID: "a", Text: "find it", Lang: "en", Class: "easy", Relevant: []string{"s::t"}, Line: 1},
		{ID: "line 3", Text: "天气", Lang: "und", Relevant: []string{"t"}, Unresolved: []string{"gone"}, Line: 3},
	}, queries)
}

func TestWhatIsWrongIsSaidWithFileLineAndRemedy(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "q.jsonl: it holds no query; write one JSON object a line",
		"\n\n":                         "q.jsonl: it holds no query",
		"{\"query\":\"x\"}\nnot JSON":  "q.jsonl:2: invalid character",
		`{"query":"x"`:                 "write one JSON object a line",
		`["x"]`:                        "q.jsonl:1: a query must be a JSON object; found: array",
		`{"query":1}`:                  "q.jsonl:1: query cannot be a number",
		`{"query":"x","relevant":"t"}`: "q.jsonl:1: relevant cannot be a string",
		`{"id":"x"}`:                   `q.jsonl:1: it has no "query"; write what is asked`,
		`{"query":"` + strings.Repeat("x", economics.MaxQueryText+1) + `"}`: "shorten it to 20000",
	} {
		_, err := economics.ParseQueries("q.jsonl", []byte(text))
		require.ErrorIs(t, err, economics.ErrQueries, text)
		assert.ErrorContains(t, err, want)
	}
	_, err := economics.ParseQueries("q.jsonl", make([]byte, economics.MaxQueriesBytes+1))
	assert.ErrorContains(t, err, "split it")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"query":"x","relevant":["s::t"]}`, "{}", "\xff", "{\"query\":\"a\"}\n\n{\"query\":\"b\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		queries, err := economics.ParseQueries("q", data)
		if err != nil {
			assert.ErrorIs(t, err, economics.ErrQueries)
			return
		}
		for _, q := range queries {
			assert.NotEmpty(t, q.ID)
			assert.NotEmpty(t, strings.TrimSpace(q.Text))
			assert.Positive(t, q.Line)
		}
	})
}
