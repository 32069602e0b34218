package reports_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/reports"
	"toolbench/sim/scenario/check"
)

// stored is the report of outcomes, written and read back.
func stored(t require.TestingT, outcomes ...check.Result) reports.Stored {
	var b bytes.Buffer
	require.NoError(t, reports.JSON(&b, outcomes, reports.Options{}))
	s, err := reports.Read(b.Bytes())
	require.NoError(t, err)
	return s
}

func compared(t require.TestingT, before, after reports.Stored) *reports.Comparison {
	c, err := reports.Compare(before, after)
	require.NoError(t, err)
	c.Before, c.After = "a.json", "b.json"
	return c
}

func comparison(t *testing.T, c *reports.Comparison, format string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, reports.CompareReport{Comparison: c}, format, reports.Options{Width: 100}))
	return b.String()
}

// edited is an outcome with a change.
func edited(o check.Result, edit func(*check.Result)) check.Result {
	edit(&o)
	return o
}

func TestAComparisonNamesWhatHappened(t *testing.T) {
	failing := func(o *check.Result) {
		o.Status, o.Failures = check.Failed, []check.Failure{{Expectation: "makespan", Expected: "5s", Found: "6s", At: "x.yaml:3"}}
	}
	twice := func(o *check.Result) {
		o.Calls = append(o.Calls[:1:1], o.Calls[0])
		o.Calls[1].Started += sec
	}
	slow := func(o *check.Result) { o.Makespan += sec }
	tried := func(o *check.Result) { o.Policy, o.Batches = "", nil }
	for _, test := range []struct {
		name          string
		before, after []check.Result
		summary       string
		shows         []string
	}{
		{"nothing", []check.Result{hiding()}, []check.Result{hiding()}, "no change in 1 scenario", nil},
		{"the real times of an agent", []check.Result{edited(hiding(), tried)}, []check.Result{edited(edited(hiding(), tried), slow)}, "no change in 1 scenario", nil},
		{"real times", []check.Result{hiding()}, []check.Result{edited(hiding(), func(o *check.Result) { o.Took *= 5 })}, "no change in 1 scenario", nil},
		{"new", nil, []check.Result{hiding()}, "1 new, 0 the same", []string{"new      latency-hiding  makespan 5s"}},
		{"new and failing", nil, []check.Result{edited(hiding(), failing)}, "1 newly failing, 0 the same", []string{"makespan: expected 5s, found 6s"}},
		{"gone", []check.Result{hiding()}, nil, "1 gone, 0 the same", []string{"gone     latency-hiding"}},
		{"slower", []check.Result{hiding()}, []check.Result{edited(hiding(), slow)}, "1 slower, 0 the same", []string{"makespan 5s → 6s (+20%)", "total makespan"}},
		{"faster", []check.Result{edited(hiding(), slow)}, []check.Result{hiding()}, "1 faster, 0 the same", []string{"makespan 6s → 5s (-16.7%)"}},
		{"failing", []check.Result{hiding()}, []check.Result{edited(hiding(), failing)}, "1 newly failing, 0 the same", []string{"expected 5s, found 6s"}},
		{"fixed", []check.Result{edited(hiding(), failing)}, []check.Result{hiding()}, "1 fixed, 0 the same", nil},
		{"still failing", []check.Result{edited(hiding(), failing)}, []check.Result{edited(hiding(), failing)}, "no change in 1 scenario", nil},
		{"batches", []check.Result{hiding()}, []check.Result{edited(hiding(), func(o *check.Result) { o.Batches = [][]string{{"Read"}, {"Edit"}} })},
			"1 moved, 0 the same", []string{"batches: [Read] [Edit], before: [Read]"}},
		{"a start", []check.Result{hiding()}, []check.Result{edited(hiding(), func(o *check.Result) {
			o.Calls = append([]check.Call(nil), o.Calls...)
			o.Calls[0].Started, o.Calls[0].WaitsFor = 3*time.Second, "limit"
		})}, "1 moved, 0 the same", []string{"1 call starts at another time: Read toolu_1 2s → 3s, for a free place"}},
		{"a call made twice", []check.Result{edited(hiding(), twice)}, []check.Result{edited(hiding(), twice)}, "no change in 1 scenario", nil},
		{"trace", []check.Result{hiding()}, []check.Result{edited(hiding(), func(o *check.Result) { o.Digest = "other" })},
			"1 changed, 0 the same", []string{"another trace"}},
		{"the gravest first", []check.Result{hiding(), edited(barrier(), func(o *check.Result) { o.Name = "b" })},
			[]check.Result{edited(hiding(), slow)}, "1 gone, 1 slower, 0 the same", []string{"gone     b\nslower"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := compared(t, stored(t, test.before...), stored(t, test.after...))
			assert.Equal(t, test.summary, c.Summary())
			text := comparison(t, c, "table")
			for _, want := range test.shows {
				assert.Contains(t, text, want)
			}
		})
	}
}

func TestThresholdsAreOfAnAgentsTimes(t *testing.T) {
	tried := func(o *check.Result) { o.Policy, o.Batches = "", nil }
	slow := func(o *check.Result) { tried(o); o.Makespan *= 2 }
	bound, err := reports.ParseThreshold("makespan > +50%")
	require.NoError(t, err)
	exceeded, err := compared(t, stored(t, edited(hiding(), tried)), stored(t, edited(hiding(), slow))).Check(bound)
	require.NoError(t, err)
	require.Len(t, exceeded, 2)
	assert.Contains(t, exceeded[0].Found, "(+100%)")
}

