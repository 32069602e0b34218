//go:build !no_web_browser_tool

package builtin

import (
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "WebBrowser", gate: flags(settings.WebBrowserTool),
		make: func(d Deps) *tool.Tool { return web.WebBrowser(d.Browser) },
	})
}
