//go:build !no_overflow_test

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "OverflowTest", gate: flags(settings.OverflowTest),
		make: func(Deps) *tool.Tool { return work.OverflowTest() },
	})
}
