package shellcmd

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds on the work for one script.
const (
	maxDepth    = 20   // scripts in scripts, commands in commands
	maxSteps    = 2000 // steps noted
	maxUnrolled = 64   // rounds of loops over literal lists, one by one
	maxWork     = 4 << 20
	maxText     = 64 << 10 // bytes of a word or a variable that are known
)

// tooLong is why a script is not read to its end.
const tooLong = "it is too long to read"

// walker interprets a script.
type walker struct {
	s     *Script
	env   Env
	state state
	// functions are those that surely exist by now.
	functions map[string]bool
	// shared are the variables that functions set.
	shared     map[string]bool
	foldersSet bool // a variable that names a folder may have been set
	posix      bool // it is read as a plain shell does, which has neither braces nor ~+
	inFunction int
	// frozen are the variables that can no longer be set, dropped the functions that may have been taken away.
	frozen, dropped map[string]bool
	// whole is what the script may set.
	whole assignedSet
	// nested counts constructs around that may not run, or run in another shell.
	nested   int
	depth    int
	unrolled int
	// spent is the work done; once it is too much, the rest is left unread.
	spent int
	full  bool
	// assignedIn and printedBy keep what was found of parts that are looked at again and again.
	assignedIn  map[syntax.Node]assignedSet
	printedBy   map[*syntax.Stmt]printedNames
	leftRunning bool
	// input bounds the names that a pipe brings to the next command; stdin is the text that a here-document does.
	input string
	stdin string
	// rooted reports whether the text that a pipe brings begins with the name of a folder, and each of its names where they end in NUL.
	rooted bool
	// regular reports whether these names are those of plain files, not of links, filtered whether they came by another command.
	regular, filtered bool
	// success is the state after the last statement where that has succeeded.
	success *state
	// substituted counts the substitutions around; mistaken reports whether one's here-document has signs that Bash 3.2 takes.
	substituted int
	mistaken    bool
}

func newWalker(s *Script, env Env) *walker {
	return &walker{s: s, env: env, state: state{vars: map[string]value{}, dir: env.Dir, lost: false},
		assignedIn: map[syntax.Node]assignedSet{}, printedBy: map[*syntax.Stmt]printedNames{},
		functions: map[string]bool{}, shared: map[string]bool{}, frozen: map[string]bool{}, dropped: map[string]bool{}}
}

// note adds a step.
func (w *walker) note(st Step) {
	if w.spend(1); len(w.s.Steps) >= maxSteps {
		w.spend(maxWork)
	}
	if !w.full {
		w.s.Steps = append(w.s.Steps, st)
	}
}

// spend counts work and reports whether there is any left for more. What is left unread makes the script
// one of which nothing is known.
func (w *walker) spend(n int) (left bool) {
	if w.spent += n; w.spent > maxWork && !w.full {
		w.full = true
		w.s.Steps = append(w.s.Steps[:min(len(w.s.Steps), maxSteps-1)], Step{Construct: true, Doubt: tooLong, Opaque: tooLong, FilesUnknown: true})
	}
	return !w.full
}

// construct notes a part of the script that is not proved harmless and that no rule for a command can cover.
func (w *walker) construct(n syntax.Node, why string) {
	w.note(Step{Text: printed(n), Construct: true, Doubt: why, Opaque: why, FilesUnknown: true})
}

// statements interprets a list, one after the other.
func (w *walker) statements(stmts []*syntax.Stmt) {
	for _, st := range stmts {
		w.statement(st)
	}
}

// isolated interprets what runs in a shell of its own: nothing of it stays.
func (w *walker) isolated(do func()) {
	before, changes, functions := w.state.clone(), w.s.Changes, maps.Clone(w.functions)
	w.nested++
	do()
	w.nested--
	w.state, w.s.Changes, w.functions = before, changes, functions
}

// perhaps interprets what may not run.
func (w *walker) perhaps(do func()) {
	before := w.state.clone()
	w.nested++
	do()
	w.nested--
	w.state = join(before, w.state)
}

// substitution interprets $(...). Nothing bounds the names that it prints.
func (w *walker) substitution(stmts []*syntax.Stmt) {
	w.nest(func() {
		input, stdin := w.input, w.stdin
		w.substituted++
		w.isolated(func() { w.statements(stmts) })
		w.substituted--
		w.input, w.stdin = input, stdin
	})
}

