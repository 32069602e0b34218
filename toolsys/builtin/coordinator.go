//go:build !no_coordinator_mode

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "CoordinatorMode", gate: flags(settings.CoordinatorMode),
		make: func(Deps) *tool.Tool { return work.CoordinatorMode() },
	})
}
