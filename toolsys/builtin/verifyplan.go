//go:build !no_verify_plan

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("VerifyPlanExecution", func(d Deps) *tool.Tool { return work.VerifyPlanExecution(d.work()) }, settings.VerifyPlan)
}
