package schedule_test

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/schedule"
)

// disk is a folder of the host, since memory knows no links.
func disk(t *testing.T, links map[string]string, files ...string) afero.Fs {
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	for _, name := range files {
		require.NoError(t, fs.MkdirAll("/"+name+"/..", 0o755))
		require.NoError(t, afero.WriteFile(fs, name, nil, 0o644))
	}
	return linked{fs, links}
}

// linked adds links to a filesystem by name.
type linked struct {
	afero.Fs
	links map[string]string
}

func (l linked) ReadlinkIfPossible(name string) (string, error) {
	if to, ok := l.links[name]; ok {
		return to, nil
	}
	return "", afero.ErrNoReadlink
}

func TestAPathIsKnownByEveryNameOnItsWay(t *testing.T) {
	fs := disk(t, map[string]string{"/l": "m", "/m": "/d", "/d/up": "../d/e"}, "d/x", "d/e/y")
	for name, want := range map[string][]string{
		"/d/x":    {"/d/x"},
		"/l/x":    {"/l/x", "/m/x", "/d/x"},
		"/l/up/y": {"/l/up/y", "/m/up/y", "/d/up/y", "/d/e/y"},
		"/l":      {"/l", "/m", "/d"},
	} {
		got, ok := schedule.Keys(fs, name)
		assert.True(t, ok)
		for _, key := range want {
			assert.Contains(t, got, key, name)
		}
	}
}

func TestMissingFoldersAreKeysToo(t *testing.T) {
	got, ok := schedule.Keys(disk(t, nil, "d/x"), "/d/new/deep/y")
	assert.True(t, ok)
	assert.Equal(t, []string{"/d/new/deep/y", "/d/new/deep", "/d/new"}, got)
}

func TestWhatCannotBeFollowedIsSaidToBe(t *testing.T) {
	fs := disk(t, map[string]string{"/loop": "loop", "/share": "//host/share"})
	for _, name := range []string{"/loop", "/share/x"} {
		_, ok := schedule.Keys(fs, name)
		assert.False(t, ok, name)
	}
	got, ok := schedule.Keys(fs, "//host/share/x")
	assert.True(t, ok)
	assert.Equal(t, []string{"//host/share/x"}, got)
}

func TestATreeIsAFolderAndAllBelowIt(t *testing.T) {
	assert.Equal(t, []string{"/d", "/", "/d/**", "/**"}, schedule.Tree([]string{"/d", "/"}))
	assert.Equal(t, []string{"/d/**"}, schedule.Tree([]string{"/d/**"}))
}

// A ".." leads up from where a link has led, as on a disk, and a circle is an error.
func TestFollowGoesWhereADiskGoes(t *testing.T) {
	fs := disk(t, map[string]string{"/short": "/a/deep/er", "/up": "short/../file", "/circle": "/circle"})
	for name, want := range map[string]string{"/up": "/a/deep/file", "/short/new/er": "/a/deep/er/new/er", "/none": "/none"} {
		got, err := schedule.Follow(fs, name, nil)
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
	_, err := schedule.Follow(fs, "/circle/x", nil)
	assert.ErrorIs(t, err, schedule.ErrTooManyLinks)
}

// Forty links are followed, as on Linux, and no more.
func TestFollowCountsLinks(t *testing.T) {
	chain := map[string]string{}
	for i := range 41 {
		chain[fmt.Sprintf("/l%d", i)] = fmt.Sprintf("/l%d", i+1)
	}
	got, err := schedule.Follow(disk(t, chain), "/l1", nil)
	require.NoError(t, err)
	assert.Equal(t, "/l41", got)
	_, err = schedule.Follow(disk(t, chain), "/l0", nil)
	assert.ErrorIs(t, err, schedule.ErrTooManyLinks)
}
