//go:build !no_context_collapse

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("CtxInspect", func(Deps) *tool.Tool { return work.CtxInspect() }, settings.ContextCollapse)
}
