package discovery

import (
	"context"

	"github.com/spf13/afero"

	"toolbench/toolsys/tool"
)

// Deps is what Skill needs from outside; ToolSearch finds all it needs in its
// call's context.
type Deps struct {
	// FS holds the skills' folders.
	FS afero.Fs
	// Dirs are the absolute folders that skills lie in, the more important first:
	// of two skills of one name the first counts.
	Dirs []string
	// Fork runs a skill as a sub-agent whose state begins as isolate makes it of
	// the parent's; isolate is nil where nothing changes. Without Fork the
	// context's Spawn is used, and what a skill allows itself is not carried over.
	Fork func(ctx context.Context, job tool.Job, isolate tool.Modifier, c *tool.Context) (tool.Report, error)
	// Fetch gets the text of a remote skill by what follows "remote:" in its
	// name; nil where there are none.
	Fetch func(ctx context.Context, ref string) (string, error)
}
