package fuzz_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/property/fuzz"
	"toolbench/property/generate"
	"toolbench/property/oracle"
)

var (
	simulated = flag.Uint64("des", 2_000, "how many cases to simulate")
	full      = flag.Uint64("full", 100, "how many cases to run in the whole system")
	seed      = flag.Uint64("fuzzseed", 1, "which cases")
)

func plan(seed uint64) generate.Plan {
	return generate.Plan{Seed: seed, Policies: []string{"serial", "batch", "streaming", "effects"}, May: generate.Everything}
}

func play(t *testing.T, e fuzz.Engine, cases uint64) fuzz.Result {
	t.Helper()
	r := fuzz.Play(context.Background(), plan(*seed), e, fuzz.Batch{N: cases, Step: 1}, nil)
	if f := r.Failed; f != nil {
		c := fuzz.NewMaker(plan(*seed), e).Case(f.Case).Clone()
		c = fuzz.NewChecker(e).Shrink(context.Background(), c, f.Broke, nil)
		t.Fatalf("case %d violates %s: %s\n%s", f.Case, f.Broke, f.Found, fuzz.Scenario(c, "case", "The smallest case."))
	}
	require.Equal(t, cases, r.Cases)
	return r
}

func TestSchedulerCasesHold(t *testing.T) {
	r := play(t, fuzz.DES, *simulated)
	for i, s := range oracle.Goals() {
		if *simulated >= 20_000 && !s.System {
			assert.NotZero(t, r.Seen[i], "never seen: %s", s.Name)
		}
	}
}

func TestTheWholeSystemHolds(t *testing.T) { play(t, fuzz.Both, *full) }

// The same seed gives the same cases, the same results, the same counts, on one
// processor or two, in one piece or in many.
func TestARunIsTheSameEachTime(t *testing.T) {
	cfg := fuzz.Config{Engine: fuzz.DES, Cases: 1_000, Batch: 64, Jobs: 3}
	on := func(processors int) fuzz.Result {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		r, err := fuzz.Run(context.Background(), cfg, func(ctx context.Context, b fuzz.Batch) (fuzz.Result, error) {
			return fuzz.Play(ctx, plan(7), cfg.Engine, b, nil), nil
		}, nil)
		require.NoError(t, err)
		return r
	}
	first := on(1)
	assert.Equal(t, first, on(2))
	all := fuzz.Play(context.Background(), plan(7), cfg.Engine, fuzz.Batch{N: 1_000, Step: 1}, nil)
	assert.Equal(t, first, all)
}

func TestShardsMakeAllCases(t *testing.T) {
	var cases, calls uint64
	all := fuzz.Play(context.Background(), plan(7), fuzz.DES, fuzz.Batch{N: 100, Step: 1}, nil)
	for shard := range uint64(4) {
		cfg := fuzz.Config{Engine: fuzz.DES, Shard: shard, Shards: 4, Cases: 25, Batch: 10}
		r, err := fuzz.Run(context.Background(), cfg, func(ctx context.Context, b fuzz.Batch) (fuzz.Result, error) {
			return fuzz.Play(ctx, plan(7), cfg.Engine, b, nil), nil
		}, nil)
		require.NoError(t, err)
		cases, calls = cases+r.Cases, calls+r.Calls
	}
	assert.Equal(t, [2]uint64{all.Cases, all.Calls}, [2]uint64{cases, calls})
}

// What once failed is played again each time.
func TestWhatOnceFailedHolds(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		s, err := fuzz.Parse(file, data)
		require.NoError(t, err, file)
		if b := s.Replay(context.Background()); b != nil {
			t.Errorf("%s: %s: %s\n%s", file, b.Name, b.Found, b.Log)
		}
	}
}

func TestACaseSurvivesItsFile(t *testing.T) {
	m := fuzz.NewMaker(plan(9), fuzz.Both)
	for i := range uint64(200) {
		want := fuzz.NewSaved("A case.", fuzz.Both, m.Case(i).Clone())
		data, err := want.YAML()
		require.NoError(t, err)
		got, err := fuzz.Parse("a.yaml", data)
		require.NoError(t, err, string(data))
		again, err := got.YAML()
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
	}
}

