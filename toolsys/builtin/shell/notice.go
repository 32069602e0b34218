package shell

import (
	"regexp"
	"slices"

	"toolbench/toolsys/shellcmd"
)

// indexed is the line with which code indexers end: "indexing
// finished", "Finished indexing 312 files", "Index complete".
var indexed = regexp.MustCompile(`(?im)^\W*(?:(?:code |workspace |project )?index(?:ing)?(?: is)? (?:complete|completed|finished|done)|(?:finished|completed|done) indexing)\b`)

// notice fills in what others want to know of the command (L4).
func (out *BashOut) notice(script *shellcmd.Script) {
	out.Git = script.Git
	out.Indexed = indexed.MatchString(out.Stdout) || indexed.MatchString(out.Stderr)
	out.Image, _, _ = image(out.Stdout)
}

// destroyers are the commands that cannot be undone: a name, and words that all
// have to be among its arguments.
var destroyers = []struct {
	name string
	with []string
}{
	{"rm", nil},
	{"rmdir", nil},
	{"shred", nil},
	{"dd", nil},
	{"mkfs", nil},
	{"truncate", nil},
	{"find", []string{"-delete"}},
	{"rsync", []string{"--delete"}},
	{"git", []string{"reset", "--hard"}},
	{"git", []string{"clean"}},
	{"git", []string{"push", "--force"}},
	{"git", []string{"push", "-f"}},
	{"git", []string{"push", "--force-with-lease"}},
	{"git", []string{"branch", "-D"}},
	{"git", []string{"checkout", "--"}},
	{"git", []string{"checkout", "."}},
	{"git", []string{"restore"}},
	{"git", []string{"stash", "drop"}},
	{"git", []string{"stash", "clear"}},
	{"docker", []string{"system", "prune"}},
	{"terraform", []string{"destroy"}},
}

func destructive(script *shellcmd.Script) bool {
	return slices.ContainsFunc(script.Steps, func(st shellcmd.Step) bool {
		for _, d := range destroyers {
			if st.Name == d.name && containsAll(st.Words, d.with) {
				return true
			}
		}
		return false
	})
}

func containsAll(args []shellcmd.Word, words []string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(args, func(f shellcmd.Word) bool { return f.Text == w }) {
			return false
		}
	}
	return true
}
