package cassette

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

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
		"without an end":           {fmt.Sprintf("body: '%s'", long), 0},
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

// A file that is broken elsewhere is described as without.
func TestLongLinesKeepTheWordsOfErrors(t *testing.T) {
	text := []byte("body: '" + strings.Repeat("x", asideBytes) + "'\n\tbad: [\nmore: x\n")
	_, err := Load("c.yaml", bytes.NewReader(text), Limits{})
	require.ErrorIs(t, err, ErrSyntax)
	assert.Contains(t, err.Error(), "c.yaml:2:")
}
