package shell

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCommandsAreFoundInTheUsualFolders(t *testing.T) {
	for name := range commands {
		for _, spelled := range []string{name, "/bin/" + name, "/usr/bin/" + name} {
			_, ok := lookup(spelled)
			assert.True(t, ok, spelled)
		}
	}
	_, ok := lookup("/opt/ls")
	assert.False(t, ok)
}

// A time that no clock can count is as long as can be counted.
func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "5": 5 * time.Second, "0.5": 500 * time.Millisecond, "1h": time.Hour, "1d": 24 * time.Hour, "infinity": math.MaxInt64, "1e30": math.MaxInt64, "2m": 2 * time.Minute, "1e12d": math.MaxInt64, "106751d": 106751 * 24 * time.Hour, "106752d": math.MaxInt64, "inf": math.MaxInt64} {
		d, err := seconds(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, d, text)
	}
	for _, text := range []string{"", "x", "-1", "5x", "s", "NaN", "nan", "0x1", "1_0", "1p2"} {
		_, err := seconds(text)
		assert.ErrorContains(t, err, "invalid time interval '"+text+"'")
	}
}

func FuzzFormat(f *testing.F) {
	for _, s := range []string{"%s %d\n", "%5.2f|%-3s", "%*d", "%b%c", "%%", `\x41\101\u00e9`, "%"} {
		f.Add(s, "12", "abc")
	}
	f.Fuzz(func(t *testing.T, text, a, b string) {
		if len(text) > 64 { // widths could ask for gigabytes
			return
		}
		for _, c := range text {
			if c == '*' || c >= '0' && c <= '9' {
				return
			}
		}
		format(text, []string{a, b})
	})
}
