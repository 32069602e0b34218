package file_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/world"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/tool"
)

func TestWriteCreatesFilesAndFolders(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\nx\n")
	text := w.ok(file.Write(w.deps()), map[string]any{"file_path": "new/dir/b.txt", "content": "one\r\ntwo"})
	assert.Equal(t, "Created /repo/new/dir/b.txt (2 lines).", text)
	assert.Equal(t, "one\r\ntwo", w.content("/repo/new/dir/b.txt"))
	assert.Equal(t, []string{"b.txt"}, w.names("/repo/new/dir"), "nothing else is left there")
	info, err := w.fs.Stat("/repo/new/dir/b.txt")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode().Perm())
}

func TestWriteReplacesWhatWasRead(t *testing.T) {
	w := newWorkplace(t, "-- run.sh (0770) --\nold\nkept\n")
	w.read("run.sh")
	a := w.call(file.Write(w.deps()), map[string]any{"file_path": "run.sh", "content": "new\nkept\n"})
	require.NoError(t, a.err)
	assert.Equal(t, "new\nkept\n", w.content("/repo/run.sh"))
	assert.Equal(t, "Replaced /repo/run.sh (2 lines).", a.text())
	assert.Equal(t, []file.Hunk{{OldStart: 1, OldLines: 2, NewStart: 1, NewLines: 2, Lines: []string{"-old", "+new", " kept"}}}, a.Data.(file.WriteOut).Patch)
	info, err := w.fs.Stat("/repo/run.sh")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o770), info.Mode().Perm(), "the mode is kept")

	w.ok(file.Write(w.deps()), map[string]any{"file_path": "run.sh", "content": "again\n"}) // its own content is known
	assert.Equal(t, "again\n", w.content("/repo/run.sh"))
}

func TestWriteRefusesWhatWouldBeLost(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\n"+numbered(3)+"-- dir/ --\n")
	write := file.Write(w.deps())
	input := map[string]any{"file_path": "a.txt", "content": "x"}
	w.refused(write, file.CodeNotRead, input)
	w.ok(file.Read(w.deps()), map[string]any{"file_path": "a.txt", "limit": 1})
	assert.Contains(t, w.refused(write, file.CodeNotRead, input), "Only a part")
	w.read("a.txt")
	w.put("/repo/a.txt", "changed from outside\n")
	w.refused(write, file.CodeChanged, input)
	assert.Equal(t, "changed from outside\n", w.content("/repo/a.txt"))
	w.refused(write, file.CodeKind, map[string]any{"file_path": "dir", "content": "x"})
	w.refused(write, file.CodeKind, map[string]any{"file_path": "a.txt/b/c", "content": "x"})
}

// Between validation and the work a person may have thought about it for long.
func TestWriteLooksAgainBeforeItWrites(t *testing.T) {
	w := newWorkplace(t, "")
	for _, c := range []struct {
		tool  *tool.Tool
		input map[string]any
	}{
		{file.Write(w.deps()), map[string]any{"file_path": "a.txt", "content": "x"}},
		{file.Edit(w.deps()), map[string]any{"file_path": "a.txt", "old_string": "old", "new_string": "x"}},
	} {
		w.put("/repo/a.txt", "old\n")
		w.read("a.txt")
		in := w.parse(c.tool, c.input)
		require.Nil(t, c.tool.Validate(in, w.c))
		w.put("/repo/a.txt", "old, but changed meanwhile\n")
		_, err := c.tool.Call(t.Context(), in, w.c)
		assert.ErrorContains(t, err, "changed since")
		assert.Equal(t, "old, but changed meanwhile\n", w.content("/repo/a.txt"))
	}
}

func TestWriteGoesThroughLinks(t *testing.T) {
	w := newWorkplace(t, "-- dir/a.txt --\nold\n-- link -> dir/a.txt --\n-- new -> dir/b.txt --\n")
	w.read("dir/a.txt")
	w.ok(file.Write(w.deps()), map[string]any{"file_path": "link", "content": "new\n"})
	assert.Equal(t, "new\n", w.content("/repo/dir/a.txt"))
	target, err := w.fs.(afero.LinkReader).ReadlinkIfPossible("/repo/link")
	require.NoError(t, err, "the link is still one")
	assert.Equal(t, "dir/a.txt", target)
	w.ok(file.Write(w.deps()), map[string]any{"file_path": "new", "content": "made\n"})
	assert.Equal(t, "made\n", w.content("/repo/dir/b.txt"))
}

