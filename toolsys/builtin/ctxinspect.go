//go:build !no_context_collapse

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "CtxInspect", gate: flags(settings.ContextCollapse),
		make: func(Deps) *tool.Tool { return work.CtxInspect() },
	})
}
