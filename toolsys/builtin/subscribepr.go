//go:build !no_kairos

package builtin

import (
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("SubscribePR", func(d Deps) *tool.Tool { return web.SubscribePR(d.web()) }, settings.Kairos)
}
