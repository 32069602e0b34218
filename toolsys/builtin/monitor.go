//go:build !no_monitor_tool

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("Monitor", func(d Deps) *tool.Tool { return work.Monitor(d.work()) }, settings.MonitorTool)
}
