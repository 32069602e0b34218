package fuzz_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/fuzz"
	"toolbench/property/generate"
	"toolbench/toolsys/trace"
)

// The same case gives the same trace, byte for byte, whenever it is played (O4). The
// digest over all of them is printed: with -v it can be compared between processes,
// numbers of processors, and builds.
func TestACaseHasOneTrace(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 3, Policies: policies, May: generate.Everything})
	lean, all := fuzz.NewInProcess(), sha256.New()
	for i := range *cases {
		c := m.Case(i)
		var first string
		for range 2 {
			_, out, err := lean.Run(context.Background(), c)
			require.NoError(t, err)
			d := digest(out.Trace)
			if first == "" {
				first = d
			}
			require.Equal(t, first, d, "case %d\n%s", i, generate.SchedulerScenario(c, "case", "One case.", nil))
		}
		all.Write([]byte(first))
	}
	t.Logf("%d cases: %s", *cases, hex.EncodeToString(all.Sum(nil))[:16])
}

func digest(events []trace.Event) string {
	h := sha256.New()
	for _, e := range events {
		h.Write(append(e.AppendLine(nil), '\n'))
	}
	return string(h.Sum(nil))
}
