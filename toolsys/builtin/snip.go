//go:build !no_history_snip

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() { offer("Snip", func(Deps) *tool.Tool { return work.Snip() }, settings.HistorySnip) }
