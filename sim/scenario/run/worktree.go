package run

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"toolbench/sim/world"
	shelltool "toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// worktrees copies trees of the world's disk, which has no git: contents are shared until
// one side is written. All that a copy has beside what it began with counts as not
// committed.
type worktrees struct {
	fs   *world.FS
	root string // of the main tree

	mu   sync.Mutex
	base map[string]world.Snapshot // what each copy began with, by folder
}

var _ shelltool.Worktrees = (*worktrees)(nil)

// Add implements shelltool.Worktrees, as the others do.
func (w *worktrees) Add(_ context.Context, dir, name string, _ map[string]string) (tool.Worktree, error) {
	dir = w.rootOf(dir)
	tree := tool.Worktree{Name: name, Main: dir, Dir: path.Join(dir, shelltool.WorktreeDir, name), Branch: "worktree-" + name}
	if _, err := w.fs.Stat(tree.Dir); err == nil {
		return tree, fmt.Errorf("%s exists already; choose another name", tree.Dir)
	}
	if err := w.fs.MkdirAll(path.Dir(tree.Dir), 0o755); err != nil {
		return tree, err
	}
	if err := w.fs.Clone(dir, tree.Dir, func(below string) bool { return below == shelltool.WorktreeDir }); err != nil {
		return tree, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.base[tree.Dir] = below(w.fs.Snapshot(), tree.Dir)
	return tree, nil
}

// rootOf is the root of the tree that a folder lies in: of a copy, or of the main tree.
func (w *worktrees) rootOf(dir string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	root := w.root
	for copied := range w.base {
		if permission.Within(dir, []string{copied}) && len(copied) > len(root) {
			root = copied
		}
	}
	return root
}

// below is the part of a snapshot that lies in a folder.
func below(s world.Snapshot, dir string) world.Snapshot {
	return slices.DeleteFunc(slices.Clone(s), func(e world.SnapshotEntry) bool { return !strings.HasPrefix(e.Path, dir+"/") })
}

func (w *worktrees) Changes(_ context.Context, tree tool.Worktree, _ map[string]string) ([]string, error) {
	w.mu.Lock()
	base := w.base[tree.Dir]
	w.mu.Unlock()
	c := world.DiffSnapshots(base, below(w.fs.Snapshot(), tree.Dir))
	var all []string
	for _, list := range []struct {
		mark  string
		paths []string
	}{{"??", c.Created}, {" M", c.Changed}, {" D", c.Removed}} {
		all = append(all, tool.Each(list.paths, func(p string) string { return list.mark + " " + strings.TrimPrefix(p, tree.Dir+"/") })...)
	}
	return all, nil
}

func (w *worktrees) Remove(ctx context.Context, tree tool.Worktree, env map[string]string, discard bool) error {
	if changes, err := w.Changes(ctx, tree, env); err != nil || len(changes) > 0 && !discard {
		return errors.Join(err, errors.New("there are changes"))
	}
	w.mu.Lock()
	delete(w.base, tree.Dir)
	w.mu.Unlock()
	return w.fs.RemoveAll(tree.Dir)
}

// worktrees are the world's; on a disk that was there before git makes them.
func (r *runner) worktrees() shelltool.Worktrees {
	if r.live != nil && r.live.Disk != nil {
		return nil
	}
	return &worktrees{fs: r.fs, root: r.dir(), base: map[string]world.Snapshot{}}
}
