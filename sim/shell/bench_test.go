package shell_test

import (
	"context"
	"fmt"
	"testing"
	"time"
	simworld "toolbench/sim/world"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	simshell "toolbench/sim/shell"
)

func benchRun(b *testing.B, script string) {
	fs := simworld.NewFS(simworld.FSConfig{})
	for i := range 100 {
		body := ""
		for line := range 50 {
			body += fmt.Sprintf("func handler%d_%d() error { return nil }\n", i, line)
		}
		require.NoError(b, afero.WriteFile(fs, fmt.Sprintf("/repo/pkg%d/file%d.go", i%10, i), []byte(body), 0o644))
	}
	shell := simshell.Shell{FS: fs, Now: func() time.Time { return epoch }, Sleep: func(context.Context, time.Duration) error { return nil }}
	c := simshell.Command{Script: script, Dir: "/repo", Env: map[string]string{"HOME": "/repo", "PATH": "/usr/bin"}}
	b.ReportAllocs()
	for b.Loop() {
		if exit, err := shell.Run(b.Context(), c); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
}

func BenchmarkRunEcho(b *testing.B)     { benchRun(b, "echo hi") }
func BenchmarkRunPipeline(b *testing.B) { benchRun(b, "grep -rn 'handler1.*_4' . | sort | head -5") }
func BenchmarkRunLoop(b *testing.B)     { benchRun(b, "for i in $(seq 1000); do echo $i; done") }

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
