package scene_test

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/scene"
)

var (
	scenes = flag.Uint64("scenes", 150, "how many scenes to play")
	seed   = flag.Uint64("sceneseed", 1, "which scenes")
)

var policies = []string{"serial", "batch", "streaming", "effects"}

func TestTheWholeSystemKeepsItsPromisesInScenes(t *testing.T) {
	m := scene.NewMaker(*seed, policies)
	seen := make([]int, len(scene.Situations()))
	for i := range *scenes {
		s := m.Scene(i)
		require.NoError(t, s.Check(), "scene %d", i)
		if b := scene.Run(context.Background(), s, seen); b != nil {
			t.Errorf("scene %d broke %s: %s", i, b.Name, b.Found)
			if testing.Verbose() {
				t.Logf("\n%s", s.Scenario("scene", "One scene."))
			}
		}
	}
	for i, sit := range scene.Situations() {
		t.Logf("%6d %s", seen[i], sit.Name)
	}
}
