package pipeline_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
)

// anyMessage draws results of every size and limit, in several scripts.
func anyMessage(t *rapid.T) []pipeline.SizedResult {
	n := rapid.IntRange(0, 12).Draw(t, "results")
	all := make([]pipeline.SizedResult, n)
	for i := range all {
		unit := rapid.SampledFrom([]string{"a", "word ", "a line\n", "天气\n", "😀", "\xff a"}).Draw(t, "unit")
		chars := rapid.IntRange(0, 90_000).Draw(t, "chars")
		limit := rapid.SampledFrom([]int{unlimited, 0, 1, 30_000, 100_000}).Draw(t, "limit")
		text := strings.Repeat(unit, chars/utf8.RuneCountInString(unit))
		all[i] = pipeline.SizedResult{Result: message.ToolResult(fmt.Sprintf("c%d", i), false, texts(text)...), Limit: limit}
	}
	return all
}

func TestAnyMessageFitsOrOnlySelfLimitingResultsAreLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyMessage(t)
		l, fs := ledger()
		out, ds := l.Message(1, in)
		require.Len(t, out, len(in))
		require.Len(t, ds, len(in))
		over := total(out) > pipeline.MaxMessageChars
		for i, d := range ds {
			text := message.PlainText(out[i].Content)
			require.Equal(t, utf8.RuneCountInString(text), d.Inline)
			require.Less(t, len(text), pipeline.MaxInlineBytes)
			checkVerdict(t, fs, in[i], out[i], d)
			if over && in[i].Limit != unlimited {
				require.Less(t, d.Inline, 500, "something was left to win")
			}
		}
	})
}

func checkVerdict(t *rapid.T, fs afero.Fs, in pipeline.SizedResult, out message.Block, d pipeline.Sizing) {
	whole := message.PlainText(in.Result.Content)
	switch d.Verdict {
	case pipeline.Kept:
		require.Equal(t, in.Result, out)
	case pipeline.Persisted:
		require.NotEqual(t, unlimited, in.Limit)
		saved, err := afero.ReadFile(fs, d.Path)
		require.NoError(t, err)
		require.Equal(t, whole, string(saved))
	case pipeline.Truncated:
		require.Equal(t, unlimited, in.Limit)
	}
}

func TestInAnyMessageTheChosenAreTheLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, _ := ledger()
		in := anyMessage(t)
		_, ds := l.Message(1, in)
		least, most := 1<<30, 0
		for i, d := range ds {
			switch {
			case in[i].Limit == unlimited:
			case d.Verdict == pipeline.Kept:
				most = max(most, d.Chars)
			case strings.Contains(d.Why, "message"):
				least = min(least, d.Chars)
			}
		}
		require.GreaterOrEqual(t, least, most)
	})
}

func TestAnyMessageGivesTheSameBytesAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, fs := ledger()
		in := anyMessage(t)
		if rapid.Bool().Draw(t, "pipeline first") {
			for i := range in {
				in[i].Result.Content, _ = l.One(1, in[i].Result.ToolUseID, in[i].Limit, in[i].Result.Content)
			}
		}
		out, ds := l.Message(1, in)
		require.NoError(t, fs.RemoveAll("/results"))
		again, ds2 := l.Message(1, in)
		require.Equal(t, out, again)
		require.Equal(t, ds, ds2)
		for i := range in {
			in[i].Result = out[i]
		}
		resent, _ := l.Message(1, in)
		require.Equal(t, out, resent, "what was sent, handed in again")
	})
}

func BenchmarkOneKept(b *testing.B) {
	l, _ := ledger()
	blocks := texts(lines(1000))
	for b.Loop() {
		l.One(1, "call", 50_000, blocks)
	}
}

// A result's size is in code points, as package utf8 counts them, in texts of any bytes.
func TestSizesAreInCodePoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", "eight of", "é", "世", "😀", "\xff", "\xe4\xb8", "\x00", "\x7f"})).Draw(t, "text")
		text := strings.Join(pieces, "")
		_, d := pipeline.NewLedger(pipeline.ResultStore{}).One(1, "toolu_1", 0, []message.Block{message.Text(text)})
		assert.Equal(t, utf8.RuneCountInString(text), d.Chars, "%q", text)
		assert.Equal(t, d.Chars, d.Inline)
	})
}
