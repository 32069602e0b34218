package world_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"toolbench/sim/world"
)

func TestAnArchiveBecomesATree(t *testing.T) {
	var got []string
	for _, e := range load(t, user(), example).Snapshot() {
		got = append(got, fmt.Sprintf("%v %s %q%s", e.Mode, e.Path, e.Content, e.Target))
	}
	assert.Equal(t, []string{
		`d--------- /closed ""`,
		`Lrwxrwxrwx /dangling ""nowhere`,
		`drwxr-xr-x /empty ""`,
		`Lrwxrwxrwx /folder ""/src`,
		`Lrwxrwxrwx /link ""src/main.go`,
		`Lrwxrwxrwx /loop ""loop`,
		`dr-x------ /shut ""`,
		`-rw-r--r-- /shut/file "in a folder that cannot be changed\n"`,
		`drwxr-xr-x /src ""`,
		`-rw-r--r-- /src/main.go "package main\n"`,
		`-rwxr-xr-x /src/run.sh "#!/bin/sh\n"`,
		`---------- /src/secret "hidden\n"`,
		`d-wx------ /unlisted ""`,
		`-rw-r--r-- /unlisted/file "in a folder that cannot be listed\n"`,
	}, got)
}

func TestAnArchiveMayBeLoadedBelowAFolder(t *testing.T) {
	f := world.NewFS(user())
	require.NoError(t, f.Load("/repo", txtar.Parse([]byte("-- a (old) --\nx\n-- /b --\ny\n"))))
	content, err := afero.ReadFile(f, "/repo/a (old)")
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(content))
	assert.Equal(t, int64(4), f.Used())
}

func TestAnArchiveThatIsNoTreeIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"-- ../a --\n":              `archive section "../a": the name "../a" is not a clean path`,
		"-- a//b --\n":              `not a clean path`,
		"-- . --\n":                 `not a clean path`,
		"-- a --\n-- a --\n":        `archive section "a": the path is taken`,
		"-- d/ --\n-- d/ --\n":      `the path is taken`,
		"-- a --\n-- a/b --\n":      `archive section "a/b": "a" is not a folder`,
		"-- l -> d --\n-- l/b --\n": `"l" is not a folder`,
		"-- d/ --\ncontent\n":       `only a file has content`,
		"-- l -> a --\ncontent\n":   `only a file has content`,
		"-- a (0999) --\n":          `mode "0999" is not octal permission bits`,
		"-- a (1777) --\n":          `not octal permission bits`,
		"-- a/b --\n-- a --\n":      `the path is taken`,
	} {
		_, err := fromTxtar(user(), []byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestADiffTellsWhatBecameOfATree(t *testing.T) {
	f := load(t, user(), example)
	before := f.Snapshot()
	require.NoError(t, afero.WriteFile(f, "/src/main.go", []byte("package other\n"), 0))
	require.NoError(t, afero.WriteFile(f, "/src/new.go", nil, 0o644))
	require.NoError(t, f.Chmod("/src/run.sh", 0o700))
	require.NoError(t, f.Remove("/empty"))
	require.NoError(t, f.Remove("/link"))
	require.NoError(t, f.SymlinkIfPossible("elsewhere", "/link"))
	after := f.Snapshot()
	assert.Equal(t, world.SnapshotChanges{
		Created: []string{"/src/new.go"},
		Changed: []string{"/link", "/src/main.go", "/src/run.sh"},
		Removed: []string{"/empty"},
	}, world.DiffSnapshots(before, after))
	assert.Equal(t, "package main\n", string(contentOf(before, "/src/main.go")), "a snapshot does not move with its tree")
	assert.NotEqual(t, before.Digest(), after.Digest())
	assert.Zero(t, world.DiffSnapshots(after, f.Snapshot()))
	assert.Equal(t, after.Digest(), f.Snapshot().Digest())
}

func contentOf(s world.Snapshot, path string) []byte {
	for _, e := range s {
		if e.Path == path {
			return e.Content
		}
	}
	return nil
}

// Whatever is done to a tree, its snapshot stays as it was, and the bytes counted are the
// bytes there are.
func TestASnapshotStaysAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := fromTxtar(user(), []byte("-- a --\nhello\n-- d/b --\nworld\n-- l -> a --\n"))
		require.NoError(t, err)
		mess(t, f)
		before := f.Snapshot()
		digest := before.Digest()
		mess(t, f)
		require.Equal(t, digest, before.Digest(), "the snapshot stays")
		require.Equal(t, size(f.Snapshot()), f.Used())
	})
}

// mess does a few random things that change content in every way there is.
func mess(t *rapid.T, f *world.FS) {
	names := rapid.SampledFrom([]string{"/a", "/d/b", "/l", "/new"})
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		name := names.Draw(t, "name")
		flag := rapid.SampledFrom([]int{0, os.O_TRUNC, os.O_APPEND}).Draw(t, "flag")
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0:
			_ = f.Remove(name)
		case 1:
			_ = f.Rename(name, names.Draw(t, "to"))
		default:
			h, err := f.OpenFile(name, os.O_CREATE|os.O_RDWR|flag, 0o644)
			if err != nil {
				continue
			}
			_, _ = h.WriteString(rapid.SampledFrom([]string{"", "x", "something long"}).Draw(t, "text"))
			_ = h.Truncate(rapid.Int64Range(0, 12).Draw(t, "size"))
			require.NoError(t, h.Close())
		}
	}
}

func size(s world.Snapshot) int64 {
	total := int64(0)
	for _, e := range s {
		total += int64(len(e.Content))
	}
	return total
}

func FuzzFromTxtar(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("-- a -> b -> c --\n-- d (0755) (0644) --\n-- e/ (07) --\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := fromTxtar(user(), text)
		if err != nil {
			return
		}
		again, err := fromTxtar(user(), text)
		require.NoError(t, err)
		require.Equal(t, tree.Snapshot().Digest(), again.Snapshot().Digest())
		require.Equal(t, size(tree.Snapshot()), tree.Used())
	})
}

func BenchmarkCreateWriteRead(b *testing.B) {
	f := world.NewFS(world.FSConfig{})
	buf := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		h, err := f.Create("/file")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = h.WriteString("some content that is short")
		_, _ = h.ReadAt(buf, 0)
		_ = h.Close()
	}
}

func grove(b *testing.B) *world.FS {
	f := world.NewFS(world.FSConfig{})
	for i := range 200 {
		dir := fmt.Sprintf("/src/pkg%d", i%20)
		require.NoError(b, f.MkdirAll(dir, 0o755))
		require.NoError(b, afero.WriteFile(f, fmt.Sprintf("%s/file%d.go", dir, i), make([]byte, 2000), 0o644))
	}
	return f
}

func BenchmarkSnapshotDigest200Files(b *testing.B) {
	f := grove(b)
	b.ReportAllocs()
	for b.Loop() {
		f.Snapshot().Digest()
	}
}
