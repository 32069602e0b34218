//go:build !no_powershell_tool

package builtin

import (
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("PowerShell", func(d Deps) *tool.Tool { return shell.PowerShell(d.shell()) }, settings.PowerShellTool)
}
