package vshell_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"

	"toolbench/toolsys/vshell"
)

func TestZZ(t *testing.T) {
	f, err := os.Open("/tmp/smoke.txt")
	if err != nil {
		t.Skip()
	}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		fs := afero.NewMemMapFs()
		fs.MkdirAll("/w/sub", 0o755)
		afero.WriteFile(fs, "/w/a.txt", []byte("one\ntwo\nthree\n"), 0o644)
		afero.WriteFile(fs, "/w/sub/b.txt", []byte("bee\nfour\n"), 0o644)
		var out, errb bytes.Buffer
		sh := vshell.Shell{FS: fs, Now: func() time.Time { return time.Unix(1700000000, 0) }, Sleep: func(context.Context, time.Duration) error { return nil }}
		script := sc.Text()
		ex, err := sh.Run(context.Background(), vshell.Command{Script: script, Dir: "/w", Env: map[string]string{"HOME": "/w", "A": "1"}, Stdout: &out, Stderr: &errb})
		fmt.Printf("$ %s\n%s[%d %s %v %v] %s\n", script, out.String(), ex.Code, ex.Dir, ex.Env, err, errb.String())
	}
}
