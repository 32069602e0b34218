package shell_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	simworld "toolbench/sim/world"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	simshell "toolbench/sim/shell"
)

// tree is the small world the tests run commands in.
var tree = map[string]string{
	"a.txt":            "one\ntwo\nthree\nfour\nfive\n",
	"b.txt":            "two\nfour\nsix\n",
	"nums":             "10\n9\n2\n33\n1\n2\n",
	"people.csv":       "name,age,city\nann,31,Rome\nbob,25,Oslo\ncid,40,Rome\n",
	"words":            "the quick brown fox\njumps over the lazy dog\nThe end\n",
	"tabs":             "a\tb\tc\nd\te\tf\n",
	"noend":            "no newline at end",
	"empty":            "",
	"blank":            "x\n\n\n\ny\n\nz\n",
	"data.json":        `{"name":"x","items":[{"id":1,"tags":["a","b"]},{"id":2,"tags":[]}],"ok":true}` + "\n",
	"log":              "2026-01-02 INFO start\n2026-01-02 ERROR disk full\n2026-01-03 INFO retry\n2026-01-03 ERROR disk full\n2026-01-03 WARN slow\n",
	"src/main.go":      "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hi\")\n\thelper()\n}\n",
	"src/util.go":      "package main\n\n// helper helps.\nfunc helper() {}\n",
	"src/util_test.go": "package main\n\nfunc TestHelper() { helper() }\n",
	"src/deep/x.py":    "def helper():\n    return 1\n",
	"docs/readme.md":   "# Title\n\nSome helper text.\n",
	".hidden":          "secret\n",
	"run.sh":           "#!/bin/sh\necho \"ran $1\"\nexit 3\n",
	"s p/f 1":          "spaced\n",
}

func memory(t testing.TB) afero.Fs {
	t.Helper()
	mem := simworld.NewFS(simworld.FSConfig{})
	require.NoError(t, mem.MkdirAll("/w/void", 0o755))
	for name, body := range tree {
		mode := fs.FileMode(0o644)
		if name == "run.sh" {
			mode = 0o755
		}
		require.NoError(t, mem.MkdirAll(filepath.Dir("/w/"+name), 0o755))
		require.NoError(t, afero.WriteFile(mem, "/w/"+name, []byte(body), mode))
	}
	require.NoError(t, afero.Walk(mem, "/w", func(name string, _ fs.FileInfo, err error) error {
		require.NoError(t, err)
		return mem.Chtimes(name, epoch, epoch)
	}))
	return mem
}

// disk writes the same world into a temporary folder.
func disk(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "void"), 0o755))
	for name, body := range tree {
		mode := fs.FileMode(0o644)
		if name == "run.sh" {
			mode = 0o755
		}
		full := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(body), mode))
		require.NoError(t, os.Chmod(full, mode))
	}
	require.NoError(t, filepath.Walk(dir, func(name string, _ fs.FileInfo, err error) error {
		require.NoError(t, err)
		return os.Chtimes(name, epoch, epoch)
	}))
	return dir
}

type outcome struct {
	stdout, stderr string
	exit           simshell.Exit
	err            error
}

func shellOn(fs afero.Fs) simshell.Shell {
	return simshell.Shell{FS: fs, Now: func() time.Time { return epoch }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

func run(t testing.TB, fs afero.Fs, script string) outcome {
	t.Helper()
	return runWith(t, shellOn(fs), simshell.Command{Script: script, Stdin: strings.NewReader("from stdin\n")})
}

func runWith(t testing.TB, s simshell.Shell, c simshell.Command) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if c.Dir == "" {
		c.Dir = "/w"
	}
	if c.Env == nil {
		c.Env = map[string]string{"HOME": "/w", "PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
	}
	c.Stdout, c.Stderr = &stdout, &stderr
	exit, err := s.Run(context.Background(), c)
	return outcome{stdout.String(), stderr.String(), exit, err}
}
