package scenario_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
)

// A value that is written once and used elsewhere, or on lines of its own, is left to
// people: replacing its first token would break the file.
func TestUpdateLeavesAnchorsAliasesAndBlocks(t *testing.T) {
	const file = "a: &x 1\nb: *x\nc: |\n  text\nd: 1 # kept\ne: [x, y] # kept\n"
	got, left, err := scenario.Update([]byte(file), map[string]string{"a": "2", "b": "2", "c": "2", "d": "2", "e": "[z]", "f": "2"})
	require.NoError(t, err)
	assert.Equal(t, "a: &x 1\nb: *x\nc: |\n  text\nd: 2 # kept\ne: [z] # kept\n", string(got))
	assert.Equal(t, []string{"a", "b", "c", "f"}, left)
}

// Whatever a text is, YAML reads it back as that text, in a list too.
func TestTextsReadBackAsTheyWere(t *testing.T) {
	all := []string{"", "a", "two words", "null", "~", "true", "No", "1", "1.0", "-1", "1e3", "0x1f", ".inf", "2020-01-01", "- x", "-", "? x", "?", "a: b", "a #b", " a", "a\n", "\u0001", "\t", "<<", "=", "`", "---", "a,b", "é\u00a0"}
	for _, text := range all {
		var one map[string]any
		require.NoError(t, yaml.Unmarshal([]byte("x: "+scenario.PlainText(text)), &one), text)
		assert.Equal(t, text, one["x"])
	}
	var list []any
	require.NoError(t, yaml.Unmarshal([]byte(scenario.FlowText(all)), &list))
	for i, text := range all {
		assert.Equal(t, text, list[i])
	}
}

// A comment's line in a file of Windows is one line: errors name it, and values are found behind it.
func TestLinesAreCountedWhereTheyEndAsOnWindows(t *testing.T) {
	text := "# c\r\nname: a # b\r\nabout: It fails.\r\nstream: {turns: [{text: Hello., end: 1s}]}\r\nexpect: # c\r\n  makespan: 2s # d\r\n"
	got, left, err := scenario.Update([]byte(text), map[string]string{"expect.makespan": "1s"})
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Equal(t, strings.Replace(text, "2s", "1s", 1), string(got))
	_, err = scenario.Parse("a.yaml", []byte(text+"nope: 1\r\n"))
	assert.ErrorContains(t, err, "a.yaml:7:1: unknown field")
}
