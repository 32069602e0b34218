//go:build !no_coordinator_mode

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("CoordinatorMode", func(Deps) *tool.Tool { return work.CoordinatorMode() }, settings.CoordinatorMode)
}
