package builtin

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/afero"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/task"
	"toolbench/toolsys/tool"
)

var errNoShell = errors.New("there is no shell here")

func makeBash(d Deps) *tool.Tool {
	return shell.Bash(shell.Deps{
		FS: d.FS, OutputDir: d.OutputDir, Resolve: d.Resolve,
		Run: func(ctx context.Context, r shell.Request) (shell.Exit, error) {
			if d.Shell == nil {
				return shell.Exit{}, errNoShell
			}
			return d.Shell(ctx, r)
		},
		Start: func(c *tool.Context, j shell.Job) (string, error) {
			spec := task.Spec{Kind: "bash", Title: j.Title, Command: j.Command, Agent: c.AgentID}
			return d.Tasks.Start(spec, func(ctx context.Context, out *task.Output) (int, error) { return j.Run(ctx, out) }), nil
		},
	})
}

// SimulatedEdit is the permission layer's door to Bash's approved sed edits (H3).
func SimulatedEdit(fs afero.Fs) func(*tool.Tool, tool.Input, *tool.Context) (json.RawMessage, bool) {
	return shell.Rewrite(fs)
}
