//go:build !no_overflow_test

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("OverflowTest", func(Deps) *tool.Tool { return work.OverflowTest() }, settings.OverflowTest)
}
