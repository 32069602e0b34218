package property_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/scenarios"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/schedule"
)

// notUnder are the scenarios that expect what other policies do not give, and why.
var notUnder = map[string]string{
	"fault-bash-failure-cancels-siblings":      "what runs or waits when a call fails is the policy's",
	"fault-bash-failure-in-a-batch":            "what runs or waits when a call fails is the policy's",
	"fault-bash-timeout-cancels-siblings":      "what runs or waits when a call fails is the policy's",
	"fault-interrupt":                          "what runs when the user interrupts is the policy's",
	"fault-interrupt-in-the-instant-of-an-end": "what runs when the user interrupts is the policy's",
	"fault-interrupt-twice":                    "what runs when the user interrupts is the policy's",
	"hook-makes-a-call-exclusive":              "hooks are asked in call order, and it expects them asked beside each other",
	"interrupt-a-sub-agent-with-a-deaf-tool":   "what runs when the user interrupts is the policy's",
	"interrupt-beside-a-deaf-tool":             "what runs when the user interrupts is the policy's",
	"interrupt-left-call-ends-late":            "what runs when the user interrupts is the policy's",
	"modifiers-safe-after-the-batch":           "a safe call's modifier acts, as one at a time",
	"modifiers-safe-dropped-when-streaming":    "a safe call's modifier acts, as one at a time",
	"modifiers-wait-under-a-limit-of-one":      "a safe call's modifier acts, as one at a time",
}

// suite is the whole suite, which is read once and which no test changes.
func suite(t *testing.T) []*scenario.Scenario {
	t.Helper()
	all, errs := read()
	require.Empty(t, errs)
	require.NotEmpty(t, all)
	return all
}

var read = sync.OnceValues(func() ([]*scenario.Scenario, []error) { return scenario.Find(scenarios.Files, ".") })

// What a scenario expects of results, state and files it gets under effects too, or
// would not get one at a time either. No policy is faster than the lower bound of its own
// run; streaming, under which the suite is written, is held to it where the suite is.
func TestTheSuiteUnderOtherPolicies(t *testing.T) {
	for _, p := range []schedule.Policy{schedule.Serial, schedule.Batch, schedule.Effects} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			for _, sc := range suite(t) {
				o := run.Scenario(t.Context(), sc, run.Options{Seed: 1, Policy: p.String()})
				require.NoError(t, o.Err, sc.Name)
				assert.GreaterOrEqual(t, o.Makespan, o.LowerBound, sc.Name)
				why, listed := notUnder[sc.Name]
				switch {
				case p == schedule.Batch:
				case !listed && p == schedule.Effects:
					assert.Empty(t, o.Failures, sc.Name)
				case listed:
					assert.NotEmpty(t, o.Failures, "%s holds by now, though %s", sc.Name, why)
				}
			}
		})
	}
}
