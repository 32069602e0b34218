//go:build !no_web_browser_tool

package builtin

import (
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("WebBrowser", func(d Deps) *tool.Tool { return web.WebBrowser(d.Browser) }, settings.WebBrowserTool)
}
