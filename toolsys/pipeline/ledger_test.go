package pipeline_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
)

const unlimited = -1

// lines makes text of n code points, in lines of ten.
func lines(n int) string { return strings.Repeat("123456789\n", n/10+1)[:n] }

func texts(parts ...string) []message.Block {
	var blocks []message.Block
	for _, p := range parts {
		blocks = append(blocks, message.Text(p))
	}
	return blocks
}

// onDisk saves results in files.
func onDisk(fs afero.Fs) func(file, text string) error {
	return func(file, text string) error { return afero.WriteFile(fs, file, []byte(text), 0o600) }
}

func ledger() (*pipeline.Ledger, afero.Fs) {
	fs := afero.NewMemMapFs()
	return pipeline.NewLedger(pipeline.ResultStore{Save: onDisk(fs), Dir: "/results"}), fs
}

func TestATextWithinItsLimitIsKeptAsItIs(t *testing.T) {
	l, fs := ledger()
	blocks := texts(lines(100))
	got, d := l.One(1, "toolu_1", 100, blocks)
	assert.Equal(t, blocks, got)
	assert.Equal(t, pipeline.Sizing{CallID: "toolu_1", Chars: 100, Inline: 100}, d)
	assert.Equal(t, "kept", d.Verdict.String())
	there, err := afero.DirExists(fs, "/results")
	require.NoError(t, err)
	assert.False(t, there, "nothing is written for it, not even the folder")
}

func TestATextOverItsLimitGoesToAFileAndThePreviewNamesIt(t *testing.T) {
	l, fs := ledger()
	whole := lines(30_001)
	got, d := l.One(1, "toolu_1", 30_000, texts(whole))
	require.Len(t, got, 1)
	assert.Equal(t, pipeline.Persisted, d.Verdict)
	assert.Equal(t, "/results/toolu_1.txt", d.Path)
	assert.Equal(t, 30_001, d.Chars)
	assert.Equal(t, utf8.RuneCountInString(got[0].Text), d.Inline)
	assert.Contains(t, got[0].Text, "30001 characters")
	assert.Contains(t, got[0].Text, d.Path)
	assert.Contains(t, got[0].Text, "\n"+lines(2000))
	assert.NotContains(t, got[0].Text, lines(2001))
	saved, err := afero.ReadFile(fs, d.Path)
	require.NoError(t, err)
	assert.Equal(t, whole, string(saved))
}

func TestAPreviewShowsWholeLinesUnlessTheyAreVeryLong(t *testing.T) {
	l, _ := ledger()
	row := strings.Repeat("x", 299) + "\n"
	got, _ := l.One(1, "rows", 100_000, texts(strings.Repeat(row, 400)))
	assert.True(t, strings.HasSuffix(got[0].Text, "]\n"+strings.Repeat(row, 6)), "six rows, 1,800 characters, are whole")
	assert.Contains(t, got[0].Text, "first 1800 characters")
	got, _ = l.One(1, "one line", 100_000, texts(strings.Repeat("x", 100_001)))
	assert.True(t, strings.HasSuffix(got[0].Text, "]\n"+strings.Repeat("x", pipeline.PreviewChars)))
}

func TestAPreviewEndsAtALineOnlyInItsSecondHalf(t *testing.T) {
	l, _ := ledger()
	half := strings.Repeat("x", pipeline.PreviewChars/2-1) + "\n"
	rest := strings.Repeat("y", 2*pipeline.PreviewChars)
	got, _ := l.One(1, "half", 3_000, texts(half+rest))
	assert.True(t, strings.HasSuffix(got[0].Text, "]\n"+half+rest[:pipeline.PreviewChars/2]))
	got, _ = l.One(1, "more", 3_000, texts("x"+half+rest))
	assert.True(t, strings.HasSuffix(got[0].Text, "]\nx"+half))
}

func TestACutIsBetweenCodePoints(t *testing.T) {
	for _, before := range []string{"", "a", "aa"} {
		l, _ := ledger()
		got, d := l.One(1, "a", unlimited, texts(before+strings.Repeat("天", pipeline.MaxInlineBytes/2)))
		assert.Equal(t, pipeline.Truncated, d.Verdict)
		assert.True(t, utf8.ValidString(got[0].Text))
	}
}

