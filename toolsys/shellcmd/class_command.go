package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command judges one simple command: it becomes a Part, and harmful unless its rule knows better.
func (a *analysis) command(words []word, redirects []*syntax.Redirect) {
	p := part(words)
	for _, rd := range redirects {
		p.Redirects = append(p.Redirects, redirectOf(rd))
	}
	a.class.Parts = append(a.class.Parts, p)
	name, args := words[0], words[1:]
	if !name.literal || name.pattern || name.text == "" {
		a.harmful()
		return
	}
	base := baseCommand(name.text)
	if networkNames[base] {
		a.class.Network = true
	}
	switch rule, known := rules[base]; {
	case a.wrapper(base, args):
	case a.shellState(base, args):
	case known:
		if rule != nil && !rule(args) {
			a.harmful()
		}
	case strings.Contains(name.text, "/"):
		a.harmful()
	default:
		a.unknown = append(a.unknown, name.text)
	}
	a.git(base, args)
}

func part(words []word) Part {
	p := Part{Literal: true, Args: []string{}}
	var text []string
	for i, w := range words {
		text = append(text, w.source)
		shown := w.text
		if !w.literal {
			p.Literal, shown = false, w.source
		}
		switch {
		case i > 0:
			p.Args = append(p.Args, shown)
		case w.literal && !w.pattern:
			p.Name = w.text
		default:
			p.Literal = false
		}
	}
	p.Text = strings.Join(text, " ")
	return p
}

// baseCommand takes the path off the usual places.
func baseCommand(name string) string {
	for _, dir := range []string{"/bin/", "/usr/bin/", "/usr/local/bin/"} {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.Contains(rest, "/") {
			return rest
		}
	}
	return name
}

// inner judges a command that another one runs. None at all is harmless.
func (a *analysis) inner(words []word) {
	if len(words) == 0 {
		return
	}
	a.depth++
	defer func() { a.depth-- }()
	if a.depth > 20 {
		a.harmful()
		return
	}
	a.command(words, nil)
}

// wrapper judges commands that run other commands. It reports whether name is one.
func (a *analysis) wrapper(name string, args []word) bool {
	if name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return true
	}
	spec, ok := wrappers[name]
	if ok {
		rest, ok := spec.strip(args)
		if !ok {
			a.harmful()
		}
		a.assignments(name, &rest)
		if name == "xargs" {
			rest = xargsCommand(args, rest)
		}
		a.inner(rest)
		return true
	}
	switch name {
	case "find":
		a.find(args)
	case "sh", "bash":
		a.shell(args)
	case "eval":
		a.harmful()
		a.evalText(args)
	case "trap":
		a.trap(args)
	case "exec":
		if len(args) > 0 {
			a.inner(args)
		}
		a.class.Changes.Options = true
	default:
		return false
	}
	return true
}

// assignments takes env's NAME=value off.
func (a *analysis) assignments(name string, rest *[]word) {
	if name != "env" {
		return
	}
	for len(*rest) > 0 && strings.Contains((*rest)[0].text, "=") {
		variable, _, _ := strings.Cut((*rest)[0].text, "=")
		if powerful(variable) || !(*rest)[0].literal && !strings.HasPrefix((*rest)[0].source, variable+"=") {
			a.harmful()
		}
		*rest = (*rest)[1:]
	}
}

// wrapperSpec are the options of a command that runs another, and how many operands come before it.
type wrapperSpec struct {
	short    string // letters, a colon behind those that take a value
	long     []string
	operands int
}

// wrappers is read only.
var wrappers = map[string]wrapperSpec{
	"xargs":   {short: "0rtxa:d:E:I:L:n:P:s:", long: []string{"null", "no-run-if-empty", "verbose", "max-args=", "max-procs=", "max-lines=", "delimiter=", "replace="}},
	"env":     {short: "i0u:C:", long: []string{"ignore-environment", "null", "unset=", "chdir="}},
	"timeout": {short: "k:s:v", long: []string{"kill-after=", "signal=", "verbose", "preserve-status", "foreground"}, operands: 1},
	"nohup":   {},
	"nice":    {short: "n:", long: []string{"adjustment="}},
	"stdbuf":  {short: "i:o:e:", long: []string{"input=", "output=", "error="}},
	"time":    {short: "pv"},
	"command": {short: "p"},
	"builtin": {},
	"ionice":  {short: "c:n:t"},
}

// strip takes options and operands off; ok is false if one is unknown or opaque.
func (s wrapperSpec) strip(args []word) (rest []word, ok bool) {
	for len(args) > 0 {
		w := args[0]
		switch {
		case w.opaque:
			return args, false
		case w.text == "--":
			args = args[1:]
		case strings.HasPrefix(w.text, "-") && len(w.text) > 1:
			n := optionWords(w, s.short, s.long)
			if n == 0 || n > len(args) {
				return nil, false
			}
			args = args[n:]
			continue
		}
		break
	}
	if s.operands > len(args) {
		return nil, len(args) == 0
	}
	return args[s.operands:], true
}

