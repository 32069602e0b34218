package shellcmd

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// checkers decide about commands that need more than a table: builtins of the shell,
// and programs with languages of their own. It is filled once, before main.
var checkers map[string]func(*call)

func init() {
	rows := func(c *call) { c.fills(spec{Short: "td:n:O:s:"}, c.name+" may run what an option says") }
	checkers = map[string]func(*call){
		":": anything, "true": anything, "false": anything, "echo": anything, "exit": anything, "return": anything,
		"break": anything, "continue": anything, "shift": anything, "times": anything, "help": anything, "pwd": anything, "type": anything,
		"printf": checkPrintf, "test": checkTest, "[": checkTest, "cd": checkCd, "set": checkSet,
		"read": func(c *call) {
			c.fills(spec{Short: "rsea:d:i:n:N:p:t:"}, "read may set a variable that means something")
		},
		"unset": checkUnset, "mapfile": rows, "readarray": rows, "wait": checkWait, "command": checkCommand, "builtin": checkCommand,
		"getopts": checkChange, "popd": checkChange, "pushd": checkChange, "shopt": checkChange,

		"date": checkDate, "less": checkPager, "more": checkPager, "jq": checkJq, "yq": checkYq, "zcat": checkPacked, "zgrep": checkPacked, "gzip": checkPacked, "gunzip": checkPacked,
		"strings": checkBinary, "nm": checkBinary, "size": checkBinary, "objdump": checkBinary, "readelf": checkBinary,
		"find": checkFind, "sed": checkSed, "awk": checkAwk, "gawk": checkAwk, "mawk": checkAwk, "nawk": checkAwk,
		"git": checkGit, "xargs": checkXargs, "sh": checkShell, "bash": checkShell, "dash": checkShell,
	}
}

// anything is a builtin that only reads whatever its words are.
func anything(c *call) {
	c.step.Leaf = true
	c.w.looksUp(c.step, c.args)
}

// storing matches formats of printf that store a number in the variable that an argument names.
var storing = regexp.MustCompile(`%[-+ #0-9.*'hjlLqtz]*n`)

// checkPrintf looks for names of variables: that of -v, which may have a subscript, and the arguments of %n.
func checkPrintf(c *call) {
	c.step.Leaf = true
	args := c.args
	for len(args) > 1 && args[0].isLiteral("-v") && args[1].Kind == Literal {
		c.assign(args[1].Text)
		args = args[2:]
	}
	if len(args) > 0 && (args[0].wild() || args[0].Kind == Literal && strings.HasPrefix(args[0].Text, "-") && args[0].Text != "--") {
		c.construct("printf may set a variable")
	}
	if len(args) > 0 && args[0].isLiteral("--") {
		args = args[1:]
	}
	if len(args) > 0 && (args[0].Kind != Literal || storing.MatchString(args[0].Text)) {
		c.stores(args)
	}
	c.w.looksUp(c.step, c.args)
}

// stores takes the arguments of a format that may store for names of variables.
func (c *call) stores(args []Word) {
	for i, f := range args {
		switch {
		case f.Kind == Many, f.Kind == Pattern, i > 0 && (f.Kind != Literal || syntax.ValidName(f.Text) && !plain(f.Text)):
			c.construct("printf may set a variable")
			return
		case i > 0 && syntax.ValidName(f.Text):
			c.assign(f.Text)
		}
	}
}

// assign notes that a builtin sets a variable to a text that is not known.
func (c *call) assign(name string) {
	c.w.s.Changes.Vars = append(c.w.s.Changes.Vars, name)
	if !plain(name) {
		c.construct("it sets " + name)
		return
	}
	c.w.state.vars[name] = value{}
}

