package shell

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolbench/toolsys/tool"
)

// WorktreeDir is where worktrees lie within the tree they are copies of. It is not the folder
// of settings, in which each edit is asked about.
const WorktreeDir = ".worktrees"

// GitWorktrees makes worktrees with git, which it runs in a shell.
type GitWorktrees struct{ Run Runner }

var _ Worktrees = GitWorktrees{}

// script runs a script and gives what it printed, without the last line's end.
func (g GitWorktrees) script(ctx context.Context, dir string, env map[string]string, script string) (string, error) {
	var out, errs bytes.Buffer
	exit, err := g.Run(ctx, Request{Script: script, Dir: dir, Env: env, Stdout: &out, Stderr: &errs})
	switch {
	case err != nil:
		return "", err
	case exit.Code != 0:
		return "", fmt.Errorf("%s (exit code %d)", strings.TrimSpace(errs.String()), exit.Code)
	}
	return strings.TrimRight(out.String(), "\r\n"), nil
}

// Add makes a branch worktree-NAME at the commit that is checked out, and a worktree of it
// below the main tree, where git is to leave it out of its own status.
func (g GitWorktrees) Add(ctx context.Context, dir, name string, env map[string]string) (tool.Worktree, error) {
	found, err := g.script(ctx, dir, env, "git rev-parse --show-toplevel && git rev-parse --verify HEAD")
	if err != nil {
		return tool.Worktree{}, err
	}
	main, base, _ := strings.Cut(found, "\n")
	w := tool.Worktree{Name: name, Main: main, Dir: path.Join(main, WorktreeDir, name), Branch: "worktree-" + name, Base: base}
	target, err := syntax.Quote(w.Dir, syntax.LangPOSIX)
	if err != nil {
		return w, err
	}
	_, err = g.script(ctx, main, env, fmt.Sprintf(`exclude=$(git rev-parse --git-path info/exclude) && mkdir -p "$(dirname "$exclude")" &&
{ grep -qxF '/%[1]s/' "$exclude" 2>/dev/null || echo '/%[1]s/' >> "$exclude"; } &&
git worktree add -b %[2]s %[3]s %[4]s`, WorktreeDir, w.Branch, target, base))
	return w, err
}

// Changes lists files that are not committed and commits that only the worktree has.
func (g GitWorktrees) Changes(ctx context.Context, w tool.Worktree, env map[string]string) ([]string, error) {
	var all []string
	for _, script := range []string{"git status --porcelain --untracked-files=all", "git log --oneline HEAD --not --exclude=" + w.Branch + " --branches --remotes"} {
		out, err := g.script(ctx, w.Dir, env, script)
		if err != nil {
			return nil, err
		}
		if out != "" {
			all = append(all, strings.Split(out, "\n")...)
		}
	}
	return all, nil
}

// Remove removes the worktree and its branch. Git itself refuses what would be lost.
func (g GitWorktrees) Remove(ctx context.Context, w tool.Worktree, env map[string]string, discard bool) error {
	target, err := syntax.Quote(w.Dir, syntax.LangPOSIX)
	if err != nil {
		return err
	}
	force, drop := "", "-d"
	if discard {
		force, drop = "--force ", "-D"
	}
	_, err = g.script(ctx, w.Main, env, fmt.Sprintf("git worktree remove %s%s && git branch %s %s", force, target, drop, w.Branch))
	return err
}