// What somebody wrote into a case's file by mistake is no invariant that breaks, nor one that holds.
func TestACaseWithoutSenseIsNone(t *testing.T) {
	const good = "about: x\ncase: {policy: serial, limit: 1, turns: [{calls: [{id: a, at: 1s}]}]}\n"
	_, err := fuzz.Parse("a.yaml", []byte(good))
	require.NoError(t, err)
	for _, c := range [][3]string{
		{"policy: serial", "policy: fast", "unknown policy"},
		{"at: 1s", "at: 1s, goes: wrong", `goes is "wrong"; write failed`},
		{"at: 1s", "at: 1s, for: -5s", "less than 0"},
		{"at: 1s", "at: 1s, limit: -5s", "less than 0"},
		{"limit: 1", "limit: 1, says: [-1s]", "less than 0"},
	} {
		_, err := fuzz.Parse("a.yaml", []byte(strings.Replace(good, c[0], c[1], 1)))
		require.ErrorContains(t, err, "a.yaml: ")
		require.ErrorContains(t, err, c[2])
	}
}

// Of two failures the one with the lower number is reported, also when the other is found
// first.
func TestTheFirstFailureCounts(t *testing.T) {
	late := make(chan struct{})
	cfg := fuzz.Config{Batch: 10, Jobs: 2, Cases: 1_000}
	r, err := fuzz.Run(context.Background(), cfg, func(ctx context.Context, b fuzz.Batch) (fuzz.Result, error) {
		switch b.First {
		case 0:
			<-late // it ends when the other has failed, and was not stopped
			require.NoError(t, ctx.Err())
			return fuzz.Result{Cases: 10, Failed: &fuzz.Failure{Case: 3}}, nil
		case 10:
			close(late)
			return fuzz.Result{Cases: 10, Failed: &fuzz.Failure{Case: 12}}, nil
		}
		return fuzz.Result{Cases: 10}, nil
	}, nil)
	require.NoError(t, err)
	require.NotNil(t, r.Failed)
	assert.EqualValues(t, 3, r.Failed.Case)
	assert.LessOrEqual(t, r.Cases, uint64(40), "nothing new is begun")
}

// What is played through comes to the same however it is dealt out: cases that fail and
// cases that kill their runner count as one each, and the lowest is the failure.
func TestPlayedThroughItIsTheSameHoweverDealtOut(t *testing.T) {
	broken, deadly := map[uint64]bool{13: true, 14: true, 70: true, 99: true}, map[uint64]bool{10: true, 55: true, 56: true}
	runner := func(_ context.Context, b fuzz.Batch) (r fuzz.Result, _ error) {
		r.Seen = make([]int, len(oracle.Goals()))
		for k := range b.N {
			n := b.Case(k)
			if deadly[n] { // what was counted dies too
				return fuzz.Result{Failed: &fuzz.Failure{Case: n, Broke: "crash"}}, nil
			}
			r.Cases, r.Calls = r.Cases+1, r.Calls+n
			r.Seen[n%3]++
			if broken[n] {
				r.Failed = &fuzz.Failure{Case: n}
				return r, nil
			}
		}
		return r, nil
	}
	part := func(from, to, batch uint64, jobs int) fuzz.Result {
		r, err := fuzz.Run(t.Context(), fuzz.Config{First: from, Cases: to - from, Batch: batch, Jobs: jobs, Through: true}, runner, nil)
		require.NoError(t, err)
		return r
	}
	whole := part(0, 100, 100, 1)
	assert.EqualValues(t, 100, whole.Cases)
	assert.EqualValues(t, 99*100/2-10-55-56, whole.Calls)
	require.NotNil(t, whole.Failed)
	assert.EqualValues(t, 10, whole.Failed.Case)
	assert.Equal(t, whole, part(0, 100, 7, 3))
	var sum fuzz.Result
	for _, r := range []fuzz.Result{part(0, 33, 10, 2), part(33, 60, 1, 2), part(60, 100, 100, 1)} {
		sum.Cases, sum.Calls = sum.Cases+r.Cases, sum.Calls+r.Calls
	}
	assert.Equal(t, [2]uint64{whole.Cases, whole.Calls}, [2]uint64{sum.Cases, sum.Calls})
}

// A case from its making to the last invariant, on one core.
func BenchmarkSimulated(b *testing.B) {
	var calls uint64
	b.ReportAllocs()
	r := fuzz.Play(context.Background(), plan(1), fuzz.DES, fuzz.Batch{N: uint64(b.N), Step: 1}, nil)
	calls += r.Calls
	b.ReportMetric(float64(r.Cases)/b.Elapsed().Seconds(), "cases/s")
	b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
}
