//go:build !no_testing

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "TestingPermission", gate: flags(settings.Testing),
		make: func(Deps) *tool.Tool { return work.TestingPermission() },
	})
}
