package world_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"toolbench/sim/world"
)

const example = `
-- src/main.go --
package main
-- src/run.sh (0755) --
#!/bin/sh
-- src/secret (0000) --
hidden
-- closed/ (0000) --
-- shut/file --
in a folder that cannot be changed
-- shut/ (0500) --
-- unlisted/file --
in a folder that cannot be listed
-- unlisted/ (0300) --
-- empty/ --
-- link -> src/main.go --
-- folder -> /src --
-- dangling -> nowhere --
-- loop -> loop --
`

func load(t testing.TB, c world.FSConfig, text string) *world.FS {
	t.Helper()
	f, err := fromTxtar(c, []byte(text))
	require.NoError(t, err)
	return f
}

// fromTxtar makes a filesystem with the archive's tree at its root.
func fromTxtar(c world.FSConfig, text []byte) (*world.FS, error) {
	f := world.NewFS(c)
	return f, f.Load("/", txtar.Parse(text))
}

func user() world.FSConfig { return world.FSConfig{UID: 1000, GID: 1000, Umask: 0o022} }

func open(f *world.FS, name string, flag int) error {
	h, err := f.OpenFile(name, flag, 0o644)
	if err == nil {
		err = h.Close()
	}
	return err
}

func second[T any](_ T, err error) error { return err }

func TestWhatADiskForbidsIsForbidden(t *testing.T) {
	const making = os.O_CREATE | os.O_WRONLY
	cases := []struct {
		name string
		do   func(*world.FS) error
		want syscall.Errno
	}{
		{"write below a missing folder", func(f *world.FS) error { return open(f, "/none/a", making) }, syscall.ENOENT},
		{"write below a file", func(f *world.FS) error { return open(f, "/src/main.go/a", making) }, syscall.ENOTDIR},
		{"make a folder below a file", func(f *world.FS) error { return f.MkdirAll("/src/main.go/a/b", 0o755) }, syscall.ENOTDIR},
		{"make a folder that exists", func(f *world.FS) error { return f.Mkdir("/src", 0o755) }, syscall.EEXIST},
		{"make a folder on a dangling link", func(f *world.FS) error { return f.Mkdir("/dangling", 0o755) }, syscall.EEXIST},
		{"make a new file that exists", func(f *world.FS) error { return open(f, "/src/main.go", making|os.O_EXCL) }, syscall.EEXIST},
		{"make a new file on a dangling link", func(f *world.FS) error { return open(f, "/dangling", making|os.O_EXCL) }, syscall.EEXIST},
		{"write to a folder", func(f *world.FS) error { return open(f, "/src", os.O_WRONLY) }, syscall.EISDIR},
		{"read without permission", func(f *world.FS) error { return open(f, "/src/secret", os.O_RDONLY) }, syscall.EACCES},
		{"write without permission", func(f *world.FS) error { return open(f, "/src/secret", os.O_WRONLY) }, syscall.EACCES},
		{"list without permission", func(f *world.FS) error { return open(f, "/unlisted", os.O_RDONLY) }, syscall.EACCES},
		{"search without permission", func(f *world.FS) error { return second(f.Stat("/closed/a")) }, syscall.EACCES},
		{"add to a folder without permission", func(f *world.FS) error { return open(f, "/shut/new", making) }, syscall.EACCES},
		{"remove from a folder without permission", func(f *world.FS) error { return f.Remove("/shut/file") }, syscall.EACCES},
		{"remove a full folder", func(f *world.FS) error { return f.Remove("/src") }, syscall.ENOTEMPTY},
		{"remove what is not there", func(f *world.FS) error { return f.Remove("/none") }, syscall.ENOENT},
		{"rename onto a full folder", func(f *world.FS) error { return f.Rename("/empty", "/src") }, syscall.ENOTEMPTY},
		{"rename onto an empty folder", func(f *world.FS) error { return f.Rename("/src", "/empty") }, syscall.EEXIST},
		{"rename a file onto a folder", func(f *world.FS) error { return f.Rename("/src/main.go", "/empty") }, syscall.EISDIR},
		{"rename a folder onto a file", func(f *world.FS) error { return f.Rename("/empty", "/src/main.go") }, syscall.ENOTDIR},
		{"rename a folder into itself", func(f *world.FS) error { return f.Rename("/src", "/src/below") }, syscall.EINVAL},
		{"rename onto a parent", func(f *world.FS) error { return f.Rename("/src/main.go", "/src") }, syscall.ENOTEMPTY},
		{"rename the root", func(f *world.FS) error { return f.Rename("/", "/a") }, syscall.EBUSY},
		{"remove the root", func(f *world.FS) error { return f.Remove("/") }, syscall.EBUSY},
		{"follow a loop", func(f *world.FS) error { return second(f.Stat("/loop")) }, syscall.ELOOP},
		{"follow a dangling link", func(f *world.FS) error { return second(f.Stat("/dangling")) }, syscall.ENOENT},
		{"read a link that is none", func(f *world.FS) error { return second(f.ReadlinkIfPossible("/src")) }, syscall.EINVAL},
		{"link to nothing at all", func(f *world.FS) error { return f.SymlinkIfPossible("", "/new") }, syscall.ENOENT},
		{"treat a file as a folder", func(f *world.FS) error { return second(f.Stat("/src/main.go/")) }, syscall.ENOTDIR},
		{"an empty path", func(f *world.FS) error { return second(f.Stat("")) }, syscall.ENOENT},
		{"another case", func(f *world.FS) error { return second(f.Stat("/SRC")) }, syscall.ENOENT},
		{"a NUL", func(f *world.FS) error { return second(f.Stat("/a\x00b")) }, syscall.EINVAL},
		{"a name of 256 bytes", func(f *world.FS) error { return open(f, strings.Repeat("é", 128), making) }, syscall.ENAMETOOLONG},
		{"a path of 4096 bytes", func(f *world.FS) error { return second(f.Stat(strings.Repeat("a/", 2048))) }, syscall.ENAMETOOLONG},
		{"change another's mode", func(f *world.FS) error { return f.As(2000, 2000).Chmod("/src", 0o777) }, syscall.EPERM},
		{"give a file away", func(f *world.FS) error { return f.Chown("/src", 0, -1) }, syscall.EPERM},
		{"change another's time", func(f *world.FS) error { return f.As(2000, 2000).Chtimes("/src", time.Time{}, time.Now()) }, syscall.EPERM},
		{"a file beyond a GiB", func(f *world.FS) error { h, _ := f.Create("/big"); return h.Truncate(1<<30 + 1) }, syscall.EFBIG},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := load(t, user(), example)
			before := f.Snapshot()
			err := c.do(f)
			require.ErrorIs(t, err, c.want)
			var onPath *os.PathError
			var onLink *os.LinkError
			assert.True(t, errors.As(err, &onPath) || errors.As(err, &onLink))
			if c.want != syscall.EFBIG {
				assert.Zero(t, world.DiffSnapshots(before, f.Snapshot()), "a refusal changes nothing")
			}
		})
	}
}

