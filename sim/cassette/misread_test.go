package cassette_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"toolbench/sim/cassette"
)

// What goes on over several lines, as a body in quotes does, is no mistake where a line of it ends.
func TestAMistakeIsNamedBehindTextsOfSeveralLines(t *testing.T) {
	long := "  body: \"" + strings.Repeat("a word of it\n    ", 20) + "and its end\"\n  list: [\n    " + strings.Repeat("one,\n    ", 20) + "two\n  ]\n"
	for name, wrong := range map[string][2]string{ // what is right of it, and what is not
		"a stray key": {"  form: {}\n", " url: x\n"}, "an open map": {"", "  form: {\n  url: x\n  a: b\n"}, "no anchor": {"", "  form: *x\n"},
		"a tab": {"  form:\n", "\t- x\n"}, "two values": {"", "  form: a: b\n"}, "a quote": {"", "  form: 'a' b\n"},
	} {
		for before := range 12 {
			text := strings.Repeat("- a: b\n"+long, before) + "- a: b\n" + long + wrong[0]
			at := 1 + strings.Count(text, "\n")
			raw := []byte(text + wrong[1] + strings.Repeat("- a: b\n"+long, 12-before))
			err := yaml.Unmarshal(raw, new(yaml.Node))
			require.Error(t, err, name)
			line, why := cassette.Misread(raw, err)
			assert.Equal(t, at, line, fmt.Sprint(name, " behind ", before, ": ", why))
		}
	}
}
