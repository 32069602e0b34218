package reports_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/tokens"
)

func TestNetTokenReportsLookAsRecorded(t *testing.T) {
	r := shop(t)
	r.Uncalled = []string{"mcp__shop__bare"}
	r.Sessions = []tokens.Session{
		{File: "a/very-long-name-of-a-recording.yaml", Conversation: 1, Requests: 4, Tools: 40, Called: 2, Searches: 1, FirstUses: 2, Whole: 16160, Resent: 25, Ways: []tokens.Net{
			{Name: "names", Definitions: 900, Searcher: 1600, History: 700, Total: 3200, Saved: 80.2, Resending: 80.04},
			{Name: "names_hint", Definitions: 1900, Searcher: 1600, History: 700, Total: 4200, Saved: 74.01, Resending: 73.8},
			{Name: "api", Definitions: 300, Searcher: 1600, History: 300, Total: 2200, Saved: 86.39, Resending: 86.2},
		}},
		{File: "log.jsonl", Conversation: 1},
		{File: "own.yaml", Conversation: 3, Requests: 2, Tools: 5, Defers: true},
	}
	for _, width := range []int{100, 80, 60, 40} {
		var b bytes.Buffer
		require.NoError(t, reports.TokensTable(&b, r, nil, 2, reports.Options{Width: width}))
		fitsWidth(t, b.String(), width)
		golden(t, fmt.Sprint("tokensnet.", width), b.String())
	}
	var b bytes.Buffer
	require.NoError(t, reports.TokensJSON(&b, r, nil))
	golden(t, "tokensnet.json", b.String())
}
