package shellcmd

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// test is [[ ... ]]. Its comparisons of numbers evaluate arithmetic, and -v and -R evaluate subscripts.
func (w *walker) test(at syntax.Node, x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		w.word(x)
	case *syntax.ParenTest:
		w.test(at, x.X)
	case *syntax.UnaryTest:
		w.unaryTest(at, x)
	case *syntax.BinaryTest:
		w.binaryTest(at, x)
	default:
		w.construct(at, "a test that is not understood")
	}
}

func (w *walker) unaryTest(at syntax.Node, x *syntax.UnaryTest) {
	word, ok := x.X.(*syntax.Word)
	switch x.Op {
	case syntax.TsVarSet, syntax.TsRefVar:
		if !ok || !syntax.ValidName(word.Lit()) {
			w.construct(at, "a test that evaluates a subscript")
		}
		return
	case syntax.TsNot, syntax.TsParen, syntax.TsEmpStr, syntax.TsNempStr, syntax.TsOptSet, syntax.TsFdTerm:
		w.test(at, x.X)
		return
	}
	if !ok {
		w.construct(at, "a test that is not understood")
		return
	}
	w.looksAt(word)
}

// looksAt notes a file that a test asks about.
func (w *walker) looksAt(words ...*syntax.Word) {
	st := Step{ReadOnly: true, Leaf: true, Text: "[["}
	for _, f := range w.words(words) {
		st.Text += " " + f.Source
		w.touch(&st, f, File{})
	}
	w.note(st)
}

func (w *walker) binaryTest(at syntax.Node, x *syntax.BinaryTest) {
	left, isLeft := x.X.(*syntax.Word)
	right, isRight := x.Y.(*syntax.Word)
	switch x.Op {
	case syntax.AndTest, syntax.OrTest:
		w.test(at, x.X)
		w.perhaps(func() { w.test(at, x.Y) })
	case syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.TsBefore, syntax.TsAfter, syntax.TsReMatch:
		w.test(at, x.X)
		w.test(at, x.Y)
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		if isLeft && isRight {
			w.looksAt(left, right)
			return
		}
		w.construct(at, "a test that is not understood")
	default:
		if !isLeft || !isRight || !w.numericWord(left) || !w.numericWord(right) {
			w.construct(at, "a comparison of what may be no numbers")
		}
	}
}

// declaration is declare, local, export, readonly or typeset of plain variables.
func (w *walker) declaration(d *syntax.DeclClause) {
	if d.Variant.Value == "local" && w.inFunction == 0 {
		w.construct(d, "local outside of a function sets nothing")
		return
	}
	frozen := d.Variant.Value == "readonly" || hasOption(d, "r")
	for _, as := range d.Args {
		if as.Name != nil {
			if as.Value != nil && mayBrace(as.Value) {
				w.construct(d, "a declaration that braces make several of")
				return
			}
			if w.evaluates(as) {
				w.construct(d, "a declaration whose text is evaluated as a list")
				return
			}
			w.assign(as, d.Variant.Value == "export")
			w.frozen[as.Name.Value] = w.frozen[as.Name.Value] || frozen
			continue
		}
		option := as.Value.Lit()
		if len(option) < 2 || option[0] != '-' || strings.Trim(option[1:], "aAgrx") != "" {
			w.construct(d, "a declaration that evaluates or lists")
			return
		}
	}
	if len(d.Args) == 0 {
		w.construct(d, "it lists all variables")
		return
	}
	w.note(Step{Text: printed(d), ReadOnly: true, Leaf: true, Confined: true})
}

// hasOption reports whether a declaration has one of some option letters, as far as is plain.
func hasOption(d *syntax.DeclClause, letters string) bool {
	return slices.ContainsFunc(d.Args, func(as *syntax.Assign) bool {
		return as.Name == nil && as.Value != nil && strings.HasPrefix(as.Value.Lit(), "-") && strings.ContainsAny(as.Value.Lit(), letters)
	})
}

// evaluates reports whether a declaration of a variable evaluates the value's text: that of
// an array is read as a list, for which no brackets need to be written in the script.
func (w *walker) evaluates(as *syntax.Assign) bool {
	if as.Value == nil {
		return false
	}
	text := plainText(as.Value)
	return strings.HasPrefix(text, "(") || w.whole.lists[as.Name.Value] && (text == "" || strings.Contains(text, "("))
}

