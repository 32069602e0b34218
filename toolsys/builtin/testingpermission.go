//go:build !no_testing

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("TestingPermission", func(Deps) *tool.Tool { return work.TestingPermission() }, settings.Testing)
}
