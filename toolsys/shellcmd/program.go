package shellcmd

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// changer describes a program that changes what its operands name.
type changer struct {
	Short, Long string
	// Last reports whether the last operand is a target that the others go to; Copies,
	// whether those are only read; Leading operands are no files.
	Last, Copies bool
	Leading      int
}

// check notes the files that are changed.
func (ch changer) check(c *call) {
	c.doubt(c.name + " changes files")
	p, ok := c.parse(spec{Short: ch.Short, Long: ch.Long, Operands: files})
	if !ok {
		c.touches(File{Tree: true}, slices.DeleteFunc(slices.Clone(c.args), func(f Word) bool { return f.Bound == "" })...)
		return
	}
	operands := p.operands[min(ch.Leading, len(p.operands)):]
	if c.name == "ln" && len(operands) == 1 {
		operands = append(operands, Word{Text: path.Base(operands[0].Text)}) // the link is made where the shell is
	}
	up := func(f Word) bool { return f.Kind != Literal || strings.Contains(f.Text, "..") }
	if p.given("parents") && slices.ContainsFunc(operands, up) {
		c.step.FilesUnknown = true // .. leads out of the target
	}
	c.step.Leaf = !ch.Last // what has another name is found no more by the one that a rule names
	if c.name == "tee" && !slices.ContainsFunc(operands, func(f Word) bool { return f.Kind != Literal || !harmlessTarget(f.Text) }) {
		c.step.ReadOnly, c.step.Doubt = true, ""
		return
	}
	for i, f := range operands {
		target := i == len(operands)-1
		source := !target || f.Kind != Literal // a pattern may stand for both
		if ch.Last && source {
			c.touches(File{Tree: true}, f) // by its new name
		}
		if c.name == "ln" && source {
			c.touches(File{Tree: true, Named: true}, f)
		}
		if ch.Copies && !target {
			continue
		}
		c.touches(File{Write: true, Tree: ch.Last && target || c.name == "rm" || c.name == "mv" || p.given("R", "r", "recursive")}, f)
	}
}

// isProgram reports whether a name means something to this package, so that no
// function may take it.
func isProgram(name string) bool {
	_, reader := tables.Readers[name]
	_, changer := tables.Changers[name]
	_, shows := tables.Shows[name]
	_, wrapper := tables.Wrappers[name]
	_, special := checkers[name]
	_, shaped := tables.Shapes[name]
	return reader || shaped || changer || shows || wrapper || special || tables.Interpreters[name] || tables.Scripted[name] || tables.Leaves[name] || tables.Network[name]
}

