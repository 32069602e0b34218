package shellcmd

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// checkGit finds the subcommand behind git's own options.
func checkGit(c *call) {
	before := c.w.state
	defer func() { c.w.state = before }() // where -C leads is for git alone
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
	if slices.Contains([]string{"clone", "fetch", "pull", "push", "ls-remote"}, name) {
		c.w.s.Network = true
	}
	sub := &call{w: c.w, name: "git " + name, args: rest[1:], step: c.step}
	if tables.GitShows[name] {
		c.readsRepository()
	}
	sub.subcommand(name)
}

// gitOptions takes git's own options off. A directory whose repository is not
// trusted, or an option that configures git, makes the command doubtful.
func (c *call) gitOptions() (rest []Word, ok bool) {
	args, named := c.args, false
	for ; len(args) > 0; args = args[1:] {
		f := args[0]
		switch {
		case f.Kind == Literal && !strings.HasPrefix(f.Text, "-"):
			c.step.Foreign = c.strange() && !named
			return args, true
		case f.Kind != Literal:
			c.opaque("a word of git that is not literal decides what it does")
			return nil, false
		case slices.Contains([]string{"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"}, f.Text):
		case slices.Contains([]string{"--version", "-v", "--help", "-h"}, f.Text) && len(args) == 1:
			return nil, true
		case f.Text == "-C" && len(args) > 1 && !hasMany(args[1:2]): // several words would be further options
			c.goesTo(args[1])
			named, args = true, args[1:]
		default:
			if f.Text == "-c" || strings.HasPrefix(f.Text, "--config-env") || strings.HasPrefix(f.Text, "--exec-path") {
				c.opaque("git is configured by " + f.Text)
			}
			c.doubt("git is configured by " + f.Text)
			if slices.Contains([]string{"-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"}, f.Text) && len(args) > 1 {
				args = args[1:]
			}
		}
	}
	return nil, true
}

// goesTo is -C: git finds its repository, and the files that it is told of, from that folder on.
func (c *call) goesTo(dir Word) {
	read, st := len(c.step.Files), &c.w.state
	c.reads(dir)
	st.lost, st.also = dir.Kind != Literal || read == len(c.step.Files), nil
	for i, f := range c.step.Files[read:] {
		if name := cmp.Or(f.Spelled, f.Path); i == 0 {
			st.dir = name
		} else {
			st.mayBeIn(name)
		}
	}
}

// readsRepository notes all files of the repository, of which git shows any from each of its folders.
func (c *call) readsRepository() { c.touches(File{Tree: true, Repository: true}, here()) }

// strange reports whether git may not read the configuration that it finds from one of
// the directories on that it may run in, and doubts the call then.
func (c *call) strange() bool {
	trusts := c.w.env.Repository
	if trusts == nil {
		trusts = func(dir string) bool { return dir == c.w.env.Dir }
	}
	st := &c.w.state
	is := st.lost || !trusts(st.dir) || slices.ContainsFunc(st.also, func(dir string) bool { return !trusts(dir) })
	if is {
		c.doubt("git would read the configuration of a repository that is not trusted")
	}
	return is
}

// subcommand checkers one subcommand of git.
func (c *call) subcommand(name string) {
	sp, reads := tables.Git[name]
	c.w.looksUp(c.step, c.args)
	for _, f := range c.args {
		if helper.MatchString(f.Text) && slices.Contains([]string{"archive", "clone", "fetch", "ls-remote", "pull", "push", "remote"}, name) {
			c.opaque(c.name + " runs what an address says")
		}
		for _, option := range tables.GitRunOptions {
			if means(f.Text, option) || name == "grep" && shortWith(f, "O") {
				c.opaque(c.name + " runs the value of " + option)
			}
		}
	}
	if asksForSignature(c.args) {
		c.opaque(c.name + " may run the program that checks signatures")
	}
	switch {
	case tables.GitRuns[name]:
		c.gitRun(name)
	case name == "branch" || name == "tag":
		c.gitList(name)
	case tables.GitShapes[name].compiled != nil:
		c.gitSecond(name)
	case reads:
		p, ok := c.parse(sp)
		if !ok {
			return
		}
		if sp.AtMost > 0 && (len(p.operands) > sp.AtMost || hasMany(p.operands)) {
			c.unbounded("a further operand of " + c.name + " would be written")
		}
		if p.given("no-index") || name == "diff" && len(p.operands) == 2 { // git compares two files unbidden where one is outside
			c.reads(p.operands...)
		}
		prints := p.given("p", "u", "patch", "L", "U", "unified", "c", "word-diff", "S", "G", "binary", "check")
		sums := p.given("stat", "shortstat", "numstat", "name-only", "name-status") && !p.given("patch-with-stat", "patch-with-raw", "cc", "color-words", "word-diff-regex")
		within, limited := c.pathspecs()
		switch {
		case name == "status" && p.given("v", "verbose"):
			c.readsRepository()
		case !prints && slices.Contains([]string{"log", "shortlog", "rev-list"}, name), name == "cat-file" && len(c.args) == 2 && len(p.operands) == 1 && p.given("e", "s", "t"):
			c.step.Files = nil
		case name != "diff" || p.given("no-index") || len(p.operands) == 2 && !limited:
		case sums && !prints:
			c.step.Files = nil
		case limited:
			c.step.Files = nil
			c.touches(File{Tree: true}, within...)
		}
		c.readsValues(sp, p)
	default:
		c.unbounded(c.name + " is not known to only read")
		switch {
		case !tables.GitOwn[name]:
			c.opaque(c.name + " may be an alias, or run a program of its own")
		case name == "clone":
			c.step.Leaf = false // its options configure the clone
		}
	}
}