func TestErrorsReadAsADisksDo(t *testing.T) {
	f := load(t, user(), example)
	assert.EqualError(t, second(f.Open("/none")), "open /none: no such file or directory")
	assert.EqualError(t, f.Rename("/src", "/src/a"), "rename /src /src/a: invalid argument")
	assert.EqualError(t, f.Mkdir("/src", 0o755), "mkdir /src: file exists")
	assert.ErrorIs(t, second(f.Open("/none")), fs.ErrNotExist)
	assert.ErrorIs(t, f.Mkdir("/src", 0o755), fs.ErrExist)
	assert.ErrorIs(t, second(f.Open("/src/secret")), fs.ErrPermission)
}

func TestRootMayDoWhatAUserMayNot(t *testing.T) {
	root := load(t, user(), example).As(0, 0)
	content, err := afero.ReadFile(root, "/src/secret")
	require.NoError(t, err)
	assert.Equal(t, "hidden\n", string(content))
	require.NoError(t, root.Chown("/src/secret", 0, 0))
	require.NoError(t, root.RemoveAll("/shut"))
}

func TestPermissionsGoByOwnerThenGroupThenOthers(t *testing.T) {
	f := load(t, user(), "-- file (0640) --\nx\n-- odd (0070) --\nx\n")
	assert.NoError(t, open(f, "/file", os.O_RDWR))
	assert.NoError(t, open(f.As(7, 1000), "/file", os.O_RDONLY))
	assert.ErrorIs(t, open(f.As(7, 1000), "/file", os.O_WRONLY), fs.ErrPermission)
	assert.ErrorIs(t, open(f.As(7, 7), "/file", os.O_RDONLY), fs.ErrPermission)
	assert.ErrorIs(t, open(f, "/odd", os.O_RDONLY), fs.ErrPermission, "the owner is not also of the group")
}

