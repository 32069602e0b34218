package shellcmd

import (
	"slices"
	"strings"
)

// gitLog are the options of git's commands that show history and differences.
var gitLog = spec{
	short: "pusnizwbqvrtcLMCRSG:abU:O:n:", digits: true, any: false,
	long: `oneline graph all decorate? no-decorate stat? shortstat numstat name-only name-status patch no-patch pretty? format=
		abbrev-commit abbrev? no-abbrev-commit author= committer= grep= since= until= after= before= max-count= skip= reverse
		follow merges no-merges first-parent date= topo-order date-order author-date-order color? no-color cached staged
		diff-filter= find-renames? find-copies? no-renames word-diff? ignore-all-space ignore-space-change ignore-blank-lines
		ignore-space-at-eol unified= summary dirstat? raw root tags? branches? remotes? no-ext-diff no-textconv exit-code quiet
		relative? no-prefix full-index binary text check minimal patience histogram no-index left-right cherry-pick cherry-mark
		boundary simplify-by-decoration source full-history parents children count left-only right-only not ignore-case
		regexp-ignore-case extended-regexp fixed-strings perl-regexp all-match invert-grep numbered email summary
		merge-base submodule? no-notes notes? show-pulls compact-summary stdin name-rev walk-reflogs`,
}

// gitReads are git's subcommands that only read, and their options.
var gitReads = map[string]spec{
	"log": gitLog, "show": gitLog, "diff": gitLog, "whatchanged": gitLog, "rev-list": gitLog, "shortlog": gitLog,
	"diff-tree": gitLog, "diff-index": gitLog, "diff-files": gitLog, "cherry": gitLog,
	"status":       {short: "sbvzu::", long: "short branch porcelain? long verbose untracked-files? ignored? null ahead-behind no-ahead-behind renames no-renames column? no-column show-stash ignore-submodules?"},
	"blame":        {short: "lstfnewbcpL:M::C::", long: "line-porcelain porcelain date= since= abbrev= root show-name show-number show-email incremental"},
	"grep":         {short: "niIlLcwvhHoqEFGPrpWaA:B:C:e:m:", digits: true, long: "line-number ignore-case files-with-matches name-only count word-regexp invert-match extended-regexp fixed-strings perl-regexp heading break show-function and or not cached untracked max-depth= color? no-color recursive column only-matching quiet max-count= context= after-context= before-context="},
	"ls-files":     {short: "cdmoiuktszvfx:", long: "cached deleted modified others ignored stage unmerged killed exclude= exclude-standard error-unmatch full-name abbrev? directory eol deduplicate"},
	"ls-tree":      {short: "drtlz", long: "name-only name-status full-name full-tree long abbrev? object-only"},
	"rev-parse":    {short: "q", long: "show-toplevel git-dir git-common-dir abbrev-ref? short? verify quiet is-inside-work-tree is-bare-repository show-prefix show-cdup symbolic-full-name absolute-git-dir all branches? tags? remotes? symbolic show-superproject-working-tree is-shallow-repository"},
	"describe":     {long: "tags all always long abbrev= dirty? contains exact-match match= exclude= candidates= first-parent broken?"},
	"merge-base":   {short: "a", long: "all is-ancestor octopus independent fork-point"},
	"name-rev":     {long: "name-only tags refs= all always"},
	"show-ref":     {short: "dhqs", long: "heads head tags verify quiet hash? abbrev? dereference exists branches"},
	"for-each-ref": {long: "format= sort= count= contains? no-contains? merged? no-merged? points-at= color? ignore-case"},
	"cat-file":     {short: "pte", long: "batch? batch-check? batch-all-objects"},
	"check-ignore": {short: "vnqz", long: "verbose non-matching quiet no-index"}, "check-attr": {short: "az", long: "all cached"},
	"count-objects": {short: "vH", long: "verbose human-readable"}, "var": {short: "l"}, "version": {long: "build-options"},
	"diff-pairs": gitLog, "range-diff": gitLog,
}

// gitShows are the subcommands that print what is in files.
var gitShows = words("show diff log whatchanged diff-tree diff-index diff-files blame grep cat-file stash range-diff diff-pairs")

