package shellcmd

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// call is one command while it is checked.
type call struct {
	w    *walker
	name string
	args []Word
	step *Step
	// inner interprets what the command runs, after its own step is noted.
	inner     []func()
	suspected bool // at each of its words
	// elsewhere reports whether what it runs begins in another directory, asOther whether it may have another home.
	elsewhere, asOther bool
}

// doubt makes the command one that is not proved to only read.
func (c *call) doubt(why string) {
	if c.step.ReadOnly {
		c.step.ReadOnly, c.step.Doubt = false, why
	}
}

// unbounded makes it one that may touch any file as well.
func (c *call) unbounded(why string) {
	c.step.FilesUnknown = true
	c.doubt(why)
}

// opaque makes it one of which it is not known what it runs.
func (c *call) opaque(why string) {
	c.step.Opaque = cmp.Or(c.step.Opaque, why)
	c.unbounded(why)
}

// construct makes it one that no rule for a command can cover either.
func (c *call) construct(why string) {
	c.step.Construct = true
	c.opaque(why)
}

// reads notes files that the command reads.
func (c *call) reads(words ...Word) { c.touches(File{}, words...) }

// touches notes the files that words name, each with what f has of it.
func (c *call) touches(f File, words ...Word) {
	for _, word := range words {
		c.w.touch(c.step, word, f)
	}
}

// here is the working directory as a word.
func here() Word { return Word{Text: ".", Source: "."} }

// option is one option of a command.
type option struct {
	name  string // without dashes
	value Word
	has   bool // a value
}

// parsed is a command's arguments taken apart.
type parsed struct {
	options  []option
	operands []Word
	further  []Word // values that may stand for several words, of which all but the first are operands
	// unlisted is above 0 in a word with an option that is not listed, and in the next: what follows that
	// option may be its value.
	unlisted int
	late     bool // an option stands behind an operand, which not all systems take for one there
}

func (p parsed) given(names ...string) bool {
	return slices.ContainsFunc(p.options, func(o option) bool { return slices.Contains(names, o.name) })
}

// parse takes the arguments apart as getopt does; ok is false, and the command
// doubtful, where an option is not listed or may hide in a word.
func (c *call) parse(sp spec) (p parsed, ok bool) {
	args := c.args
	for ; len(args) > 0; p.unlisted-- {
		w := args[0]
		switch {
		case w.isLiteral("--"):
			p.operands = append(p.operands, args[1:]...)
			// Git takes -- for the value of some options that stand before it.
			if strings.HasPrefix(c.name, "git ") && slices.ContainsFunc(args[1:], func(f Word) bool { return f.Kind == Literal && optionLike.MatchString(f.Text) }) {
				return p, c.unread("a word behind -- looks like an option of " + c.name)
			}
			return p, true
		case w.wild():
			if sp.Any && sp.Refused == nil && (sp.Elsewhere == nil || !strings.HasPrefix(w.Text, "-")) {
				p.operands = append(p.operands, w)
				c.step.FilesUnknown = c.step.FilesUnknown || sp.Operands == texts && len(sp.FileValues) > 0
			} else if w.Kind != Unknown || !c.prefixed(sp, w, &p) {
				return p, c.unread("a word that is not literal may be an option of " + c.name)
			}
			args = args[1:]
		case w.Kind != Literal || len(w.Text) < 2 || w.Text[0] != '-':
			p.operands = append(p.operands, w)
			args = args[1:]
		default:
			p.late = p.late || len(p.operands) > 0
			n := c.option(sp, args, &p)
			if n == 0 {
				return p, c.unread("the option " + w.Text + " of " + c.name + " is not known to be harmless")
			}
			args = args[n:]
		}
	}
	return p, true
}

// unread is for words that could not be taken apart: a value may name a program, or a file.
func (c *call) unread(why string) (ok bool) {
	c.unbounded(why)
	c.step.Leaf = false
	return false
}