// checkTest is test and [. Their -v and -R evaluate subscripts, so no word that is
// not literal may turn out to be one where another word could be a subscript.
func checkTest(c *call) {
	c.step.Leaf = true
	args := c.args
	if c.name == "[" && len(args) > 0 && args[len(args)-1].isLiteral("]") {
		args = args[:len(args)-1]
	}
	for i, f := range args {
		if (f.isLiteral("-v") || f.isLiteral("-R")) && (i+1 == len(args) || args[i+1].Kind != Literal || !syntax.ValidName(args[i+1].Text)) {
			c.construct("a test that evaluates a subscript")
			return
		}
	}
	if _, literal := c.text(); !literal && !orderlyTest(args) {
		c.construct("a test whose operators are not literal")
		return
	}
	for i, f := range args {
		if i > 0 && (tables.FileTests[args[i-1].Text] && args[i-1].Kind == Literal) || i+1 < len(args) && slices.Contains([]string{"-nt", "-ot", "-ef"}, args[i+1].Text) {
			c.reads(f)
		}
	}
	c.w.looksUp(c.step, args)
}

// orderlyTest reports whether a test with words that are not literal has its
// operators where the number of words alone decides what they are.
func orderlyTest(args []Word) bool {
	if hasMany(args) {
		return false
	}
	for len(args) > 1 && args[0].isLiteral("!") && len(args) <= 4 {
		args = args[1:]
	}
	switch len(args) {
	case 0, 1:
		return true
	case 2:
		return args[0].Kind == Literal && tables.UnaryTests[args[0].Text]
	case 3:
		return args[1].Kind == Literal && tables.BinaryTests[args[1].Text]
	}
	return false
}

// checkCd goes to a literal directory, or nobody knows where.
func checkCd(c *call) {
	w := c.w
	c.step.Leaf = true
	w.s.Changes.Dir, w.success = true, nil
	p, known := c.parse(spec{Short: "LPe", Operands: files})
	w.foldersSet = w.foldersSet || p.given("P") // to where a link leads
	target := Word{Text: w.folder("HOME").text}
	if len(p.operands) > 0 {
		target = p.operands[0]
	}
	if target.isLiteral("-") {
		target.Text = w.folder("OLDPWD").text
	}
	if known = known && len(p.operands) < 2; known {
		c.reads(target)
	}
	known = known && target.Kind == Literal && target.Text != ""
	c.step.FilesUnknown = c.step.FilesUnknown || !known
	if known && len(c.step.Files) > 0 && (!w.state.lost || strings.HasPrefix(target.Text, "/")) {
		w.goTo(c.step.Files)
		return
	}
	w.state.lost = true
}

// goTo notes where a cd leads from each directory that the script may be in. It may
// fail, and then the script stays where it is.
func (w *walker) goTo(targets []File) {
	before := w.state.clone()
	w.state.old = ""
	if !before.lost && len(before.also) == 0 {
		w.state.old = before.dir
	}
	w.state.dir, w.state.also, w.state.lost = targets[0].Path, nil, false
	for _, f := range targets {
		w.state.mayBeIn(f.Path)
		if f.Spelled != "" { // where the folder that is spelled does not exist
			w.state.mayBeIn(f.Spelled)
		}
	}
	w.state.lost = w.state.lost || before.lost && len(targets) > 1
	succeeded := w.state.clone()
	w.state = join(w.state, before)
	w.success = &succeeded
}

// fills checks a builtin that sets the variables it names to what it reads. why is what is wrong with an
// option that is not listed.
func (c *call) fills(sp spec, why string) {
	c.step.Leaf = true
	p, ok := c.parse(sp)
	if !ok {
		c.construct(why)
		return
	}
	for _, o := range p.options {
		switch {
		case o.value.Kind != Literal:
			c.opaque("an option of " + c.name + " is not literal")
		case o.name == "a":
			c.assign(o.value.Text)
		}
	}
	c.assignAll(p.operands)
}

func (c *call) assignAll(names []Word) {
	for _, f := range names {
		if f.Kind != Literal {
			c.construct(c.name + " sets a variable whose name is not literal")
			continue
		}
		c.assign(f.Text)
	}
}

