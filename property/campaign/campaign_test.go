package campaign_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/property/campaign"
	"toolbench/property/mix"
	"toolbench/property/promise"
)

var (
	simulated = flag.Uint64("des", 2_000, "how many cases to simulate")
	full      = flag.Uint64("full", 100, "how many cases to play in the whole system")
	seed      = flag.Uint64("fuzzseed", 1, "which cases")
)

func plan(seed uint64) mix.Plan {
	return mix.Plan{Seed: seed, Policies: []string{"serial", "batch", "streaming", "effects"}, May: mix.Everything}
}

func play(t *testing.T, e campaign.Engine, cases uint64) campaign.Result {
	t.Helper()
	r := campaign.Play(context.Background(), plan(*seed), e, campaign.Batch{N: cases, Step: 1}, nil)
	if f := r.Failed; f != nil {
		c := campaign.NewMaker(plan(*seed), e).Case(f.Case).Clone()
		c = campaign.NewTester(e).Small(context.Background(), c, f.Broke, nil)
		t.Fatalf("case %d broke %s: %s\n%s", f.Case, f.Broke, f.Found, c.Scenario("case", "The smallest case."))
	}
	require.Equal(t, cases, r.Cases)
	return r
}

func TestTheSchedulerKeepsItsPromises(t *testing.T) {
	r := play(t, campaign.DES, *simulated)
	for i, s := range promise.Situations() {
		if *simulated >= 20_000 {
			assert.NotZero(t, r.Seen[i], "never seen: %s", s.Name)
		}
	}
}

func TestTheWholeSystemKeepsItsPromises(t *testing.T) { play(t, campaign.Both, *full) }

// The same seed gives the same cases, the same results, the same counts, on one
// processor or two, in one piece or in many.
func TestACampaignIsTheSameEachTime(t *testing.T) {
	cfg := campaign.Config{Plan: plan(7), Engine: campaign.DES, Cases: 1_000, Batch: 64, Jobs: 3}
	run := func(processors int) campaign.Result {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		r, err := campaign.Run(context.Background(), cfg, func(ctx context.Context, b campaign.Batch) (campaign.Result, error) {
			return campaign.Play(ctx, cfg.Plan, cfg.Engine, b, nil), nil
		}, nil)
		require.NoError(t, err)
		return r
	}
	first := run(1)
	assert.Equal(t, first, run(2))
	whole := campaign.Play(context.Background(), cfg.Plan, cfg.Engine, campaign.Batch{N: 1_000, Step: 1}, nil)
	assert.Equal(t, first, whole)
}

func TestShardsMakeTheWhole(t *testing.T) {
	var cases, calls uint64
	whole := campaign.Play(context.Background(), plan(7), campaign.DES, campaign.Batch{N: 100, Step: 1}, nil)
	for shard := range uint64(4) {
		cfg := campaign.Config{Plan: plan(7), Engine: campaign.DES, Shard: shard, Shards: 4, Cases: 25, Batch: 10}
		r, err := campaign.Run(context.Background(), cfg, func(ctx context.Context, b campaign.Batch) (campaign.Result, error) {
			return campaign.Play(ctx, cfg.Plan, cfg.Engine, b, nil), nil
		}, nil)
		require.NoError(t, err)
		cases, calls = cases+r.Cases, calls+r.Calls
	}
	assert.Equal(t, [2]uint64{whole.Cases, whole.Calls}, [2]uint64{cases, calls})
}

// What once failed is played again each time.
func TestWhatOnceFailedHolds(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		s, err := campaign.Parse(data)
		require.NoError(t, err, file)
		if b := s.Replay(context.Background()); b != nil {
			t.Errorf("%s: %s: %s\n%s", file, b.Name, b.Found, b.Log)
		}
	}
}

func TestACaseSurvivesItsFile(t *testing.T) {
	m := campaign.NewMaker(plan(9), campaign.Both)
	for i := range uint64(200) {
		want := campaign.Save("A case.", campaign.Both, m.Case(i).Clone())
		data, err := want.YAML()
		require.NoError(t, err)
		got, err := campaign.Parse(data)
		require.NoError(t, err, string(data))
		again, err := got.YAML()
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
	}
}

// Of two failures the one with the lower number is told, also when the other is found
// first.
func TestTheFirstFailureCounts(t *testing.T) {
	late := make(chan struct{})
	cfg := campaign.Config{Batch: 10, Jobs: 2, Cases: 1_000}
	r, err := campaign.Run(context.Background(), cfg, func(ctx context.Context, b campaign.Batch) (campaign.Result, error) {
		switch b.First {
		case 0:
			<-late // it ends when the other has failed, and was not stopped
			require.NoError(t, ctx.Err())
			return campaign.Result{Cases: 10, Failed: &campaign.Failure{Case: 3}}, nil
		case 10:
			close(late)
			return campaign.Result{Cases: 10, Failed: &campaign.Failure{Case: 12}}, nil
		}
		return campaign.Result{Cases: 10}, nil
	}, nil)
	require.NoError(t, err)
	require.NotNil(t, r.Failed)
	assert.EqualValues(t, 3, r.Failed.Case)
	assert.LessOrEqual(t, r.Cases, uint64(40), "nothing new is begun")
}