// gitRuns are subcommands that run commands of their arguments.
var gitRuns = words("bisect submodule rebase filter-branch difftool mergetool for-each-repo daemon shell credential send-email instaweb fast-import svn p4 cvsserver upload-pack hook web--browse")

// gitRunOptions are options of subcommands that run a program.
var gitRunOptions = []string{"-O", "--open-files-in-pager", "--ext-diff", "--exec", "--extcmd", "--upload-pack", "--receive-pack", "--show-signature"}

// checkGit finds the subcommand behind git's own options.
func checkGit(c *call) {
	rest, ok := c.gitOptions()
	if !ok {
		return
	}
	if len(rest) == 0 {
		return // a version or help
	}
	if rest[0].Kind != Literal {
		c.opaque("git's subcommand is not literal")
		return
	}
	name := rest[0].Text
	c.w.s.Git = append(c.w.s.Git, name)
	if contains([]string{"clone", "fetch", "pull", "push", "ls-remote"}, name) {
		c.w.s.Network = true
	}
	sub := &call{w: c.w, name: "git " + name, args: rest[1:], step: c.step}
	if gitShows[name] {
		c.readsTree(here())
	}
	sub.subcommand(name)
}

// gitOptions takes git's own options off. A directory whose repository is not
// trusted, or an option that configures git, makes the command doubtful.
func (c *call) gitOptions() (rest []Word, ok bool) {
	dirs := append([]string{c.w.state.dir}, c.w.state.also...)
	lost := c.w.state.lost
	args := c.args
	for len(args) > 0 {
		f := args[0]
		switch {
		case f.Kind == Literal && !strings.HasPrefix(f.Text, "-"):
			c.repository(dirs, lost)
			return args, true
		case f.Kind != Literal:
			c.opaque("a word of git that is not literal decides what it does")
			return nil, false
		case contains([]string{"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"}, f.Text):
			args = args[1:]
		case contains([]string{"--version", "-v", "--help", "-h"}, f.Text) && len(args) == 1:
			return nil, true
		case f.Text == "-C" && len(args) > 1:
			read := len(c.step.Files)
			c.reads(args[1])
			dirs, lost = nil, args[1].Kind != Literal || read == len(c.step.Files)
			for _, f := range c.step.Files[read:] {
				dirs = append(dirs, f.Path)
			}
			args = args[2:]
		default:
			return c.configured(args)
		}
	}
	return nil, true
}

// configured is git with an option that changes what it reads or runs. The
// subcommand is still looked for, for rules that forbid it.
func (c *call) configured(args []Word) (rest []Word, ok bool) {
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		f := args[0]
		if f.Text == "-c" || strings.HasPrefix(f.Text, "--config-env") || strings.HasPrefix(f.Text, "--exec-path") {
			c.opaque("git is configured by " + f.Text)
		}
		c.doubt("git is configured by " + f.Text)
		args = args[1:]
		if contains([]string{"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"}, f.Text) && len(args) > 0 {
			args = args[1:]
		}
	}
	if len(args) == 0 || args[0].Kind != Literal {
		c.opaque("git's subcommand is not literal")
		return nil, false
	}
	return args, true
}

// repository asks whether git may read the configuration that it finds from each of
// the directories on that it may run in.
func (c *call) repository(dirs []string, lost bool) {
	trusts := c.w.env.Repository
	if trusts == nil {
		trusts = func(dir string) bool { return dir == c.w.env.Dir }
	}
	if lost || slices.ContainsFunc(dirs, func(dir string) bool { return !trusts(dir) }) {
		c.doubt("git would read the configuration of a repository that is not trusted")
	}
}

