package fuzz_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/property/fuzz"
	"toolbench/property/generate"
	"toolbench/property/oracle"
	"toolbench/toolsys/schedule"
)

func simulatedCase(calls ...des.Call) generate.Case {
	last := calls[len(calls)-1].At
	return generate.Case{Scheduler: &des.Case{Policy: "streaming", Limit: 1, Turns: []des.Turn{{Calls: calls, End: last}}}}
}

// With a limit that is off by one, a failure is inevitable when the second call is complete
// while the first runs: until then the model could have stopped.
func TestTheFirstInevitableMoment(t *testing.T) {
	ctx := context.Background()
	plant := func() *fuzz.Checker {
		c := fuzz.NewChecker(fuzz.DES)
		c.Plant(func(p schedule.Policy, limit int) (des.Stepper, error) { return oracle.NewScheduler(p, limit+1) })
		return c
	}
	one := des.Call{ID: "c1", At: time.Second, For: 5 * time.Second, Safe: true}
	two := des.Call{ID: "c2", At: 2 * time.Second, For: time.Second, Safe: true}
	three := des.Call{ID: "c3", At: 4 * time.Second, For: time.Second, Safe: true}
	for name, c := range map[string]generate.Case{"two": simulatedCase(one, two), "more": simulatedCase(one, two, three)} {
		m := plant().Inevitable(ctx, c)
		require.NotNil(t, m, name)
		assert.Equal(t, "c2 ready, at 2s", m.What, name)
		assert.Regexp(t, `^turns\.0\.calls(: without 1|\.0\.for: 5s → )`, m.Averted, "the message ends, or the first call does")
		assert.Greater(t, m.Same, 3, name)
		assert.Equal(t, m, plant().Inevitable(ctx, c), "the same each time")
	}
	assert.Nil(t, plant().Inevitable(ctx, simulatedCase(one)), "it holds")
}

// Each variation is a case that differs in one place.
func TestTheVariationsOfACase(t *testing.T) {
	m := fuzz.NewMaker(plan(3), fuzz.Both)
	for i := range uint64(8) {
		c := m.Case(i).Clone()
		all := c.Variations()
		require.NotEmpty(t, all)
		for _, v := range all {
			assert.NoError(t, v.Case.Check(), v.Changes)
			assert.Len(t, v.Changes, 1)
			assert.Regexp(t, `^[a-z_0-9.]+: (without \d|.* → )`, v.Changes[0].String())
		}
	}
}