// assign is NAME=value. exported values reach the programs that follow.
func (w *walker) assign(as *syntax.Assign, exported bool) {
	name := as.Name.Value
	if as.Index != nil {
		w.construct(as, "an assignment to a subscript")
		return
	}
	if as.Array != nil {
		w.array(as)
		return
	}
	v := w.assigned(as.Value)
	if as.Append {
		v = value{}
	}
	if as.Naked {
		v = w.get(name)
	}
	if exported && !as.Naked && harmlessSetting(name, v) {
		w.s.Changes.Vars = append(w.s.Changes.Vars, name)
		return
	}
	w.set(as, name, v)
}

// array is NAME=(a b c) without subscripts.
func (w *walker) array(as *syntax.Assign) {
	for _, e := range as.Array.Elems {
		if e.Index != nil {
			w.construct(as, "an array with subscripts")
			return
		}
		w.expands(as.Name.Value+"=(...)", w.word(e.Value))
	}
	w.set(as, as.Name.Value, value{})
}

// assigned is the value of an assigned word, which is neither split nor matched.
func (w *walker) assigned(x *syntax.Word) value {
	if x == nil {
		return value{known: true}
	}
	b := &wordBuilder{w: w, known: true}
	numeric, absent, given := len(x.Parts) == 1, false, false
	for _, part := range x.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.Contains(part.Value, "~") {
				b.known = false
			}
			b.literal(part.Value, false)
			numeric = false
		case *syntax.SglQuoted, *syntax.DblQuoted:
			b.part(part, false)
			numeric = false
		default:
			v := w.expand(part, true)
			numeric = numeric && v.isNumber()
			absent, given = v.many, len(x.Parts) == 1 && v.given
			if v.known {
				b.add(v.text)
			} else {
				b.known = false
			}
		}
	}
	if !b.known {
		return value{number: numeric, signed: numeric, many: numeric && absent, given: given}
	}
	return value{known: true, text: b.text.String()}
}

// call is a simple command, or assignments alone.
func (w *walker) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		for _, as := range c.Assigns {
			w.assign(as, false)
		}
		if len(c.Assigns) > 0 {
			w.note(Step{Text: printed(c), ReadOnly: true, Leaf: true, Confined: true})
		}
		return
	}
	words := w.words(c.Args)
	st := Step{ReadOnly: true, Text: sourceText(c), Input: w.stdin}
	w.settings(c, words, &st)
	if len(words) == 0 {
		w.refuse(&st, "its name comes from an expansion")
		w.note(st)
		return
	}
	w.run(words, st)
}

// settings checks NAME=value in front of a command: they are part of what a rule has to cover.
func (w *walker) settings(c *syntax.CallExpr, words []Word, st *Step) {
	for _, as := range c.Assigns {
		if as.Array != nil || as.Index != nil || as.Append {
			w.construct(as, "an assignment to a subscript")
			continue
		}
		v := w.assigned(as.Value)
		if w.posix { // in front of some builtins it outlives the command
			delete(w.state.vars, as.Name.Value)
		}
		forRead := as.Name.Value == "IFS" && len(words) > 0 && words[0].isLiteral("read")
		if !forRead {
			w.runsWith(st, as.Name.Value, v)
		}
	}
}

// commands are variables whose values programs run, or that hold the options for it, with their values.
var commands = regexp.MustCompile(`^(?:.*(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|_COMMAND|_CMD|_WRAPPER|_RSH)|GIT_(?:SSH|EXTERNAL_DIFF|CONFIG.*|PROXY.*|EXEC_PATH)|LESSOPEN|LESSCLOSE|PS[04]|BASH_ENV|BASH_FUNC.*|ENV|SHELL|TAR_OPTIONS|MAKEFLAGS|MAKEFILES|RIPGREP_CONFIG_PATH|PERL5OPT|PERL5DB|RUBYOPT)=|^NODE_OPTIONS=.*data:`)

// valueParts are what may be names of files in a variable's value: -f.env, a:b, @a and include.path=a.
var valueParts = regexp.MustCompile(`[^\s:;,=@'"]+`)

// runsWith notes that a command runs with a variable set. Its program may read what the value
// names: a file or folder, or several of them between other things.
func (w *walker) runsWith(st *Step, name string, v value) {
	if harmlessSetting(name, v) {
		return
	}
	st.FilesUnknown = st.FilesUnknown || !v.known && !v.isNumber() || name == "POSIXLY_CORRECT" // then options may be operands
	parts := append(valueParts.FindAllString(v.text, -1), v.text)
	slices.Sort(parts)
	for _, part := range slices.Compact(parts) {
		w.touch(st, Word{Text: part}, File{Tree: true})
		if len(part) > 2 && part[0] == '-' {
			w.touch(st, Word{Text: part[2:]}, File{Tree: true})
		}
	}
	why := "it runs with " + name + " set"
	if st.ReadOnly {
		st.ReadOnly, st.Doubt = false, why
	}
	if commands.MatchString(name+"="+v.text) && st.Opaque == "" {
		st.Opaque = why
	}
	st.Set = append(st.Set, v.text)
}

