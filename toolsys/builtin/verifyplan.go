//go:build !no_verify_plan

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	table = append(table, row{
		name: "VerifyPlanExecution", gate: flags(settings.VerifyPlan),
		make: func(d Deps) *tool.Tool { return work.VerifyPlanExecution(d.work()) },
	})
}
