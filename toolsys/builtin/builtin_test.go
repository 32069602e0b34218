package builtin_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin"
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

// full is a disk that takes the first half of a write.
type full struct{ afero.Fs }

type fullFile struct{ afero.File }

func (f full) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	opened, err := f.Fs.OpenFile(name, flag, perm)
	return fullFile{opened}, err
}

func (f fullFile) Write(p []byte) (int, error) {
	n, _ := f.File.Write(p[:len(p)/2])
	return n, errors.New("no space left on device")
}

func TestResultsAreKeptInFullOrNotAtAll(t *testing.T) {
	fs := afero.NewMemMapFs()
	require.NoError(t, builtin.Keep(fs)("/results/a.txt", "text"))
	kept, err := afero.ReadFile(fs, "/results/a.txt")
	require.NoError(t, err)
	assert.Equal(t, "text", string(kept))

	disk := full{afero.NewMemMapFs()}
	require.ErrorContains(t, builtin.Keep(disk)("/results/a.txt", "text"), "no space left")
	left, err := afero.Exists(disk, "/results/a.txt")
	require.NoError(t, err)
	assert.False(t, left, "no half of a result is left behind")
	assert.Error(t, builtin.Keep(afero.NewReadOnlyFs(fs))("/results/b.txt", "text"))
}