func (w *walker) statement(st *syntax.Stmt) {
	if !w.spend(64 + 16*len(w.state.vars)) {
		return
	}
	if st.Coprocess || st.Disown {
		w.construct(st, "it leaves a process behind")
	}
	if st.Background {
		w.leftRunning = true
		w.isolated(func() { w.simple(st) })
		w.state.started = true
		return
	}
	w.simple(st)
}

// simple is a statement with its redirections.
func (w *walker) simple(st *syntax.Stmt) {
	stdin, input := w.stdin, w.input
	if slices.ContainsFunc(st.Redirs, func(rd *syntax.Redirect) bool {
		return !strings.HasPrefix(rd.Op.String(), ">") && !strings.HasPrefix(rd.Op.String(), "&")
	}) {
		w.input = "" // it reads from elsewhere than the pipe
	}
	for _, rd := range st.Redirs {
		w.redirection(rd)
	}
	w.success = nil
	switch {
	case st.Cmd == nil:
	case slices.ContainsFunc(st.Redirs, mayFail):
		w.perhaps(func() { w.command(st.Cmd) })
	default:
		w.command(st.Cmd)
	}
	if w.success == nil || st.Negated || !marksSuccess(st.Cmd) {
		w.success = new(w.state.clone())
	}
	w.stdin, w.input = stdin, input
}

// mayFail reports whether a redirection may fail, so that its command never runs.
func mayFail(rd *syntax.Redirect) bool {
	text := slices.Contains([]syntax.RedirOperator{syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc}, rd.Op)
	return !text && !slices.Contains([]string{"/dev/null", "1", "2"}, rd.Word.Lit())
}

// marksSuccess reports whether a command is one after whose success more is known than
// after its end: cd, and a list of &&.
func marksSuccess(cmd syntax.Command) bool {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && cmd.Args[0].Lit() == "cd"
	case *syntax.BinaryCmd:
		return cmd.Op == syntax.AndStmt
	}
	return false
}

func (w *walker) command(cmd syntax.Command) {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		w.call(cmd)
	case *syntax.BinaryCmd:
		w.binary(cmd)
	case *syntax.Block:
		w.statements(cmd.Stmts)
	case *syntax.Subshell:
		w.isolated(func() { w.statements(cmd.Stmts) })
	case *syntax.IfClause:
		w.ifClause(cmd)
	case *syntax.WhileClause:
		w.loop(cmd, func() { w.statements(cmd.Cond); w.statements(cmd.Do) })
	case *syntax.ForClause:
		w.forClause(cmd)
	case *syntax.CaseClause:
		w.caseClause(cmd)
	case *syntax.TestClause:
		w.test(cmd, cmd.X)
	case *syntax.ArithmCmd:
		w.arithmetic(cmd, cmd.X)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			w.statement(cmd.Stmt)
		}
	case *syntax.FuncDecl:
		w.function(cmd)
	case *syntax.DeclClause:
		w.declaration(cmd)
	default:
		w.construct(cmd, "a construct that is not understood")
	}
}

func (w *walker) binary(cmd *syntax.BinaryCmd) {
	switch cmd.Op {
	case syntax.AndStmt, syntax.OrStmt:
		w.statement(cmd.X)
		before := w.state.clone()
		if cmd.Op == syntax.AndStmt && w.success != nil { // it is nil where nothing more is read
			w.state = w.success.clone()
		}
		w.nested++
		w.statement(cmd.Y)
		w.nested--
		w.state = join(before, w.state)
		if cmd.Op == syntax.OrStmt {
			w.success = nil
		}
	case syntax.Pipe, syntax.PipeAll:
		input, rooted, regular, filtered := w.input, w.rooted, w.regular, w.filtered
		w.isolated(func() { w.statement(cmd.X) })
		names := w.prints(cmd.X)
		if w.input = names.bound; cmd.Op == syntax.PipeAll {
			w.input = "" // of what an error quotes, nothing is known
		}
		w.rooted, w.regular, w.filtered = isFind(cmd.X), names.regular, names.filtered
		w.isolated(func() { w.statement(cmd.Y) })
		w.input, w.rooted, w.regular, w.filtered = input, rooted, regular, filtered
	default:
		w.construct(cmd, "an operator that is not understood")
	}
}

