package shell_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	simshell "toolbench/sim/shell"
)

// TestRunsInVirtualTime: nothing in a script blocks in real time, so a bubble's clock moves on. A pipe of
// the operating system anywhere in it would hang this test for ever.
func TestRunsInVirtualTime(t *testing.T) {
	for _, c := range []struct {
		script, out string
		slept       time.Duration
	}{
		{"sleep 5 | cat; echo done", "done\n", 5 * time.Second},
		{"sleep 1; sleep 2m", "", 121 * time.Second},
		{"timeout 3 sleep infinity 1; echo $?", "124\n", 3 * time.Second},
		{"echo a | { sleep 3; cat; } | tr a b", "b\n", 3 * time.Second},
		{"cat <<EOF | { sleep 1; cat; }\nbody $(sleep 2; echo x)\nEOF", "body x\n", 3 * time.Second},
		{"cat <<< \"$(sleep 4; echo here)\"", "here\n", 4 * time.Second},
		{"echo 1 2 3 | xargs -n1 sleep", "", 6 * time.Second},
		{"x=$(sleep 7; echo v); echo $x", "v\n", 7 * time.Second},
		{"while read n; do sleep $n; echo $n; done <<E\n1\n2\nE", "1\n2\n", 3 * time.Second},
		{"diff <(sleep 1; echo a) <(sleep 1; echo a) && echo same", "same\n", 2 * time.Second},
		{"sleep 9 & wait; echo joined", "joined\n", 9 * time.Second},
		{"timeout 3 sleep 10; echo $?", "124\n", 3 * time.Second},
		{"timeout 30 sleep 10; echo $?", "0\n", 10 * time.Second},
		{"timeout 3 sh -c 'sleep 2; sleep 2; echo no'; echo $?", "124\n", 3 * time.Second},
		{"date +%s; sleep 60; date +%s", "946684800\n946684860\n", time.Minute},
		{"find /w -name a.txt -exec sleep 2 \\; ; env A=1 sleep 3", "", 5 * time.Second},
		{"sh -c 'sleep 1 | sleep 2' | cat", "", 3 * time.Second},
		{"for i in 1 2 3; do sleep 1 | cat; done", "", 3 * time.Second},
		{"sleep 3600 && echo $SECONDS", "3600\n", time.Hour},
	} {
		t.Run(c.script, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				got := runWith(t, bubbleShell(t), simshell.Command{Script: c.script})
				require.NoError(t, got.err)
				assert.Equal(t, c.out, got.stdout, got.stderr)
				assert.Equal(t, c.slept, time.Since(begin))
			})
		})
	}
}

func bubbleShell(t *testing.T) simshell.Shell {
	return simshell.Shell{FS: memory(t), Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

func TestCancellingEndsASleepAndALoop(t *testing.T) {
	for _, script := range []string{"sleep 100; echo never", "sleep 100 | cat; echo never", "while true; do sleep 1; done", "echo $(sleep 100); echo never", "find . -exec sleep 100 \\;; echo never", "timeout 200 sleep 100; echo never", "sleep 100 & echo never"} {
		t.Run(script, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var out strings.Builder
				begin := time.Now()
				_, err := bubbleShell(t).Run(ctx, simshell.Command{Script: script, Dir: "/w", Stdout: &out})
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Empty(t, out.String())
				assert.Equal(t, 10*time.Second, time.Since(begin))
			})
		})
	}
}
