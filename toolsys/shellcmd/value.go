package shellcmd

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what is known of a variable or an expansion. The zero value is one text of which nothing is known.
type value struct {
	known bool // the text is exactly text
	text  string
	// number reports whether the text is a decimal number, signed whether it may begin with a minus.
	number, signed bool
	many           bool // it may be several words even within quotes
	given          bool // it is a variable of the environment that the script leaves alone, or words without patterns
	bound          string
}

// state is what changes while a script runs: its variables and its directory. A
// variable that is not in vars has a value nobody here knows.
type state struct {
	vars map[string]value
	dir  string
	also []string // other directories that it may be, where a cd may have failed
	old  string   // the directory before it, empty where that is not known
	lost bool     // the directory is not known, nor that before it
	// started reports whether the shell has surely left something running.
	started bool
}

func (st state) clone() state {
	st.vars = maps.Clone(st.vars)
	return st
}

// join is the state after one of two ways.
func join(a, b state) state {
	out := state{vars: map[string]value{}, dir: a.dir, lost: a.lost || b.lost, started: a.started && b.started}
	if a.old == b.old {
		out.old = a.old
	}
	for _, dir := range append(slices.Concat(a.also, b.also), b.dir) {
		out.mayBeIn(dir)
	}
	for name, v := range a.vars {
		switch u, has := b.vars[name]; {
		case has && u == v:
			out.vars[name] = v
		case has && u.isNumber() && v.isNumber():
			out.vars[name] = value{number: true, signed: true}
		}
	}
	return out
}

// maxDirs bounds how many directories a script may be in; beyond it, none is known.
const maxDirs = 8

// mayBeIn adds a directory that the script may be in.
func (st *state) mayBeIn(dir string) {
	if !st.lost && dir != st.dir && !slices.Contains(st.also, dir) {
		st.also = append(slices.Clone(st.also), dir)
	}
	st.lost = st.lost || len(st.also) > maxDirs
}

// isNumber reports whether a value is surely a decimal number.
func (v value) isNumber() bool { return v.number || v.known && decimal(v.text) }

// decimal reports whether arithmetic takes a text for a decimal number: one that begins with
// 0 is octal, and may be none.
func decimal(text string) bool {
	return allDigits(strings.TrimPrefix(text, "-")) && len(text) < 18 && (text == "0" || strings.TrimPrefix(text, "-")[0] != '0')
}

// plainName are the variables that a script may set: names that mean nothing to
// Bash, to the loader or to programs, whether or not they are exported.
var plainName = regexp.MustCompile(`^(?:[a-z][a-z0-9_]*|[A-Z]|FILES?|DIRS?|SRC|DST|OUT|OUTPUT|NAMES?|COUNT|RESULT|BRANCH|COMMIT|ROOT|BASE|PATTERN|KEY|VALUE|ITEM|URL|VERSION|TOTAL|SUM|MSG|LIST|ARGS|CMD|PKG|LINE|FOO|BAR)$`)

// poweredNames are lower-case names that mean something to Bash or to programs.
var poweredNames = regexp.MustCompile(`^(?:histchars|auto_resume|(?:npm|pip|yarn|pnpm|cargo|rust|python|perl|ruby|java|node|git|ld|dyld|gem|bundle|go|make|cmake|terraform|docker|kube|aws|gcloud|xdg|bash|ssh)_.*|.*_proxy|path|cdpath|fpath|manpath|ifs|home|pwd|term|shell|editor|pager|prompt)$`)

// plain reports whether a script may set a variable of this name.
func plain(name string) bool { return plainName.MatchString(name) && !poweredNames.MatchString(name) }

// harmlessSetting reports whether NAME=value in front of a command is harmless.
func harmlessSetting(name string, v value) bool {
	if strings.HasPrefix(name, "LC_") {
		name = "LANG"
	}
	values, has := tables.Settings[name]
	return v.known && has && values.compiled().MatchString(v.text)
}

// get is a variable's value.
func (w *walker) get(name string) value {
	switch name {
	case "#", "?", "$":
		return value{number: true}
	case "UID", "EUID":
		return value{number: true, many: true} // no word at all in other shells
	case "!":
		return value{number: true, many: !w.state.started}
	case "HOME", "PWD", "OLDPWD":
		if v := w.folder(name); v.known {
			return v
		}
	case "@":
		return value{many: true}
	}
	if strings.Trim(name, "0123456789") == "" || strings.HasPrefix(name, "BASH") || slices.Contains(shellMade, name) {
		return value{}
	}
	v, has := w.state.vars[name]
	_, set := w.whole.vars[name]
	v.given = v.given || !has && !set && environment.MatchString(name)
	return v
}