func (w *walker) ifClause(cmd *syntax.IfClause) {
	for c := cmd; c != nil; c = c.Else {
		if c == cmd {
			w.statements(c.Cond)
		} else {
			w.perhaps(func() { w.statements(c.Cond) })
		}
		w.perhaps(func() { w.statements(c.Then) })
	}
}

// loop interprets a body that runs any number of times: what it sets is not known
// when it begins, but for what stays a number.
func (w *walker) loop(n syntax.Node, body func()) {
	w.forget(n)
	w.perhaps(body)
	w.forget(n)
}

// forget drops what is known of the variables that a part of the script sets, and of the directory if it may change.
func (w *walker) forget(n syntax.Node) {
	set := w.assigns(n)
	for name, numbers := range set.vars {
		if v := w.state.vars[name]; numbers && v.isNumber() {
			w.state.vars[name] = value{number: true, signed: true}
		} else {
			delete(w.state.vars, name)
		}
	}
	w.state.lost = w.state.lost || set.dir
}

// assigns is [assigned], kept.
func (w *walker) assigns(n syntax.Node) assignedSet {
	set, has := w.assignedIn[n]
	if !has {
		set = assigned(n)
		w.assignedIn[n] = set
		w.spend(set.nodes)
	}
	w.spend(len(set.vars))
	return set
}

func (w *walker) forClause(cmd *syntax.ForClause) {
	if cmd.Select {
		w.construct(cmd, "select reads what it is told")
		return
	}
	switch l := cmd.Loop.(type) {
	case *syntax.CStyleLoop:
		w.arithmetic(cmd, l.Init)
		w.loop(cmd, func() {
			w.arithmetic(cmd, l.Cond)
			w.statements(cmd.Do)
			w.arithmetic(cmd, l.Post)
		})
	case *syntax.WordIter:
		w.iterate(cmd, l)
	}
}

// iterate is for x in a b c: over a literal list, each round by itself.
func (w *walker) iterate(cmd *syntax.ForClause, l *syntax.WordIter) {
	items := w.words(l.Items)
	w.expands("for "+l.Name.Value, items)
	literal := l.InPos.IsValid() && len(items) > 0 && w.unrolled+len(items) <= maxUnrolled && w.depth < maxDepth &&
		!slices.ContainsFunc(items, func(f Word) bool { return f.Kind != Literal })
	if !literal {
		w.loop(cmd, func() {
			w.bind(l.Name, l.Name.Value, itemValue(l, items))
			w.statements(cmd.Do)
		})
		return
	}
	w.unrolled += len(items)
	for _, item := range items {
		w.forget(cmd)
		w.perhaps(func() {
			w.bind(l.Name, l.Name.Value, value{known: true, text: item.Text})
			w.statements(cmd.Do)
		})
	}
	w.forget(cmd)
}

// itemValue is what a loop's variable holds where the list is not literal.
func itemValue(l *syntax.WordIter, items []Word) value {
	v := value{}
	if l.InPos.IsValid() && len(items) == 1 && len(l.Items[0].Parts) == 1 {
		if sub, ok := l.Items[0].Parts[0].(*syntax.CmdSubst); ok && printsNumbers(sub.Stmts) {
			return value{number: true, signed: true}
		}
	}
	if l.InPos.IsValid() && len(items) == 1 && items[0].Kind != Many { // of which each may be a part of a name
		v.bound = items[0].Bound
	}
	return v
}

func (w *walker) caseClause(cmd *syntax.CaseClause) {
	w.word(cmd.Word)
	for _, item := range cmd.Items {
		w.perhaps(func() {
			w.words(item.Patterns)
			w.statements(item.Stmts)
		})
	}
}

