package fuzz_test

import (
	"context"
	"flag"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/property/fuzz"
	"toolbench/property/generate"
	"toolbench/property/oracle"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
)

var (
	systemCases = flag.Uint64("systemcases", 150, "how many system cases to run")
	systemSeed  = flag.Uint64("systemseed", 1, "which system cases")
)

func TestSystemCasesHold(t *testing.T) {
	m := generate.NewSystemMaker(plan(*systemSeed))
	seen := make([]int, len(oracle.Goals()))
	for i := range *systemCases {
		s := m.Case(i)
		require.NoError(t, s.Check(), "case %d", i)
		if b := fuzz.RunSystem(context.Background(), s, seen); b != nil {
			t.Errorf("case %d violates %s: %s", i, b.Name, b.Found)
			if testing.Verbose() {
				t.Logf("\n%s", fuzz.Scenario(generate.Case{System: s}, "case", "One case."))
			}
		}
	}
	for i, g := range oracle.Goals() {
		t.Logf("%6d %s", seen[i], g.Name)
	}
}

// The same number of the same seed is the same case, whatever was made before.
func TestASystemCaseIsItsNumber(t *testing.T) {
	one, other := generate.NewSystemMaker(plan(3)), generate.NewSystemMaker(plan(3))
	for i := range uint64(50) {
		other.Case(1_000 + i)
		assert.Equal(t, one.Case(i), other.Case(i))
	}
}

// A system case is written as a scenario that expects what the oracle predicts,
// and holds.
func TestAWrittenSystemCaseHolds(t *testing.T) {
	m := generate.NewSystemMaker(plan(4))
	for i := range uint64(100) {
		s := m.Case(i)
		sc, err := scenario.Parse("case.yaml", []byte(fuzz.Scenario(generate.Case{System: s}, "case", "One case.")))
		require.NoError(t, err, "case %d", i)
		out := run.Scenario(context.Background(), sc, run.Options{Seed: s.Seed})
		require.NoError(t, out.Err)
		assert.Empty(t, out.Failures, "case %d\n%s", i, fuzz.Scenario(generate.Case{System: s}, "case", "One case."))
	}
}

// What is taken away from a failing case is what has nothing to do with it.
func TestAFailingSystemCaseIsMadeSmall(t *testing.T) {
	m := generate.NewSystemMaker(plan(5))
	writes := func(s *generate.SystemCase) (n int) {
		for _, turn := range s.Turns {
			for _, c := range turn.Calls {
				if c.Tool == "Write" && s.Person {
					n++
				}
			}
		}
		return n
	}
	for i := uint64(0); ; i++ {
		s := m.Case(i)
		if writes(s) < 2 {
			continue
		}
		before := generate.Case{System: s}.Clone().System
		small := generate.Case{System: s}.Shrink(func(d generate.Case) bool { return writes(d.System) > 0 }).System
		assert.Equal(t, before, s, "the case itself is left as it is")
		assert.Equal(t, 1, small.Calls())
		assert.True(t, small.Person)
		assert.Empty(t, small.Hooks)
		assert.Empty(t, small.Servers)
		assert.Empty(t, small.Tools)
		return
	}
}

// The reference predicts of these what the rows of the specification demand.
func TestTheReference(t *testing.T) {
	for name, text := range map[string]string{
		"a deny rule beats a hook's allow": `
deny: [Write(/repo/barred/**)]
hooks: [{event: PreToolUse, tool: Write, says: allow}]
turns: [{calls: [{id: c1, tool: Write, path: /repo/barred/c1.txt}]}]`,
		"nobody gets around a rule by another input": `
deny: [Write(/repo/barred/**)]
person: true
turns: [{calls: [{id: c1, tool: Write, path: /repo/free/c1.txt, person: barred}]}]`,
		"a discovered tool is not hinted at": `
known: [Alpha1]
tools: [{name: Alpha1, deferrable: true}]
turns: [{calls: [{id: c1, tool: Alpha1, bad: true}]}]`,
		"servers in any order": `
seed: 1
servers: [{name: weather}, {name: git, from: 2}]
turns: [{calls: [{id: c1, tool: ToolSearch, query: "select:mcp__weather__forecast"}]}]`,
		"an agent's parent is not stopped by what fails in it": `
allow: [Alpha1]
tools: [{name: Alpha1, fails: true, stops: true}]
turns: [{calls: [{id: c1, tool: Agent, inside: [{id: c2, tool: Alpha1}]}]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			var s generate.SystemCase
			require.NoError(t, yaml.UnmarshalWithOptions([]byte(text+"\npolicy: streaming\n"), &s, yaml.Strict()))
			require.NoError(t, s.Check())
			b := fuzz.RunSystem(context.Background(), &s, nil)
			assert.Nil(t, b)
		})
	}
}

// The same case gives the same trace, byte for byte, whenever it is played (O4): also
// where a sub-agent is stopped while its parent stops others.
func TestASystemCaseHasOneTrace(t *testing.T) {
	m := generate.NewSystemMaker(plan(77))
	for i := range uint64(120) {
		s := m.Case(1100 + i)
		sc, err := scenario.Parse("case.yaml", []byte(fuzz.Scenario(generate.Case{System: s}, "case", "One case.")))
		require.NoError(t, err)
		first := run.Scenario(t.Context(), sc, run.Options{Seed: s.Seed})
		again := run.Scenario(t.Context(), sc, run.Options{Seed: s.Seed})
		require.Equal(t, first.Digest, again.Digest, "case %d", i)
	}
}

func BenchmarkMakeAndRun(b *testing.B) {
	m := generate.NewSystemMaker(plan(1))
	i := uint64(0)
	for b.Loop() {
		if broken := fuzz.RunSystem(context.Background(), m.Case(i), nil); broken != nil {
			b.Fatalf("case %d violates %s: %s", i, broken.Name, broken.Found)
		}
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "cases/s")
}
