package shell

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/shellcmd"
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

func TestDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{"5": 5 * time.Second, "0.5": 500 * time.Millisecond, "2m": 2 * time.Minute, "1h": time.Hour, "1d": 24 * time.Hour, "infinity": math.MaxInt64, "1e30": math.MaxInt64} {
		got, err := shellcmd.Seconds(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "x", "-1", "5x", "s", "NaN"} {
		_, err := shellcmd.Seconds(in)
		assert.Error(t, err, in)
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
