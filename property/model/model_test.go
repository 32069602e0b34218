package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/mix"
	"toolbench/property/model"
	"toolbench/sim/des"
)

var policies = []string{"serial", "batch", "streaming", "effects"}

// The core does what the machine does, action for action.
func TestTheCoreIsTheMachine(t *testing.T) {
	m := mix.NewMaker(mix.Plan{Seed: 3, Policies: policies, May: mix.Everything})
	core, machine := des.Engine{}, des.Engine{New: model.New}
	for i := range uint64(20_000) {
		c := m.Case(i)
		want, err := machine.Run(c)
		require.NoError(t, err)
		got, err := core.Run(c)
		require.NoError(t, err)
		require.Equal(t, want, got, "case %d", i)
	}
}

// Where nothing stops anything, when calls start and end follows from a formula.
func TestQuietCasesFollowTheFormula(t *testing.T) {
	may := mix.Exclusive | mix.Failing | mix.Breaking | mix.Hanging | mix.Deaf | mix.Modifying | mix.Asking | mix.Misnamed | mix.Turns | mix.Ties | mix.Many
	m := mix.NewMaker(mix.Plan{Seed: 4, Policies: policies, May: may})
	var e des.Engine
	quiet := 0
	for i := range uint64(20_000) {
		c := m.Case(i)
		if !model.Quiet(c) {
			continue
		}
		quiet++
		log, err := e.Run(c)
		require.NoError(t, err)
		id, want, ok := model.Follows(c, log)
		require.True(t, ok, "case %d: call %s should start at %s and end at %s\n%s\n%s", i, id, want.Start, want.End, mix.Scenario(c, "case", "x", nil), log)
	}
	require.Greater(t, quiet, 5_000)
}
