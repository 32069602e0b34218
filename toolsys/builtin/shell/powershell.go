package shell

import (
	"cmp"
	"context"
	_ "embed" // the prompt beside this file
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf16"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

//go:embed powershell.md
var powershellPrompt string

// notFound is the exit code of a shell for a program that it does not find.
const notFound = 127

// PowerShell runs a PowerShell script where the machine has pwsh (SPEC L). It only reads
// where that is proved (see readPowerShell); all else is exclusive and asked about. Every
// call begins in the conversation's directory and changes nothing of its state.
func PowerShell(deps Deps) *tool.Tool {
	run := deps.Run
	deps.Run = func(ctx context.Context, r Request) (Exit, error) {
		dir, env := r.Dir, r.Env
		raw, _ := binary.Append(nil, binary.LittleEndian, utf16.Encode([]rune(r.Script))) // no shell in between reads anything into it
		r.Script = "pwsh -NoLogo -NoProfile -NonInteractive -EncodedCommand " + base64.StdEncoding.EncodeToString(raw)
		exit, err := run(ctx, r)
		exit.Dir, exit.Env = dir, env
		return exit, err
	}
	d := powershell{bash{Deps: deps, memo: new(atomic.Pointer[shellcmd.Script])}}
	def := commandTool(deps, "powershell")
	def.Name, def.Hint = "PowerShell", "run powershell commands and cmdlets"
	def.Description = "Runs a PowerShell script and gives back what it printed."
	def.Prompt = tool.Prompt(powershellPrompt)
	def.Loading = tool.Loading{Deferrable: true}
	def.Call, def.Permit, def.Subject = d.call, d.permit, d.subject
	def.Traits = tool.Traits[BashIn]{
		Safe:                 func(in BashIn) bool { return !in.RunInBackground && powershellReads(in.Command) },
		ReadOnly:             func(in BashIn) bool { return powershellReads(in.Command) },
		Destructive:          func(in BashIn) bool { return !powershellReads(in.Command) },
		OpenWorld:            func(in BashIn) bool { return !powershellReads(in.Command) },
		Class:                func(in BashIn) tool.Class { return tool.Class{Read: powershellReads(in.Command)} },
		Interrupt:            tool.Cancel,
		FailureStopsSiblings: true,
	}
	return tool.Must(def)
}

func powershellReads(script string) bool {
	commands, ok := readPowerShell(script)
	return ok && !slices.ContainsFunc(commands, func(c pwshCommand) bool { return !c.reads() })
}

// powershell runs its scripts as Bash does.
type powershell struct{ bash }

func (d powershell) permit(in BashIn, c *tool.Context) permission.Opinion {
	return d.unconfined(in, c, func() bool { return powershellReads(in.Command) })
}

func (d powershell) call(ctx context.Context, in BashIn, c *tool.Context) (tool.Result[BashOut], error) {
	if problem := d.sandboxed(in, c); problem != "" {
		return tool.Result[BashOut]{}, confined(problem)
	}
	if in.RunInBackground {
		return d.start(in, c)
	}
	out, exit, err := d.execute(ctx, in, c)
	res := tool.Result[BashOut]{Data: out, Failed: out.Interrupted || exit.Code != 0}
	if err == nil && exit.Code == notFound {
		res.Data.Notes = append(res.Data.Notes, "there may be no PowerShell on this machine: it is looked for as pwsh; use Bash instead")
	}
	return res, err
}

// subject describes the script in the terms of rules: its commands and the files that
// those touch of which it is proved that they only read.
func (d powershell) subject(in BashIn, c *tool.Context) tool.Subject {
	commands, known := readPowerShell(in.Command)
	shell := &permission.Shell{Command: in.Command, Known: known, Folds: true}
	if !known {
		return tool.Subject{Shell: shell}
	}
	reads := powershellReads(in.Command)
	for _, cmd := range commands {
		p := permission.Part{Text: cmd.text, Readings: cmd.readings(), ReadOnly: cmd.reads(), Opaque: cmd.opaque(), FilesUnknown: !reads}
		for _, st := range cmd.steps() {
			p.Commands = append(p.Commands, commandsOf(&st)...)
		}
		if reads && cmd.cmdlet == "" {
			for _, st := range d.scriptIn(BashIn{Command: cmd.quoted()}, c).Steps {
				run := d.part(&st, c, false, false)
				p.ReadOnly, p.Foreign, p.FilesUnknown = p.ReadOnly && run.ReadOnly, run.Foreign, p.FilesUnknown || run.FilesUnknown
				p.Files = append(p.Files, run.Files...)
			}
		}
		if slices.Contains(pwsh.Readers, cmd.cmdlet) {
			for _, f := range cmd.files(c.State.Dir) {
				spelled := ""
				if f.Path != path.Clean(f.Path) && !permission.IsUNC(f.Path) {
					f.Path, spelled = path.Clean(f.Path), f.Path
				}
				found, ok := d.files(f, spelled, c)
				p.Files = append(p.Files, found...)
				p.FilesUnknown = p.FilesUnknown || !ok || strings.HasPrefix(f.Path, "/proc/") // of the process that PowerShell is
			}
		}
		shell.Parts = append(shell.Parts, p)
	}
	return tool.Subject{Shell: shell}
}

// files are those that the words of a reader may name, as they are spelled; without any, it
// lists the folder that it is in.
func (c pwshCommand) files(dir string) (all []permission.File) {
	tree := slices.ContainsFunc(c.words, func(w string) bool { return strings.EqualFold(w, "-recurse") || strings.EqualFold(w, "-depth") })
	operands := c.operands()
	for _, w := range c.words { // in quotes a comma is part of a name
		if strings.Contains(w, ",") {
			operands = append(operands, w)
		}
	}
	if len(operands) == 0 {
		operands = []string{"."}
	}
	for _, o := range operands {
		name := strings.ReplaceAll(o, `\`, "/")
		if !path.IsAbs(name) {
			name = dir + "/" + name
		}
		if !slices.Contains(strings.Split(name, "/"), "..") && !permission.IsUNC(name) {
			name = path.Clean(name)
		}
		all = append(all, permission.File{Path: name, Glob: strings.ContainsAny(name, "*?[") || tree, Tree: tree})
	}
	return all
}

// pwshCommand is one command of a PowerShell script: its name as it stands there, the
// cmdlet that it is if it is a known one, its words without quotes, and whether its input
// comes from the command before it.
type pwshCommand struct {
	name, cmdlet string
	words        []string
	text         string
	piped, lines bool // lines reports whether what comes to it are lines of text
}

// readPowerShell takes a script apart that is nothing but commands with literal words,
// joined by |, ; and ends of lines; ok is false for any other. A variable, a block, an
// expression, a redirection but of errors to nowhere, an operator, an escape (also one of a pattern), a comment or a sign beyond ASCII (of
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
	pwshWord  = regexp.MustCompile(`^(?:([A-Za-z0-9_./\\:*?=+,~-]+)|'((?:[^'\x60\x00-\x08\x0b-\x1f\x7f-\x{10ffff}]|'')*)'|"([^"$\x60\x00-\x08\x0b-\x1f\x7f-\x{10ffff}]*)")`)
	pwshQuiet = regexp.MustCompile(`^2> ?\$null\b`)
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
		if quiet := pwshQuiet.FindString(s.rest); quiet != "" && blank != "" && len(words) > 0 {
			s.rest = s.rest[len(quiet):]
			continue
		}
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
	if n := len(s.commands); piped && n > 0 {
		before := s.commands[n-1]
		c.lines = before.cmdlet == "Get-Content" || before.lines && slices.Contains(pwsh.Filters, before.cmdlet)
	}
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
	// are written about. Programs read as they do for Bash, and are no cmdlets on any system. Aliases are other
	// names of cmdlets, on one system or another; those of Everywhere on all, or where they are not, a program
	// of the name reads the same files.
	Parameters, Switches, Programs, Everywhere []string
	Aliases                                    map[string][]string
}) {
	if err := json.Unmarshal(pwshJSON, &tables); err != nil {
		panic(err) // the file is part of the program, which shows at start
	}
	return tables
}()

