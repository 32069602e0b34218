package stream_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"toolbench/sim/stream"
)

func TestPaceCountsFourBytesAsAToken(t *testing.T) {
	events := stream.Script(stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Deltas: []stream.Delta{{Text: "12345678"}, {Text: "123"}, {Text: "4"}}}}})
	paced := stream.Pace{FirstByte: 400 * ms, TokensPerSecond: 10}.Apply(events)
	var at []time.Duration
	for _, e := range paced {
		at = append(at, e.At)
	}
	assert.Equal(t, []time.Duration{400 * ms, 400 * ms, 400 * ms, 600 * ms, 675 * ms, 700 * ms, 700 * ms, 700 * ms, 700 * ms}, at)
	assert.Zero(t, events[3].At, "the argument is unchanged")
}

// Text, thinking and the input of calls take their time; signatures take none.
func TestAllThatAModelWritesTakesItsTime(t *testing.T) {
	for want, block := range map[time.Duration]stream.Block{
		1 * time.Second: {Kind: stream.Text, Text: "1234"}, 2 * time.Second: {Kind: stream.Thinking, Text: "12345678", Signature: "long enough"},
		3 * time.Second: {Kind: stream.ToolUse, Name: "A", Input: []byte(`{"a":123456}`)},
	} {
		paced := stream.Pace{TokensPerSecond: 1}.Apply(stream.Script(stream.Turn{Blocks: []stream.Block{block}}))
		assert.Equal(t, want, paced[len(paced)-1].At)
	}
}

func TestPaceWithoutARateSendsAllWithTheFirstByte(t *testing.T) {
	events := stream.Script(stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: "hello"}}})
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		for _, e := range (stream.Pace{FirstByte: ms, TokensPerSecond: rate}).Apply(events) {
			assert.Equal(t, ms, e.At)
		}
	}
}

func TestPacedTimesNeverRunBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := stream.Pace{FirstByte: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "first")), TokensPerSecond: rapid.Float64Range(1e-300, 1e300).Draw(t, "rate")}
		paced := p.Apply(stream.Script(anyTurn(t)))
		assert.True(t, slices.IsSortedFunc(paced, byTime))
		assert.GreaterOrEqual(t, paced[0].At, p.FirstByte.Truncate(stream.Tick))
	})
}
