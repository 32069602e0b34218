package world_test

import (
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"toolbench/sim/world"
)

// A clone is the same tree, and neither side sees what is written to the other.
func TestACloneSharesNothingThatIsWritten(t *testing.T) {
	f := world.NewFS(world.FSConfig{UID: 1000, GID: 1000, Capacity: 100})
	require.NoError(t, f.Load("/", txtar.Parse([]byte("-- repo/a.txt (0600) --\none\n-- repo/sub/b.txt --\ntwo\n-- repo/way -> sub/b.txt --\n-- repo/left/out.txt --\nthree\n"))))
	without := func(below string) bool { return below == "left" }
	require.NoError(t, f.Clone("/repo", "/copy", without))
	assert.EqualValues(t, 4+4+6+4+4, f.Used())

	require.NoError(t, afero.WriteFile(f, "/copy/a.txt", []byte("CHANGED\n"), 0o600))
	require.NoError(t, afero.WriteFile(f, "/repo/sub/b.txt", []byte("tWo\n"), 0o600))
	require.NoError(t, f.Remove("/copy/way"))
	content := map[string]string{}
	for _, e := range f.Snapshot() {
		if e.Mode.IsRegular() {
			content[e.Path] = string(e.Content)
		}
	}
	assert.Equal(t, map[string]string{
		"/repo/a.txt": "one\n", "/repo/sub/b.txt": "tWo\n", "/repo/left/out.txt": "three\n",
		"/copy/a.txt": "CHANGED\n", "/copy/sub/b.txt": "two\n",
	}, content)
	target, err := f.ReadlinkIfPossible("/repo/way")
	require.NoError(t, err)
	assert.Equal(t, "sub/b.txt", target)

	before := f.Snapshot().Digest()
	for name, c := range map[string]struct {
		from, to string
		want     error
	}{
		"a place that is taken":    {"/repo", "/copy", syscall.EEXIST},
		"a file":                   {"/repo/a.txt", "/b", syscall.ENOTDIR},
		"nothing":                  {"/none", "/b", syscall.ENOENT},
		"into no folder":           {"/repo", "/none/b", syscall.ENOENT},
		"more than the disk holds": {"/", "/b", syscall.ENOSPC},
	} {
		if name == "more than the disk holds" {
			f.SetCapacity(f.Used() + 1)
		}
		assert.ErrorIs(t, f.Clone(c.from, c.to, func(string) bool { return false }), c.want, name)
		f.SetCapacity(100)
	}
	f.SetReadOnly(true)
	assert.ErrorIs(t, f.Clone("/repo", "/b", without), syscall.EROFS)
	f.SetReadOnly(false)
	require.NoError(t, f.Chmod("/repo/a.txt", 0))
	assert.ErrorIs(t, f.Clone("/repo", "/b", without), syscall.EACCES)
	require.NoError(t, f.Chmod("/repo/a.txt", 0o600))
	assert.Equal(t, before, f.Snapshot().Digest(), "what fails leaves nothing")
}