// reads reports whether it is proved that the command only reads. Most aliases are not: where
// the system has a program of that name, that runs. What takes files from its input is not
// either, since their names are not known.
func (c pwshCommand) reads() bool {
	if slices.Contains(pwsh.Programs, c.name) {
		return !c.piped && !slices.ContainsFunc(c.words, func(w string) bool { return !pwshPasses.MatchString(w) }) &&
			!slices.ContainsFunc(c.steps(), func(st shellcmd.Step) bool { return !st.ReadOnly })
	}
	filters := slices.Contains(pwsh.Filters, c.cmdlet) || c.lines && c.cmdlet == "Select-String"
	named := strings.EqualFold(c.name, c.cmdlet) || slices.Contains(pwsh.Everywhere, strings.ToLower(c.name))
	if !named || c.piped != filters || !c.piped && !slices.Contains(pwsh.Readers, c.cmdlet) {
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

// pwshPasses matches words that every PowerShell passes on to a program as they are, and as one.
var pwshPasses = regexp.MustCompile(`^(?:--?[A-Za-z0-9][A-Za-z0-9_/=-]*|[A-Za-z0-9_./][A-Za-z0-9_./=~-]*)$`)

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
	if cmdlet := cmp.Or(c.cmdlet, cmdletOf("get-"+c.name)); cmdlet != "" { // Get- may be left out
		names = append(append(names, cmdlet), pwsh.Aliases[cmdlet]...)
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
	return shellcmd.Read(c.quoted(), shellcmd.Env{}).Steps
}

// quoted is the command as Bash is given it.
func (c pwshCommand) quoted() string {
	words := append([]string{strings.TrimSuffix(strings.ToLower(c.name), ".exe")}, c.words...)
	return strings.Join(tool.Each(words, func(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" }), " ")
}

// opaque is why it is not known what the command runs, or on what; empty where it is.
func (c pwshCommand) opaque() string {
	switch {
	case slices.Contains(pwsh.Runners, c.cmdlet):
		return c.cmdlet + " runs what it is given"
	case c.piped && slices.Contains(pwsh.Changers, c.cmdlet):
		return "what " + c.cmdlet + " works on comes to it from another command"
	case slices.Contains(pwsh.Changers, c.cmdlet) && slices.ContainsFunc(c.words, pwshNames.MatchString):
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

// pwshScripts are names of shells, of files with commands, and of statements behind which a command may stand.
var pwshScripts = regexp.MustCompile(`(?i)^(pwsh|powershell|return|throw|exit|cmd|wscript|cscript|mshta|wsl|rundll32|regsvr32|msiexec|schtasks|wmic|forfiles|pcalua|cmstp|odbcconf|installutil|winrs|runas|psexec|conhost|explorer|hh|using)(\.exe)?$|\.(ps1|psm1|bat|cmd|vbs|js|wsf|hta)$`)

// pwshNames finds the drive of aliases or that of functions in a word.
var pwshNames = regexp.MustCompile(`(?i)(alias|function):`)
