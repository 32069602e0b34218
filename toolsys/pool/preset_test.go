package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func TestThePresetIsWhatTheGatesLeave(t *testing.T) {
	named := func(name string) *tool.Tool {
		return tool.Must(tool.Def[struct{}, string]{Name: name, Description: "A tool.", Call: nothing})
	}
	c, err := pool.NewCatalogue([]pool.Entry{
		{Name: "Open", Tool: named("Open")}, {Name: "Planned"},
		{Name: "Shut", Tool: named("Shut"), Gate: pool.Gate{Internal: true}},
	})
	require.NoError(t, err)
	got, err := c.Preset(pool.DefaultPreset, settings.External(), pool.Conditions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Open"}, got)
	_, err = c.Preset("everything", settings.External(), pool.Conditions{})
	assert.ErrorContains(t, err, "there is default")
}

func nothing(context.Context, struct{}, *tool.Context) (tool.Result[string], error) {
	return tool.Done(""), nil
}
