package reports

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
)

func TestSafeSpellsOutWhatATerminalWouldObey(t *testing.T) {
	for in, want := range map[string]string{
		"plain":              "plain",
		"\x1b[31mred":        `\x1b[31mred`,
		"a\r\nb\tc":          `a\r\nb\tc`,
		"\u009b31m":          `\x9b31m`,
		"user\u202egpj.exe":  `user\u202egpj.exe`,
		"zero\u200bwidth":    `zero\u200bwidth`,
		"bad\xffbyte":        "bad\ufffdbyte",
		"👩‍💻 世界 ä":           "👩‍💻 世界 ä",
		"\U000e0041":         `\U000e0041`,
		"line\u2028breaking": `line\u2028breaking`,
	} {
		assert.Equal(t, want, Safe(in))
	}
}

func TestSafeTextIsHarmlessAndSafeAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "in")
		out := Safe(in)
		assert.True(t, utf8.ValidString(out))
		assert.NotContains(t, out, "\x1b")
		for _, r := range out {
			assert.True(t, Harmless(r), "%U", r)
		}
		assert.Equal(t, out, Safe(out))
	})
}

func TestFoldKeepsEveryCharacterButBlanksAtBreaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`[a-z 世👩é]{0,80}`).Draw(t, "in")
		width := rapid.IntRange(2, 30).Draw(t, "width")
		lines := Fold(in, width)
		for _, line := range lines {
			assert.LessOrEqual(t, Width(line), width)
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		assert.Equal(t, squeeze(in), squeeze(strings.Join(lines, "")))
	})
}

func TestFoldBreaksAfterTheLastBlankThatIsNearTheEnd(t *testing.T) {
	assert.Equal(t, []string{"one two", "three", "four"}, Fold("one two three four", 8))
	assert.Equal(t, []string{"a bcdefg", "hij"}, Fold("a bcdefghij", 8), "a blank far from the end is no place to break")
	assert.Equal(t, []string{"as it is, however long"}, Fold("as it is, however long", 0))
}

func TestCutMarksWhereItCut(t *testing.T) {
	assert.Equal(t, "short", Cut("short", 5, false))
	assert.Equal(t, "lon…", Cut("longer", 4, false))
	assert.Equal(t, "lon~", Cut("longer", 4, true))
	assert.Equal(t, "世…", Cut("世界世界", 4, false), "half a wide character is no character")
	assert.Empty(t, Cut("longer", 0, false))
}

func TestShortNamesStayApart(t *testing.T) {
	assert.Equal(t, []string{"provider_a…s.yaml#1", "provider_b…s.yaml#1", "other.yaml"},
		Shorten([]string{"provider_anthropic__test_variations.yaml#1", "provider_bedrock__test_variations.yaml#1", "other.yaml"}, 19, false))
	assert.Equal(t, []string{"prov…nthropic#1", "prov…nthropic#2"}, Shorten([]string{"provider_anthropic#1", "provider_anthropic#2"}, 15, false), "as it is where that will do")
	assert.Equal(t, []string{"…da", "…da"}, Shorten([]string{"abcda", "abcda"}, 3, false), "the same name twice")
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching(`ab{1,3}c{1,9}[de]{1,3}f{1,9}`), rapid.ID[string]).Draw(t, "names")
		width := rapid.IntRange(0, 30).Draw(t, "width")
		for i, s := range Shorten(names, width, false) {
			assert.LessOrEqual(t, Width(s), width)
			if Width(names[i]) <= width {
				assert.Equal(t, names[i], s)
			}
		}
	})
}

func TestPaintTakesNoWidth(t *testing.T) {
	assert.Equal(t, 2, Width(Red.On("ab", true)))
	assert.Equal(t, "ab", Red.On("ab", false))
}

func someGrid(rows ...[]string) Grid {
	return Grid{Columns: []Column{{Title: "Name"}, {Title: "Calls", Right: true}, {Title: "About"}}, Rows: rows}
}

func TestGridIsATableWhereItFitsAndAListWhereNot(t *testing.T) {
	g := someGrid([]string{"first", "12", "some words"}, []string{"世界", "3", "👩‍💻 more"})
	wide := g.Draw(80, false)
	assert.Contains(t, wide, "Name")
	narrow := g.Draw(20, false)
	assert.Equal(t, "first\n  Calls 12\n  About some words\n世界\n  Calls 3\n  About 👩‍💻 more\n", narrow)
}

func TestGridIsATableToItsLastColumn(t *testing.T) {
	g := someGrid([]string{"first", "12", "some words"})
	table := g.Draw(0, false)
	widest := 0
	for line := range strings.Lines(table) {
		widest = max(widest, Width(strings.TrimSuffix(line, "\n")))
	}
	just := g.Draw(widest, false)
	assert.Equal(t, table, just)
	less := g.Draw(widest-1, false)
	assert.True(t, strings.HasPrefix(less, "first\n  Calls 12"), less)
}

func TestGridNeverExceedsItsWidth(t *testing.T) {
	cell := rapid.StringMatching(`[a-zA-Z 世界👩🎉é…-]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		var rows [][]string
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			rows = append(rows, []string{cell.Draw(t, "a"), cell.Draw(t, "b"), cell.Draw(t, "c")})
		}
		width := rapid.IntRange(10, 130).Draw(t, "width")
		text := someGrid(rows...).Draw(width, rapid.Bool().Draw(t, "ascii"))
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, Width(strings.TrimSuffix(line, "\n")), width, "%q", line)
		}
	})
}

func TestColumnsAlignWhateverTheirCharactersWidth(t *testing.T) {
	text := someGrid([]string{"世界", "1", "x"}, []string{"ascii name", "22", "x"}, []string{"👩‍💻", "3", "x"}).Draw(80, true)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines[len(lines)-3:] {
		assert.Equal(t, Width(lines[len(lines)-1]), Width(line), text)
	}
}

func BenchmarkGrid(b *testing.B) {
	var rows [][]string
	for range 100 {
		rows = append(rows, []string{"a-scenario-with-a-name", "12", "what it is about"})
	}
	for b.Loop() {
		someGrid(rows...).Draw(100, false)
	}
}
