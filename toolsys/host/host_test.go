package host_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	simshell "toolbench/sim/shell"
	"toolbench/toolsys/host"
)

func disk(t *testing.T, write bool) (*host.Disk, string) {
	t.Helper()
	outer := host.Follow(t.TempDir())
	root := filepath.Join(outer, "repo")
	require.NoError(t, os.Mkdir(root, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("one\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(outer, "private"), []byte("no\n"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(outer, "private"), filepath.Join(root, "link")))
	d, err := host.Open(host.Config{Base: afero.NewOsFs(), Root: root, Write: write, Resolve: host.Follow, Scratch: []string{"/tmp/tool-results"}})
	require.NoError(t, err)
	return d, root
}

func TestNothingIsWrittenUnlessItIsAskedFor(t *testing.T) {
	for _, write := range []bool{false, true} {
		d, root := disk(t, write)
		require.NoError(t, afero.WriteFile(d.FS, filepath.Join(root, "a.txt"), []byte("two\n"), 0o644))
		seen, err := afero.ReadFile(d.FS, filepath.Join(root, "a.txt"))
		require.NoError(t, err)
		assert.Equal(t, "two\n", string(seen), "later calls see the change")
		really, err := os.ReadFile(filepath.Join(root, "a.txt"))
		require.NoError(t, err)
		assert.Equal(t, write, string(really) == "two\n")
		files, all := d.Seen()
		assert.Equal(t, map[string]string{filepath.Join(root, "a.txt"): "one\n"}, files, "as it was before")
		assert.True(t, all)
	}
}

func TestWhatLiesOutsideCannotBeSeen(t *testing.T) {
	d, root := disk(t, true)
	for _, name := range []string{"/etc/passwd", filepath.Join(root, "../private"), filepath.Join(root, "link"), root + "-other", filepath.Dir(root)} {
		_, err := d.FS.Open(name)
		assert.ErrorIs(t, err, fs.ErrPermission, name)
		_, err = d.FS.Stat(name)
		assert.ErrorIs(t, err, fs.ErrPermission, name)
		assert.ErrorIs(t, d.FS.Remove(name), fs.ErrPermission, name)
		assert.ErrorIs(t, d.FS.Rename(filepath.Join(root, "a.txt"), name), fs.ErrPermission, name)
		assert.ErrorIs(t, d.FS.MkdirAll(name+"/x", 0o755), fs.ErrPermission, name)
		assert.ErrorIs(t, afero.WriteFile(d.FS, name, nil, 0o644), fs.ErrPermission, name)
	}
}

func TestTheShellWorksOnTheSameDisk(t *testing.T) {
	d, root := disk(t, false)
	var out, errs bytes.Buffer
	exit, err := simshell.Shell{FS: d.FS, Now: time.Now}.Run(t.Context(), simshell.Command{Script: "echo more >> a.txt; cat a.txt; cat link", Dir: root, Stdout: &out, Stderr: &errs})
	require.NoError(t, err)
	assert.Equal(t, "one\nmore\n", out.String())
	assert.NotZero(t, exit.Code)
	assert.Contains(t, errs.String(), "denied")
}

func TestScratchIsAlwaysInMemory(t *testing.T) {
	d, _ := disk(t, true)
	const file = "/tmp/tool-results/bench-host-test/x"
	require.NoError(t, d.FS.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, afero.WriteFile(d.FS, file, []byte("x"), 0o644))
	_, err := os.Stat(file)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestARootMustBeAFolder(t *testing.T) {
	_, err := host.Open(host.Config{Base: afero.NewMemMapFs(), Root: "/nowhere"})
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