// prefixed takes a word such as "--format=$x" or "-n$x", whose option is literal.
func (c *call) prefixed(sp spec, w Word, p *parsed) bool {
	if long, is := strings.CutPrefix(w.Text, "--"); is {
		name, _, has := strings.Cut(long, "=")
		if !has || !sp.hasLong(name, true) {
			return false
		}
		p.options = append(p.options, option{name: name, value: Word{Kind: Unknown, Source: w.Source}, has: true})
		return true
	}
	if len(w.Text) < 2 || w.Text[0] != '-' {
		return false
	}
	letters := w.Text[1:]
	for i := range len(letters) {
		takes, known := sp.letter(letters[i])
		if !known {
			return false
		}
		if takes != "" {
			p.options = append(p.options, option{name: letters[i : i+1], value: Word{Kind: Unknown, Source: w.Source}, has: true})
			return true
		}
	}
	return false
}

// option takes one literal option; n is how many words it is, 0 if it is not known.
func (c *call) option(sp spec, args []Word, p *parsed) (n int) {
	text := args[0].Text
	if long, is := strings.CutPrefix(text, "--"); is {
		return c.long(sp, long, args, p)
	}
	switch {
	case sp.Digits && allDigits(text[1:]):
		return 1
	case allDigits(text[1:2]) && len(text) > 2:
		p.unlisted = 2 // in head -5c, the c takes no value
	}
	for i := 1; i < len(text); i++ {
		name := text[i : i+1]
		takes, known := sp.letter(text[i])
		switch {
		case !known && !sp.tolerates(name):
			return 0
		case !known:
			p.unlisted = 2
		}
		o := option{name: name}
		if takes == "" {
			p.options = append(p.options, o)
			continue
		}
		o.has = true
		if sp.Apart && i+1 < len(text) {
			return 0
		}
		if rest := text[i+1:]; rest != "" || takes == "::" {
			if c.name == "rg" { // drops the sign between the letter and the value
				rest = strings.TrimPrefix(rest, "=")
			}
			o.value = Word{Text: rest, Source: rest}
			p.options = append(p.options, o)
			return 1
		}
		return c.separate(sp, o, args, p)
	}
	return 1
}

// separate takes an option whose value is the next word.
func (c *call) separate(sp spec, o option, args []Word, p *parsed) int {
	if len(args) < 2 {
		return 1 // it complains and does nothing
	}
	o.value = args[1]
	pattern := o.value.Kind == Pattern
	if !sp.Any && (pattern || o.value.Kind == Many || optionLike.MatchString(o.value.Text)) || sp.Refused != nil && pattern && o.value.wild() {
		return 0 // it may bring further words, or be an option to a program of another version
	}
	p.options = append(p.options, o)
	if pattern || o.value.Kind == Many && (o.value.Below || !o.value.Given) {
		p.further = append(p.further, o.value)
	}
	if p.unlisted > 0 || len(p.operands) > 0 && !sp.Permutes && !strings.HasPrefix(c.name, "git ") {
		p.operands = append(p.operands, o.value) // the option may be the value of another one, or an operand
	}
	return 2
}

// optionLike matches the beginnings of options, which no number and no date is.
var optionLike = regexp.MustCompile(`^-[-A-Za-z]`)

func (c *call) long(sp spec, text string, args []Word, p *parsed) int {
	name, value, has := strings.Cut(text, "=")
	if sp.Any {
		name = c.whole(sp, name)
	}
	o := option{name: name, value: Word{Text: value, Source: value}, has: has}
	switch {
	case sp.hasLong(name, has):
		if !has && slices.Contains(strings.Fields(sp.Long), name+"=") {
			o.has = true
			return c.separate(sp, o, args, p)
		}
	case strings.HasPrefix(name, "-"), !sp.tolerates(name): // ugrep takes ---NAME for a file of options
		return 0
	case !has:
		p.unlisted = 2
	}
	p.options = append(p.options, o)
	return 1
}

// whole gives the listed option that a long name stands for which is cut short. Where it may stand for
// several, nobody knows which files it is about.
func (c *call) whole(sp spec, name string) string {
	var found []string
	for _, l := range slices.Concat(strings.Fields(sp.Long), sp.FileValues, sp.Walks, sp.Follows, sp.Patterns) {
		bare := strings.TrimRight(l, "=?")
		switch {
		case bare == name:
			return name
		case len(bare) > 1 && strings.HasPrefix(bare, name) && !slices.Contains(found, bare):
			found = append(found, bare)
		}
	}
	switch len(found) {
	case 0:
		return name
	case 1:
		return found[0]
	}
	c.step.FilesUnknown = true
	return name
}

