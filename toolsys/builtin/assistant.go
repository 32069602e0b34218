//go:build !no_kairos

package builtin

import (
	"path"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	gate := flags(settings.Kairos)
	table = append(table,
		row{name: "PushNotification", gate: gate, make: func(d Deps) *tool.Tool { return web.PushNotification(d.Push) }},
		row{name: "SendUserFile", gate: gate, make: func(d Deps) *tool.Tool {
			return file.SendUserFile(d.files(), path.Join(d.host.ResultsDir, "outbox"))
		}},
	)
}
