package stream_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/sim/stream"
)

// What is left out of an outline is the data, whatever the turn is made of.
func TestAnOutlineIsTheScriptWithoutItsData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turn := spoiltTurn(t)
		want := stream.Script(turn)
		for i := range want {
			want[i].Data = nil
		}
		before := []stream.Event{{Type: "before"}}
		got := stream.Outline(before, turn)
		require.Equal(t, "before", got[0].Type, "it appends")
		require.Equal(t, want, got[1:])
	})
}

// spoiltTurn may be cut, or fail, anywhere.
func spoiltTurn(t *rapid.T) stream.Turn {
	span := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.IntRange(0, 5_000_000).Draw(t, "time")) })
	turn := stream.Turn{
		Seed: rapid.Uint64().Draw(t, "seed"), FirstByte: span.Draw(t, "first byte"), End: span.Draw(t, "end"),
		Pings: rapid.SliceOfN(span, 0, 2).Draw(t, "pings"), CutAfter: rapid.SampledFrom([]int{0, 0, 1, 3, 9}).Draw(t, "cut"),
	}
	if rapid.Bool().Draw(t, "error") {
		turn.Error = &stream.Error{Type: "overloaded_error", At: span.Draw(t, "error at")}
	}
	for range rapid.IntRange(0, 4).Draw(t, "blocks") {
		turn.Blocks = append(turn.Blocks, stream.Block{
			Kind: rapid.SampledFrom([]stream.Kind{stream.Text, stream.Thinking, stream.ToolUse, "other"}).Draw(t, "kind"),
			Text: "Some words to be cut into pieces.", Signature: "s", At: span.Draw(t, "at"), CutAt: rapid.SampledFrom([]int{0, 0, 0, 4, -1}).Draw(t, "cut at"),
			Input: json.RawMessage(rapid.SampledFrom([]string{"{}", `{ "a": [1, 2, "three"] }`, "[1,"}).Draw(t, "input")),
		})
	}
	return turn
}

func BenchmarkScript(b *testing.B) {
	turn := stream.Turn{Seed: 1}
	for range 10 {
		turn.Blocks = append(turn.Blocks, stream.Block{Kind: stream.ToolUse, ID: "c1", Name: "Look", Input: json.RawMessage("{}")})
	}
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			stream.Script(turn)
		}
	})
	b.Run("outline", func(b *testing.B) {
		var out []stream.Event
		b.ReportAllocs()
		for b.Loop() {
			out = stream.Outline(out[:0], turn)
		}
	})
}