// refuse marks a step whose program is not known.
func (w *walker) refuse(st *Step, why string) {
	st.ReadOnly, st.Doubt, st.Opaque, st.FilesUnknown = false, why, why, true
}

// sourceText is a command's source in the normal form, without redirections.
func sourceText(c *syntax.CallExpr) string {
	assigned := func(as *syntax.Assign) string { return printed(&syntax.CallExpr{Assigns: []*syntax.Assign{as}}) }
	return strings.Join(append(each(c.Assigns, assigned), each(c.Args, sourceOf)...), " ")
}

// run checkers one command and notes it as a step. Commands that it runs in turn are noted after it.
func (w *walker) run(words []Word, st Step) {
	st.Words = words
	if st.Text == "" {
		st.Text = textOf(words)
	}
	name := words[0]
	if name.Kind != Literal || name.Text == "" || name.Text[0] == '-' {
		w.refuse(&st, "the name of the program is not literal")
		w.note(st)
		return
	}
	st.Name = baseName(name.Text)
	st.Readings = readings(words)
	c := &call{w: w, name: st.Name, args: words[1:], step: &st}
	c.check(name.Text)
	st.Leaf = st.Leaf && len(st.Set) == 0
	w.note(st)
	for _, inner := range c.inner {
		w.nest(func() { inner() })
	}
}

// nest interprets what a command runs.
func (w *walker) nest(do func()) {
	if w.depth++; w.depth > maxDepth {
		w.note(Step{Construct: true, Doubt: "nested too deeply", Opaque: "nested too deeply"})
	} else {
		do()
	}
	w.depth--
}

// textOf writes words as a source that gives them.
func textOf(words []Word) string {
	parts := make([]string, len(words))
	for i, f := range words {
		parts[i] = f.Source
		switch {
		case f.Kind != Literal || f.Source != "" && f.Source == f.Text:
		case plainValue(f.Text):
			parts[i] = f.Text
		default:
			parts[i] = "'" + strings.ReplaceAll(f.Text, "'", `'\''`) + "'"
		}
	}
	return strings.Join(parts, " ")
}

