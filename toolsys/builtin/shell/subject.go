package shell

import (
	"slices"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/vshell"
)

// subject says what the command is in the terms of rules: its parts (F4) and the
// files that its reading parts name, so that reading within the roots runs and
// reading elsewhere is asked about (F2).
func (d Deps) subject(in BashIn, c *tool.Context) tool.Subject {
	class := vshell.Classify(in.Command)
	touched := d.touched(in.Command, class, c)
	return tool.Subject{
		Shell:        parts(in.Command, class),
		Paths:        touched.paths,
		PathsUnknown: touched.unknown,
	}
}

// parts lists the simple commands, and what the parser's list does not show:
// redirections that write and assignments, so that a rule for a command permits
// neither with it.
func parts(command string, class vshell.Class) *permission.Shell {
	shell := &permission.Shell{Command: command, Known: class.Parsed}
	if !class.Parsed {
		return shell
	}
	for _, p := range class.Parts {
		shell.Parts = append(shell.Parts, permission.Part{Text: p.Text, ReadOnly: vshell.Classify(p.Text).ReadOnly})
	}
	for _, text := range look(command).sides {
		shell.Parts = append(shell.Parts, permission.Part{Text: text})
	}
	return shell
}

// effects are known of a command that only reads, and whose files are known (J8).
func (d Deps) effects(in BashIn, c *tool.Context) tool.Effects {
	class := vshell.Classify(in.Command)
	touched := d.touched(in.Command, class, c)
	if !class.Safe || in.RunInBackground || touched.unknown || class.Sleeps > 0 {
		return tool.Effects{Everything: true}
	}
	var reads []string
	for _, p := range append([]string{c.State.Dir}, touched.paths...) {
		reads = append(reads, p, p+"/**")
	}
	slices.Sort(reads)
	return tool.Effects{Reads: slices.Compact(reads)}
}
