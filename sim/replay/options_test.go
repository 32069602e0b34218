package replay_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/replay"
	"toolbench/toolsys/schedule"
)

func TestGlobsNameTools(t *testing.T) {
	gs, err := replay.ParseGlobs("view, ls ,mcp__*,r?ad,")
	require.NoError(t, err)
	for name, want := range map[string]bool{"view": true, "views": false, "ls": true, "mcp__github__list": true, "mcp": false, "read": true, "": false} {
		assert.Equal(t, want, gs.Match(name), name)
	}
	all, err := replay.ParseGlobs("*")
	require.NoError(t, err)
	assert.True(t, all.Match("a/b"), "a star is any name")
	_, err = replay.ParseGlobs("a[")
	assert.ErrorContains(t, err, "is no pattern")
}

func TestDurationsGoByNameAndThenByTheFirstPattern(t *testing.T) {
	ds, err := replay.ParseDurations("*=1s,R*=2s,Read=300ms")
	require.NoError(t, err)
	for name, want := range map[string]time.Duration{"Read": 300 * time.Millisecond, "Rm": time.Second, "x": time.Second} {
		got, ok := ds.Of(name)
		assert.True(t, ok)
		assert.Equal(t, want, got, name)
	}
	_, ok := replay.Durations{}.Of("x")
	assert.False(t, ok)
	for _, bad := range []string{"Read", "=1s", "Read=3", "Read=-1s", "Read=x", "a[=1s", "Read=1000000h"} {
		_, err := replay.ParseDurations(bad)
		assert.Error(t, err, bad)
	}
}

func TestAPaceMayLeaveThingsOut(t *testing.T) {
	p, err := replay.ParsePace("tps=120.5")
	require.NoError(t, err)
	assert.Equal(t, 400*time.Millisecond, p.FirstByte)
	assert.InDelta(t, 120.5, p.TokensPerSecond, 0)
	p, err = replay.ParsePace("first_byte=1s")
	require.NoError(t, err)
	assert.Equal(t, time.Second, p.FirstByte)
	assert.InDelta(t, 80, p.TokensPerSecond, 0)
	for _, bad := range []string{"fast", "tps=0", "tps=1e-300", "tps=-1", "tps=NaN", "tps=inf", "first_byte=5"} {
		_, err := replay.ParsePace(bad)
		assert.Error(t, err, bad)
	}
}

// What no policy can do is be slower than one that waits for more.
func TestTheCorpusReplaysAndNoPolicyIsSlowerThanAStricterOne(t *testing.T) {
	files, err := filepath.Glob("../../../shared/corpus/*/*")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the corpus of other people's recordings is not here")
	}
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		rep := replay.Recording(t.Context(), file, f, replay.Options{})
		require.NoError(t, f.Close())
		require.NoError(t, rep.Err, file)
		assert.Empty(t, rep.Problems, file)
		require.NotEmpty(t, rep.Conversations, file)
		for _, c := range rep.Conversations {
			serial, batch, streaming := figure(c, schedule.Serial), figure(c, schedule.Batch), figure(c, schedule.Streaming)
			assert.Equal(t, serial.Makespan, serial.Serial, file)
			assert.LessOrEqual(t, batch.Makespan, serial.Makespan, file)
			assert.LessOrEqual(t, streaming.Makespan, batch.Makespan, file)
			assert.Equal(t, c.Calls, c.Answered+c.Unanswered.N, file)
			assert.Empty(t, c.Broken.First, file)
			if c.Measured == nil {
				continue
			}
			// The agent that made the transcripts starts tools early, or batches them:
			// what it took lies near what the policy that it has is found to take.
			near := min((c.Measured.Makespan - streaming.Makespan).Abs(), (c.Measured.Makespan - batch.Makespan).Abs())
			assert.Less(t, near, 300*time.Millisecond, file)
		}
	}
}