func TestResultsAreNotMovedWhereLittleIsWon(t *testing.T) {
	l, _ := ledger()
	in := make([]pipeline.SizedResult, pipeline.MaxMessageChars/2_000)
	for i := range in {
		in[i] = pipeline.SizedResult{Result: message.ToolResult(fmt.Sprintf("c%d", i), false, texts(lines(2_050))...)}
	}
	_, decisions := l.Message(1, in)
	moved := slices.DeleteFunc(decisions, func(d pipeline.Sizing) bool { return d.Verdict == pipeline.Kept })
	assert.Len(t, moved, 4, "5,000 characters too many; each that is moved leaves a short preview")
}

func TestLimitsCountCodePointsAndNotBytes(t *testing.T) {
	l, _ := ledger()
	_, d := l.One(1, "a", 1000, texts(strings.Repeat("天", 1000)))
	assert.Equal(t, pipeline.Kept, d.Verdict)
	_, d = l.One(1, "b", 1000, texts(strings.Repeat("天", 1001)))
	assert.Equal(t, pipeline.Persisted, d.Verdict)
}

func TestALimitOfZeroIsTheDefault(t *testing.T) {
	l, _ := ledger()
	_, d := l.One(1, "a", 0, texts(lines(50_000)))
	assert.Equal(t, pipeline.Kept, d.Verdict)
	_, d = l.One(1, "b", 0, texts(lines(50_001)))
	assert.Equal(t, pipeline.Persisted, d.Verdict)
}

func TestImagesStayInTheirPlace(t *testing.T) {
	l, _ := ledger()
	image := message.Image("image/png", strings.Repeat("A", 1_000_000))
	got, d := l.One(1, "a", 100, []message.Block{image, message.Text(lines(90)), image, message.Text(lines(90))})
	require.Len(t, got, 3)
	assert.Equal(t, image, got[0])
	assert.Equal(t, message.TypeText, got[1].Type)
	assert.Equal(t, image, got[2])
	assert.Equal(t, 181, d.Chars, "two texts and the line feed between them")
}

func TestNothingIsEverFourHundredThousandBytesInline(t *testing.T) {
	face := strings.Repeat("😀", 100_000) // 100,000 code points, 400,000 bytes
	for name, limit := range map[string]int{"within the tool's limit": 100_000, "a tool that limits itself": unlimited} {
		t.Run(name, func(t *testing.T) {
			l, fs := ledger()
			got, d := l.One(1, "a", limit, texts(face))
			assert.Less(t, len(got[0].Text), pipeline.MaxInlineBytes)
			assert.True(t, utf8.ValidString(got[0].Text))
			assert.NotEqual(t, pipeline.Kept, d.Verdict)
			assert.NotEmpty(t, d.Why)
			written, err := afero.Exists(fs, "/results/a.txt")
			require.NoError(t, err)
			assert.Equal(t, limit != unlimited, written, "a tool that limits itself is never saved")
		})
	}
	l, _ := ledger()
	_, d := l.One(1, "b", unlimited, texts(lines(399_999)))
	assert.Equal(t, pipeline.Kept, d.Verdict)
}

// full is a disk that refuses every write.
func full(string, string) error { return errors.New("no space left on device") }

func TestAFailedWriteLosesNoCall(t *testing.T) {
	stores := map[string]pipeline.ResultStore{
		"disk full": {Save: full, Dir: "/results"},
		"no disk":   {},
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			got, d := pipeline.NewLedger(store).One(1, "a", 10_000, texts(lines(20_000)))
			assert.Equal(t, pipeline.Truncated, d.Verdict)
			assert.Empty(t, d.Path)
			assert.LessOrEqual(t, d.Inline, 10_000)
			assert.Greater(t, d.Inline, 9_500, "it keeps what the limit allows")
			assert.Contains(t, got[0].Text, "could not be saved")
			assert.Contains(t, got[0].Text, "of 20000 characters")
		})
	}
}

func TestADecisionOutlivesTheDisk(t *testing.T) {
	fs := afero.NewMemMapFs()
	l := pipeline.NewLedger(pipeline.ResultStore{Save: onDisk(fs), Dir: "/results"})
	first, d1 := l.One(1, "a", 10, texts(lines(20)))
	require.NoError(t, fs.RemoveAll("/results"))
	again, d2 := l.One(1, "a", 10, texts(lines(20)))
	assert.Equal(t, first, again)
	assert.Equal(t, d1, d2)
	sent, d3 := l.One(1, "a", 10, first)
	assert.Equal(t, first, sent, "what was sent is recognised as well")
	assert.Equal(t, d1, d3)
}

