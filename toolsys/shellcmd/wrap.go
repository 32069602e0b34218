package shellcmd

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrapper describes a program that runs the command in its arguments.
type wrapper struct {
	Short, Long string
	// Operands come before the command.
	Operands int
	// Settings reports whether NAME=value may come before the command.
	Settings bool
	// Doubt is the reason why even a command that only reads is not proved behind it.
	Doubt string
}

// wrapped takes the options off and checkers the command behind them.
func (c *call) wrapped(wr wrapper) {
	c.step.Leaf = true
	if wr.Doubt != "" {
		c.doubt(wr.Doubt)
	}
	rest, ok := c.behind(wr)
	if !ok {
		c.opaque("what " + c.name + " runs is not literal")
		c.suspect()
		return
	}
	c.then(rest)
}

// then checkers a command that this one runs, after this one's own step. None at all is harmless.
func (c *call) then(words []Word) {
	if len(words) == 0 {
		return
	}
	w, input, elsewhere, asOther := c.w, c.step.Input, c.elsewhere, c.asOther
	c.inner = append(c.inner, func() {
		functions, lost, set := w.functions, w.state.lost, w.foldersSet
		w.functions = map[string]bool{} // which only the shell itself runs
		w.state.lost, w.foldersSet = lost || elsewhere, set || asOther
		w.run(words, Step{ReadOnly: true, Input: input})
		w.functions = functions
		w.state.lost, w.foldersSet = w.state.lost && (lost || !elsewhere), w.foldersSet && (set || !asOther)
	})
}

// suspect checkers whatever command may begin at one of the words, so that rules that forbid find it.
func (c *call) suspect() {
	for i, f := range c.args[:min(len(c.args), maxSuspected)] {
		if !c.suspected && f.Kind == Literal && f.Text != "" && !strings.HasPrefix(f.Text, "-") {
			c.step.Readings = append(c.step.Readings, readings(c.args[i:min(len(c.args), i+maxSuspected)])...)
		}
	}
	c.suspected = true
}

// leading takes the options off that stand in front of a command; ok is false where one is not listed, or may be.
func (c *call) leading(sp spec) (p parsed, rest []Word, ok bool) {
	for rest = c.args; len(rest) > 0; {
		f := rest[0]
		if f.isLiteral("--") {
			return p, rest[1:], true
		}
		n := 0
		switch {
		case f.wild():
		case f.Kind != Literal || len(f.Text) < 2 || f.Text[0] != '-':
			return p, rest, true
		default:
			n = c.option(sp, rest, &p)
		}
		if n == 0 {
			return p, nil, false
		}
		rest = rest[n:]
	}
	return p, nil, true
}

// behind gives the words behind a wrapper's options, settings and operands.
func (c *call) behind(wr wrapper) (rest []Word, ok bool) {
	p, args, ok := c.leading(spec{Short: wr.Short, Long: wr.Long})
	if !ok || p.given("S", "split-string", "C", "chdir") || slices.ContainsFunc(p.options, func(o option) bool { return o.value.Kind == Many }) {
		return nil, false
	}
	c.elsewhere = c.name == "sudo" && p.given("i") || c.name == "systemd-run" && !p.given("d", "same-dir", "scope")
	c.asOther = wr.Doubt != "" || c.name == "env" && p.given("i", "ignore-environment", "u", "unset")
	c.w.looksUp(c.step, each(p.options, func(o option) Word { return o.value }))
	args, ok = c.behindSettings(wr, args)
	if !ok || wr.Operands > len(args) {
		return nil, ok && len(args) == 0
	}
	if slices.ContainsFunc(args[:wr.Operands], func(f Word) bool { return f.Kind != Literal || c.name == "timeout" && !duration.MatchString(f.Text) }) {
		return nil, false
	}
	if c.name == "env" && len(args) > 0 && (p.given("i", "ignore-environment") || slices.ContainsFunc(p.options, func(o option) bool { return o.has && o.value.Text == "PATH" })) {
		c.doubt("without a PATH, another program may be found")
	}
	return args[wr.Operands:], true
}

// duration matches what timeout takes for one. In its place an old busybox has the command.
var duration = regexp.MustCompile(`^\d+(?:\.\d*)?[smhd]?$`)

// behindSettings takes NAME=value off.
func (c *call) behindSettings(wr wrapper, args []Word) ([]Word, bool) {
	for wr.Settings && len(args) > 0 && strings.Contains(args[0].Text, "=") {
		name, text, _ := strings.Cut(args[0].Text, "=")
		if args[0].Kind == Many || !syntax.ValidName(name) {
			return nil, false
		}
		c.w.runsWith(c.step, name, value{known: args[0].Kind == Literal, text: text})
		args = args[1:]
	}
	if wr.Settings && len(args) > 0 && args[0].Kind != Literal {
		return nil, false
	}
	return args, true
}

