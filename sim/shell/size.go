package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// ErrTooLarge is Run's error for a script that was stopped since a value would have passed MaxOutput.
var ErrTooLarge = errors.New("stopped: the script puts too much into a variable or a command's words")

// manyExpansions is with how many expansions a command's words are measured before they are made.
const manyExpansions = 8

// replacedTimes is how often over its bound a value may be that is made by replacing: how often the
// pattern matches shows only then.
const replacedTimes = 64

// measured makes an assignment of other variables' values, or a command of many, open a mark that measures them:
// the interpreter would make the value first, whatever its length.
func measured(st *syntax.Stmt) {
	var names []string
	var assigns []*syntax.Assign
	few := 0
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		assigns = cmd.Assigns
		for _, x := range cmd.Args {
			names = append(names, expanded(x)...)
		}
		if len(cmd.Args) > 0 {
			few = manyExpansions
		}
	case *syntax.DeclClause:
		assigns = cmd.Args
	default:
		return
	}
	for _, as := range assigns {
		if as.Append && as.Name != nil {
			names = append(names, as.Name.Value)
		}
		if as.Value != nil {
			names = append(names, expanded(as.Value)...)
		}
		if as.Array != nil {
			names = append(names, expanded(as.Array)...)
		}
	}
	if len(names) > few || slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "*") }) {
		st.Redirs = append([]*syntax.Redirect{doorway("2", fmt.Sprintf("size:%d:%s", st.Pos().Line(), strings.Join(names, ",")))}, st.Redirs...)
	}
}

// expanded are the variables of which a part of a script takes the values. Those that replace every match by another
// value are written x*y.
func expanded(n syntax.Node) (names []string) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			return false // bounded by itself
		case *syntax.ParamExp:
			if n.Param == nil || n.Length {
				return true
			}
			name := n.Param.Value
			if n.Repl != nil && n.Repl.All && n.Repl.With != nil {
				names = append(names, each(expanded(n.Repl.With), func(with string) string { return name + "*" + with })...)
			}
			names = append(names, name)
		}
		return true
	})
	return names
}

// measure stops the script where the values that an operand names are too long together.
func (r *run) measure(hc interp.HandlerContext, line, operand string) error {
	limit := r.shell.MaxOutput
	total := int64(0)
	for name := range strings.SplitSeq(operand, ",") {
		from, with, replaces := strings.Cut(name, "*")
		size := sizeOf(hc.Env.Get(from))
		if replaces {
			if with, _, _ = strings.Cut(with, "*"); size > 0 && sizeOf(hc.Env.Get(with)) > replacedTimes*limit/size {
				return r.tooLarge(line)
			}
			continue
		}
		total += size
	}
	if total > limit {
		return r.tooLarge(line)
	}
	return nil
}

// tooLarge notes why the script ends.
func (r *run) tooLarge(line string) error {
	r.use.stopped = fmt.Errorf("line %s: %w: more than %d bytes", line, ErrTooLarge, r.shell.MaxOutput)
	return r.use.stopped
}

// wordsTimes is how often over the bound of a value all words of a command may be.
const wordsTimes = 4

func wordsSize(args []string) (n int64) {
	for _, s := range args {
		n += int64(len(s)) + 1
	}
	return n
}

// sizeOf is the length of a variable's value, of all elements together.
func sizeOf(v expand.Variable) (n int64) {
	n = int64(len(v.Str)) + wordsSize(v.List)
	for key, s := range v.Map {
		n += int64(len(key) + len(s))
	}
	return n
}
