//go:build !no_agent_swarms

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	gate := flags(settings.AgentSwarms)
	table = append(table,
		row{name: "ListPeers", gate: gate, make: func(d Deps) *tool.Tool { return work.ListPeers(d.work()) }},
		row{name: "TeamCreate", gate: gate, make: func(d Deps) *tool.Tool { return work.TeamCreate(d.work()) }},
		row{name: "TeamDelete", gate: gate, make: func(d Deps) *tool.Tool { return work.TeamDelete(d.work()) }},
	)
}