// check decides about a command by its program. full is the name as it is written.
func (c *call) check(full string) {
	base := c.name
	c.w.s.Network = c.w.s.Network || tables.Network[base] && !c.shows()
	if c.w.functions[full] {
		c.step.Leaf, c.step.Confined = true, true // its body is read where it is defined
		c.w.looksUp(c.step, c.args)
		return
	}
	if strings.ContainsAny(full, `/\`) && !slices.ContainsFunc(usualFolders, func(dir string) bool { return dir+baseName(full) == full }) {
		c.unbounded(full + " is a program of its own")
		if c.w.wrote(full) {
			c.opaque(full + " is written by the script itself")
		}
		c.mayRunText(full)
		return
	}
	sp, reader := tables.Readers[base]
	ch, changes := tables.Changers[base]
	wr, wraps := tables.Wrappers[base]
	_, shaped := tables.Shapes[base]
	special := checkers[base]
	c.step.Leaf = reader || changes || tables.Leaves[base]
	c.step.Confined = !tables.Roaming[base] && (reader || special != nil || shaped || wraps)
	switch {
	case c.shows():
		c.step.Leaf = true
		return
	case special != nil:
		special(c)
	case shaped:
		c.shaped()
	case wraps:
		c.wrapped(wr)
	case reader:
		sp.check(c)
	case changes:
		ch.check(c)
	case tables.Interpreters[unreleased(base)] || tables.Scripted[unreleased(base)] && !c.runsScript() && !c.runsModule():
		c.opaque(base + " runs what it is told to")
	default:
		c.unbounded(base + " is not known to only read")
		if !c.step.Leaf {
			c.mayRunText(full)
		}
	}
	c.runsOption()
}

// mayRunText looks for an interpreter and a text for it among the words of a program that may run what they name. What is
// called as a known program is may be that, from another folder, of a release or on a system that takes names in any case.
func (c *call) mayRunText(full string) {
	if name := unreleased(c.name); name != full && (isProgram(name) || tables.RunOptions[name] != nil) {
		c.supposes(append([]Word{{Text: name}}, c.args...))
	}
	for i, f := range c.args {
		if f.Kind != Literal || !runsText(f.Text) {
			continue
		}
		text := c.args[i+1:]
		if len(text) > 0 && text[0].isLiteral("--") {
			text = text[1:]
		}
		if len(text) > 0 && takesText(text[0].Text) {
			c.supposes(append([]Word{{Text: interpreter(f.Text)}}, text...))
			return
		}
	}
}

// supposes reads a command for rules that forbid. It is no step: it is not known whether it runs.
func (c *call) supposes(words []Word) {
	w, noted := c.w, len(c.w.s.Steps)
	w.nest(func() {
		w.isolated(func() { w.run(words, Step{ReadOnly: true}) })
	})
	for _, st := range w.s.Steps[noted:] {
		c.step.Supposed = append(append(c.step.Supposed, st), st.Supposed...)
		c.step.Readings = append(append(c.step.Readings, st.Text), st.Readings...)
		if st.Opaque != "" {
			c.opaque(st.Opaque)
		}
	}
	if !w.full {
		w.s.Steps = w.s.Steps[:noted]
	}
}

// runsText reports whether a word names a program that runs a text of its options; takesText matches these options.
func runsText(word string) bool {
	name := unreleased(interpreter(word))
	return tables.Scripted[name] || tables.Interpreters[name] && (strings.HasSuffix(name, "sh") || name == "cmd" || name == "powershell")
}

// interpreter is the program that a word names, which may stand behind a folder, an option or a package's place.
func interpreter(word string) string { return word[strings.LastIndexAny(word, "/=#")+1:] }

var takesText = regexp.MustCompile(`^(?:-[A-Za-z]*[ceErs]|/[ck]|--?(?:eval|exec|command|print)(?:=.*)?|-[Ce]\w+)$`).MatchString

// unreleased is the name by which the tables know an interpreter: python for python3.12 and Python.exe.
func unreleased(name string) string {
	if isProgram(name) {
		return name
	}
	return release.ReplaceAllString(strings.ToLower(name), "")
}

var release = regexp.MustCompile(`(?:[-.]?\d[\d.]*t?|[-.](?:static|basic|tiny|nox))?(?:\.exe)?$`)

// runsScript reports whether an interpreter is given a script in a file, by a name
// that looks like one. A device is no file: it gives what is piped in. What the script itself has written is no
// other than a text that stands in it.
func (c *call) runsScript() bool {
	return len(c.args) > 0 && c.args[0].Kind == Literal && !strings.HasPrefix(c.args[0].Text, "-") &&
		strings.ContainsAny(c.args[0].Text, "./") && c.step.Input == "" && !device.MatchString(path.Clean(c.args[0].Text)) && !c.w.wrote(c.args[0].Text)
}

// wrote reports whether the script may have put something into the file of a name by now.
func (w *walker) wrote(name string) bool {
	names := w.absolute(name)
	w.spend(8 * len(w.s.Steps))
	return slices.ContainsFunc(w.s.Steps, func(st Step) bool {
		return st.puts() && (names == nil || st.FilesUnknown || slices.ContainsFunc(st.Files, func(f File) bool {
			return f.Write && slices.ContainsFunc(names, func(name string) bool {
				name = path.Clean(name)
				return f.Path == name || f.Glob || f.Tree && strings.HasPrefix(name, strings.TrimSuffix(f.Path, "/")+"/")
			})
		}))
	})
}

// puts reports whether a step puts something into files that it names.
func (st *Step) puts() bool {
	return !st.ReadOnly && slices.Contains([]string{"", "cp", "install", "ln", "mv", "sed", "tee"}, st.Name)
}

// runsModule reports whether Python is given a module that is a program of its own, which is then what is looked at.
func (c *call) runsModule() bool {
	if len(c.args) < 2 || !strings.HasPrefix(c.name, "py") || !c.args[0].isLiteral("-m") || c.args[1].Kind != Literal || !tables.Modules[c.args[1].Text] || c.step.Input != "" {
		return false
	}
	c.step.Readings = append(c.step.Readings, readings(c.args[1:])...)
	c.name, c.args = c.args[1].Text, c.args[2:]
	return true
}

// device matches clean paths of what is open already.
var device = regexp.MustCompile(`(?:^|\.\.)/(?:dev|proc)/`)

// runsOption makes a command opaque that runs the value of an option.
func (c *call) runsOption() {
	for _, option := range tables.RunOptions[c.name] {
		for _, f := range c.args {
			short := len(option) == 2 && option[0] == '-' && f.Kind == Literal && len(f.Text) > 1 && f.Text[0] == '-' && f.Text[1] != '-' && strings.Contains(f.Text, option[1:])
			text, _, _ := strings.Cut(cmp.Or(f.Text, f.Source), "$") // of a word that may be many, what it begins with
			if short || means(text, option) {
				c.opaque(c.name + " runs the value of " + option)
				return
			}
		}
	}
	if !c.step.Leaf && c.step.Input != "" && c.step.Opaque == "" && !c.step.ReadOnly {
		c.opaque(c.name + " may run what it reads")
	}
}

// means reports whether a word is a subcommand, or an option with a value behind it or cut short: programs take
// as much of a long name as tells it from others.
func means(word, option string) bool {
	name, _, _ := strings.Cut(word, "=")
	return strings.HasPrefix(word, option) && (word == option || strings.ContainsAny(option, "-+=")) ||
		len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(option, name)
}

// shows reports whether the command only shows what is known of the program or the machine.
func (c *call) shows() bool {
	text, literal := c.text()
	return literal && slices.ContainsFunc(tables.Shows[c.name], func(phrase string) bool {
		return phrase == text || strings.ContainsAny(phrase, "*%") && slices.EqualFunc(strings.Fields(phrase), c.args, func(p string, w Word) bool {
			before, open := strings.CutSuffix(p, "%")
			rest, fits := strings.CutPrefix(w.Text, before)
			return p == w.Text || p == "*" && plainArgument(w.Text) || open && fits && rest != "" && rest[0] != '-'
		})
	})
}

// plainArgument matches names of packages, containers and the like, which are neither options nor paths.
var plainArgument = regexp.MustCompile(`^\w[\w.:@+-]*$`).MatchString

// text is the command's arguments with blanks between them, as far as they are known.
func (c *call) text() (text string, literal bool) {
	literal = !slices.ContainsFunc(c.args, func(f Word) bool { return f.Kind != Literal })
	return strings.Join(each(c.args, func(f Word) string { return f.Text }), " "), literal
}
