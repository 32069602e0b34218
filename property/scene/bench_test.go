package scene_test

import (
	"context"
	"testing"

	"toolbench/property/scene"
)

func BenchmarkMakeAndRun(b *testing.B) {
	m := scene.NewMaker(plan(1))
	i := uint64(0)
	for b.Loop() {
		if broken := scene.Run(context.Background(), m.Scene(i), nil); broken != nil {
			b.Fatalf("scene %d broke %s: %s", i, broken.Name, broken.Found)
		}
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "scenes/s")
}