func TestAFullDiskLosesNothing(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\nprecious\n")
	disk := w.fs.(*world.FS)
	disk.SetCapacity(disk.Used() + 4)
	w.read("a.txt")
	msg := w.fails(file.Write(w.deps()), map[string]any{"file_path": "a.txt", "content": strings.Repeat("x", 100)})
	assert.Contains(t, msg, "/repo/a.txt could not be written: no space left on device")
	assert.Equal(t, "precious\n", w.content("/repo/a.txt"))
	w.fails(file.Write(w.deps()), map[string]any{"file_path": "b.txt", "content": strings.Repeat("x", 100)})
	assert.Equal(t, []string{"a.txt"}, w.names("/repo"), "no half-written file is left")

	memory := file.Memory(w.fs, "/repo")
	for _, input := range []map[string]any{
		{"command": "str_replace", "path": "/memories/a.txt", "old_str": "precious", "new_str": strings.Repeat("x", 100)},
		{"command": "insert", "path": "/memories/a.txt", "insert_line": 0, "insert_text": strings.Repeat("x", 100)},
		{"command": "create", "path": "/memories/b.txt", "file_text": strings.Repeat("x", 100)},
	} {
		assert.Contains(t, w.fails(memory, input), "no space left on device")
	}
	assert.Equal(t, "precious\n", w.content("/repo/a.txt"))
	assert.Equal(t, []string{"a.txt"}, w.names("/repo"))
}

func TestAFileInALockedFolderIsWrittenInPlace(t *testing.T) {
	w := newWorkplace(t, "-- dir/ (0555) --\n-- dir/a.txt --\nold\n")
	w.read("dir/a.txt")
	w.ok(file.Write(w.deps()), map[string]any{"file_path": "dir/a.txt", "content": "new\n"})
	assert.Equal(t, "new\n", w.content("/repo/dir/a.txt"))

	disk := w.fs.(*world.FS)
	disk.SetCapacity(disk.Used())
	assert.Contains(t, w.fails(file.Write(w.deps()), map[string]any{"file_path": "dir/a.txt", "content": "much longer\n"}), "no space")
	assert.Equal(t, "new\n", w.content("/repo/dir/a.txt"), "what was there is put back")
	disk.SetCapacity(0)
	assert.Contains(t, w.fails(file.Write(w.deps()), map[string]any{"file_path": "dir/b.txt", "content": "x"}), "permission denied")
}

func TestAProtectedFileStaysAsItIs(t *testing.T) {
	w := newWorkplace(t, "-- a.txt (0444) --\nold\n")
	w.read("a.txt")
	assert.Contains(t, w.fails(file.Write(w.deps()), map[string]any{"file_path": "a.txt", "content": "new\n"}), "permission denied")
	assert.Equal(t, "old\n", w.content("/repo/a.txt"))
}

// brokenRename stands for folders over which a rename does not work, such as a
// file that is mounted by itself.
type brokenRename struct{ afero.Fs }

func (brokenRename) Rename(from, to string) error {
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EBUSY}
}

func TestWhereRenamingFailsTheFileIsWrittenInPlace(t *testing.T) {
	w := newWorkplace(t, "-- a.txt --\nold\n")
	w.fs = brokenRename{w.fs}
	w.read("a.txt")
	w.ok(file.Write(w.deps()), map[string]any{"file_path": "a.txt", "content": "new\n"})
	assert.Equal(t, "new\n", w.content("/repo/a.txt"))
	assert.Equal(t, []string{"a.txt"}, w.names("/repo"))
	a := w.call(file.Write(w.deps()), map[string]any{"file_path": "b.txt", "content": "x"})
	assert.True(t, errors.Is(a.err, syscall.EBUSY))
}

func TestWriteWorksOnPlainMemory(t *testing.T) {
	w := &workplace{t: t, fs: afero.NewMemMapFs(), c: newContext()}
	w.ok(file.Write(w.deps()), map[string]any{"file_path": "/repo/a/b.txt", "content": "x\n"})
	w.ok(file.Edit(w.deps()), map[string]any{"file_path": "a/b.txt", "old_string": "x", "new_string": "y"})
	assert.Equal(t, "y\n", w.content("/repo/a/b.txt"))
	assert.Equal(t, []string{"b.txt"}, w.names("/repo/a"))
	w.refused(file.Write(w.deps()), file.CodeKind, map[string]any{"file_path": "a/b.txt/c", "content": "x"})
}

func TestWriteWorksOnADisk(t *testing.T) {
	dir := t.TempDir()
	w := &workplace{t: t, fs: afero.NewOsFs(), c: newContext()}
	w.c.State.Dir = dir
	w.ok(file.Write(w.deps()), map[string]any{"file_path": "a/b.txt", "content": "x\n"})
	w.ok(file.Edit(w.deps()), map[string]any{"file_path": "a/b.txt", "old_string": "x", "new_string": "y"})
	require.NoError(t, os.Symlink("b.txt", dir+"/a/link"))
	w.ok(file.Edit(w.deps()), map[string]any{"file_path": "a/link", "old_string": "y", "new_string": "z"})
	got, err := os.ReadFile(dir + "/a/b.txt")
	require.NoError(t, err)
	assert.Equal(t, "z\n", string(got))
	assert.Equal(t, []string{"b.txt", "link"}, w.names(dir+"/a"))
}
