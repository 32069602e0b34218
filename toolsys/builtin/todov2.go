//go:build !no_todo_v2

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	gate := flags(settings.TodoV2)
	table = append(table,
		row{name: "TaskCreate", gate: gate, make: func(d Deps) *tool.Tool { return work.TaskCreate(d.work()) }},
		row{name: "TaskGet", gate: gate, make: func(d Deps) *tool.Tool { return work.TaskGet(d.work()) }},
		row{name: "TaskList", gate: gate, make: func(d Deps) *tool.Tool { return work.TaskList(d.work()) }},
		row{name: "TaskUpdate", gate: gate, make: func(d Deps) *tool.Tool { return work.TaskUpdate(d.work()) }},
	)
}
