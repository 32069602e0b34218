//go:build !no_monitor_tool

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "Monitor", gate: flags(settings.MonitorTool),
		make: func(d Deps) *tool.Tool { return work.Monitor(d.work()) },
	})
}
