package pipeline_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/tool"
)

// A call whose limits have a total may take longer while it reports progress, but no
// longer than the total, and not without progress.
func TestProgressPutsTheLimitOffAsFarAsTheTotal(t *testing.T) {
	every := func(d time.Duration, n int) []time.Duration { return slices.Repeat([]time.Duration{d}, n) }
	for _, c := range []struct {
		name string
		// waits are the times between two reports, the last one before the end.
		waits []time.Duration
		took  time.Duration
		says  string
	}{
		{"progress in time", every(4*time.Second, 6), 24 * time.Second, "done"},
		{"progress for ever", every(4*time.Second, 900), 30 * time.Second, "Look was stopped after 30s in all, though it reported progress."},
		{"progress too late", every(20*time.Second, 2), 10 * time.Second, "Look was stopped after its time limit of 10s."},
		{"progress that ends", []time.Duration{9 * time.Second, time.Hour}, 19 * time.Second, "Look was stopped after 10s without progress."},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.def.Limits = tool.Limits[in]{Timeout: func(in) time.Duration { return 10 * time.Second }, Total: 30 * time.Second}
				w.def.Call = func(ctx context.Context, _ in, tc *tool.Context) (tool.Result[string], error) {
					for _, d := range c.waits {
						if err := clock().Sleep(ctx, "", d); err != nil {
							return tool.Result[string]{}, err
						}
						tc.Progress("on")
					}
					return tool.Done("done"), nil
				}
				began := time.Now()
				r := w.call(`{"path":"a"}`)
				assert.Equal(t, c.took, time.Since(began))
				assert.Equal(t, c.says, text(r))
			})
		})
	}
}
