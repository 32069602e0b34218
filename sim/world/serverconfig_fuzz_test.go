package world_test

import (
	"errors"
	"testing"

	"toolbench/sim/world"
)

// Whatever stands in a configuration, each server is given or named as broken.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"mcpServers":{"a":{"command":"x","args":["${Y:-z}"]}}}`, `{"mcpServers":{"a":{"url":"http://x"},"b":1}}`, `{`, `${`, `{"mcpServers":{"a":{"command":"${"}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		specs, broken, err := world.ParseServers("c.json", []byte(text), func(string) (string, bool) { return "", false })
		if err != nil {
			if !errors.Is(err, world.ErrConfig) {
				t.Fatal(err)
			}
			return
		}
		if len(specs)+len(broken) == 0 {
			t.Fatal("a configuration without servers was taken")
		}
		for _, s := range specs {
			if s.Kind == "stdio" && s.Command == "" || s.Kind != "stdio" && s.URL == "" {
				t.Fatalf("no way to reach %+v", s)
			}
		}
	})
}
