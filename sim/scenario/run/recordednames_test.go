package run

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/sim/cassette"
)

// Whatever the names and the answers are, those are found that stand there in quotes.
func TestTheNamesInARecordingAreThoseInQuotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SampledFrom([]string{`"`, `\`, "a", "b", `"a"`, `\n`, `\"`, "\n", "é", "\x00", "\\u0000"})
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces"), "")
		})
		var all []cassette.Interaction
		for _, body := range rapid.SliceOfN(text, 0, 3).Draw(t, "answers") {
			i := cassette.Interaction{}
			i.Response.Body = body
			all = append(all, i)
		}
		want, got := map[string]bool{}, map[string]bool{}
		for _, name := range append(rapid.SliceOfN(text, 0, 5).Draw(t, "names"), "a", "ab", "", `"`) {
			want[name], got[name] = false, false
			for _, i := range all {
				want[name] = want[name] || strings.Contains(i.Response.Body, strconv.Quote(name))
			}
		}
		recorded(all, got)
		assert.Equal(t, want, got)
	})
}