func TestAStickyFolderGuardsOthersFiles(t *testing.T) {
	f := load(t, user(), "-- tmp/mine --\nx\n")
	require.NoError(t, f.Chmod("/tmp", 0o777|fs.ModeSticky))
	other := f.As(7, 7)
	assert.ErrorIs(t, other.Remove("/tmp/mine"), syscall.EPERM)
	require.NoError(t, open(other, "/tmp/theirs", os.O_CREATE|os.O_WRONLY))
	assert.NoError(t, other.Remove("/tmp/theirs"))
}

func TestFortyLinksAreFollowedAndNotOneMore(t *testing.T) {
	f := load(t, user(), "-- l0 --\nend\n")
	for i := range 41 {
		require.NoError(t, f.SymlinkIfPossible(fmt.Sprintf("l%d", i), fmt.Sprintf("l%d", i+1)))
	}
	_, err := f.Stat("/l40")
	require.NoError(t, err)
	_, err = f.Stat("/l41")
	require.ErrorIs(t, err, syscall.ELOOP)
	info, _, err := f.LstatIfPossible("/l41")
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type())
	assert.Equal(t, int64(len("l40")), info.Size())
}

func TestAnUnlinkedFileLivesUntilItsLastHandleCloses(t *testing.T) {
	f := load(t, user(), "-- a --\nhello\n")
	h, err := f.OpenFile("/a", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, f.Remove("/a"))
	_, err = h.WriteAt([]byte("J"), 0)
	require.NoError(t, err)
	content, err := io.ReadAll(h)
	require.NoError(t, err)
	assert.Equal(t, "Jello\n", string(content))
	assert.Equal(t, int64(6), f.Used())
	require.NoError(t, h.Close())
	assert.Zero(t, f.Used())
	assert.ErrorIs(t, h.Close(), os.ErrClosed)
}

func TestAHandleFollowsItsFileThroughARename(t *testing.T) {
	f := load(t, user(), "-- a --\n-- b --\nold\n")
	h, err := f.OpenFile("/a", os.O_WRONLY, 0)
	require.NoError(t, err)
	require.NoError(t, f.Rename("/a", "/b"))
	_, err = h.WriteString("new")
	require.NoError(t, err)
	content, err := afero.ReadFile(f, "/b")
	require.NoError(t, err)
	assert.Equal(t, "new", string(content))
	assert.Equal(t, int64(3), f.Used())
}

func TestAFullDiskTakesWhatFits(t *testing.T) {
	c := user()
	c.Capacity = 10
	f := load(t, c, "-- a --\n123\n")
	h, err := f.OpenFile("/a", os.O_RDWR|os.O_APPEND, 0)
	require.NoError(t, err)
	n, err := h.WriteString("456789012")
	assert.Equal(t, 6, n)
	require.ErrorIs(t, err, syscall.ENOSPC)
	content, _ := afero.ReadFile(f, "/a")
	assert.Equal(t, "123\n456789", string(content))

	g, err := f.OpenFile("/a", os.O_RDWR, 0)
	require.NoError(t, err)
	n, err = g.WriteAt([]byte("abc"), 8)
	assert.Equal(t, 2, n, "what is there may still be overwritten")
	require.ErrorIs(t, err, syscall.ENOSPC)
	_, err = g.WriteAt([]byte("x"), 20)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, g.Truncate(11), syscall.ENOSPC)
	_, err = g.WriteAt([]byte("x"), math.MaxInt64)
	require.ErrorIs(t, err, syscall.EFBIG)
	require.NoError(t, open(f, "/empty", os.O_CREATE|os.O_WRONLY))

	f.SetCapacity(12)
	require.NoError(t, g.Truncate(12))
	require.NoError(t, f.Remove("/a"))
	assert.Equal(t, int64(12), f.Used(), "two handles still hold it")
	require.NoError(t, g.Close())
	require.NoError(t, h.Close())
	assert.Zero(t, f.Used())
}