// checkUnset takes away variables, or functions of these names.
func checkUnset(c *call) {
	c.step.Leaf = true
	c.assignAll(c.args)
	for _, f := range c.args {
		if slices.Contains(c.w.s.Changes.Functions, f.Text) {
			c.construct("it takes a function away that others may call")
		}
		c.w.dropped[f.Text] = true
		delete(c.w.functions, f.Text)
	}
}

// checkSet allows options that only make a script stricter or show what it does, and positional parameters.
func checkSet(c *call) {
	c.step.Leaf = true
	c.w.s.Changes.Options = true
	for i := 0; i < len(c.args); i++ {
		f := c.args[i]
		switch {
		case f.isLiteral("--"):
			c.w.looksUp(c.step, c.args[i:])
			return
		case f.isLiteral("-o") || f.isLiteral("+o") || f.isLiteral("-euo") || f.isLiteral("-eo"):
			if i++; i < len(c.args) && c.args[i].Kind == Literal && slices.Contains([]string{"pipefail", "errexit", "nounset", "noglob"}, c.args[i].Text) {
				continue
			}
		case f.Kind == Literal && len(f.Text) > 1 && (f.Text[0] == '-' || f.Text[0] == '+') && strings.Trim(f.Text[1:], "eufx") == "":
			continue
		}
		c.construct("set changes what the script means")
		return
	}
	if len(c.args) == 0 {
		c.doubt("it lists all variables")
	}
}

// checkChange is a builtin that changes the shell itself in a way that is not followed: its folder, a variable or how it reads
// what comes. A rule may allow it, but what is known then of the rest of the script is less.
func checkChange(c *call) {
	c.unbounded(c.name + " changes the shell")
	switch text, _ := c.text(); {
	case c.name == "getopts":
		c.assignAll(c.args[min(1, len(c.args)):min(2, len(c.args))])
	case c.name != "shopt":
		c.w.state.lost = true
	case !matching(text):
		c.construct("shopt changes what the script means")
	}
}

// matching matches settings of which names and words match a pattern, but not of what is done where none does.
var matching = regexp.MustCompile(`^-[su](?: (?:dotglob|extglob|globstar|nocaseglob|nocasematch|nullglob))+$`).MatchString

func checkWait(c *call) {
	c.step.Leaf = true
	for _, f := range c.args {
		if !(f.Kind == Unknown && f.Undashed && f.Bound == "") && (f.Kind != Literal || !allDigits(f.Text) && f.Text != "-n") {
			c.opaque("wait may set a variable, and evaluate its subscript")
		}
	}
}

// checkCommand is command and builtin: with -v they look a name up, else they run it.
func checkCommand(c *call) {
	if c.name == "command" && len(c.args) > 0 && (c.args[0].isLiteral("-v") || c.args[0].isLiteral("-V")) {
		anything(c)
		return
	}
	c.wrapped(wrapper{Short: "p"})
}

func checkDate(c *call) {
	sp := spec{Short: "uRd:r:I::", Long: "utc universal rfc-email date= reference= iso-8601? rfc-3339=", FileValues: []string{"r", "reference"}}
	p, ok := c.parse(sp)
	if !ok {
		return
	}
	c.readsValues(sp, p)
	c.w.looksUp(c.step, p.operands)
	if slices.ContainsFunc(p.operands, func(f Word) bool { return f.Kind == Many || !strings.HasPrefix(f.Text, "+") }) {
		c.doubt("date may set the clock")
	}
}

// checkPager looks for +COMMAND, which makes a pager run something.
func checkPager(c *call) {
	commands := func(f Word) bool { return f.Kind != Literal && !f.Undashed || strings.HasPrefix(f.Text, "+") }
	if slices.ContainsFunc(c.args, commands) {
		c.opaque(c.name + " may run what a word says")
		return
	}
	tables.Readers[c.name].check(c)
}

