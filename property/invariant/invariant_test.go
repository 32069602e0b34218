package invariant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/invariant"
)

func TestEveryPromiseHolds(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 2, Policies: []string{"serial", "batch", "streaming", "effects"}, May: generate.Everything})
	var e des.Engine
	v := invariant.View{}
	for i := range uint64(20_000) {
		c := m.Case(i)
		log, err := e.Run(c)
		require.NoError(t, err)
		if b := look(&v, c, log); b != nil {
			t.Fatalf("case %d: %v\n%s\n%s", i, b, generate.SchedulerScenario(c, "case", "One case.", nil), log)
		}
	}
}

func look(v *invariant.View, c *des.Case, log *des.Log) *invariant.SchedulerViolation {
	v.Read(c, log)
	return invariant.CheckScheduler(v)
}
