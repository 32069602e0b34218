//go:build !no_agent_triggers

package builtin

import (
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("CronCreate", func(d Deps) *tool.Tool { return work.CronCreate(d.crons()) }, settings.AgentTriggers)
	offer("CronDelete", func(d Deps) *tool.Tool { return work.CronDelete(d.crons()) }, settings.AgentTriggers)
	offer("CronList", func(d Deps) *tool.Tool { return work.CronList(d.crons()) }, settings.AgentTriggers)
	offer("RemoteTrigger", func(d Deps) *tool.Tool { return web.RemoteTrigger(d.web()) }, settings.AgentTriggers)
}

// crons are the jobs that the three tools share.
func (d Deps) crons() *work.Crons {
	return shared(d, "crons", func() *work.Crons { return work.NewCrons(d.host.Tasks, d.host.Inbox) })
}