// What is new has changed from nothing, which no bound of a change is about; what it takes is bounded all the same.
func TestAThresholdOfAChangeIsNotAboutWhatIsNew(t *testing.T) {
	c := compared(t, stored(t, hiding()), stored(t, hiding(), edited(hiding(), func(o *check.Result) { o.Name = "other" })))
	for text, where := range map[string][]string{"hidden > +1%": nil, "calls > +0": {"total"}, "calls < -0": nil, "makespan > 4s": {"latency-hiding", "other", "total"}} {
		bound, err := reports.ParseThreshold(text)
		require.NoError(t, err)
		exceeded, err := c.Check(bound)
		require.NoError(t, err)
		var found []string
		for _, e := range exceeded {
			found = append(found, e.Where)
		}
		assert.Equal(t, where, found, text)
	}
}

func TestThresholds(t *testing.T) {
	before := stored(t, hiding(), edited(hiding(), func(o *check.Result) { o.Name = "other" }))
	after := stored(t, edited(hiding(), func(o *check.Result) { o.Makespan, o.Hidden = 6*sec, 30 }), edited(hiding(), func(o *check.Result) { o.Name = "other" }))
	c := compared(t, before, after)
	for text, where := range map[string][]string{
		"makespan > +5%":       {"latency-hiding", "total"},
		"makespan > +15%":      {"latency-hiding"},
		"makespan > +20%":      nil,
		"makespan > +999ms":    {"latency-hiding", "total"},
		"makespan > +999":      {"latency-hiding", "total"},
		"makespan > 10500 ms":  {"total"},
		"makespan >= 6s":       {"latency-hiding", "total"},
		"hidden < -5%":         {"latency-hiding"},
		"hidden < 35":          {"latency-hiding"},
		"hidden < -8%":         nil,
		"makespan <= 5s":       {"other"},
		"makespan < 5s":        nil,
		"makespan (other) > 0": nil,
		"slower > 0":           {"total"},
		"failing > 0":          nil,
		"gone >= 0":            {"total"},
	} {
		bound, err := reports.ParseThreshold(text)
		require.NoError(t, err, text)
		exceeded, err := c.Check(bound)
		require.NoError(t, err, text)
		var found []string
		for _, e := range exceeded {
			found = append(found, e.Where)
		}
		assert.Equal(t, where, found, text)
	}
	for _, text := range []string{"", "makespan", "makespan > ", "makespan == 5", "makespan > 5 parsecs", "> 5", "makespan > +5%%"} {
		_, err := reports.ParseThreshold(text)
		assert.ErrorContains(t, err, text)
	}
	for text, want := range map[string]string{"tokens > 5": "has no figure tokens; it has calls, hidden, makespan, serial", "failing > +1": "counts items",
		"makespan > 5%": "write a sign, as 'makespan > +5%'", "makespan > 5 tokens": "counts ms and not tokens", "makespan > $5": "without a dollar", "hidden < 5ms": "counts percent and not ms"} {
		bound, err := reports.ParseThreshold(text)
		require.NoError(t, err)
		_, err = c.Check(bound)
		assert.ErrorContains(t, err, want)
	}
}

func TestOnlyReportsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		``:                            "no JSON report",
		`{`:                           "line 1: no JSON report",
		"{\n\"version\": 1,\n,}":      "line 3",
		"{\n\"version\": \"\n\"}":     "line 2",
		`[]`:                          "no JSON report",
		`null`:                        "none of run, replay, tokens",
		`{"version":1}`:               "none of run, replay, tokens",
		`{"outcomes":[],"totals":{}}`: "has version 1 here, not none",
		`{"version":9,"outcomes":[],"totals":{}}`:  "has version 1 here, not 9",
		`{"version":1,"outcomes":[7],"totals":{}}`: "outcomes[0]",
	} {
		_, err := reports.Read([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// A report that is read back and written again is the same, and compares without a change.
func TestStoredReportsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := hiding()
		o.Makespan = time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "makespan"))
		o.Name = rapid.String().Draw(t, "name")
		var first, second bytes.Buffer
		require.NoError(t, reports.JSON(&first, []check.Result{o}, reports.Options{}))
		s, err := reports.Read(first.Bytes())
		require.NoError(t, err)
		require.NoError(t, s.Write(&second))
		assert.Equal(t, first.String(), second.String())
		assert.Equal(t, "no change in 1 scenario", compared(t, s, s).Summary())
	})
}

func TestComparisonsLookAsRecorded(t *testing.T) {
	c := compared(t, stored(t, append(all(), hiding())...), stored(t, edited(hostile(), func(o *check.Result) { o.Status = check.Failed }),
		edited(barrier(), func(o *check.Result) { o.Makespan *= 2 })))
	for _, format := range []string{"table", "markdown", "json"} {
		golden(t, "compare."+format, comparison(t, c, format))
	}
	fits(t, comparison(t, c, "table"), 100)
	assert.NotContains(t, strings.ToLower(comparison(t, c, "markdown")), "<script")
}

// What is gone by the hundred hides nothing else.
func TestEveryKindOfChangeIsOnTheScreen(t *testing.T) {
	var before, after []check.Result
	for i := range 60 {
		before = append(before, edited(hiding(), func(o *check.Result) { o.Name = fmt.Sprintf("gone-%02d", i) }))
	}
	before = append(before, barrier())
	after = append(after, edited(barrier(), func(o *check.Result) { o.Makespan += 1000 * sec }))
	text := comparison(t, compared(t, stored(t, before...), stored(t, after...)), "table")
	assert.Contains(t, text, "slower   edit-splits-the-batch  makespan 4.2s → 16m44s")
	assert.Contains(t, text, "(+23809.5%)")
	assert.Equal(t, 13, strings.Count(text, "\ngone "))
	assert.Contains(t, text, "\n47 changes more; --all shows them\n")
	assert.Contains(t, comparison(t, compared(t, stored(t, before...), stored(t, after...)), "markdown"), "| slower | edit-splits")
}
