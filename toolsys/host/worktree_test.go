package host_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/host"
	"toolbench/toolsys/tool"
)

// repository is a git repository with a commit, a file that is not committed, and a tool
// context in a folder of it.
func repository(t *testing.T) (*tool.Context, func(script string) string, shell.Worktrees) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	s := newShell(t, host.ShellConfig{})
	dir := filepath.Join(host.Follow(t.TempDir()), "it's a repo")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	c := &tool.Context{State: tool.State{Dir: filepath.Join(dir, "sub"), Root: dir, Extra: []string{filepath.Join(dir, "docs"), "/tmp/results"}}}
	c.State.Env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": t.TempDir(), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	}
	in := func(script string) string {
		t.Helper()
		var out, errs strings.Builder
		exit, err := s.Run(t.Context(), shell.Request{Script: script, Dir: dir, Env: c.State.Env, Stdout: &out, Stderr: &errs})
		require.NoError(t, err)
		require.Zero(t, exit.Code, errs.String())
		return strings.TrimSpace(out.String())
	}
	in("git init -q -b main . && echo one > sub/a.txt && git add . && git commit -qm first && echo more > open.txt")
	return c, in, shell.GitWorktrees{Run: s.Run}
}

// use calls a tool and applies what it modifies.
func use(t *testing.T, tl *tool.Tool, raw string, c *tool.Context) (text string, err error) {
	t.Helper()
	in, problems := tl.Parse(json.RawMessage(raw))
	require.Empty(t, problems)
	require.Nil(t, tl.Validate(in, c))
	out, err := tl.Call(t.Context(), in, c)
	if err != nil {
		return "", err
	}
	if out.Modify != nil {
		c.State = out.Modify(c.State)
	}
	return out.Blocks[0].Text, nil
}

func TestGitMakesAndRemovesWorktrees(t *testing.T) {
	c, in, trees := repository(t)
	before, main := c.State, c.State.Root
	enter, exit := shell.EnterWorktree(trees), shell.ExitWorktree(trees)

	_, err := use(t, enter, `{"name":"fix"}`, c)
	require.NoError(t, err)
	tree := filepath.Join(main, shell.WorktreeDir, "fix")
	assert.Equal(t, filepath.Join(tree, "sub"), c.State.Dir, "the same folder of the copy")
	assert.Equal(t, []string{tree, c.State.Dir, "/tmp/results"}, c.State.Roots(), "a root in the main tree is none any more")
	assert.NoFileExists(t, filepath.Join(tree, "open.txt"), "it begins with what is committed")
	assert.Equal(t, "?? open.txt", in("git status --porcelain --untracked-files=all"), "the main tree does not see it")
	assert.Equal(t, "worktree-fix", in("git -C "+shell.WorktreeDir+"/fix branch --show-current"))

	require.NoError(t, os.WriteFile(filepath.Join(tree, "sub", "a.txt"), []byte("two\n"), 0o644))
	_, err = use(t, exit, `{"action":"remove"}`, c)
	require.ErrorContains(t, err, " M sub/a.txt")
	in("git -C " + shell.WorktreeDir + "/fix commit -qam second")
	_, err = use(t, exit, `{"action":"remove"}`, c)
	require.ErrorContains(t, err, "second", "a commit that is on no other branch would be lost too")
	assert.DirExists(t, tree)

	text, err := use(t, exit, `{"action":"keep"}`, c)
	require.NoError(t, err)
	assert.Contains(t, text, "worktree-fix")
	assert.Equal(t, before, c.State)

	_, err = use(t, enter, `{"name":"fix"}`, c)
	require.ErrorContains(t, err, "already exists")
	assert.Nil(t, c.State.Worktree)

	_, err = use(t, enter, `{"name":"other"}`, c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.State.Dir, "new.txt"), []byte("x"), 0o644))
	text, err = use(t, exit, `{"action":"remove","discard_changes":true}`, c)
	require.NoError(t, err)
	assert.Contains(t, text, "1 changes or commits that are lost")
	assert.NoDirExists(t, filepath.Join(main, shell.WorktreeDir, "other"))
	assert.Equal(t, "main\nworktree-fix", in("git branch --format='%(refname:short)'"))

	in("git merge -q worktree-fix")
	c.State.Worktree = &tool.Worktree{Dir: tree, Main: main, Branch: "worktree-fix", Before: tool.Place{Dir: main, Root: main}}
	_, err = use(t, exit, `{"action":"remove"}`, c)
	require.NoError(t, err, "what is merged is not lost")
	assert.Equal(t, "main", in("git branch --format='%(refname:short)'"))
}

// What git does not delete stays, and the conversation is back all the same: its folder is gone.
func TestAWorktreeIsLeftWhateverBecomesOfItsBranch(t *testing.T) {
	c, in, trees := repository(t)
	enter, exit := shell.EnterWorktree(trees), shell.ExitWorktree(trees)
	before := c.State
	for name, test := range map[string]struct{ script, lost, left string }{
		"on another branch":   {"git commit -qm more --allow-empty && git branch kept", "", "kept\nmain\nworktree-x"},
		"renamed":             {"git branch -m renamed", "", "main\nrenamed"},
		"left for another":    {"git commit -qm alone --allow-empty && git switch -qc other main", "alone", "main\nother"},
		"detached":            {"git switch -q --detach && git commit -qm alone --allow-empty", "alone", "main"},
		"detached, and clean": {"git switch -q --detach", "", "main"},
	} {
		_, err := use(t, enter, `{"name":"x"}`, c)
		require.NoError(t, err, name)
		tree := filepath.Join(before.Root, shell.WorktreeDir, "x")
		in("cd " + shell.WorktreeDir + "/x && " + test.script)
		_, err = use(t, exit, `{"action":"remove"}`, c)
		if test.lost != "" {
			require.ErrorContains(t, err, test.lost, name)
			_, err = use(t, exit, `{"action":"remove","discard_changes":true}`, c)
		}
		require.NoError(t, err, name)
		assert.Equal(t, before, c.State, name)
		assert.NoDirExists(t, tree, name)
		assert.Equal(t, test.left, in("git branch --format='%(refname:short)'"), name)
		in("git branch --format='%(refname:short)' | grep -v main | xargs -r git branch -qD")
	}
}

func TestWhereThereIsNoRepositoryThereIsNoWorktree(t *testing.T) {
	c, _, trees := repository(t)
	c.State.Dir = host.Follow(t.TempDir())
	_, err := use(t, shell.EnterWorktree(trees), `{"name":"fix"}`, c)
	assert.ErrorContains(t, err, "not a git repository")
	assert.Nil(t, c.State.Worktree)
}
