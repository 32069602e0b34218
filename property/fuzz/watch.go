package fuzz

import (
	"context"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"sync"

	"github.com/spf13/afero"

	"toolbench/property/oracle"
	"toolbench/sim/scenario/run"
	"toolbench/sim/world/posix"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// watch notes the work of the built-in tools in one run of a system case, from within: what each
// call was given and gave, and whether one that says it only reads changed anything.
type watch struct {
	disk *posix.FS

	mu   sync.Mutex
	work []oracle.Work
	// changing are the calls at work that may change something; changes counts those that
	// began, so that a call knows whether it was alone. Once background is true, a command may
	// be at work at any time.
	changing, changes int
	background        bool
}

// own are the hooks into a run by which the watch sees it.
func (w *watch) own() *run.Own {
	return &run.Own{
		Tools: func(world run.World) ([]*tool.Tool, error) {
			disk, _ := world.FS.(*posix.FS) // nil on a real disk, which no case has
			w.mu.Lock()
			defer w.mu.Unlock()
			w.disk, w.work, w.changing, w.background = disk, nil, 0, false
			return nil, nil
		},
		Decorate: func(t *tool.Tool) *tool.Tool {
			watched := *t
			watched.Call = func(ctx context.Context, in tool.Input, c *tool.Context) (tool.Output, error) {
				return w.call(ctx, t, in, c)
			}
			return &watched
		},
	}
}

// call lets a tool do its work, and notes it.
func (w *watch) call(ctx context.Context, t *tool.Tool, in tool.Input, c *tool.Context) (tool.Output, error) {
	reads := t.Behaviour.ReadOnly(in)
	n := oracle.Work{Call: c.CallID, Tool: t.Name, Agent: c.AgentID, Input: slices.Clone(in.Raw), Began: c.Clock.Now()}
	before := w.begin(reads, t.Name)
	out, err := t.Call(ctx, in, c)
	n.Ended, n.Failed = c.Clock.Now(), out.Failed
	if err != nil {
		n.Err = err.Error()
	}
	n.Data, _ = json.Marshal(out.Data) // what has no form is not looked at
	for _, b := range out.Blocks {
		if b.Type == message.TypeText {
			n.Text += b.Text
		}
	}
	if reads && out.Modify != nil {
		next := out.Modify(c.State)
		next.Dir = c.State.Dir // a shell's cd reads, and is for the calls behind it
		n.Modified = !reflect.DeepEqual(next, c.State)
	}
	w.end(n, before)
	return out, err
}

// before is how things stood when a call began.
type before struct {
	reads   bool
	disk    posix.Snapshot
	changes int
}

func (w *watch) begin(reads bool, name string) before {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !reads {
		w.changing++
		w.changes++
		w.background = w.background || name == "Bash" || name == "PowerShell" || name == "Tungsten"
	}
	b := before{reads: reads, changes: w.changes}
	if reads && w.disk != nil && w.changing == 0 && !w.background {
		b.disk = w.disk.Snapshot()
	}
	return b
}

func (w *watch) end(n oracle.Work, b before) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !b.reads {
		w.changing--
	} else if b.disk != nil && b.changes == w.changes {
		c := posix.Diff(b.disk, w.disk.Snapshot())
		n.Alone, n.Changed = true, slices.Concat(c.Created, c.Changed, c.Removed)
	}
	if n.Tool == "EnterWorktree" || n.Tool == "ExitWorktree" {
		n.Trees = w.trees()
	}
	w.work = append(w.work, n)
}

// trees are the worktrees that there are on the disk.
func (w *watch) trees() (names []string) {
	infos, _ := afero.ReadDir(w.disk, path.Join("/repo", shell.WorktreeDir)) // a folder that is not there has none
	for _, i := range infos {
		names = append(names, i.Name())
	}
	return names
}
