package pool

import (
	"fmt"

	"toolbench/toolsys/settings"
)

// DefaultPreset is the one named list of tools there is (C3).
const DefaultPreset = "default"

// Preset gives the names of the tools a preset stands for: the built-ins whose
// gates are open under s and that have code. Another name than DefaultPreset is an
// error.
func (c *Catalogue) Preset(name string, s settings.Settings, cond Conditions) ([]string, error) {
	if name != DefaultPreset {
		return nil, fmt.Errorf("pool: no preset %q; there is %s", name, DefaultPreset)
	}
	var names []string
	for _, e := range c.entries {
		if e.Tool != nil && closed(e, s, cond) == "" {
			names = append(names, e.Name)
		}
	}
	return names, nil
}