// checkXargs runs a command with words that it reads from its input.
func checkXargs(c *call) {
	c.step.Leaf = true
	sp := spec{Short: "0rtxd:E:I:L:n:P:s:", Long: "null no-run-if-empty verbose max-args= max-procs= max-lines? delimiter="}
	p, args, ok := c.leading(sp)
	if !ok || slices.ContainsFunc(p.options, func(o option) bool { return o.value.Kind != Literal }) {
		c.opaque("an option of xargs decides what it runs")
		c.suspect()
		return
	}
	replaced, zero := "", p.given("0", "null")
	for _, o := range p.options {
		if o.name == "I" {
			replaced = o.value.Text
		} else if o.name[0] == 'd' && !slices.Contains([]string{"\n", `\n`, `\0`}, o.value.Text) {
			c.w.input = "" // what names are cut to may be any
		}
	}
	counted := p.given("L", "n", "max-args", "max-lines") // of these and -I, some xargs heed but the last
	if len(args) == 0 {
		return // echo
	}
	if args[0].Kind != Literal || replaced != "" && (strings.Contains(args[0].Text, replaced) || counted && optionLike.MatchString(replaced)) {
		c.opaque("what xargs runs is not literal")
		return
	}
	c.then(c.given(args, replaced, zero, counted))
}

// given adds the words that xargs appends or puts in, of which nothing is known but where they come from.
func (c *call) given(args []Word, replaced string, zero, counted bool) []Word {
	out, bound := slices.Clone(args), c.w.input
	if !zero && strings.ContainsAny(bound, " \t\n'\"\\") {
		bound = "" // the names below it are split as well
	}
	if replaced == "" || counted {
		out = append(out, Word{Kind: Many, Source: "{}", Given: true, Bound: bound, Below: true, Regular: c.w.regular, Split: !zero || c.w.filtered}) // no shell looks for patterns in it
	}
	for i, f := range args {
		at := strings.Index(f.Text, replaced)
		if replaced == "" || at < 0 {
			continue
		}
		out[i] = Word{Kind: Unknown, Text: f.Text[:at], Source: f.Source}
		if f.Text == replaced {
			out[i].Bound, out[i].Below, out[i].Regular, out[i].Split = bound, true, c.w.regular, !zero || c.w.filtered
			out[i].Undashed = zero && c.w.input != "" && c.w.rooted
		}
	}
	return out
}

// isFind reports whether a command is find, whose names all begin with that of a folder. Other
// commands print a name as it is, dash in front and all.
func isFind(st *syntax.Stmt) bool {
	c, ok := st.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == "find"
}

// printedNames are the names that a command prints: a bound for them, empty where there is none, and whether
// they are those of plain files, as of a find that is asked for them.
type printedNames struct {
	bound             string
	regular, filtered bool // what filters works by lines, and a line feed may be within a name
}

// prints gives what is known of the names that a command, or a pipe of commands that pass names on, prints.
func (w *walker) prints(st *syntax.Stmt) printedNames {
	names, has := w.printedBy[st]
	if has {
		return names
	}
	if b, ok := st.Cmd.(*syntax.BinaryCmd); !ok || b.Op != syntax.Pipe {
		c, _ := st.Cmd.(*syntax.CallExpr)
		names = printedNames{bound: w.printsBelow(st), regular: c != nil && isFind(st) && findsFiles(wordsOf(c))}
	} else if left := w.prints(b.X); left.bound != "" && isFilter(b.Y) {
		names = printedNames{left.bound, left.regular, true}
	}
	w.printedBy[st] = names
	return names
}

// printsBelow bounds the names that a command prints: those of a known tool are below the folders that it goes through, or the
// working directory. Empty where nothing bounds them: a word leads out, or an option prints more than names as they are.
func (w *walker) printsBelow(st *syntax.Stmt) string {
	args := literals(st)
	if args == nil || slices.ContainsFunc(st.Redirs, func(rd *syntax.Redirect) bool { return rd.Word.Lit() != "/dev/null" }) {
		return "" // an error that is passed on quotes words that are no names
	}
	name, args := args[0], args[1:]
	switch {
	case name == "find":
		return foundBelow(args)
	case name == "rg" && !slices.Contains(args, "--files") && !slices.Contains(args, "-l"), name == "git" && (len(args) == 0 || args[0] != "ls-files"),
		name == "grep" && (len(args) < 2 || !grepLists.MatchString(args[0])), tables.Printers[name].compiled == nil:
		return ""
	case name == "grep" && !strings.HasPrefix(args[1], "-"):
		args[1] = "" // the pattern
	}
	options := tables.Printers[name].compiled()
	if slices.ContainsFunc(args, func(a string) bool { return leadsOut(a) || strings.HasPrefix(a, "-") && !options.MatchString(a) }) {
		return ""
	}
	return "."
}

