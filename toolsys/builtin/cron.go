//go:build !no_agent_triggers

package builtin

import (
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	triggers := flags(settings.AgentTriggers)
	table = append(table,
		row{name: "CronCreate", gate: triggers, make: func(d Deps) *tool.Tool { return work.CronCreate(d.crons()) }},
		row{name: "CronDelete", gate: triggers, make: func(d Deps) *tool.Tool { return work.CronDelete(d.crons()) }},
		row{name: "CronList", gate: triggers, make: func(d Deps) *tool.Tool { return work.CronList(d.crons()) }},
		row{name: "RemoteTrigger", gate: triggers, make: func(d Deps) *tool.Tool { return web.RemoteTrigger(d.web()) }},
	)
}

// crons are the jobs that the three tools share.
func (d Deps) crons() *work.Crons {
	return shared(d, "crons", func() *work.Crons { return work.NewCrons(d.host.Tasks, d.host.Inbox) })
}