// checkJq looks for programs that import modules from files. What --arg gives a program are texts.
func checkJq(c *call) {
	c.step.Leaf = true
	var kept []Word
	for i, plain := 0, true; i < len(c.args); i++ {
		f := c.args[i]
		if plain && i+2 < len(c.args) && (f.isLiteral("--arg") || f.isLiteral("--argjson")) && !hasMany(c.args[i+1:i+3]) {
			i += 2
			continue
		}
		kept, plain = append(kept, f), plain && f.Kind == Literal && jqFlags(f.Text)
	}
	c.args = kept
	tables.Readers["jq"].check(c)
	for _, f := range c.args {
		made := f.Kind != Literal && (f.Bound == "" || strings.ContainsAny(f.Bound, " \";|(")) && (f.Text == "" || !strings.ContainsAny(f.Text[:1], ".[{($\""))
		if made || strings.Contains(f.Text, "import") || strings.Contains(f.Text, "include") || strings.Contains(f.Text, "modulemeta") {
			c.step.FilesUnknown = true
		}
	}
}

// jqFlags matches words of jq behind which an option stands for itself.
var jqFlags = regexp.MustCompile(`^(?:[^-].*|-[CMRSacejnrs]+)$`).MatchString

// checkBinary takes a word that begins with @ for a file of further words, which may be options that load code.
func checkBinary(c *call) {
	tables.Readers[c.name].check(c)
	if slices.ContainsFunc(c.args, func(f Word) bool {
		return strings.HasPrefix(f.Text, "@") || f.Kind == Pattern && strings.IndexByte("*?[", f.Text[0]) >= 0
	}) {
		c.unbounded(c.name + " takes options from a file")
	}
}

// checkPacked notes the names that are tried where there is no file of the name that is given. It doubts names with a
// line feed, which some zgreps take for a part of their own script.
func checkPacked(c *call) {
	if sp, reads := tables.Readers[c.name]; reads {
		sp.check(c)
	} else {
		c.shaped()
	}
	odd := func(f Word) bool { return strings.Contains(f.Text, "\n") || f.Kind != Literal }
	if c.name == "zgrep" && slices.ContainsFunc(c.args, odd) {
		c.doubt("zgrep may take a name for a part of its own script")
	}
	for _, f := range c.step.Files {
		named := f
		for _, ending := range []string{".gz", ".z", "-gz", "-z", "_z", ".Z"} {
			f.Path = named.Path + ending
			c.step.Files = append(c.step.Files, f)
		}
	}
}

// shaped allows the words that the table of shapes has for the program. Those behind the first may be files, and
// for go folders with all below them, for unzip names with an ending more.
func (c *call) shaped() {
	if !tables.Shapes[c.name].fits(c) {
		c.unbounded(c.name + " is not known to only read with these words")
		return
	}
	c.step.Leaf = true
	for i, f := range c.args {
		if !strings.HasPrefix(f.Text, "-") && (i > 0 || c.name == "xxd") {
			c.touches(File{Tree: c.name == "go" || c.name == "unzip"}, f)
		}
	}
}

// fits reports whether the words of a command are literal and those of a pattern, each without blanks of its own.
func (p pattern) fits(c *call) bool {
	text, literal := c.text()
	return literal && len(strings.Fields(text)) == len(c.args) && p.compiled().MatchString(text)
}

// checkYq allows programs that only look at the documents they are given; the first operand may be a file as well.
func checkYq(c *call) {
	if len(c.args) > 0 && c.args[0].Kind == Literal && slices.Contains([]string{"eval", "e", "eval-all", "ea"}, c.args[0].Text) {
		c.args = c.args[1:]
	}
	tables.Readers["yq"].check(c)
	if slices.ContainsFunc(c.args, func(f Word) bool { return f.Kind != Literal || yqReaches.MatchString(f.Text) }) {
		c.opaque("yq's program may read files or run something")
	}
}

var yqReaches = regexp.MustCompile(`load|system|eval|env|import|include|input|modulemeta`)
