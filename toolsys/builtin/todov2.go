//go:build !no_todo_v2

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("TaskCreate", func(d Deps) *tool.Tool { return work.TaskCreate(d.work()) }, settings.TodoV2)
	offer("TaskGet", func(d Deps) *tool.Tool { return work.TaskGet(d.work()) }, settings.TodoV2)
	offer("TaskList", func(d Deps) *tool.Tool { return work.TaskList(d.work()) }, settings.TodoV2)
	offer("TaskUpdate", func(d Deps) *tool.Tool { return work.TaskUpdate(d.work()) }, settings.TodoV2)
}
