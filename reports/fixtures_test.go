package reports_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden holds text against a file, or writes the file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to write it")
	assert.Equal(t, string(want), text)
}

const sec = time.Second

// hiding is the seeds' case: 5 s of stream, a 3 s tool that arrives at 2 s (J7).
func hiding() check.Result {
	return check.Result{
		Name: "latency-hiding", About: "A tool that arrives early is done before the stream.", Tags: []string{"streaming", "figures"},
		File: "scenarios/latency-hiding.yaml", Status: check.Passed, Policy: "streaming", Seed: 1,
		Makespan: 5 * sec, Serial: 8 * sec, Hidden: 37.5, LowerBound: 5 * sec,
		Batches: [][]string{{"Read"}},
		Calls: []check.Call{{
			ID: "toolu_1", Tool: "Read", Turn: 1, Batch: 1, Safe: true, Status: "ok",
			Ready: 2 * sec, Started: 2 * sec, Ended: 5 * sec, Emitted: 5 * sec,
		}},
		Streams: []check.Stream{{Turn: 1, Sent: 0, First: 400 * time.Millisecond, End: 5 * sec}},
		Digest:  "9f2c", Took: 1234567 * time.Nanosecond,
	}
}

// barrier has an edit between reads: batches, waiting, holding, a failed call.
func barrier() check.Result {
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	call := func(id, tool string, batch int, ready, started, ended, emitted int) check.Call {
		return check.Call{ID: id, Tool: tool, Turn: 1, Batch: batch, Safe: tool != "Edit", Status: "ok",
			Ready: at(ready), Started: at(started), Ended: at(ended), Emitted: at(emitted)}
	}
	o := check.Result{
		Name: "edit-splits-the-batch", About: "Two reads share a batch; the edit runs alone; the grep waits for it.",
		Tags: []string{"partition"}, File: "scenarios/edit-splits-the-batch.yaml",
		Status: check.Failed, Policy: "streaming", Seed: 7, Makespan: at(4200), Serial: at(5300), LowerBound: at(4000), Hidden: 100 * 1100.0 / 5300,
		Batches: [][]string{{"Read", "Read"}, {"Edit"}, {"Grep"}},
		Calls: []check.Call{
			call("toolu_1", "Read", 1, 600, 600, 1900, 1900),
			call("toolu_2", "Read", 1, 800, 800, 1100, 1900),
			call("toolu_3", "Edit", 2, 1000, 1900, 2400, 2400),
			call("toolu_4", "Grep", 3, 1500, 2400, 3400, 3400),
		},
		Streams: []check.Stream{
			{Turn: 1, Sent: 0, First: at(200), End: at(2000)},
			{Turn: 2, Sent: at(3400), First: at(3600), End: at(4200), Cut: true},
		},
		Failures: []check.Failure{
			{Expectation: "makespan", Expected: "4s", Found: "4.2s", At: "edit-splits-the-batch.yaml:31"},
			{Expectation: "files./repo/b.go", Expected: "package b\n\nvar answer = 41\n", Found: "package b\n\nvar answer = 42\n", At: "edit-splits-the-batch.yaml:28"},
		},
		Digest: "51ab", Took: 3 * time.Millisecond,
	}
	o.Calls[2].WaitsFor, o.Calls[2].On = "exclusive", []string{"toolu_1", "toolu_2"}
	o.Calls[3].WaitsFor, o.Calls[3].On, o.Calls[3].Status = "exclusive", []string{"toolu_3"}, "failed"
	return o
}

func broken() check.Result {
	return check.Result{Name: "broken", File: "mine/broken.yaml", Status: check.Errored, Seed: 1, Invalid: true,
		Err: &scenario.FileError{File: "mine/broken.yaml", Line: 3, Column: 5, Problem: `unknown key "polcy"`, Remedy: "did you mean policy?"}}
}

func crashed() check.Result {
	return check.Result{Name: "crashed", Status: check.Errored, Policy: "batch", Seed: 1, Err: errors.New("the harness gave up: no progress"),
		Notes: []string{"1 recorded interaction was left over"}}
}

// hostile has in every text what a terminal, a page or a parser would obey.
const evil = "\x1b]0;owned\a|`$(rm)`<b>&\"'\r\n::error::x\u202e\x00\xff]]>%0A"

func hostile() check.Result {
	return check.Result{
		Name: "host" + evil, About: evil, Tags: []string{evil}, File: evil, Status: check.Failed, Policy: evil, Seed: 1,
		Makespan: sec, Serial: sec, Batches: [][]string{{evil}}, Digest: evil, Notes: []string{evil},
		Calls:    []check.Call{{ID: evil, Tool: evil, Agent: evil, Status: evil, WaitsFor: evil, On: []string{evil}, Ended: sec, Emitted: sec}},
		Streams:  []check.Stream{{Agent: evil, End: sec}},
		Failures: []check.Failure{{Expectation: evil, Expected: evil, Found: "other", At: evil}, {Expectation: "one", Expected: evil, Found: evil + "x", At: "x:1"}},
	}
}

// wide has names as wide as they come.
func wide() check.Result {
	o := hiding()
	o.Name, o.Policy = "読み取り-并行-👩‍💻🎉", "effects"
	o.Notes = []string{"データは読み取られ、編集はひとつずつ行われ、検索は編集を待つ。"}
	return o
}

func all() []check.Result {
	return []check.Result{hiding(), barrier(), broken(), crashed(), wide()}
}

// many are more outcomes than fit a screen, two of which did not pass.
func many() []check.Result {
	outcomes := all()
	for i := range 50 {
		o := hiding()
		o.Name, o.Tags, o.Took = fmt.Sprint("hiding-", i), []string{[]string{"latency", "ordering"}[i%2], "headline"}, time.Duration(i%7)*time.Millisecond
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// crowd has n calls behind one another's limits.
func crowd(n int) check.Result {
	o := check.Result{Name: fmt.Sprintf("crowd-of-%d", n), Status: check.Passed, Policy: "streaming", Seed: 1, Makespan: 20 * sec, Serial: 60 * sec, Hidden: 200.0 / 3,
		Streams: []check.Stream{{Turn: 1, First: sec, End: 6 * sec}}, Batches: [][]string{{}}}
	for i := range n {
		ready := sec + time.Duration(i)*5*sec/time.Duration(n)
		c := check.Call{ID: fmt.Sprint("toolu_", i), Tool: "Glob", Turn: 1, Batch: 1, Safe: true, Status: "ok", Ready: ready, Started: ready}
		if i >= 10 {
			c.Started, c.WaitsFor, c.On = o.Calls[i-10].Ended, "limit", []string{"toolu_0"}
		}
		c.Ended = c.Started + 700*time.Millisecond
		c.Emitted = c.Ended
		o.Calls = append(o.Calls, c)
		o.Batches[0] = append(o.Batches[0], "Glob")
	}
	return o
}

func written(t testing.TB, write reports.Writer, outcomes []check.Result, o reports.Options) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, write(&out, outcomes, o))
	return out.String()
}

func timeline(t testing.TB, outcome check.Result, o reports.Options) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, reports.Timeline(&out, outcome, o))
	return out.String()
}
