package shell

import (
	_ "embed" // the tables beside this file
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"toolbench/toolsys/shellcmd"
)

// pwshCommand is one command of a PowerShell script: its name as it stands there, the
// cmdlet that it is if it is a known one, its words without quotes, and whether its input
// comes from the command before it.
type pwshCommand struct {
	name, cmdlet string
	words        []string
	text         string
	piped        bool
}

// readPowerShell takes a script apart that is nothing but commands with literal words,
// joined by |, ; and ends of lines; ok is false for any other. A variable, a block, an
// expression, a redirection, an operator, an escape, a comment or a sign beyond ASCII (of
// which PowerShell takes some for quotes and dashes) makes a script another: what it does
// is not proved here.
func readPowerShell(source string) (commands []pwshCommand, ok bool) {
	s := &pwshScan{rest: source}
	for s.command() {
	}
	return s.commands, s.rest == "" && !s.bad && len(s.commands) > 0
}

// pwshScan reads a script from its beginning.
type pwshScan struct {
	rest     string
	commands []pwshCommand
	piped    bool // a | stands before the next command
	bad      bool
}

// Bare words, and words in quotes of either kind in which nothing is replaced. A word in
// quotes ends with them.
var (
	pwshBlank = regexp.MustCompile(`^[ \t]+`)
	pwshWord  = regexp.MustCompile(`^(?:([A-Za-z0-9_./\\:*?=+,~-]+)|'((?:[^'\x00-\x08\x0b-\x1f\x7f-\x{10ffff}]|'')*)'|"([^"$\x60\x00-\x08\x0b-\x1f\x7f-\x{10ffff}]*)")`)
	pwshEnd   = regexp.MustCompile(`^(?:[|;\n]|\r\n|$)`)
	pwshName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// command reads one, and reports whether there may be another.
func (s *pwshScan) command() bool {
	began := s.rest
	var words []string
	for {
		blank := pwshBlank.FindString(s.rest)
		s.rest = s.rest[len(blank):]
		if end := pwshEnd.FindString(s.rest); end != "" || s.rest == "" {
			s.add(words, strings.TrimSpace(began[:len(began)-len(s.rest)]), end)
			s.rest = s.rest[len(end):]
			return end != "" && !s.bad
		}
		m := pwshWord.FindStringSubmatch(s.rest)
		if m == nil || len(words) > 0 && blank == "" || len(words) == 0 && m[1] == "" {
			s.bad = true
			return false
		}
		word := m[1] + strings.ReplaceAll(m[2], "''", "'") + m[3]
		if m[1] == "" && strings.HasPrefix(word, "-") { // in quotes it is no parameter
			s.bad = true
			return false
		}
		words = append(words, word)
		s.rest = s.rest[len(m[0]):]
	}
}

// add takes a command in. An empty one is harmless but beside a |.
func (s *pwshScan) add(words []string, text, end string) {
	piped := s.piped
	s.piped = end == "|"
	if len(words) == 0 {
		s.bad = s.bad || piped || s.piped
		return
	}
	if !pwshName.MatchString(words[0]) {
		s.bad = true
		return
	}
	c := pwshCommand{name: words[0], words: words[1:], text: text, piped: piped}
	c.cmdlet = cmdletOf(c.name)
	s.commands = append(s.commands, c)
}

// cmdletOf is the cmdlet that a name or an alias is of; empty where none is known.
func cmdletOf(name string) string {
	name = strings.ToLower(name)
	for _, cmdlet := range slices.Concat(pwsh.Readers, pwsh.Filters, pwsh.Changers, pwsh.Runners) {
		if name == strings.ToLower(cmdlet) || slices.Contains(pwsh.Aliases[cmdlet], name) {
			return cmdlet
		}
	}
	return ""
}

//go:embed powershell.json
var pwshJSON []byte

// pwsh are cmdlets by what they do. The full names of readers and filters are proved to only read, given
// literal words: the readers what is on disk or of the machine, the filters what comes to them. Changers and
// runners are known so that rules bind them however they are written; runners run what they are given.
var pwsh = func() (tables struct {
	Readers, Filters, Changers, Runners []string
	// Parameters are those with which readers and filters still only read, in full; PowerShell takes them in
	// any case, and shorter ones that are not looked for here. Switches are those without a value that rules
	// are written about. Aliases are other names of cmdlets, on one system or another.
	Parameters, Switches []string
	Aliases              map[string][]string
}) {
	if err := json.Unmarshal(pwshJSON, &tables); err != nil {
		panic(err) // the file is part of the program, which shows at start
	}
	return tables
}()

// reads reports whether it is proved that the command only reads. Aliases are not: where
// the system has a program of that name, that runs. What takes files from its input is not
// either, since their names are not known.
func (c pwshCommand) reads() bool {
	if !strings.EqualFold(c.name, c.cmdlet) || c.piped != slices.Contains(pwsh.Filters, c.cmdlet) {
		return false
	}
	if !c.piped && !slices.Contains(pwsh.Readers, c.cmdlet) {
		return false
	}
	for _, w := range c.words {
		if strings.HasPrefix(w, "-") && !slices.Contains(pwsh.Parameters, strings.ToLower(w)) {
			return false
		}
		// A colon stands behind a drive, a provider or a parameter's name, ~ for a home.
		if strings.ContainsAny(w, ":~") {
			return false
		}
	}
	return true
}

// operands are the words that are no parameters, one by one.
func (c pwshCommand) operands() (all []string) {
	for _, w := range c.words {
		if !strings.HasPrefix(w, "-") {
			all = append(all, strings.FieldsFunc(w, func(r rune) bool { return r == ',' })...)
		}
	}
	return all
}

// readings are the command in the words that a forbidding rule may have for it, and those of what a
// program that is no cmdlet would run.
func (c pwshCommand) readings() (all []string) {
	names := []string{c.name}
	if c.cmdlet != "" {
		names = append(append(names, c.cmdlet), pwsh.Aliases[c.cmdlet]...)
	}
	for _, name := range names {
		for _, words := range append(c.parametersFirst(), c.words, c.operands()) {
			all = append(all, strings.Join(append([]string{name}, words...), " "))
		}
	}
	for _, st := range c.steps() {
		for _, text := range append(st.Readings, st.Text) {
			name, rest, _ := strings.Cut(text, " ")
			all = append(all, text)
			if run := (pwshCommand{name: name, cmdlet: cmdletOf(name)}); run.cmdlet != "" {
				run.words = strings.Fields(rest)
				all = append(all, run.readings()...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parametersFirst are the words with the parameters in front, each of them once as the first, in full where
// one that is known begins like it.
func (c pwshCommand) parametersFirst() (all [][]string) {
	var params []string
	for _, w := range c.words {
		name, _, _ := strings.Cut(strings.ToLower(w), ":")
		if at := slices.IndexFunc(pwsh.Switches, func(p string) bool { return strings.HasPrefix(p, name) }); at >= 0 && strings.HasPrefix(name, "-") {
			name = pwsh.Switches[at]
		}
		if strings.HasPrefix(name, "-") {
			params = append(params, name)
		}
	}
	slices.Sort(params)
	for i := range params {
		all = append(all, slices.Concat(params[i:i+1], params[:i], params[i+1:], c.operands()))
	}
	return all
}

// steps are what a program that is no cmdlet does by its words, as Bash reads them.
func (c pwshCommand) steps() []shellcmd.Step {
	if c.cmdlet != "" {
		return nil
	}
	quoted := make([]string, 0, len(c.words)+1)
	for _, w := range append([]string{strings.TrimSuffix(strings.ToLower(c.name), ".exe")}, c.words...) {
		quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return shellcmd.Read(strings.Join(quoted, " "), shellcmd.Env{}).Steps
}

// opaque is why it is not known what the command runs, or on what; empty where it is.
func (c pwshCommand) opaque() string {
	switch {
	case slices.Contains(pwsh.Runners, c.cmdlet):
		return c.cmdlet + " runs what it is given"
	case c.piped && slices.Contains(pwsh.Changers, c.cmdlet):
		return "what " + c.cmdlet + " works on comes to it from another command"
	case slices.Contains(pwsh.Changers, c.cmdlet) && slices.ContainsFunc(c.words, renames):
		return c.cmdlet + " may give a command another name"
	case c.cmdlet == "" && (strings.ContainsRune(c.name, '-') || strings.ToLower(c.name) != c.name):
		return "no command of that name is known, and PowerShell takes names in any case"
	case c.cmdlet == "" && pwshScripts.MatchString(c.name):
		return c.name + " runs commands that are not read here"
	}
	for _, st := range c.steps() {
		if st.Opaque != "" {
			return st.Opaque
		}
	}
	return ""
}

// pwshScripts are names of shells and of files with commands.
var pwshScripts = regexp.MustCompile(`(?i)^(pwsh|powershell|cmd|wscript|cscript|mshta|wsl|rundll32)(\.exe)?$|\.(ps1|psm1|bat|cmd|vbs|js|wsf|hta)$`)

// renames reports whether a word names the drive of aliases or that of functions.
func renames(w string) bool {
	w = strings.ToLower(w)
	return strings.Contains(w, "alias:") || strings.Contains(w, "function:")
}
