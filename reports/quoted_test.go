package reports

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A command that is shown is one line, harmless on a screen, and means the same in a shell.
func TestQuotedWordsMeanTheSameInAShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	for _, word := range []string{"plain.yaml", "", "a b", "it's", "a\nb", "tab\t'\\$x`", "\x1b[31m red", "\u202efile", "ü\u0085", "bad\xff\xfe8", "\n7", "$HOME", "!x"} {
		shown := Quoted(word)
		assert.Equal(t, shown, Safe(shown), "%q", word)
		out, err := exec.Command(bash, "-c", "printf %s "+shown).Output()
		require.NoError(t, err, "%q", word)
		assert.Equal(t, word, string(out), "%q", word)
	}
}