// pathspecs are the paths behind --, beyond which git shows nothing; limited is false where there are none,
// or where one may mean others.
func (c *call) pathspecs() (paths []Word, limited bool) {
	at := slices.IndexFunc(c.args, func(f Word) bool { return f.isLiteral("--") })
	if at < 0 {
		return nil, false
	}
	odd := func(f Word) bool { return f.Kind != Literal || strings.ContainsAny(f.Text, `:*?[\`) }
	return c.args[at+1:], at+1 < len(c.args) && !slices.ContainsFunc(c.args, odd)
}

// helper matches addresses such as ext::COMMAND, which name a program to reach them with.
var helper = regexp.MustCompile(`^(?:--remote=)?[A-Za-z][A-Za-z0-9+.-]*::`)

// asksForSignature reports whether a format or a key to sort by may ask for what a signature is worth, for
// which git runs the program that checks it.
func asksForSignature(args []Word) bool {
	for i, f := range args {
		shapes := shaping.MatchString(f.Text)
		behind := i > 0 && shaping.MatchString(args[i-1].Text) && !strings.Contains(args[i-1].Text, "=")
		if (shapes || behind) && (f.Kind != Literal || signed.MatchString(f.Text)) {
			return true
		}
	}
	return false
}

var (
	shaping = regexp.MustCompile(`^--(?:format|pretty|sort)(?:=|$)`)
	signed  = regexp.MustCompile(`%G|signature`)
)

// gitRun is a subcommand that runs commands, but for its forms that list.
func (c *call) gitRun(name string) {
	text, literal := c.text()
	if literal && (name == "submodule" && (text == "" || text == "status") || name == "bisect" && text == "log") {
		return
	}
	if name == "rebase" && !strings.HasPrefix(text, "-x") && !strings.HasPrefix(text, "--exec") {
		c.unbounded("git rebase changes files")
		for _, f := range c.args {
			if f.Kind != Literal || shortWith(f, "x") || strings.HasPrefix(f.Text, "--e") {
				c.opaque("git rebase runs what it is told to")
				c.suspect()
			}
		}
		return
	}
	c.opaque("git " + name + " runs what it is told to")
	c.suspect()
}

// shortWith reports whether a word may be short options with a letter among them.
func shortWith(f Word, letter string) bool {
	return strings.HasPrefix(f.Text, "-") && !strings.HasPrefix(f.Text, "--") && strings.Contains(f.Text, letter)
}

// gitList is git branch or git tag: an operand makes one, unless an option makes a pattern of it.
func (c *call) gitList(name string) {
	if _, literal := c.text(); !literal {
		c.doubt("a word that is not literal may change a " + name)
		return
	}
	p, ok := c.parse(tables.GitLists)
	if !ok {
		return
	}
	listing := p.given("list", "contains", "no-contains", "merged", "no-merged", "points-at") ||
		p.given("l") && (name == "tag" || !slices.ContainsFunc(p.operands, func(f Word) bool { return !strings.ContainsAny(f.Text, "*?[") })) // an old git makes a branch with -l, of a name without such signs
	if len(p.operands) > 0 && !listing || name == "branch" && p.given("n") || name == "tag" && p.given("v", "r", "a") {
		c.doubt("git " + name + " would do more than list")
	}
}

// gitSecond is a subcommand that has subcommands of its own.
func (c *call) gitSecond(name string) {
	if name == "reflog" && slices.ContainsFunc(c.args, func(f Word) bool { return f.Text == "-p" }) {
		c.readsRepository()
	}
	if tables.GitShapes[name].fits(c) {
		return
	}
	c.unbounded(c.name + " is not known to only read with these words")
	if name == "config" && !setsPlainly(c.args) {
		c.opaque("git may run what its configuration says")
	}
}

// setsPlainly reports whether git config is about a setting of which git runs nothing: its name comes first,
// behind options and what the newer form does.
func setsPlainly(args []Word) bool {
	for i, f := range args {
		file := i > 0 && slices.Contains([]string{"-f", "--file", "--blob"}, args[i-1].Text)
		verb := i == 0 && slices.Contains([]string{"set", "unset", "get"}, f.Text)
		switch {
		case f.Kind != Literal:
			return false
		case !strings.HasPrefix(f.Text, "-") && !file && !verb:
			return plainKey.MatchString(f.Text)
		}
	}
	return false
}

// plainKey matches names of settings of which git runs nothing.
var plainKey = regexp.MustCompile(`(?i)^(?:(?:user|author|committer|color|column|advice|pull|push|rerere|tag|help)\.[a-z.]+|init\.defaultbranch|merge\.conflictstyle|(?:rebase|merge)\.autostash|fetch\.prune|commit\.gpgsign|core\.(?:autocrlf|filemode|ignorecase|quotepath|longpaths|eol|safecrlf|symlinks|bare)|safe\.directory|branch\..*\.(?:remote|merge|rebase))$`)