// function notes a definition and interprets its body once, where its arguments and
// the variables that functions set are not known.
func (w *walker) function(cmd *syntax.FuncDecl) {
	if cmd.Name == nil || len(cmd.Names) > 0 || !plain(cmd.Name.Value) || isProgram(cmd.Name.Value) {
		w.construct(cmd, "a function that takes the place of a command")
		return
	}
	for name := range w.assigns(cmd.Body).vars {
		w.shared[name] = true
		delete(w.state.vars, name)
	}
	before := w.state.clone()
	changes := w.s.Changes
	w.whenCalled()
	w.inFunction++
	w.nested++
	w.statement(cmd.Body)
	w.nested--
	w.inFunction--
	w.state = before
	w.s.Changes.Vars, w.s.Changes.Functions = changes.Vars, append(w.s.Changes.Functions, cmd.Name.Value)
	if name := cmd.Name.Value; w.nested == 0 && !w.whole.skips && !w.dropped[name] {
		w.functions[name] = true
	}
	if w.assigns(cmd.Body).dir {
		w.state.lost = true
	}
}

// whenCalled leaves of the state what holds whenever a function may be called: what the script may
// set anew by then is not known, but for what is only ever set to numbers.
func (w *walker) whenCalled() {
	w.state.lost = w.state.lost || w.whole.dir
	w.state.started = false
	for name, v := range w.state.vars {
		switch numbers, again := w.whole.vars[name]; {
		case again && numbers && v.isNumber():
			w.state.vars[name] = value{number: true, signed: true}
		case again:
			delete(w.state.vars, name)
		}
	}
}

// assignedSet are the variables that a part of a script may set, and whether each is only ever set to numbers; dir
// reports whether it may change the directory, lists are the variables that may become arrays, skips reports whether
// an expansion may fail, so that Bash skips what is left of the line and goes on with the next.
type assignedSet struct {
	vars  map[string]bool
	dir   bool
	lists map[string]bool
	skips bool
	nodes int // looked at
}

// assigned collects too much rather than too little.
func assigned(n syntax.Node) assignedSet {
	set := assignedSet{vars: map[string]bool{}, lists: map[string]bool{}}
	add := func(name string, number bool) {
		old, has := set.vars[name]
		set.vars[name] = number && (old || !has)
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		set.nodes++
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				add(n.Name.Value, n.Index == nil && n.Array == nil && !n.Append && numberWord(n.Value))
				set.lists[n.Name.Value] = set.lists[n.Name.Value] || n.Index != nil || n.Array != nil
			}
		case *syntax.DeclClause:
			array := hasOption(n, "aA")
			for _, as := range n.Args {
				if as.Name != nil && array {
					set.lists[as.Name.Value] = true
				}
			}
		case *syntax.ParamExp:
			// An old Bash knows no change of case, and no search for nothing.
			older := n.Repl != nil && n.Repl.Orig == nil || n.Exp != nil && slices.Contains([]syntax.ParExpOperator{syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll}, n.Exp.Op)
			set.skips = set.skips || older || n.Slice != nil && n.Slice.Length != nil && !steady(n.Slice.Length)
		case *syntax.WordIter:
			add(n.Name.Value, false)
		case *syntax.UnaryArithm:
			addArithmetic(add, n.X)
		case *syntax.BinaryArithm:
			if assigns(n.Op) {
				addArithmetic(add, n.X)
			}
			divides := slices.Contains([]syntax.BinAritOperator{syntax.Quo, syntax.Rem, syntax.Pow, syntax.QuoAssgn, syntax.RemAssgn}, n.Op)
			set.skips = set.skips || divides && !steady(n.Y) // it fails for some operands on its right
		case *syntax.CallExpr:
			set.dir = callSets(n, add) || set.dir
			if n := callWords(n); slices.ContainsFunc(n, func(s string) bool { return s == "read" || s == "mapfile" || s == "readarray" }) { // they make arrays
				for _, name := range n {
					set.lists[name] = true
				}
			}
		}
		return true
	})
	return set
}

func addArithmetic(add func(string, bool), x syntax.ArithmExpr) {
	if target, ok := x.(*syntax.Word); ok && syntax.ValidName(target.Lit()) {
		add(target.Lit(), true)
	}
}

// steady reports whether an operand is a positive number, with which nothing fails.
func steady(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	return ok && allDigits(word.Lit()) && word.Lit()[0] != '0'
}

// callSets adds the names that a builtin may set, and reports whether a command may
// change the directory. A builtin may stand behind command or builtin.
func callSets(c *syntax.CallExpr, add func(string, bool)) (dir bool) {
	if len(c.Args) == 0 {
		return false
	}
	words := callWords(c)
	dir = words[0] == ""
	for i, word := range words {
		switch word {
		case "cd", "pushd", "popd":
			dir = true
		case "read", "printf", "mapfile", "readarray", "getopts", "unset":
			for _, name := range words[i+1:] {
				if syntax.ValidName(name) {
					add(name, false)
				}
			}
			add("REPLY", false)
		}
	}
	return dir
}

