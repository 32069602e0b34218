//go:build !no_worktree_mode

package builtin

import (
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("EnterWorktree", func(d Deps) *tool.Tool { return shell.EnterWorktree(d.worktrees()) }, settings.WorktreeMode)
	offer("ExitWorktree", func(d Deps) *tool.Tool { return shell.ExitWorktree(d.worktrees()) }, settings.WorktreeMode)
}