// grepLists matches options of grep with which it lists names.
var grepLists = regexp.MustCompile(`^-[acEFGhHiIlLnoPqrRsvwxzZ]*l[acEFGhHiIlLnoPqrRsvwxzZ]*$`)

// foundBelow bounds what find prints: by its only folder if that is elsewhere. A test that
// prints a text of its own, or runs something, may print any name.
func foundBelow(args []string) string {
	for len(args) > 0 && slices.Contains(findFollows, args[0]) {
		args = args[1:]
	}
	n := 0
	for n < len(args) && !isFindWord(Word{Text: args[n]}) {
		n++
	}
	for i := n; i < len(args); {
		takes, known := tables.FindTests[args[i]]
		if !known || args[i] == "-printf" || args[i] == "-ls" {
			return ""
		}
		i += 1 + takes
	}
	if n == 1 && !oddStart(args[0]) {
		return args[0]
	}
	if slices.ContainsFunc(args[:n], leadsOut) {
		return ""
	}
	return "."
}

// leadsOut reports whether a word may name a file that is not below the working directory, as one of git's
// that begins with a colon.
func leadsOut(a string) bool {
	return oddStart(a) || strings.HasPrefix(a, "/") || strings.HasPrefix(a, "~") || strings.HasPrefix(a, ":") || slices.Contains(strings.Split(a, "/"), "..")
}

// isFilter reports whether a command passes on whole lines of its input and nothing else.
func isFilter(st *syntax.Stmt) bool {
	args := literals(st)
	if args == nil || len(st.Redirs) > 0 || hasMany(wordsOf(st.Cmd.(*syntax.CallExpr))) { // a pattern may be a file's name, and that of one more
		return false
	}
	options, known := tables.Filters[args[0]]
	operands := 0
	for i, a := range args[1:] {
		switch {
		case (args[0] == "head" || args[0] == "tail") && args[i] == "-n" && allDigits(a):
		case !strings.HasPrefix(a, "-"):
			operands++
		case !known || !options.compiled().MatchString(a):
			return false
		}
	}
	return known && (operands == 0 || operands == 1 && strings.HasSuffix(args[0], "grep"))
}

// literals are the texts of a simple command's words; nil where one is not literal.
func literals(st *syntax.Stmt) []string {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	scratch := newWalker(&Script{}, Env{})
	words := scratch.words(c.Args)
	if len(scratch.s.Steps) > 0 || slices.ContainsFunc(words, func(f Word) bool { return f.Kind == Many || f.Kind == Unknown }) {
		return nil
	}
	return each(words, func(f Word) string { return f.Text })
}

// checkShell is sh -c TEXT. What a script in a file does, or one that is read, is not known. A text for sh is read
// twice, since sh may be Bash or a plain shell, to which [[ a > b ]] is a redirection.
func checkShell(c *call) {
	c.step.Leaf = true
	if len(c.args) == 2 && c.args[0].isLiteral("-n") && !c.args[1].wild() && !strings.HasPrefix(c.args[1].Text, "-") && !strings.HasPrefix(c.args[1].Text, "+") {
		c.reads(c.args[1]) // it is read for its grammar, and nothing of it is run
		return
	}
	p, rest, ok := c.leading(spec{Short: "ceuxf"}) // -c comes behind options that only make a script stricter; others are not known
	if !ok || !p.given("c") || len(rest) == 0 || rest[0].Kind != Literal || strings.HasPrefix(rest[0].Text, "-") || strings.HasPrefix(rest[0].Text, "+") {
		c.opaque(c.name + " runs a script that is not looked into")
		c.suspect()
		return
	}
	w, text := c.w, rest[0].Text
	c.inner = append(c.inner, func() { w.script(text, syntax.LangBash) })
	if c.name != "bash" {
		c.inner = append(c.inner, func() { w.script(text, syntax.LangPOSIX) })
	}
}

// script interprets a text as a script of its own shell.
func (w *walker) script(text string, lang syntax.LangVariant) {
	if !w.spend(8 * len(text)) {
		return
	}
	file, err := parseStrict(text, lang)
	if err != nil {
		w.note(Step{Text: text, Construct: true, Doubt: "it does not parse", Opaque: "it does not parse", FilesUnknown: true, Readings: strings.Split(text, "\n")})
		return
	}
	before, posix := w.whole, w.posix
	w.whole, w.posix = assigned(file), lang == syntax.LangPOSIX
	w.isolated(func() {
		w.state.vars, w.state.old = map[string]value{}, ""
		w.functions = map[string]bool{}
		w.statements(file.Stmts)
	})
	w.whole, w.posix = before, posix
}