// callWords are the words of a command without quotes, those of brace expansions one by
// one; empty where a word is not plain.
func callWords(c *syntax.CallExpr) []string {
	var words []string
	for _, x := range c.Args {
		text := plainText(x)
		if text == "" || !strings.Contains(text, "{") {
			words = append(words, text)
			continue
		}
		words = append(words, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{},", r) })...)
	}
	if len(words) == 0 {
		return []string{""}
	}
	return words
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\`, "")

// plainText is a word's text without quotes and backslashes; empty if some of it is expanded.
func plainText(x *syntax.Word) string {
	var b strings.Builder
	for _, part := range x.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped.Replace(part.Value))
		case *syntax.SglQuoted:
			text, plain := part.Value, true
			if part.Dollar {
				text, plain = ansi(part)
			}
			if !plain {
				return ""
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(unbackslash(lit.Value))
			}
		default:
			return ""
		}
	}
	return b.String()
}

// numberWord reports whether an assigned word surely is a number.
func numberWord(x *syntax.Word) bool {
	if x == nil || len(x.Parts) != 1 {
		return false
	}
	_, computed := x.Parts[0].(*syntax.ArithmExp)
	return computed || decimal(x.Lit())
}

func (w *walker) redirection(rd *syntax.Redirect) {
	if rd.N != nil && !allDigits(rd.N.Value) {
		w.construct(rd, "a redirection that sets a variable")
		return
	}
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if !endsAsBash(rd) {
			w.construct(rd, "a here-document that shells end in different places")
		}
		w.stdin = w.text(rd.Hdoc)
		w.mistaken = w.mistaken || w.substituted > 0 && strings.ContainsAny(w.stdin, "()'\"`")
		return
	case syntax.WordHdoc:
		w.stdin = w.text(rd.Word)
		return
	}
	fields := w.word(rd.Word)
	if len(fields) != 1 || fields[0].Kind == Many || fields[0].Kind == Pattern {
		w.construct(rd, "a redirection to what is not known")
		return
	}
	w.redirect(rd, fields[0])
}

// redirect is a redirection to one word.
func (w *walker) redirect(rd *syntax.Redirect, target Word) {
	literal := target.Kind == Literal
	number := rd.N != nil && rd.N.Value != "0"
	copies := (rd.Op == syntax.DplIn || rd.Op == syntax.DplOut) && literal && (target.Text == "-" || allDigits(strings.TrimSuffix(target.Text, "-")))
	switch {
	case copies:
		if strings.TrimSuffix(target.Text, "-") == "0" && (number || rd.Op == syntax.DplOut) {
			w.note(Step{Text: printed(rd), Doubt: "what is read gets a number by which it may be written", Leaf: true, Confined: true, FilesUnknown: true})
		}
		return
	case rd.Op == syntax.DplIn || strings.HasPrefix(target.Text, "/dev/tcp/") || strings.HasPrefix(target.Text, "/dev/udp/"):
		w.s.Network = w.s.Network || rd.Op != syntax.DplIn
		w.construct(rd, "a redirection to what is no file")
		return
	case literal && harmlessTarget(target.Text):
		return
	case rd.Op == syntax.RdrIn && (literal || target.Bound != ""):
		st := Step{Text: rd.Op.String() + " " + sourceOf(rd.Word), ReadOnly: !number, Leaf: true, Confined: true}
		w.touch(&st, target, File{})
		if number { // who opens /dev/stdout anew writes the file that has its number
			st.Doubt = "a file that is read gets a number by which it may be written"
			w.touch(&st, target, File{Write: true})
		}
		w.note(st)
		return
	case rd.Op == syntax.RdrIn:
		w.construct(rd, "it reads a file whose name is not known")
		return
	}
	st := Step{Text: rd.Op.String() + " " + target.Source, Doubt: "it writes " + target.Source, Leaf: true, Confined: true}
	st.Readings = []string{strings.Trim(rd.Op.String(), "&|<") + " " + target.Text}
	w.touch(&st, target, File{Write: true})
	if rd.Op == syntax.RdrInOut {
		w.touch(&st, target, File{})
	}
	w.note(st)
}

