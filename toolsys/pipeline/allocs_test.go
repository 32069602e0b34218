//go:build !race

package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/pipeline"
)

// What a call of five members costs is held by what it allocates, which a busy machine does
// not change as it does times: a call of a message of a hundred, from its input's bytes to
// its result, on a goroutine of its own.
func TestAllocationsOfACall(t *testing.T) {
	benchmark(t, "Five", fiveInput, nil, func(t *testing.T, p *pipeline.Pipeline, env *pipeline.Env, call pipeline.Call) {
		const calls = 100
		pieces := testing.AllocsPerRun(20, func() { drive(t, p, env, call, calls) })
		assert.LessOrEqual(t, pieces/calls, 9.0, "allocations of a call")
	})
}