// baseName takes off the folder, also one that Windows writes.
func baseName(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

// usualFolders are where the system's programs are.
var usualFolders = []string{"/bin/", "/usr/bin/", "/usr/local/bin/"}

// otherNames are those by which some system runs the same program: without regard to case, with
// what its programs end in, and git's subcommands by themselves.
func otherNames(name string) (all []string) {
	lower := strings.ToLower(name)
	for _, end := range []string{".exe", ".cmd", ".bat", ".com"} {
		lower = strings.TrimSuffix(lower, end)
	}
	if lower = versioned.ReplaceAllString(lower, ""); lower != name {
		all = append(all, lower)
	}
	if sub, is := strings.CutPrefix(lower, "git-"); is {
		all = append(all, "git "+sub)
	}
	if bare := strings.TrimPrefix(lower, "g"); bare != lower && !isProgram(lower) && (isProgram(bare) || bare == "dd") {
		all = append(all, bare) // as GNU's are called beside others
	}
	for _, same := range tables.Names {
		if slices.Contains(same, lower) {
			all = append(all, same...)
		}
	}
	return all
}

// Names are the program's and those of the module that Python is given, each with what else of the command's words it stands for.
func (st *Step) Names() []string {
	names := append([]string{st.Name}, otherNames(st.Name)...)
	if len(st.Words) > 2 && st.Words[1].isLiteral("-m") && tables.Modules[st.Words[2].Text] {
		names = append(append(names, st.Words[2].Text), otherNames(st.Words[2].Text)...)
	}
	return names
}

// versioned finds which version a program's name is about, as in pip3.11, go1.21 and gcc-12.
var versioned = regexp.MustCompile(`(?:-\d[\d.]*|\d*(?:\.\d+)+)$`)

// Implied are the options, each in all forms, that signs in front of operands stand for, as + does for --force.
func (st *Step) Implied() (all [][]string) {
	if len(st.Words) == 0 {
		return nil
	}
	sub, operands := subcommandOf(st.Words[1:])
	for _, sign := range tables.Signs[st.Name+"-"+sub] {
		forms := strings.Fields(sign)
		if slices.ContainsFunc(operands, func(f Word) bool { return strings.HasPrefix(f.Text, forms[0]) }) {
			all = append(all, forms[1:])
		}
	}
	return all
}

// Whichever matches words of git push that may stand for any repository and branch: addresses, and those for all branches.
var Whichever = regexp.MustCompile(`^(?:--(?:al?l?|b\w*|m\w*)|\+?:|[^-].*(?:\*|://|@.*:).*)$`).MatchString

// Launched are commands that may begin at one of the step's first words, if its program may run what they name.
func (st *Step) Launched() (all []Step) {
	for i, f := range st.Words[:min(len(st.Words), maxSuspected/4)] {
		if i > 0 && !st.Leaf && f.Kind == Literal && f.Text != "" && f.Text[0] != '-' {
			all = append(all, Step{Name: baseName(f.Text), Words: st.Words[i:min(len(st.Words), i+maxSuspected)]})
		}
	}
	return all
}

// cluster matches short options in one word.
var cluster = regexp.MustCompile(`^-[A-Za-z]{2,8}$`).MatchString

// ended matches a short option with a value that cannot be further options.
var ended = regexp.MustCompile(`^-[A-Za-z][^A-Za-z]`).MatchString

// Forms are the step's words, each with what else it is written as if it is an option: each letter by itself, the option's
// other names, and those that it stands for together with others.
func (st *Step) Forms() [][]string {
	if len(st.Words) == 0 {
		return nil
	}
	sub, _ := subcommandOf(st.Words[1:])
	synonyms := slices.Concat(each(st.Names(), func(name string) phrases { return slices.Concat(tables.Synonyms[name], tables.Synonyms[name+"-"+sub]) })...)
	all := each(st.Words, func(f Word) []string { return st.spellings(f.Text, synonyms) })
	if strings.HasSuffix(st.Name, "tar") && len(all) > 1 && cluster("-"+all[1][0]) { // its first options need no dash
		all[1] = st.spellings("-"+all[1][0], synonyms)
	}
	if st.Name == "git" && sub == "push" || strings.HasPrefix(st.Name, "gradle") { // a word may name what is pushed before the branch that it goes to, or the project of a task
		for i, forms := range all {
			branch := forms[0][strings.LastIndexAny(forms[0], ":+")+1:]
			all[i] = append(forms, strings.TrimPrefix(strings.TrimPrefix(branch, "refs/"), "heads/"))
		}
	}
	for _, several := range tables.Combined[st.Name+"-"+sub] {
		names := strings.Fields(several)
		lacking := slices.ContainsFunc(names[1:], func(name string) bool {
			return !slices.ContainsFunc(all, func(forms []string) bool { return slices.Contains(forms, name) })
		})
		for i, forms := range all {
			if slices.Contains(forms, names[0]) {
				for _, name := range names[1:] {
					all[i] = append(all[i], st.spellings(name, synonyms)...)
				}
			} else if !lacking && slices.Contains(forms, names[1]) {
				all[i] = append(forms, names[0])
			}
		}
	}
	return all
}

// spellings are the forms of a word, whatever the others are.
func (st *Step) spellings(word string, synonyms []string) []string {
	all := []string{word}
	switch letters, _, _ := strings.Cut(word, "."); { // as in -pi.bak
	case tables.WholeOptions[st.Name]:
	case cluster(letters):
		for _, letter := range letters[1:] {
			all = append(all, "-"+string(letter))
		}
	case ended(word):
		all = append(all, word[:2])
	}
	if strings.Contains(word, "bin/") {
		all = append(all, baseName(word))
	}
	bare, _, _ := strings.Cut(word, "=")
	for _, others := range synonyms {
		names := strings.Fields(others)
		if slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(all, name) || len(bare) > len("--") && strings.HasPrefix(name, "--") && strings.HasPrefix(name, bare)
		}) {
			all = append(all, names...)
		}
	}
	return all
}

// maxSuspected bounds at how many words a command is suspected, and how many of its own are looked at.
const maxSuspected = 64

// readings are the texts by which a rule that forbids may know a command: its words
// without quotes, and with the program's plain name.
func readings(words []Word) []string {
	bare := each(words, func(f Word) string {
		if f.Kind != Literal {
			return f.Source
		}
		return f.Text
	})
	base := baseName(bare[0])
	all := each(append([]string{bare[0], base}, otherNames(base)...), func(name string) string {
		return strings.Join(append([]string{name}, bare[1:]...), " ")
	})
	slices.Sort(all)
	return slices.Compact(all)
}