func TestAnIDUsedTwiceMixesNoResults(t *testing.T) {
	l, fs := ledger()
	_, one := l.One(1, "same", 10, texts("first "+lines(20)))
	_, two := l.One(1, "same", 10, texts("second "+lines(20)))
	assert.Equal(t, "/results/same.txt", one.Path)
	assert.Equal(t, "/results/same-2.txt", two.Path)
	saved, err := afero.ReadFile(fs, two.Path)
	require.NoError(t, err)
	assert.Equal(t, "second "+lines(20), string(saved))
}

func TestACallIDCannotLeaveTheFolder(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range []string{"../../etc/passwd", "..", ".", "", "a/b", "a\\b", "a_b", "a\x00b", "天", "气", strings.Repeat("x", 400)} {
		l, _ := ledger()
		_, d := l.One(1, id, 1, texts("long enough"))
		require.Equal(t, pipeline.Persisted, d.Verdict, "%q", id)
		assert.Regexp(t, `^/results/[A-Za-z0-9_-]{1,130}\.txt$`, d.Path)
		assert.False(t, seen[d.Path], "%q shares %s", id, d.Path)
		seen[d.Path] = true
	}
}

func sized(limit int, parts ...string) []pipeline.SizedResult {
	var all []pipeline.SizedResult
	for i, p := range parts {
		all = append(all, pipeline.SizedResult{Result: message.ToolResult(fmt.Sprintf("c%d", i), false, texts(p)...), Limit: limit})
	}
	return all
}

func verdicts(ds []pipeline.Sizing) (v []string) {
	for _, d := range ds {
		v = append(v, d.Verdict.String())
	}
	return v
}

func TestTheLargestOfAMessageGoFirst(t *testing.T) {
	l, _ := ledger()
	_, ds := l.Message(1, sized(200_000, lines(90_000), lines(100_000), lines(60_000), lines(40_000)))
	assert.Equal(t, []string{"kept", "persisted", "kept", "kept"}, verdicts(ds))
	assert.Equal(t, "/results/c1.txt", ds[1].Path)
	assert.Contains(t, ds[1].Why, "200000")
}

func TestOfEqualsTheEarlierGoesFirst(t *testing.T) {
	l, _ := ledger()
	_, ds := l.Message(1, sized(200_000, lines(80_000), lines(80_000), lines(80_000)))
	assert.Equal(t, []string{"persisted", "kept", "kept"}, verdicts(ds))
}

func TestExactlyTheLimitFits(t *testing.T) {
	l, _ := ledger()
	_, ds := l.Message(1, sized(100_000, lines(100_000), lines(100_000)))
	assert.Equal(t, []string{"kept", "kept"}, verdicts(ds))
}

func TestMessagesAreNeverSummed(t *testing.T) {
	l, _ := ledger()
	for i := range 5 {
		r := message.ToolResult(fmt.Sprintf("turn%d", i), false, texts(lines(150_000))...)
		_, ds := l.Message(1, []pipeline.SizedResult{{Result: r, Limit: 150_000}})
		assert.Equal(t, []string{"kept"}, verdicts(ds))
	}
}

func TestAToolThatLimitsItselfIsNeverChosen(t *testing.T) {
	l, fs := ledger()
	_, ds := l.Message(1, sized(unlimited, lines(150_000), lines(150_000)))
	assert.Equal(t, []string{"kept", "kept"}, verdicts(ds))
	there, err := afero.DirExists(fs, "/results")
	require.NoError(t, err)
	assert.False(t, there)
}

func TestMessageKeepsTheFormOfAResult(t *testing.T) {
	l, _ := ledger()
	image := message.Image("image/png", "AAAA")
	in := message.ToolResult("c", true, image, message.Text(lines(60_000)))
	in.Cache = true
	out, _ := l.Message(1, []pipeline.SizedResult{{Result: in, Limit: 50_000}})
	require.Len(t, out, 1)
	assert.Equal(t, message.TypeToolResult, out[0].Type)
	assert.Equal(t, "c", out[0].ToolUseID)
	assert.True(t, out[0].IsError && out[0].Cache)
	assert.Equal(t, image, out[0].Content[0])
	assert.Equal(t, lines(60_000), in.Content[1].Text, "what was handed in is untouched")
}

