package shell

import (
	"bytes"
	"context"
	_ "embed" // the prompts beside this file
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// Worktrees makes isolated copies of a repository's tree.
type Worktrees interface {
	// Add makes a copy of the tree that dir lies in, under a name that no other has.
	Add(ctx context.Context, dir, name string, env map[string]string) (tool.Worktree, error)
	// Changes lists what a copy has that would be gone with it; a line each.
	Changes(ctx context.Context, w tool.Worktree, env map[string]string) ([]string, error)
	// Remove removes a copy. Unless discard is set it fails where something would be lost.
	Remove(ctx context.Context, w tool.Worktree, env map[string]string, discard bool) error
}

//go:embed enterworktree.md
var enterPrompt string

// Why a worktree is not entered or left.
const (
	CodeBadName = iota + 1
	CodeInside
	CodeOutside
	CodeNotOurs
)

// EnterIn is what EnterWorktree takes.
type EnterIn struct {
	Name string `json:"name" minLength:"1" maxLength:"64" jsonschema:"A name for the worktree: letters, digits, dots, dashes and underscores"`
}

// WorktreeOut is what both tools of worktree mode answer with.
type WorktreeOut struct {
	Dir    string `json:"dir"`
	Branch string `json:"branch,omitempty"`
	// Back is the working directory after leaving; Removed and Lost are what became of the
	// worktree.
	Back    string   `json:"back,omitempty"`
	Removed bool     `json:"removed,omitempty"`
	Lost    []string `json:"lost,omitempty"`
}

var worktreeName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// EnterWorktree makes a worktree and moves the conversation into it (SPEC L): from then on
// the working directory and the allowed root are the worktree's, and no call changes a
// file of the main tree, whatever mode and rules permit.
func EnterWorktree(trees Worktrees) *tool.Tool {
	return tool.Must(tool.Def[EnterIn, WorktreeOut]{
		Name:        "EnterWorktree",
		Hint:        "create isolated git worktree",
		Description: "Makes an isolated copy of the repository and works in it from then on.",
		Describe:    func(in EnterIn) string { return "Enter the worktree " + in.Name },
		Prompt:      tool.Prompt(enterPrompt),
		Call: func(ctx context.Context, in EnterIn, c *tool.Context) (tool.Result[WorktreeOut], error) {
			w, err := trees.Add(ctx, c.State.Dir, in.Name, c.State.Env)
			if err != nil {
				return tool.Result[WorktreeOut]{}, fmt.Errorf("the worktree %q was not made: %w", in.Name, err)
			}
			w.Agent = c.AgentID
			out := WorktreeOut{Dir: w.Dir, Branch: w.Branch}
			return tool.Result[WorktreeOut]{Data: out, Modify: enter(w)}, nil
		},
		Text: func(out WorktreeOut) string {
			branch := ""
			if out.Branch != "" {
				branch = ", on the branch " + out.Branch
			}
			return fmt.Sprintf("You work in the worktree %s now%s. Use paths below it. Files of the main tree stay as they are; leave with ExitWorktree.", out.Dir, branch)
		},
		Validate: validateEnter,
		Loading:  tool.Loading{Deferrable: true},
		Shaping:  tool.Shaping[EnterIn]{Classifier: func(in EnterIn) string { return in.Name }},
		View:     tool.Doing("Worktree", "Entering the worktree ", func(in EnterIn) string { return in.Name }),
	})
}

func validateEnter(in EnterIn, c *tool.Context) *tool.Refusal {
	switch {
	case c.State.Worktree != nil:
		return &tool.Refusal{Message: fmt.Sprintf("you are in the worktree %s already; leave it with ExitWorktree first", c.State.Worktree.Dir), Code: CodeInside}
	case !worktreeName.MatchString(in.Name) || strings.Contains(in.Name, "..") || strings.HasSuffix(in.Name, ".lock") || strings.HasSuffix(in.Name, "."):
		return &tool.Refusal{Message: fmt.Sprintf("%q is no name of a worktree: use letters, digits, dots, dashes and underscores, and begin with none of the last three but the underscore", message.Line(in.Name, tool.SummaryChars)), Code: CodeBadName}
	}
	return nil
}

// enter moves a conversation into a worktree, to the same folder of it. Roots in the main
// tree are none any more.
func enter(w tool.Worktree) tool.Modifier {
	return func(s tool.State) tool.State {
		w.Before = tool.Place{Dir: s.Dir, Root: s.Root, Extra: s.Extra}
		s.Dir = w.Dir
		if below, err := filepath.Rel(w.Main, w.Before.Dir); err == nil && filepath.IsLocal(below) {
			s.Dir = path.Join(w.Dir, below)
		}
		s.Root = w.Dir
		s.Extra = slices.DeleteFunc(slices.Clone(s.Extra), func(root string) bool { return permission.Within(root, []string{w.Main}) })
		s.Worktree = &w
		return s
	}
}

//go:embed exitworktree.md
var exitPrompt string

// ExitIn is what ExitWorktree takes.
type ExitIn struct {
	Action  string `json:"action" enum:"keep,remove" jsonschema:"What becomes of the worktree"`
	Discard bool   `json:"discard_changes,omitempty" jsonschema:"Remove it although changes or commits would be lost"`
}

func (in ExitIn) removes() bool { return in.Action == "remove" }

// ExitWorktree moves the conversation back to where it came from, and removes the worktree
// if asked to: not while that would lose something, unless discarding is asked for (SPEC L).
func ExitWorktree(trees Worktrees) *tool.Tool {
	return tool.Must(tool.Def[ExitIn, WorktreeOut]{
		Name:        "ExitWorktree",
		Hint:        "exit and clean up git worktree",
		Description: "Leaves the worktree, and keeps or removes it.",
		Prompt:      tool.Prompt(exitPrompt),
		Call: func(ctx context.Context, in ExitIn, c *tool.Context) (tool.Result[WorktreeOut], error) {
			out, err := leave(ctx, in, c, trees)
			if err != nil {
				return tool.Result[WorktreeOut]{}, err
			}
			return tool.Result[WorktreeOut]{Data: out, Modify: back}, nil
		},
		Text:     WorktreeOut.left,
		Validate: validateExit,
		Permit: func(in ExitIn, _ *tool.Context) permission.Opinion {
			if in.removes() {
				return permission.Opinion{}
			}
			return permission.Opinion{Behaviour: permission.Allow, Text: "the worktree stays as it is"}
		},
		Traits:  tool.Traits[ExitIn]{Destructive: func(in ExitIn) bool { return in.removes() && in.Discard }},
		Loading: tool.Loading{Deferrable: true},
		Shaping: tool.Shaping[ExitIn]{Classifier: func(in ExitIn) string { return fmt.Sprintf("%s, discard changes: %t", in.Action, in.Discard) }},
		View:    tool.Titled("Leave worktree", "Leaving the worktree", func(in ExitIn) string { return in.Action }),
	})
}

func validateExit(_ ExitIn, c *tool.Context) *tool.Refusal {
	switch w := c.State.Worktree; {
	case w == nil:
		return &tool.Refusal{Message: "you are in no worktree; EnterWorktree makes one", Code: CodeOutside}
	case w.Agent != c.AgentID:
		return &tool.Refusal{Message: "the worktree was entered by the conversation that began you; report to it and let it leave", Code: CodeNotOurs}
	}
	return nil
}

// shownChanges is how many lines of what would be lost are shown.
const shownChanges = 10

func leave(ctx context.Context, in ExitIn, c *tool.Context, trees Worktrees) (WorktreeOut, error) {
	w := c.State.Worktree
	out := WorktreeOut{Dir: w.Dir, Branch: w.Branch, Back: w.Before.Dir, Removed: in.removes()}
	if !in.removes() {
		return out, nil
	}
	lost, err := trees.Changes(ctx, *w, c.State.Env)
	if err != nil {
		return out, fmt.Errorf("what the worktree %s has cannot be read: %w", w.Dir, err)
	}
	if len(lost) > 0 && !in.Discard {
		shown := strings.Join(lost[:min(shownChanges, len(lost))], "\n")
		return out, fmt.Errorf("the worktree %s has %d changes or commits that would be lost:\n%s\n"+
			"Commit and merge them, leave with action keep, or ask the user whether to discard them and call again with discard_changes", w.Dir, len(lost), shown)
	}
	if err := trees.Remove(ctx, *w, c.State.Env, in.Discard); err != nil {
		return out, fmt.Errorf("the worktree %s was not removed: %w", w.Dir, err)
	}
	out.Lost = lost
	return out, nil
}

// back moves a conversation to where it was before it entered its worktree.
func back(s tool.State) tool.State {
	if w := s.Worktree; w != nil {
		s.Dir, s.Root, s.Extra, s.Worktree = w.Before.Dir, w.Before.Root, w.Before.Extra, nil
	}
	return s
}

func (out WorktreeOut) left() string {
	switch {
	case !out.Removed && out.Branch != "":
		return fmt.Sprintf("You are back in %s. The worktree %s stays, with its branch %s.", out.Back, out.Dir, out.Branch)
	case !out.Removed:
		return fmt.Sprintf("You are back in %s. The worktree %s stays.", out.Back, out.Dir)
	case len(out.Lost) > 0:
		return fmt.Sprintf("You are back in %s. The worktree %s is removed, with %d changes or commits that are lost.", out.Back, out.Dir, len(out.Lost))
	}
	return fmt.Sprintf("You are back in %s. The worktree %s is removed; nothing was lost.", out.Back, out.Dir)
}

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

// Changes lists files that are not committed and commits that only the worktree has, or its branch.
func (g GitWorktrees) Changes(ctx context.Context, w tool.Worktree, env map[string]string) ([]string, error) {
	var all []string
	for _, script := range []string{
		"git status --porcelain --untracked-files=all",
		fmt.Sprintf("git log --oneline HEAD $(git rev-parse -q --verify refs/heads/%[1]s) --not --exclude=%[1]s --branches --remotes", w.Branch),
	} {
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

// Remove removes the worktree and its branch. Git itself refuses what would be lost; a branch that it does not
// delete stays, which loses nothing.
func (g GitWorktrees) Remove(ctx context.Context, w tool.Worktree, env map[string]string, discard bool) error {
	target, err := syntax.Quote(w.Dir, syntax.LangPOSIX)
	if err != nil {
		return err
	}
	force, drop := "", "-d"
	if discard {
		force, drop = "--force ", "-D"
	}
	_, err = g.script(ctx, w.Main, env, fmt.Sprintf("git worktree remove %s%s && { git branch %s %s || :; }", force, target, drop, w.Branch))
	return err
}
