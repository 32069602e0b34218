package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/oracle"
)

var policies = []string{"serial", "batch", "streaming", "effects"}

// The core does what the machine does, action for action.
func TestTheCoreIsTheMachine(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 3, Policies: policies, May: generate.Everything})
	core, machine := des.Engine{}, des.Engine{New: oracle.NewScheduler}
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
	may := generate.Exclusive | generate.Failing | generate.Breaking | generate.Hanging | generate.IgnoringCancel | generate.Modifying | generate.Asking | generate.Misnamed | generate.Turns | generate.Ties | generate.Many
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 4, Policies: policies, May: may})
	var e des.Engine
	quiet := 0
	for i := range uint64(20_000) {
		c := m.Case(i)
		if !oracle.Undisturbed(c) {
			continue
		}
		quiet++
		log, err := e.Run(c)
		require.NoError(t, err)
		id, want, ok := oracle.CheckSpans(c, log)
		require.True(t, ok, "case %d: call %s should start at %s and end at %s\n%s\n%s", i, id, want.Start, want.End, generate.SchedulerScenario(c, "case", "x", nil), log)
	}
	require.Greater(t, quiet, 5_000)
}
