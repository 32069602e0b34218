package shell

import (
	"context"
	_ "embed" // the prompt beside this file
	"encoding/base64"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"toolbench/toolsys/permission"
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
		r.Script = "pwsh -NoLogo -NoProfile -NonInteractive -EncodedCommand " + encoded(r.Script)
		exit, err := run(ctx, r)
		exit.Dir, exit.Env = dir, env
		return exit, err
	}
	d := powershell{bash{Deps: deps, memo: &memo{}}}
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

// encoded is a script as PowerShell takes it from a command line, so that no shell in
// between reads anything into it.
func encoded(script string) string {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(script)) {
		raw = append(raw, byte(unit), byte(unit>>8))
	}
	return base64.StdEncoding.EncodeToString(raw)
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
		if slices.Contains(pwsh.Readers, cmd.cmdlet) {
			for _, f := range cmd.files(c.State.Dir) {
				spelled := ""
				if f.Path != path.Clean(f.Path) && !permission.IsUNC(f.Path) {
					f.Path, spelled = path.Clean(f.Path), f.Path
				}
				found, ok := d.files(f, spelled, c)
				p.Files = append(p.Files, found...)
				p.FilesUnknown = p.FilesUnknown || !ok
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
