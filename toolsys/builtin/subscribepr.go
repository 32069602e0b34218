//go:build !no_kairos

package builtin

import (
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "SubscribePR", gate: flags(settings.Kairos),
		make: func(d Deps) *tool.Tool { return web.SubscribePR(d.web()) },
	})
}