// optionWords says how many words the option w takes with its value; 0 if it is not allowed.
func optionWords(w word, short string, long []string) int {
	if !w.literal {
		return 0
	}
	if name, ok := strings.CutPrefix(w.text, "--"); ok {
		name, _, given := strings.Cut(name, "=")
		for _, l := range long {
			full, takes := strings.CutSuffix(l, "=")
			if name != strings.TrimSuffix(full, "?") {
				continue
			}
			if takes && !given {
				return 2
			}
			return 1
		}
		return 0
	}
	for i := 1; i < len(w.text); i++ {
		at := strings.IndexByte(short, w.text[i])
		if at < 0 || w.text[i] == ':' {
			return 0
		}
		if at+1 < len(short) && short[at+1] == ':' {
			if i+1 == len(w.text) && !strings.HasPrefix(short[at+1:], "::") {
				return 2
			}
			return 1
		}
	}
	return 1
}

// xargsCommand adds what xargs appends: words nobody knows. With -I they replace a text in the words.
func xargsCommand(args, rest []word) []word {
	if len(rest) == 0 {
		return nil // echo
	}
	unknown := word{source: "{}", text: "", opaque: true}
	replaced := ""
	for i, w := range args[:len(args)-len(rest)] {
		if value, ok := strings.CutPrefix(w.text, "-I"); ok {
			replaced = value
			if value == "" && i+1 < len(args) {
				replaced = args[i+1].text
			}
		}
		if strings.HasPrefix(w.text, "--replace") {
			replaced = "{}"
		}
	}
	if replaced == "" {
		return append(rest[:len(rest):len(rest)], unknown)
	}
	return substitute(rest, replaced, true)
}

// substitute marks the words that contain a placeholder as not literal; opaque where the placeholder
// may begin the word with a dash.
func substitute(words []word, placeholder string, dash bool) []word {
	out := make([]word, len(words))
	for i, w := range words {
		if at := strings.Index(w.text, placeholder); at >= 0 {
			w.literal = false
			w.text = w.text[:at]
			w.opaque = w.opaque || at == 0 && dash
		}
		out[i] = w
	}
	return out
}

// shell is sh -c TEXT; a script in a file is not known.
func (a *analysis) shell(args []word) {
	for i, w := range args {
		if !w.literal || w.opaque || !strings.HasPrefix(w.text, "-") || strings.Trim(w.text, "-ceux") != "" {
			break
		}
		if !strings.Contains(w.text, "c") {
			continue
		}
		if i+1 < len(args) && args[i+1].literal && !strings.Contains(args[i+1].text, "{}") {
			a.script(args[i+1].text)
			return
		}
		break
	}
	a.harmful()
}

// script judges a text that will be parsed as a script of its own.
func (a *analysis) script(text string) {
	a.depth++
	defer func() { a.depth-- }()
	file, err := Parse(text)
	if err != nil || a.depth > 20 {
		a.harmful()
		return
	}
	before := a.class.Changes
	a.node(file)
	a.class.Changes = before // what a child shell changes is gone with it
}

// evalText shows what a literal eval would run; it stays harmful.
func (a *analysis) evalText(args []word) {
	var text []string
	for _, w := range args {
		if !w.literal {
			return
		}
		text = append(text, w.text)
	}
	a.script(strings.Join(text, " "))
	a.class.Changes.Options = true
}

func (a *analysis) trap(args []word) {
	a.class.Changes.Options = true
	if len(args) == 0 {
		return
	}
	if !args[0].literal || args[0].opaque {
		a.harmful()
		return
	}
	if len(args) > 1 && args[0].text != "-" && args[0].text != "" {
		a.script(args[0].text)
	}
}

// shellState judges builtins that change the shell itself. It reports whether name is one.
func (a *analysis) shellState(name string, args []word) bool {
	changes := &a.class.Changes
	switch name {
	case "cd", "pushd", "popd":
		changes.Dir = true
	case "source", ".":
		changes.Options = true
		a.harmful()
	case "alias", "unalias", "enable", "bind":
		changes.Options = true
		a.harmful()
	case "set", "shopt", "umask", "ulimit":
		changes.Options = true
	case "unset", "read", "mapfile", "readarray", "getopts":
		a.variables(name, args)
	case "printf":
		if len(args) > 0 && (args[0].opaque || strings.HasPrefix(args[0].text, "-")) {
			a.variables(name, args)
		}
	default:
		return false
	}
	return true
}

// variables judges builtins that write variables. A name with a subscript evaluates it.
func (a *analysis) variables(name string, args []word) {
	valued := map[string]string{"read": "adnNpt", "mapfile": "dnOscC", "readarray": "dnOscC", "printf": ""}[name]
	for i := 0; i < len(args); i++ {
		w := args[i]
		if w.opaque || !w.literal {
			a.harmful()
			return
		}
		if strings.HasPrefix(w.text, "-") {
			if strings.ContainsAny(w.text, "Cu") && name != "unset" {
				a.harmful()
			}
			if last := w.text[len(w.text)-1:]; strings.Contains(valued, last) && last != "a" {
				i++
			}
			continue
		}
		a.written(w.text)
		if name == "printf" {
			return
		}
	}
}

func (a *analysis) written(name string) {
	if !syntax.ValidName(name) || powerful(name) {
		a.harmful()
	}
	a.tainted[name] = true
	a.class.Changes.Vars = append(a.class.Changes.Vars, name)
}
