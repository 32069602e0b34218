package reports_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/property/fuzz"
	"toolbench/reports"
	"toolbench/sim/scenario/check"
)

// However a run is parted, its reports join to that of the whole.
func TestMergedShardsAreTheWhole(t *testing.T) {
	suite := []check.Result{barrier(), hiding(), instant(), crowd(3)}
	slices.SortFunc(suite, func(a, b check.Result) int {
		return bytes.Compare([]byte(a.File+"\x00"+a.Name), []byte(b.File+"\x00"+b.Name))
	})
	whole := written(t, reports.JSON, suite, reports.Options{})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "parts")
		shards := make([][]check.Result, n)
		for _, o := range suite {
			i := rapid.IntRange(0, n-1).Draw(t, "part")
			shards[i] = append(shards[i], o)
		}
		var parts []reports.Stored
		var names []string
		for _, s := range shards {
			parts, names = append(parts, stored(t, s...)), append(names, "part.json")
		}
		merged, err := reports.Merge(parts, names)
		require.NoError(t, err)
		outcomes, again, ok := merged.Outcomes()
		require.True(t, ok)
		assert.Equal(t, len(suite), len(outcomes))
		assert.NotEmpty(t, again(outcomes[0]))
		var text bytes.Buffer
		require.NoError(t, reports.JSON(&text, outcomes, reports.Options{Again: again}))
		if outcomes[0].Seed == suite[0].Seed {
			assert.Equal(t, whole, text.String())
		}
	})
}

func TestOnlyPartsAreMerged(t *testing.T) {
	run := stored(t, hiding())
	_, err := reports.Merge([]reports.Stored{run, run}, []string{"a.json", "b.json"})
	assert.ErrorContains(t, err, "latency-hiding is in a.json and in b.json")
	_, err = reports.Merge(nil, nil)
	assert.ErrorContains(t, err, "no report to merge")
	replay := reports.StoredOf("replay", reports.ReplayReport{})
	_, err = reports.Merge([]reports.Stored{run, replay}, []string{"a.json", "b.json"})
	assert.ErrorContains(t, err, "b.json one of replay")
	joined, err := reports.Merge([]reports.Stored{replay, replay}, []string{"a.json", "b.json"})
	require.NoError(t, err)
	assert.Equal(t, "replay", joined.Command)
	cases := func(seed uint64) reports.Stored {
		return reports.StoredOf("fuzz", reports.FuzzReport{Seed: seed, Engine: "des"})
	}
	_, err = reports.Merge([]reports.Stored{cases(1), cases(2)}, []string{"a.json", "b.json"})
	assert.ErrorContains(t, err, "not parts of one run")
	_, err = reports.Merge([]reports.Stored{cases(1), cases(1)}, []string{"a.json", "b.json"})
	assert.NoError(t, err)
}

// Ranges of cases join to what one machine reports of all, in any order and with parts that
// came twice; a part that is missing, cut off or overlaps another is refused by name.
func TestRangesOfCasesJoinToTheWhole(t *testing.T) {
	part := func(from, to, cases uint64, failed ...uint64) reports.Stored {
		r := reports.FuzzReport{Seed: 3, Engine: "des", Range: &reports.FuzzRange{From: from, To: to}, Took: time.Duration(to) * time.Second}
		r.Total = fuzz.Result{Cases: cases, Calls: 2 * cases, Seen: []int{int(cases)}}
		for _, n := range failed {
			r.Failure = &reports.FuzzFailure{Case: n}
		}
		return reports.StoredOf("fuzz", r)
	}
	written := func(parts ...reports.Stored) (string, error) {
		names := []string{"a.json", "b.json", "c.json", "d.json"}
		whole, err := reports.Merge(parts, names[:len(parts)])
		if err != nil {
			return "", err
		}
		var b strings.Builder
		require.NoError(t, whole.Write(&b))
		return b.String(), nil
	}
	one, err := written(part(0, 30, 30, 12))
	require.NoError(t, err)
	joined, err := written(part(20, 30, 10, 25), part(0, 10, 10), part(10, 20, 10, 12), part(0, 10, 10))
	require.NoError(t, err)
	assert.Equal(t, one, joined)
	for wanted, parts := range map[string][]reports.Stored{
		"the cases 10..20 are missing; play them with --seed 3 --range 10..20": {part(0, 10, 10), part(20, 30, 10)},
		"a.json and b.json both have case 5":                                   {part(0, 10, 10), part(5, 15, 10)},
		"b.json has 4 of the 10 cases 10..20: it was cut off":                  {part(0, 10, 10), part(10, 20, 4)},
		"one is of a --range of cases and one is not":                          {part(0, 10, 10), reports.StoredOf("fuzz", reports.FuzzReport{Seed: 3, Engine: "des"})},
	} {
		_, err := written(parts...)
		assert.ErrorContains(t, err, wanted)
	}
}

// Each thing is in one part, and no part takes longer than the mean and the longest thing.
func TestPartsAreAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Int64Range(-1, 1_000_000), 0, 60).Draw(t, "times")
		n := rapid.IntRange(1, 8).Draw(t, "parts")
		times := make([]time.Duration, len(raw))
		var sum, longest, known time.Duration
		for i, x := range raw {
			if times[i] = time.Duration(x); x >= 0 {
				sum, known = sum+times[i], known+1
			}
			longest = max(longest, times[i])
		}
		mean := time.Millisecond
		if known > 0 {
			mean = sum / known
		}
		of := reports.Parts(times, n)
		require.Len(t, of, len(times))
		load := make([]time.Duration, n)
		for i, part := range of {
			require.Less(t, part, n)
			if times[i] < 0 {
				load[part] += mean
				continue
			}
			load[part] += times[i]
		}
		total := sum + mean*(time.Duration(len(times))-known)
		assert.LessOrEqual(t, slices.Max(load), total/time.Duration(n)+max(longest, mean)+1)
		assert.Equal(t, of, reports.Parts(times, n))
	})
}
