//go:build !no_history_snip

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "Snip", gate: flags(settings.HistorySnip),
		make: func(Deps) *tool.Tool { return work.Snip() },
	})
}