func TestAReadOnlyTreeRefusesEveryChange(t *testing.T) {
	f := load(t, user(), example)
	h, err := f.OpenFile("/src/main.go", os.O_RDWR, 0)
	require.NoError(t, err)
	f.SetReadOnly(true)
	changes := map[string]error{
		"open to write": open(f, "/src/main.go", os.O_WRONLY),
		"create":        open(f, "/new", os.O_CREATE|os.O_WRONLY),
		"mkdir":         f.Mkdir("/new", 0o755),
		"mkdirall":      f.MkdirAll("/new/deep", 0o755),
		"remove":        f.Remove("/empty"),
		"removeall":     f.RemoveAll("/src"),
		"rename":        f.Rename("/src", "/new"),
		"symlink":       f.SymlinkIfPossible("a", "/new"),
		"chmod":         f.Chmod("/src", 0o700),
		"chown":         f.Chown("/src", -1, -1),
		"chtimes":       f.Chtimes("/src", time.Time{}, time.Now()),
		"write":         second(h.WriteString("x")),
		"truncate":      h.Truncate(0),
	}
	for name, err := range changes {
		assert.ErrorIs(t, err, syscall.EROFS, name)
	}
	assert.NoError(t, open(f, "/src/main.go", os.O_RDONLY))
	assert.ErrorIs(t, f.Mkdir("/src", 0o755), syscall.EEXIST)
	f.SetReadOnly(false)
	assert.NoError(t, f.Remove("/empty"))
}

func TestTimesComeFromTheGivenClock(t *testing.T) {
	at := time.Unix(1000, 0)
	c := user()
	c.Now = func() time.Time { return at }
	f := load(t, c, "-- d/a --\nx\n")
	changed := func(name string) int64 {
		info, err := f.Stat(name)
		require.NoError(t, err)
		return info.ModTime().Unix()
	}
	at = time.Unix(2000, 0)
	require.NoError(t, f.Mkdir("/d/new", 0o755))
	assert.Equal(t, []int64{2000, 1000, 1000}, []int64{changed("/d"), changed("/d/a"), changed("/")})
	require.NoError(t, f.Chtimes("/d/a", time.Time{}, time.Unix(5, 0)))
	assert.Equal(t, int64(5), changed("/d/a"))
	assert.Equal(t, int64(0), func() int64 { i, _ := world.NewFS(world.FSConfig{}).Stat("/"); return i.ModTime().Unix() }())
}

func TestAFolderIsListedInPartsByName(t *testing.T) {
	f := load(t, user(), "-- c --\n-- a --\n-- b/ --\n")
	h, err := f.Open("/")
	require.NoError(t, err)
	names, err := h.Readdirnames(2)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, names)
	infos, err := h.Readdir(2)
	require.NoError(t, err)
	assert.Equal(t, "c", infos[0].Name())
	_, err = h.Readdir(1)
	assert.Equal(t, io.EOF, err)
	_, err = h.Seek(0, io.SeekStart)
	require.NoError(t, err)
	infos, err = h.Readdir(-1)
	require.NoError(t, err)
	assert.Len(t, infos, 3)
	assert.True(t, infos[1].IsDir())
}

func TestItIsAFileSystemToTheStandardLibrarysOwnTest(t *testing.T) {
	f := load(t, world.FSConfig{}, "-- a --\nx\n-- d/b --\ny\n-- d/e/ --\n-- d/l -> b --\n")
	require.NoError(t, fstest.TestFS(afero.NewIOFS(f), "a", "d/b", "d/e", "d/l"))
}

func TestManyMayUseItAtOnce(t *testing.T) {
	f := world.NewFS(user())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			dir := fmt.Sprintf("/d%d", i%2)
			for j := range 50 {
				_ = f.MkdirAll(dir, 0o755)
				_ = afero.WriteFile(f, fmt.Sprintf("%s/f%d", dir, j%5), []byte("x"), 0o644)
				_, _ = afero.ReadDir(f, dir)
				_ = f.Rename(fmt.Sprintf("%s/f%d", dir, j%5), "/moved")
				f.Snapshot()
			}
		})
	}
	wg.Wait()
	require.NoError(t, f.RemoveAll("/"+"d0"))
	require.NoError(t, f.RemoveAll("/d1"))
	require.NoError(t, f.RemoveAll("/moved"))
	assert.Zero(t, f.Used())
	assert.Equal(t, "posix", f.Name())
}
