package host_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
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
	d, err := host.Open(host.Config{Root: root, Write: write, Scratch: []string{"/tmp/tool-results"}})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
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
	_, err := host.Open(host.Config{Root: "/nowhere"})
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// commandsThatWrite write to the file d1, each in a way of its own.
var commandsThatWrite = []string{
	"echo x > d1", "echo x >> d1", "echo x >| d1", "echo x 2>&1 &> d1", "cp a.txt d1", "echo x | tee d1", "echo x | tee -a d1", "touch d1", "sed -n 'w d1' a.txt", "sed 's/o/0/w d1' a.txt",
	"sort -o d1 a.txt", "sort a.txt > d1", "awk '{print > \"d1\"}' a.txt", "mkdir -p d1", "cp -r sub d1", "mv a.txt d1", "uniq a.txt d1", "mkdir d1/x", "touch dir/new", "cp a.txt dir", "cp a.txt dir/new",
	"mv a.txt dir/new", "ln -s a.txt dir/new", "mkdir dir/new", "rm dir/private", "sed -i s/no/yes/ dir/private", "echo x > up/new", "echo x > loop", "ln -s ../private way && echo x > way",
}

// Links that lead outside, to something or to nothing, let nothing be written there (10.11).
func TestNothingIsWrittenThroughALinkThatLeadsOutside(t *testing.T) {
	for _, write := range []bool{false, true} {
		for _, script := range commandsThatWrite {
			t.Run(script, func(t *testing.T) {
				d, root := disk(t, write)
				for name, target := range map[string]string{"d1": "../outside", "dir": "..", "up": "sub/../..", "loop": "loop"} {
					require.NoError(t, os.Symlink(target, filepath.Join(root, name)))
				}
				require.NoError(t, os.Mkdir(filepath.Join(root, "sub"), 0o755))
				before := listing(t, filepath.Dir(root))
				exit, err := simshell.Shell{FS: d.FS, Now: time.Now}.Run(t.Context(), simshell.Command{Script: script, Dir: root})
				require.NoError(t, err)
				assert.NotZero(t, exit.Code)
				assert.Equal(t, before, listing(t, filepath.Dir(root)))
			})
		}
	}
}

// listing is a folder's files and what they hold, without those of the folder repo.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		all[e.Name()] = "folder"
		if !e.IsDir() {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			all[e.Name()] = string(data)
		}
	}
	return all
}

// Links that stay inside work, absolute ones too.
func TestLinksInsideAreFollowed(t *testing.T) {
	for _, write := range []bool{false, true} {
		d, root := disk(t, write)
		require.NoError(t, os.Symlink(filepath.Join(root, "a.txt"), filepath.Join(root, "abs")))
		require.NoError(t, os.Symlink("nothing.txt", filepath.Join(root, "dangling")))
		require.NoError(t, afero.WriteFile(d.FS, filepath.Join(root, "dangling"), []byte("made"), 0o644))
		data, err := afero.ReadFile(d.FS, filepath.Join(root, "nothing.txt"))
		require.NoError(t, err)
		assert.Equal(t, "made", string(data))
		require.NoError(t, afero.WriteFile(d.FS, filepath.Join(root, "abs"), []byte("two\n"), 0o644))
		data, err = afero.ReadFile(d.FS, filepath.Join(root, "a.txt"))
		require.NoError(t, err)
		assert.Equal(t, "two\n", string(data))
		info, _, err := d.FS.(afero.Lstater).LstatIfPossible(filepath.Join(root, "abs"))
		require.NoError(t, err)
		assert.NotZero(t, info.Mode()&fs.ModeSymlink)
		err = d.FS.(afero.Linker).SymlinkIfPossible("a.txt", filepath.Join(root, "made"))
		assert.Equal(t, write, err == nil, "an overlay holds no links")
		assert.Error(t, d.FS.(afero.Linker).SymlinkIfPossible("../private", filepath.Join(root, "made2")))
	}
}

// A link that changes all the time between inside and outside is never written through to the outside.
func TestALinkThatChangesBetweenCheckAndUse(t *testing.T) {
	d, root := disk(t, true)
	outside := filepath.Join(filepath.Dir(root), "outside")
	require.NoError(t, os.Mkdir(outside, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(root, "inside"), 0o755))
	done := make(chan struct{})
	var flipping sync.WaitGroup
	flipping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			next := filepath.Join(root, "next")
			os.Symlink([]string{"inside", "../outside"}[i%2], next)
			os.Rename(next, filepath.Join(root, "way"))
		}
	})
	made := 0
	for i := range 500 {
		name := filepath.Join(root, "way", fmt.Sprint(i))
		if afero.WriteFile(d.FS, name, []byte("x"), 0o644) == nil {
			made++
		}
		d.FS.MkdirAll(name+"-dir", 0o755)
		d.FS.Rename(filepath.Join(root, "a.txt"), name+"-moved")
		afero.WriteFile(d.FS, filepath.Join(root, "a.txt"), []byte("again"), 0o644)
	}
	close(done)
	flipping.Wait()
	assert.Positive(t, made, "the link led inside now and then")
	assert.Empty(t, listing(t, outside))
}

// A FIFO, a socket or a device is refused at once, whatever is done with it.
func TestOnlyRegularFilesOpen(t *testing.T) {
	for _, write := range []bool{false, true} {
		d, root := disk(t, write)
		fifo := filepath.Join(root, "fifo")
		require.NoError(t, exec.Command("mkfifo", fifo).Run())
		require.NoError(t, os.Symlink("fifo", filepath.Join(root, "tofifo")))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, script := range []string{"cat fifo", "cat tofifo", "echo x > fifo", "echo x >> tofifo", "cp fifo new", "cp a.txt fifo", "grep x fifo", "wc -l < fifo", "head -1 fifo", "tee fifo < a.txt"} {
				exit, err := simshell.Shell{FS: d.FS, Now: time.Now}.Run(t.Context(), simshell.Command{Script: script, Dir: root})
				assert.NoError(t, err, script)
				assert.NotZero(t, exit.Code, script)
			}
			_, err := d.FS.OpenFile(fifo, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
			assert.Error(t, err)
			_, err = d.FS.Create(fifo)
			assert.Error(t, err)
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			require.Fail(t, "a FIFO holds its reader or writer")
		}
	}
}
