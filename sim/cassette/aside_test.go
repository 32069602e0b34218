package cassette

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// What is read with long lines set aside is what is read without, whatever those lines are.
func TestLongLinesAreReadAsTheyStand(t *testing.T) {
	long := strings.Repeat(`{"a":"it''s","b":"é 😀"} `, asideBytes/16)
	for name, c := range map[string]struct {
		lines string
		aside int
	}{
		"bodies":                   {fmt.Sprintf("body: '%s'\nother: '%s'\n", long, long), 2},
		"an indented list of them": {fmt.Sprintf("all:\n  - body: 'short'\n    more: '%s'\n    last: x\n", long), 1},
		"in a block":               {fmt.Sprintf("body: |\n  body: '%s'\n", long), 1},
		"in a quoted text":         {fmt.Sprintf("body: \"\n  body: '%s'\n  end\"\n", strings.ReplaceAll(long, `"`, "")), 1},
		"a quote that ends it":     {fmt.Sprintf("body: '%s' # it's '\n", long), 0},
		"a comment after it":       {fmt.Sprintf("body: '%s' # 'x'\n", long), 0},
		"two values":               {fmt.Sprintf("a: ['%s', '%s']\n", long, long), 0},
		"a break in it":            {fmt.Sprintf("body: '%s\u2028%s'\n", long, long), 0},
		"a mark in the text":       {fmt.Sprintf("a: \"\ue0f50\"\nbody: '%s'\n", long), 0},
		"an alias":                 {fmt.Sprintf("body: &a '%s'\nmore: *a\nlong: '%s'\n", long, long), 1},
		"the end of a long one":    {fmt.Sprintf("body: 'x\n  %s'\n", strings.Repeat("y", asideBytes)), 0},
		"without an end":           {fmt.Sprintf("body: '%s'", long), 0},
		"blocks":                   {"a:\n" + block("  ", "|+", "\n\n") + block("  ", "|", "\n") + block("  ", "|-", "\n \n") + "b: c\n", 3},
		"a block at the end":       {block("", "|", ""), 1},
		"one that keeps its end":   {block("", "|+", "\n   \n\n"), 1},
		"one of an item":           {"- " + strings.TrimPrefix(block("  ", "|", ""), "  ") + "  x: y\n", 0},
		"one in brackets of texts": {"a: |1\n" + block(" ", "|", ""), 1},
		"a folded one":             {block("", ">", ""), 0},
		"one that says how far":    {block("", "|2", ""), 0},
		"a tab in it":              {strings.ReplaceAll(block("", "|", ""), "é", "\t"), 0},
		"one that begins empty":    {"body: |\n\n" + strings.TrimPrefix(block("", "|", ""), "body: |\n"), 0},
		"a comment behind it":      {"a:\n" + block("  ", "|", "") + "   # of whom?\n  c: d\n", 0},
		"lines of blanks alone":    {"a:\n" + block("  ", "|", "\n     \n\n") + "x: y\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var want yaml.Node
			require.NoError(t, yaml.Unmarshal([]byte(c.lines), &want))
			a, ok := setAside([]byte(c.lines))
			assert.Len(t, a.texts, c.aside)
			assert.Equal(t, c.aside > 0, ok)
			l := loader{limits: Limits{}.withDefaults()}
			got, err := l.parse([]byte(c.lines))
			require.NoError(t, err)
			assert.Equal(t, want.Content[0], got)
		})
	}
}

// block is a long block of lines, one of them indented further, and what stands at its end.
func block(indent, mark, end string) string {
	in := indent + "  "
	return indent + "body: " + mark + "\n" + strings.Repeat(in+"data: {\"a\": 'é 😀'}\n\n"+in+"  more\n   \n"+in+"\n", 20) + in + "last" + "\n" + end
}

// A block in brackets is an error, and so is a line that is indented like no other.
func TestLongBlocksKeepTheirErrors(t *testing.T) {
	for _, text := range []string{
		"a: {\n" + block(" ", "|", "") + "}\n",
		block("", "|", "") + " less: indented\n",
		"a: b\n" + block("  ", "|", ""),
	} {
		var n yaml.Node
		require.Error(t, yaml.Unmarshal([]byte(text), &n))
		_, err := Load("c.yaml", strings.NewReader(text), Limits{})
		require.ErrorIs(t, err, ErrSyntax)
	}
}

// A file that is broken elsewhere is described as without.
func TestLongLinesKeepTheWordsOfErrors(t *testing.T) {
	text := []byte("body: '" + strings.Repeat("x", asideBytes) + "'\n\tbad: [\nmore: x\n")
	_, err := Load("c.yaml", bytes.NewReader(text), Limits{})
	require.ErrorIs(t, err, ErrSyntax)
	assert.Contains(t, err.Error(), "c.yaml:2:")
}

// Whatever a document is, it is read as the parser alone would have read it. L in it stands for
// more than may be long without being set aside.
func FuzzLongTextsAreReadAsTheyStand(f *testing.F) {
	for _, text := range []string{
		"body: 'L'\nother: 'x\n  L'\n", "a:\n  body: |\n    L\n    L\n  b: c\n", "- body: |+\n    L\n\n- x: 'L''L'\n",
		"a: {body: 'L'}\n", "body: |-\n  L'\n # x\nb: \"L\"\n", "? 'L'\n: 'L'\n", "body: 'L'\nbody: 'L'\n", "---\nb: 'L'\n...\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw := []byte(strings.ReplaceAll(text, "L", strings.Repeat("é \"x\" ", asideBytes/8)))
		if len(raw) > 1<<16 || !utf8.Valid(raw) {
			return // more than is worth the time, or no text
		}
		plain := loader{limits: Limits{}.withDefaults()}
		want, wrong := plain.document(raw)
		l := loader{limits: Limits{}.withDefaults()}
		got, err := l.parse(raw)
		if wrong != nil {
			require.Equal(t, wrong, err)
			return
		}
		if err == nil {
			assert.Equal(t, want, got)
		}
	})
}
