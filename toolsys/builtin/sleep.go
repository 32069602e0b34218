//go:build !no_proactive || !no_kairos

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("Sleep", func(Deps) *tool.Tool { return work.Sleep() }, settings.Proactive, settings.Kairos)
}