// folder is the value of a variable that names a folder, empty where it is not known.
func (w *walker) folder(name string) value {
	dir := map[string]string{"HOME": w.env.Home, "PWD": w.state.dir, "OLDPWD": w.state.old}[name]
	if w.foldersSet || !strings.HasPrefix(dir, "/") || name != "HOME" && w.state.lost || name == "PWD" && len(w.state.also) > 0 {
		return value{}
	}
	return value{known: true, text: dir, given: true}
}

// shellMade are variables that Bash sets by itself.
var shellMade = []string{"_", "REPLY", "MAPFILE", "OPTARG", "PIPESTATUS", "DIRSTACK", "FUNCNAME", "COMP_LINE", "COPROC", "READLINE_LINE"}

// environment are variables whose values a shell takes from its environment and does not make itself.
var environment = regexp.MustCompile(`^(?:[A-Z](?:[A-Z0-9_]*[A-Z0-9])?|[a-z_][a-z0-9_]*)$`)

// set gives a variable a value that outlives the script; one that is not plain is doubtful.
func (w *walker) set(at syntax.Node, name string, v value) {
	w.bind(at, name, v)
	w.s.Changes.Vars = append(w.s.Changes.Vars, name)
}

// bind gives a loop's variable its value.
func (w *walker) bind(at syntax.Node, name string, v value) {
	switch {
	case !plain(name):
		w.construct(at, "it sets "+name)
		w.foldersSet = w.foldersSet || slices.Contains([]string{"HOME", "PWD", "OLDPWD"}, name)
		return
	case w.frozen[name]:
		w.construct(at, "it sets "+name+", which is read-only")
		return
	}
	old, has := w.state.vars[name]
	if w.inFunction > 0 || w.shared[name] || w.whole.skips && has && !(old.isNumber() && v.isNumber()) {
		v = value{} // set in a function, at a time that is not known, or perhaps not at all
	}
	w.state.vars[name] = v
}

// expand is the value of an expansion; what it runs becomes steps of its own.
func (w *walker) expand(part syntax.WordPart, quoted bool) value {
	switch part := part.(type) {
	case *syntax.ParamExp:
		return w.parameter(part)
	case *syntax.CmdSubst:
		if part.TempFile || part.ReplyVar {
			w.construct(part, "a substitution that runs in this shell")
		}
		w.substitution(part.Stmts)
		if printsNumbers(part.Stmts) {
			return value{number: true, many: true}
		}
		command := strings.Join(soleCommand(part.Stmts), " ")
		if v := w.folder("PWD"); command == "pwd" && v.known {
			v.text = strings.TrimRight(v.text, "\n")
			return v
		}
		return value{given: printsPlain(command)}
	case *syntax.ArithmExp:
		w.arithmetic(part, part.X)
		return value{number: true, signed: true}
	case *syntax.ProcSubst:
		if part.Op != syntax.CmdIn || quoted {
			w.construct(part, "a process substitution that is written to")
			return value{}
		}
		w.substitution(part.Stmts)
		return value{known: true, text: "/dev/fd/63"}
	}
	w.construct(part, "an expansion that is not understood")
	return value{many: true}
}

// soleCommand are the words of the only command that a substitution runs, empty where anything in them is expanded;
// nil where it does more.
func soleCommand(stmts []*syntax.Stmt) (args []string) {
	if len(stmts) != 1 || stmts[0].Background || stmts[0].Negated {
		return nil
	}
	st := stmts[0]
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(st.Redirs) > 1 || len(st.Redirs) == 1 && st.Redirs[0].Op != syntax.RdrIn {
		return nil
	}
	return each(c.Args, (*syntax.Word).Lit)
}

// printsNumbers reports whether what a substitution runs prints decimal numbers and nothing else, or nothing.
func printsNumbers(stmts []*syntax.Stmt) bool {
	args := soleCommand(stmts)
	switch strings.Join(args, " ") {
	case "date +%s", "nproc", "wc -l", "wc -c", "wc -w", "wc -m": // of their input: of a file wc prints the name too
		return true
	}
	return len(args) > 1 && args[0] == "seq" && !slices.ContainsFunc(args[1:], func(s string) bool { return !decimal(s) })
}

// printsPlain matches commands that print words in which no sign of a pattern can be, and pwd, which prints what PWD holds.
var printsPlain = regexp.MustCompile(`^(?:pwd|git rev-parse (?:--short(?:=\d+)? |--abbrev-ref )?HEAD|git branch --show-current` +
	`|git describe(?: --(?:tags|always|long|dirty|abbrev=\d+))*|git rev-list --count [\w./^~]+|uname(?: -[mrs])?|whoami|id -un?|date(?: -u)?(?: \+[%A-Za-z0-9_:.-]+)?)$`).MatchString

