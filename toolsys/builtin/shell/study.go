package shell

import (
	"sync/atomic"

	"toolbench/toolsys/shellcmd"
)

// study is what is known of one command without running it.
type study struct {
	command string
	class   shellcmd.Class
	sight   sight
	// reads tells of each of the class's parts whether it only reads.
	reads []bool
}

func newStudy(command string) *study {
	s := &study{command: command, class: shellcmd.Classify(command)}
	if !s.class.Parsed {
		return s
	}
	s.sight = look(command)
	for _, p := range s.class.Parts {
		s.reads = append(s.reads, s.class.ReadOnly || shellcmd.Classify(p.Text).ReadOnly)
	}
	return s
}

// memo keeps the last command's study: a call is asked half a dozen things about
// the same command, one after the other, and parsing it is what they cost.
type memo struct{ last atomic.Pointer[study] }

func (d bash) study(in BashIn) *study {
	if s := d.memo.last.Load(); s != nil && s.command == in.Command {
		return s
	}
	s := newStudy(in.Command)
	d.memo.last.Store(s)
	return s
}