// tolerates reports whether an option that is not listed is harmless all the same.
func (sp spec) tolerates(name string) bool {
	refused := func(r string) bool { return name == r || len(r) > 1 && len(name) > 1 && strings.HasPrefix(r, name) }
	return sp.Any && !slices.ContainsFunc(sp.Refused, refused) && !slices.ContainsFunc(sp.Elsewhere, refused)
}

// letter looks up a short option: takes is ":" or "::" if it has a value.
func (sp spec) letter(c byte) (takes string, known bool) {
	i := strings.IndexByte(sp.Short, c)
	if i < 0 || c == ':' {
		return "", false
	}
	rest := sp.Short[i+1:]
	return rest[:len(rest)-len(strings.TrimLeft(rest, ":"))], true
}

// hasLong reports whether there is a long option of that whole name.
func (sp spec) hasLong(name string, valued bool) bool {
	return slices.ContainsFunc(strings.Fields(sp.Long), func(l string) bool { return strings.TrimRight(l, "=?") == name && !(valued && l == name) })
}

// readsValues notes the files that values of options name.
func (c *call) readsValues(sp spec, p parsed) {
	for _, o := range p.options {
		switch {
		case o.has && slices.Contains(sp.FileValues, o.name):
			c.reads(o.value)
		case o.has:
			c.w.looksUp(c.step, []Word{o.value})
		}
	}
}

// check applies a spec to the command.
func (sp spec) check(c *call) {
	p, ok := c.parse(sp)
	if !ok {
		return
	}
	c.readsValues(sp, p)
	all := slices.Concat(p.further, p.operands)
	if written := all; sp.AtMost > 0 && (len(all) > sp.AtMost || hasMany(all) || p.late) {
		c.doubt("a further operand of " + c.name + " would be written to")
		if !hasMany(all) { // of several files that one word matches, any may be the further one
			written = all[min(sp.AtMost, len(all)):]
		}
		c.touches(File{Write: true}, written...)
	}
	operands := p.operands
	if (sp.Operands == patternFiles || sp.Operands == patternTrees) && !p.given(sp.Patterns...) && len(operands) > 0 && operands[0].Kind != Many {
		if operands[0].Kind == Pattern || len(p.further) > 0 {
			c.touches(File{Tree: sp.Operands == patternTrees || p.given(sp.Walks...)}, operands[0])
		}
		operands = operands[1:]
	}
	if p.given(sp.Follows...) {
		c.step.FilesUnknown = true
	}
	switch {
	case sp.Operands == nothing && len(all) > 0:
		c.doubt("operands of " + c.name + " are not known to be harmless")
	case sp.Operands == texts || sp.Operands == nothing:
		c.w.looksUp(c.step, operands)
	case sp.Operands == trees || sp.Operands == patternTrees || p.given(sp.Walks...):
		if len(operands) == 0 {
			operands = []Word{here()}
		}
		operands = append(operands, p.further...)
		c.touches(File{Tree: !sp.Names || len(sp.Walks) == 0 || p.given(sp.Walks...), Names: sp.Names}, operands...)
	case sp.Operands == fileFolders:
		c.touches(File{Entries: true}, slices.Concat(operands, p.further)...)
	default:
		c.reads(slices.Concat(operands, p.further)...)
	}
}

// looksUp notes the folders that the shell looks through for words that are patterns, though the command opens no file.
func (w *walker) looksUp(st *Step, words []Word) {
	for _, f := range words {
		switch {
		case f.Kind == Pattern, f.Split && !f.Below:
			w.touch(st, f, File{})
		case f.Kind == Many && f.Bound == "" && !f.Given:
			// An unquoted value may hold a pattern of its own.
			st.FilesUnknown = true
		}
	}
}

// expands notes words that become names of files, though no command opens those.
func (w *walker) expands(text string, words []Word) {
	st := Step{Text: text, ReadOnly: true, Leaf: true, Confined: true}
	if w.looksUp(&st, words); st.FilesUnknown || len(st.Files) > 0 {
		w.note(st)
	}
}

func hasMany(words []Word) bool {
	return slices.ContainsFunc(words, func(f Word) bool { return f.Kind == Many || f.Kind == Pattern })
}