// parameter is $x and its kin.
func (w *walker) parameter(p *syntax.ParamExp) value {
	if p.Param == nil || p.NestedParam != nil || p.Excl || p.Flags != nil || p.IsSet || p.Width || p.Names != 0 || len(p.Modifiers) > 0 ||
		(p.Exp != nil || p.Repl != nil) && strings.Contains("#?-$!", p.Param.Value) { // where Bash may skip what is left of the line
		w.construct(p, "an indirect expansion, or one of a special parameter")
		return value{many: true}
	}
	if unevenIn(p, true) {
		w.construct(p, "quotes in an expansion that shells read differently")
	}
	v := w.get(p.Param.Value)
	if p.Index != nil {
		v = w.element(p)
	}
	if p.Param.Value == "*" {
		v = value{}
	}
	if p.Length {
		return value{number: true}
	}
	w.perhaps(func() { v = w.operand(p, v) })
	return v
}

// operand is what an expansion makes of a variable's value. Its words are expanded only
// where the value calls for them.
func (w *walker) operand(p *syntax.ParamExp, v value) value {
	if p.Slice != nil {
		w.arithmetic(p, p.Slice.Offset)
		w.arithmetic(p, p.Slice.Length)
		v = value{many: v.many}
	}
	if p.Repl != nil {
		w.words([]*syntax.Word{p.Repl.Orig, p.Repl.With})
		v = value{many: v.many}
	}
	if p.Exp != nil {
		return w.operation(p, v)
	}
	return v
}

// operation is ${x:-y}, ${x%y} and their kin. Those that assign, and ${x@P}, which
// runs what is in a prompt, are not understood.
func (w *walker) operation(p *syntax.ParamExp, v value) value {
	many, given := v.many, v.given
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.OtherParamOps:
		w.construct(p, "an expansion that assigns or evaluates")
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		for _, f := range w.word(p.Exp.Word) {
			many = many || f.Kind == Many
			given = given && (f.Given || f.Kind == Literal && !strings.ContainsAny(f.Text, `*?[\`))
		}
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix,
		syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		w.word(p.Exp.Word)
	default:
		w.construct(p, "an expansion that is not understood")
	}
	return value{many: many, given: given}
}

// element is ${a[@]}, ${a[*]}, ${a[0]}: any other subscript is evaluated.
func (w *walker) element(p *syntax.ParamExp) value {
	if x, ok := p.Index.(*syntax.Word); ok && (x.Lit() == "@" || x.Lit() == "*") {
		return value{many: x.Lit() == "@"}
	}
	w.arithmetic(p, p.Index)
	return value{}
}

// arithmetic checks an expression. Bash evaluates the text of each variable in it once more, and a subscript in that
// text can run a command: so only variables that surely hold numbers may stand in it, and no subscripts.
func (w *walker) arithmetic(at syntax.Node, x syntax.ArithmExpr) {
	if x != nil && !w.numeric(x) {
		w.construct(at, "arithmetic on what may be no number")
	}
}

// numeric reports whether an expression only computes with numbers.
func (w *walker) numeric(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case *syntax.Word:
		return w.numericWord(x)
	case *syntax.ParenArithm:
		return w.numeric(x.X)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			return w.numeric(x.X) && w.assignNumber(x.X)
		}
		return w.numeric(x.X)
	case *syntax.BinaryArithm:
		if assigns(x.Op) {
			return (x.Op == syntax.Assgn || w.numeric(x.X)) && w.numeric(x.Y) && w.assignNumber(x.X)
		}
		if slices.Contains([]syntax.BinAritOperator{syntax.AndArit, syntax.OrArit, syntax.TernQuest, syntax.TernColon}, x.Op) {
			ok := w.numeric(x.X)
			w.perhaps(func() { ok = ok && w.numeric(x.Y) }) // it may not be evaluated
			return ok
		}
		return w.numeric(x.X) && w.numeric(x.Y)
	}
	return false
}

// numericWord reports whether a word is a number, a variable that holds one, or an expansion that gives one.
func (w *walker) numericWord(x *syntax.Word) bool {
	if lit := x.Lit(); lit != "" {
		if syntax.ValidName(lit) {
			return w.get(lit).isNumber()
		}
		return decimal(lit)
	}
	if len(x.Parts) != 1 {
		return false
	}
	part := x.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 && !q.Dollar {
		part = q.Parts[0]
	}
	switch part := part.(type) {
	case *syntax.ParamExp:
		return w.parameter(part).isNumber()
	case *syntax.ArithmExp:
		return w.numeric(part.X)
	}
	return false
}

// assignNumber notes that a plain variable has become a number.
func (w *walker) assignNumber(x syntax.ArithmExpr) bool {
	target, ok := x.(*syntax.Word)
	if !ok || !plain(target.Lit()) {
		return false
	}
	w.set(target, target.Lit(), value{number: true, signed: true})
	return true
}

func assigns(op syntax.BinAritOperator) bool {
	return slices.Contains([]syntax.BinAritOperator{
		syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn,
	}, op)
}
