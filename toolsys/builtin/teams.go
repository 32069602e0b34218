//go:build !no_agent_swarms

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("ListPeers", func(d Deps) *tool.Tool { return work.ListPeers(d.work()) }, settings.AgentSwarms)
	offer("TeamCreate", func(d Deps) *tool.Tool { return work.TeamCreate(d.work()) }, settings.AgentSwarms)
	offer("TeamDelete", func(d Deps) *tool.Tool { return work.TeamDelete(d.work()) }, settings.AgentSwarms)
}
