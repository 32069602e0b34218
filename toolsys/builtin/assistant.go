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
	offer("PushNotification", func(d Deps) *tool.Tool { return web.PushNotification(d.Push) }, settings.Kairos)
	offer("SendUserFile", func(d Deps) *tool.Tool { return file.SendUserFile(d.files(), path.Join(d.host.ResultsDir, "outbox")) }, settings.Kairos)
}