// text is a here-document's or here-string's text as far as it is literal; what it runs becomes steps.
func (w *walker) text(x *syntax.Word) string {
	if x == nil {
		return ""
	}
	b := &wordBuilder{w: w, known: true}
	w.unevenQuotes(x.Parts)
	for _, part := range x.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.add(unbackslash(part.Value))
		default:
			b.part(part, false)
		}
	}
	return printed(x) + "\n" + b.text.String()
}

// harmlessTarget reports whether nothing is lost by writing to a device. That of the input is the file that is
// read, which is opened anew and emptied.
func harmlessTarget(name string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"}, name)
}

// opened matches names that stand for a file that is open already. What goes on behind the number leads out of the folder.
var opened = regexp.MustCompile(`^/dev/(?:fd/[0-9]+|stdin)$`).MatchString

// ofProcess matches paths in the folder of a process, whose links lead to all that it has
// open. They are not ours to follow: the process is the command's.
var ofProcess = regexp.MustCompile(`^/(?:proc/(?:self|thread-self|\d+|[^/]*[*?\[][^/]*)|dev/(?:fd/[^/]+|std(?:in|out|err)))/`)

// oddClass matches what begins a bracket of a pattern that not all who match names understand, and what
// is behind it in the same name. So it does where "[!" may not be what begins a bracket.
var oddClass = regexp.MustCompile(`\[[^/]*\[[:.=!][^/]*|\\\[![^/]*`)

// touch notes the file that a word names.
func (w *walker) touch(st *Step, word Word, f File) {
	name := word.Text
	if word.Kind != Literal {
		name = strings.ReplaceAll(oddClass.ReplaceAllLiteralString(word.Bound, "*"), "[!", "[^") // as those have it who look for matches
		f.Glob = true
		f.Tree, f.Names = f.Tree || word.Below, f.Names && !word.Below
		f.Links, f.Split, f.Parts = word.Below && !word.Regular, word.Below && word.Split, !word.Below && word.Split
	}
	switch {
	case name == "" && word.Kind == Literal:
		return // no file has an empty name
	case name == "" || strings.HasPrefix(name, "~"):
		st.FilesUnknown = true
		return
	case opened(name) || name == "/dev/null":
		st.FilesUnknown = st.FilesUnknown || f.Write && name != "/dev/null"
		return
	}
	names := w.absolute(name)
	st.FilesUnknown = st.FilesUnknown || names == nil
	for _, spelled := range names {
		f.Path = spelled
		up := slices.Contains(strings.Split(spelled, "/"), "..")
		if !strings.HasPrefix(spelled, "//") {
			f.Path = path.Clean(spelled)
		} else {
			st.FilesUnknown = true // another machine's, where no link is looked at
		}
		if f.Spelled = ""; up && !w.straight(spelled) {
			f.Spelled = spelled
		}
		st.FilesUnknown = st.FilesUnknown || ofProcess.MatchString(f.Path) || up && strings.HasPrefix(spelled, "/dev/")
		st.Files = append(st.Files, f)
	}
}

// straight reports whether each .. in a path leads to the directory above, as its spelling shows.
func (w *walker) straight(spelled string) bool {
	names := strings.Split(spelled, "/")
	for i, name := range names {
		if name != ".." {
			continue
		}
		if dir := path.Join("/", path.Join(names[:i]...)); !w.spend(64*i) || w.env.Straight == nil || strings.ContainsAny(dir, `*?[\`) || !w.env.Straight(dir) {
			return false
		}
	}
	return true
}

// absolute are the paths that a name may stand for, as it is spelled, that from the directory
// where every cd has succeeded first; nil where no directory is known.
func (w *walker) absolute(name string) []string {
	switch {
	case strings.HasPrefix(name, "//"), path.IsAbs(name):
		return []string{name}
	case w.state.lost, len(w.state.dir) > 4096: // no system has a folder of such a name, and of many words each would make one longer
		return nil
	}
	dirs := append([]string{w.state.dir}, w.state.also...)
	return each(dirs, func(dir string) string { return strings.TrimSuffix(dir, "/") + "/" + name })
}
