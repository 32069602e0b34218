package reports_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/dialect"
	"toolbench/sim/serve"
)

func servedReport() serve.Report {
	return serve.Report{
		Source: "session.yaml", Conversations: 3, Unserved: []int{2, 3},
		Refused: []serve.Refusal{{Text: "conversation 1 has no answer left: all 2 were given", Opening: "Hi\x1b[31m"}},
		Sessions: []serve.SessionReport{{
			Conversation: 1, Opening: "other", API: "chat-completions", Requests: 4, Resent: 1, Answers: 2, Of: 2, Calls: 2, Results: 1,
			Checks: []serve.Check{
				{Name: "results", Weight: serve.Refused, Demand: "each call has exactly one result", Status: serve.Failed, More: 2,
					Findings: []serve.Finding{{Turn: 1, Text: "weather call_b has no result"}, {Text: "evil \x1b]0;x\x07"}}},
				{Name: "order", Weight: serve.Taste, Demand: "results stand in call order", Status: serve.Held},
				{Name: "recorded", Weight: serve.Taste, Demand: "results are those that were recorded", Status: serve.Differs, Findings: []serve.Finding{{Turn: 1, Text: "differs"}}},
			},
			Breakpoints: []string{"tools.0", "messages.2.content.1"},
			Latencies:   []serve.Latency{{Turn: 1, Calls: 2, Took: 1500 * time.Microsecond}},
		}},
	}
}

func TestNoLineOfAServedReportIsWiderThanTheScreen(t *testing.T) {
	for width := 20; width < 200; width += 7 {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, reports.ServeReport{Report: servedReport()}, "table", reports.Options{Width: width, Color: true}))
		for line := range strings.Lines(b.String()) {
			assert.LessOrEqual(t, reports.Width(strings.TrimSuffix(line, "\n")), width, line)
		}
		assert.NotContains(t, b.String(), "\x1b]")
	}
}

func TestAServedReportNamesWhatIsWrong(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, reports.ServeReport{Report: servedReport()}, "table", reports.Options{}))
	for _, text := range []string{
		"Conversation 1: 4 requests, 2 of 2 answers given, 2 calls, 1 result, 1 asked for again; its first message is not the recorded one",
		"results, after answer 1: weather call_b has no result", "results: 2 more", "longest 1.5ms", "tools.0, messages.2.content.1",
		`refused: conversation 1 has no answer left`, "1 of 3 conversations served, 4 requests, 1 check failed, 1 refused; not asked for: 2, 3",
	} {
		assert.Contains(t, b.String(), text)
	}
}

func TestTheJSONOfAServedReportIsAsItsSchemaSays(t *testing.T) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(reports.Schema("serve")))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("serve.json", parsed))
	schema, err := c.Compile("serve.json")
	require.NoError(t, err)
	served := []serve.Report{servedReport(), {}}
	for _, api := range []dialect.API{dialect.Messages, dialect.Converse, dialect.Chat, dialect.Responses, dialect.Gemini, dialect.Ollama} {
		r := servedReport()
		r.Sessions[0].API = string(api)
		served = append(served, r)
	}
	for _, r := range served {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, reports.ServeReport{Report: r}, "json", reports.Options{}))
		value, err := jsonschema.UnmarshalJSON(&b)
		require.NoError(t, err)
		assert.NoError(t, schema.Validate(value))
	}
}
