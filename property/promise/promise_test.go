package promise_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/mix"
	"toolbench/property/promise"
	"toolbench/sim/des"
)

func TestEveryPromiseHolds(t *testing.T) {
	m := mix.NewMaker(mix.Plan{Seed: 2, Policies: []string{"serial", "batch", "streaming", "effects"}, May: mix.Everything})
	var e des.Engine
	v := promise.View{}
	for i := range uint64(20_000) {
		c := m.Case(i)
		log, err := e.Run(c)
		require.NoError(t, err)
		if b := look(&v, c, log); b != nil {
			t.Fatalf("case %d: %v\n%s\n%s", i, b, mix.Scenario(c, "case", "One case.", nil), log)
		}
	}
}

func look(v *promise.View, c *des.Case, log *des.Log) *promise.Broken {
	v.Look(c, log)
	return promise.Check(v)
}