// A limit of zero is the tool's default, and no mark of a tool that limits itself.
func TestResultsOfTheDefaultLimitShrinkLikeOthers(t *testing.T) {
	l, _ := ledger()
	out, ds := l.Message(1, sized(0, lines(49_000), lines(49_000), lines(49_000), lines(49_000), lines(49_000)))
	assert.Contains(t, verdicts(ds), "persisted")
	assert.LessOrEqual(t, total(out), pipeline.MaxMessageChars)
}

// The first to shrink keeps as much of a preview as any result in a file has, and what is
// hardly longer than a preview with its words is left alone as long as anything else helps.
func TestWhatIsShownOfAShrunkResult(t *testing.T) {
	l, _ := ledger()
	out, ds := l.Message(1, sized(200_000, lines(150_000), lines(60_000)))
	assert.Equal(t, []string{"persisted", "kept"}, verdicts(ds))
	assert.Greater(t, len(out[0].Content[0].Text), pipeline.PreviewChars)
	few := make([]string, 88)
	for i := range few {
		few[i] = lines(2_300)
	}
	l, _ = ledger()
	_, ds = l.Message(1, sized(200_000, few...))
	shrunk := 0
	for _, d := range ds {
		if d.Verdict != pipeline.Kept {
			shrunk++
		}
	}
	assert.Less(t, shrunk, 6, "each gains more than a thousand characters, of 2,400")
}

// However the bytes of its characters fall, a cut text stays under the bound of bytes.
func TestACutTextStaysUnderTheBoundOfBytes(t *testing.T) {
	for before := range 8 {
		l := pipeline.NewLedger(pipeline.ResultStore{Save: full, Dir: "/results"})
		got, d := l.One(1, "a", 200_000, texts(strings.Repeat("a", before)+strings.Repeat("😀", 150_000)))
		assert.Equal(t, pipeline.Truncated, d.Verdict)
		assert.Less(t, len(got[0].Text), pipeline.MaxInlineBytes)
		assert.Greater(t, len(got[0].Text), pipeline.MaxInlineBytes-50)
	}
	l := pipeline.NewLedger(pipeline.ResultStore{Save: full, Dir: "/results"})
	got, _ := l.One(1, "a", pipeline.MaxInlineBytes-1, texts(strings.Repeat("a", 2*pipeline.MaxInlineBytes)))
	assert.Less(t, len(got[0].Text), pipeline.MaxInlineBytes, "it ends where the characters and the bytes do")
	assert.Greater(t, len(got[0].Text), pipeline.MaxInlineBytes-50)
}

func TestAFailedWriteCutsNoMoreThanTheMessageIsOver(t *testing.T) {
	l := pipeline.NewLedger(pipeline.ResultStore{Save: full, Dir: "/results"})
	out, ds := l.Message(1, sized(200_000, lines(120_000), lines(100_000)))
	assert.Equal(t, []string{"truncated", "kept"}, verdicts(ds))
	assert.LessOrEqual(t, total(out), pipeline.MaxMessageChars)
	assert.Greater(t, total(out), pipeline.MaxMessageChars-200)
	assert.Contains(t, ds[0].Why, "no space left")
}

// What its own limit had cut where nothing can be saved is cut by no more than the message is over, and is still cut.
func TestWhatWasCutAlreadyIsCutByNoMoreThanTheMessageIsOver(t *testing.T) {
	l := pipeline.NewLedger(pipeline.ResultStore{Save: full, Dir: "/results"})
	many := sized(50_000, lines(60_000), lines(60_000), lines(60_000), lines(60_000), lines(30_000))
	out, ds := l.Message(1, many)
	assert.Equal(t, []string{"truncated", "truncated", "truncated", "truncated", "kept"}, verdicts(ds))
	assert.LessOrEqual(t, total(out), pipeline.MaxMessageChars)
	assert.Greater(t, total(out), pipeline.MaxMessageChars-200)
	assert.Contains(t, out[0].Content[0].Text, "of 60000 characters are shown. The rest could not be saved")
	for _, d := range ds[:4] {
		assert.Contains(t, d.Why, "no space left")
	}
}

