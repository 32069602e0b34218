//go:build !no_worktree_mode

package builtin

import (
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	mode := flags(settings.WorktreeMode)
	table = append(table,
		row{name: "EnterWorktree", gate: mode, make: func(d Deps) *tool.Tool { return shell.EnterWorktree(d.worktrees()) }},
		row{name: "ExitWorktree", gate: mode, make: func(d Deps) *tool.Tool { return shell.ExitWorktree(d.worktrees()) }},
	)
}
