package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/jsonscan"
)

// reads reports whether the text is one whole value to a cursor.
func reads(text string) bool {
	c := jsonscan.Cursor{JSON: []byte(text)}
	c.Space()
	return c.Skip() && c.End()
}

func TestACursorReadsWhatIsJSONAndNothingElse(t *testing.T) {
	for text := range strings.FieldsSeq(`0 -0 9 90 19 -9 0.9 9.09 1e9 1E+9 1e-09 01 -01 00 1. .1 1e 1e+ - + +1 --1 0x9 1e9.5
		true false null tru nul falsey True {} [] [[]] {"":{}} [1,2] [1,] [,1] [1,,2] {"a":1,} {,} {"a"} {"a":} {"a":1 [1 ] } [} {]
		{"a":1}} {"a":1,"a":2} {a:1} {1:1} "a" "\u09afAF" "\u09ag0" "\u09" "\u" "\x" "\/\b\f\n\r\t\"\\" "a 'a' "é" "\ud83d"`) {
		assert.Equal(t, json.Valid([]byte(text)), reads(text), text)
	}
	for _, text := range []string{"", " ", " 1 ", "\t[\n1\r,2 ]", "\"a\tb\"", "\"a\x1fb\"", "\"a\x20b\"", "1 2", "\v1", "\"12345678\x00\"", "\"1234567\\q\""} {
		assert.Equal(t, json.Valid([]byte(text)), reads(text), "%q", text)
	}
}

func TestPropertyACursorAgreesWithTheStandardLibrary(t *testing.T) {
	pieces := []string{"{", "}", "[", "]", ",", ":", `"`, `"a"`, `"\u00e9"`, `\`, "0", "9", "-", ".", "e", "true", "null", " ", "\n", "é", "\x01"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		require.Equal(t, json.Valid([]byte(text)), reads(text), "%q", text)
	})
}

// The bound is of what is open at the same time: what is closed again does not count.
func TestAValueNestsAThousandDeepAndNoDeeper(t *testing.T) {
	for open, end := range map[string]string{"[": "]", `{"a":`: "}"} {
		inner := map[string]string{"[": "", `{"a":`: "1"}[open]
		nested := func(n int) string { return strings.Repeat(open, n) + inner + strings.Repeat(end, n) }
		assert.True(t, reads(nested(jsonscan.MaxDepth)), open)
		assert.False(t, reads(nested(jsonscan.MaxDepth+1)), open)
	}
	assert.True(t, reads("["+strings.Repeat(`[{}],`, 2*jsonscan.MaxDepth)+"[]]"))
}

func TestItemsAreCountedFromNought(t *testing.T) {
	var seen []int
	c := jsonscan.Cursor{JSON: []byte(`["a", 1, {}]`)}
	assert.True(t, c.Items(func(i int) bool { seen = append(seen, i); return c.Skip() }))
	assert.Equal(t, []int{0, 1, 2}, seen)
}

func TestWhatClosesNothingDoesNotStopShowing(t *testing.T) {
	for _, begun := range []string{`]`, `}`, `]{"a":1`, `{}}`, `"a"]`} {
		assert.NotPanics(t, func() { jsonscan.Complete([]byte(begun)) }, begun)
	}
}
