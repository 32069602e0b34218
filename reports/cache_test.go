package reports_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/economics"
	"toolbench/sim/recording"
)

// recordedCache is a session whose tools change, one that was only measured, and one
// of a single turn.
func recordedCache(t *testing.T) reports.RecordedCacheReport {
	u := recording.Usage{Input: 9, Written: 320, Read: 12, Output: 70}
	churned := economics.RecordedCache{
		File: "shop/session.yaml", Conversation: 1, Turns: 2, Requests: 2, Marked: 1, Counted: 1, Measured: u, ByTurn: map[int]recording.Usage{2: u},
		Results: []economics.OrderingCost{
			{Ordering: economics.Ordering{Name: "as recorded", About: "order and breakpoints of the recording"}, Total: economics.Usage{Written: 610, Missed: 280, Rewritten: 280}},
			{Ordering: economics.Ordering{Name: "ours", About: "our breakpoints"}, Total: economics.Usage{Read: 280, Written: 330}, Kept: 100},
		},
		Changes: []economics.PoolChange{{
			CacheBreak: economics.CacheBreak{Turn: 2, Byte: 81, Before: "view", Now: "mcp__mail__send", Builtins: true, Cause: "added mcp__mail__send"},
			Cost:       economics.Usage{Written: 320, Missed: 280, Rewritten: 280}, As: "as recorded", Measured: &u,
		}},
	}
	transcript := economics.RecordedCache{
		File: "log\x1b[31m.jsonl", Conversation: 2, Agent: "a7", Turns: 3, Counted: 3, Measured: recording.Usage{Input: 4, Read: 9000, Written: 4100, Output: 30},
		ByTurn: map[int]recording.Usage{1: {Input: 4, Written: 4000}, 3: {Read: 9000, Written: 100}},
		Losses: []economics.CacheLoss{{Turn: 3, Read: 100, Kept: 4000, Gap: 6 * time.Minute}, {Turn: 2, Kept: 10, Model: true}},
	}
	return reports.RecordedCacheReport{
		Counter: bytes4(t), Prices: prices(t), Sessions: []economics.RecordedCache{churned, transcript, {File: "one.yaml", Conversation: 1, Turns: 1, Requests: 1}},
		Skipped: []reports.Skipped{{File: "README.md", Reason: "not a recording"}},
	}
}

func TestRecordedCacheReportsLookAsRecorded(t *testing.T) {
	r := recordedCache(t)
	for _, width := range []int{120, 80, 60, 40} {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, r, "table", reports.Options{Width: width}))
		fitsWidth(t, b.String(), width)
		golden(t, fmt.Sprint("cacherecorded.", width), b.String())
		b.Reset()
		require.NoError(t, reports.Print(&b, r, "table", reports.Options{Width: width, Grouped: true}))
		fitsWidth(t, b.String(), width)
		golden(t, fmt.Sprint("cachesessions.", width), b.String())
	}
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, r, "json", reports.Options{}))
	golden(t, "cacherecorded.json", b.String())
}
