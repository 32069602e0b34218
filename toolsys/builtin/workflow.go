//go:build !no_workflow_scripts

package builtin

import (
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

func init() {
	offer("Workflow", func(d Deps) *tool.Tool { return work.Workflow(work.Workflows{FS: d.FS, Dirs: d.WorkflowDirs}) }, settings.WorkflowScripts)
}
