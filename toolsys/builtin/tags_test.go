package builtin_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// built makes a program of all built-in tools and gives its output and its symbols.
func built(t *testing.T, tags string) (output, symbols string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "all")
	out, err := exec.Command("go", "build", "-tags", tags, "-o", program, "./testdata/all").CombinedOutput()
	require.NoError(t, err, string(out))
	run, err := exec.Command(program).Output()
	require.NoError(t, err)
	names, err := exec.Command("go", "tool", "nm", program).Output()
	require.NoError(t, err)
	return string(run), string(names)
}

// A build tag takes the code of its feature out of the binary, and no other code.
func TestABuildTagRemovesCode(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	const sleep, delta = "toolsys/builtin/work.Sleep", "toolsys/pool.changes"
	for _, c := range []struct {
		tags         string
		sleep, delta bool
	}{
		{"", true, true},
		{"no_kairos", true, true}, // PROACTIVE has Sleep too
		{"no_kairos,no_proactive,no_delta_discovery", false, false},
	} {
		output, symbols := built(t, c.tags)
		has := func(want bool, in, what string) {
			assert.Equal(t, want, strings.Contains(in, what), "%s with tags %q", what, c.tags)
		}
		has(c.sleep, output, "Sleep\n")
		has(c.sleep, symbols, sleep)
		has(c.delta, symbols, delta)
		has(true, symbols, "toolsys/builtin/work.TodoWrite")
	}
}
