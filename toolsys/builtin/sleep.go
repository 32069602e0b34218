//go:build !no_proactive || !no_kairos

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "Sleep", gate: flags(settings.Proactive, settings.Kairos),
		make: func(Deps) *tool.Tool { return work.Sleep() },
	})
}
