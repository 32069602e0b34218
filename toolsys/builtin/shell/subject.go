package shell

import (
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// subject says what the command is in the terms of rules: its parts (F4) and the
// files that its reading parts name, so that reading within the roots runs and
// reading elsewhere is asked about (F2).
func (d bash) subject(in BashIn, c *tool.Context) tool.Subject {
	s := d.study(in)
	touched := d.touched(s, c)
	return tool.Subject{Shell: s.parts(), Paths: touched.paths, PathsUnknown: touched.unknown}
}

// parts lists the simple commands, and beside them redirections that write and
// commands with assignments in front, none of which counts as reading: a rule for
// a command permits neither with it.
func (s *study) parts() *permission.Shell {
	shell := &permission.Shell{Command: s.command, Known: s.class.Parsed}
	for i, p := range s.class.Parts {
		shell.Parts = append(shell.Parts, permission.Part{Text: p.Text, ReadOnly: s.reads[i]})
	}
	for _, w := range s.class.Writes {
		shell.Parts = append(shell.Parts, permission.Part{Text: w.Op + " " + w.Target})
	}
	for _, text := range s.sight.assigned {
		shell.Parts = append(shell.Parts, permission.Part{Text: text})
	}
	return shell
}