// subcommand checkers one subcommand of git.
func (c *call) subcommand(name string) {
	sp, reads := gitReads[name]
	c.patterns(c.args)
	for _, f := range c.args {
		for _, option := range gitRunOptions {
			if strings.HasPrefix(f.Text, option) {
				c.opaque(c.name + " runs the value of " + option)
			}
		}
	}
	switch {
	case gitRuns[name]:
		c.gitRun(name)
	case name == "branch" || name == "tag":
		c.gitList(name)
	case name == "remote", name == "stash", name == "config", name == "reflog", name == "worktree", name == "notes":
		c.gitSecond(name)
	case reads:
		p, ok := c.parse(sp)
		if !ok {
			c.step.FilesUnknown = true
			return
		}
		if p.given("no-index") {
			c.reads(p.operands...)
		}
		if name == "log" || name == "shortlog" || name == "rev-list" {
			c.shows(p)
		}
	default:
		c.doubt(c.name + " is not known to only read")
		c.step.FilesUnknown = true
	}
}

// shows keeps the files of a log only where it prints them.
func (c *call) shows(p parsed) {
	if !p.given("p", "u", "patch", "L", "U", "unified", "c", "word-diff", "S", "G") {
		c.step.Files = nil
	}
}

// gitRun is a subcommand that runs commands, but for its forms that list.
func (c *call) gitRun(name string) {
	first := ""
	if len(c.args) > 0 && c.args[0].Kind == Literal {
		first = c.args[0].Text
	}
	if name == "submodule" && (len(c.args) == 0 || first == "status" && len(c.args) == 1) || name == "bisect" && first == "log" && len(c.args) == 1 {
		return
	}
	if name == "rebase" && !contains([]string{"-x", "--exec"}, first) {
		c.doubt("git rebase changes files")
		c.step.FilesUnknown = true
		for _, f := range c.args {
			if f.Kind != Literal || strings.HasPrefix(f.Text, "-x") || strings.HasPrefix(f.Text, "--e") {
				c.opaque("git rebase runs what it is told to")
			}
		}
		return
	}
	c.opaque("git " + name + " runs what it is told to")
	c.suspect()
}

// gitListOptions are the options of git branch and git tag that list.
var gitListOptions = spec{short: "arvln::i", long: "all remotes verbose list show-current contains? no-contains? merged? no-merged? points-at= sort= format= column? no-column color? no-color abbrev? ignore-case"}

// gitList is git branch or git tag: an operand makes one, unless an option makes a
// pattern of it.
func (c *call) gitList(name string) {
	for _, f := range c.args {
		if f.Kind != Literal {
			c.doubt("a word that is not literal may change a " + name)
			return
		}
	}
	p, ok := c.parse(gitListOptions)
	if !ok {
		return
	}
	listing := p.given("list", "l", "contains", "no-contains", "merged", "no-merged", "points-at")
	if len(p.operands) > 0 && !listing {
		c.doubt("git " + name + " would make one")
	}
	if name == "branch" && p.given("n") || name == "tag" && p.given("v", "r", "a") {
		c.doubt("git " + name + " with these options does something else")
	}
}

// gitSeconds are the forms of subcommands that have subcommands of their own: the
// second word, and how many words may follow.
var gitSeconds = map[string]map[string]int{
	"remote":   {"": 0, "-v": 0, "--verbose": 0, "get-url": 2},
	"stash":    {"list": 3, "show": 3},
	"config":   {"--list": 0, "-l": 0, "list": 0, "--get": 1, "--get-all": 1, "get": 1},
	"reflog":   {"": 0, "show": 2},
	"worktree": {"list": 1},
	"notes":    {"list": 1, "show": 1},
}

func (c *call) gitSecond(name string) {
	second := ""
	rest := c.args
	if len(rest) > 0 {
		second, rest = rest[0].Text, rest[1:]
	}
	most, known := gitSeconds[name][second]
	ok := known && len(rest) <= most && (len(c.args) == 0 || c.args[0].Kind == Literal && second != "")
	for _, f := range rest {
		listing := f.Kind == Literal && contains([]string{"--porcelain", "-p", "--stat", "--oneline", "--name-only", "--all"}, f.Text)
		ok = ok && f.Kind == Literal && (listing || !strings.HasPrefix(f.Text, "-") || allDigits(strings.TrimPrefix(f.Text, "-")))
	}
	if !ok {
		c.doubt("git " + name + " is not known to only read with these words")
		c.step.FilesUnknown = true
	}
}