// A call id that two results share leads to the first of their files, however often it is asked for.
func TestAFileIsFoundByItsCall(t *testing.T) {
	l, _ := ledger()
	assert.Empty(t, l.File("twice"))
	l.One(1, "twice", 10, texts("short"))
	assert.Empty(t, l.File("twice"), "what is sent whole is in no file")
	_, first := l.One(1, "twice", 10, texts(lines(20)))
	for n := range 8 {
		_, other := l.One(2+n, "twice", 10, texts(lines(21+n)))
		require.NotEqual(t, first.Path, other.Path)
	}
	assert.Equal(t, "/results/twice-2.txt", l.File("twice"))
}

func TestHundredsOfPreviewsStillFit(t *testing.T) {
	for _, n := range []int{300, 700} { // with a short preview each, and with none
		hundreds(t, n)
	}
}

func hundreds(t *testing.T, n int) {
	l, _ := ledger()
	many := make([]string, n)
	for i := range many {
		many[i] = lines(60_000)
	}
	out, ds := l.Message(1, sized(50_000, many...))
	assert.LessOrEqual(t, total(out), pipeline.MaxMessageChars)
	for _, d := range ds {
		assert.Equal(t, pipeline.Persisted, d.Verdict)
	}
	again, _ := l.Message(1, sized(50_000, many...))
	assert.Equal(t, out, again)
}

func TestAnEarlierMessagesResultIsFrozenAsItWas(t *testing.T) {
	l, _ := ledger()
	old := sized(200_000, lines(150_000))
	first, _ := l.Message(1, old)
	grown := append(old, pipeline.SizedResult{Result: message.ToolResult("new", false, texts(lines(100_000))...), Limit: 100_000})
	out, ds := l.Message(1, grown)
	assert.Equal(t, first[0], out[0])
	assert.Equal(t, []string{"kept", "persisted"}, verdicts(ds), "the larger one went out whole and stays so")
}

// A model that repeats a message with its ids, whose tools answer the same, has sent another
// message: what the first one kept may be cut in it.
func TestAMessageThatComesAgainIsHeldToItsSize(t *testing.T) {
	for name, save := range map[string]func(string, string) error{"saved": nil, "disk full": full} {
		t.Run(name, func(t *testing.T) {
			l, _ := ledger()
			if save != nil {
				l = pipeline.NewLedger(pipeline.ResultStore{Save: save, Dir: "/results"})
			}
			first := sized(200_000, lines(100_000), lines(100_000))
			out, _ := l.Message(1, first)
			more := append(first, pipeline.SizedResult{Result: message.ToolResult("new", false, texts("done")...), Limit: 100_000})
			second, _ := l.Message(2, more)
			assert.LessOrEqual(t, total(second), pipeline.MaxMessageChars)
			assert.Equal(t, "done", second[2].Content[0].Text)
			again, _ := l.Message(1, first)
			assert.Equal(t, out, again)
		})
	}
}

// Calls of two conversations may share an id, and their results lie in one folder.
func TestAForkWritesOverNoResult(t *testing.T) {
	l, fs := ledger()
	fork := l.Clone()
	_, theirs := fork.One(1, "same", 10, texts(strings.Repeat("a", 20)))
	_, ours := l.One(1, "same", 10, texts(strings.Repeat("b", 20)))
	require.NotEqual(t, theirs.Path, ours.Path)
	for file, want := range map[string]string{theirs.Path: strings.Repeat("a", 20), ours.Path: strings.Repeat("b", 20)} {
		got, err := afero.ReadFile(fs, file)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), file)
	}
}

func TestAForkRepeatsTheBytesAndGoesItsOwnWay(t *testing.T) {
	l, _ := ledger()
	shared := sized(200_000, lines(150_000), lines(100_000))
	out, _ := l.Message(1, shared)
	fork := l.Clone()
	again, _ := fork.Message(1, shared)
	assert.Equal(t, out, again)
	_, d := fork.One(1, "own", 10, texts(lines(20)))
	assert.Equal(t, pipeline.Persisted, d.Verdict)
}

func total(results []message.Block) (n int) {
	for _, r := range results {
		n += utf8.RuneCountInString(message.PlainText(r.Content))
	}
	return n
}
