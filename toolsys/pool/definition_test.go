package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A text stands in JSON as it is only where each of its signs does; whatever stands there reads
// back as what was written.
func TestOnlyPlainTextStandsAsItIs(t *testing.T) {
	assert.True(t, plain(""))
	for c := range 256 {
		want := c >= ' ' && c < 0x7f && c != '"' && c != '\\'
		assert.Equal(t, want, plain(string([]byte{byte(c)})), "%q", c)
		assert.Equal(t, want, plain("a"+string([]byte{byte(c)})), "%q", c)
	}
	for text, want := range map[string]string{"": `""`, "a<b": `"a<b"`, `"`: `"\""`, `\`: `"\\"`, "\x7f": "\"\x7f\"", "\n": `"\n"`, "ü": `"ü"`} {
		assert.Equal(t, "x"+want, string(appendString([]byte("x"), text)))
	}
}
