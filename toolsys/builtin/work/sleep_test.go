package work_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// withClock gives a context on the bubble's own time and notes who waited.
func withClock(actors *[]string) *tool.Context {
	c := &tool.Context{}
	c.CallID = "toolu_1"
	c.Clock.Now = time.Now
	c.Clock.Sleep = func(ctx context.Context, actor string, d time.Duration) error {
		*actors = append(*actors, actor)
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	return c
}

func TestSleepWaitsOnTheConversationsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var actors []string
		sleep, began := work.Sleep(), time.Now()
		out, err := sleep.Call(t.Context(), parse(t, sleep, `{"seconds":1.5}`), withClock(&actors))
		require.NoError(t, err)
		assert.Equal(t, 1500*time.Millisecond, time.Since(began))
		assert.Equal(t, work.SleepOut{Seconds: 1.5}, out.Data)
		assert.Equal(t, "Waited 1.5 s.", message.PlainText(out.Blocks))
		assert.Equal(t, []string{"tool/toolu_1"}, actors, "the waiter is named after its call")
	})
}

func TestSleepEndsWhenItIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var actors []string
		sleep := work.Sleep()
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		_, err := sleep.Call(ctx, parse(t, sleep, `{"seconds":3600}`), withClock(&actors))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Contains(t, err.Error(), "after 4 s")
	})
}

func TestSleepRefusesWhatIsNoWait(t *testing.T) {
	for _, raw := range []string{`{}`, `{"seconds":-1}`, `{"seconds":3601}`, `{"seconds":"5"}`, `{"seconds":1,"why":"x"}`} {
		_, problems := work.Sleep().Parse(json.RawMessage(raw))
		assert.NotEmpty(t, problems, raw)
	}
}

func TestSleepRunsBesideOthersAndYieldsToTheUser(t *testing.T) {
	sleep := work.Sleep()
	in := parse(t, sleep, `{"seconds":2}`)
	safe := sleep.Behaviour.Safe(in)
	readOnly := sleep.Behaviour.ReadOnly(in)
	assert.True(t, safe)
	assert.True(t, readOnly)
	assert.Equal(t, tool.Cancel, sleep.Behaviour.Interrupt)
	assert.Equal(t, tool.Effects{Reads: []string{"inbox"}}, sleep.Behaviour.Effects(in, nil))
	assert.Equal(t, "Waiting 2 s", sleep.Present.Activity(in))
}
