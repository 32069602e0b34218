package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// FailureExit reports whether an exit code means that the script failed (J3). Commands that answer a
// question with their code - grep without a match, diff with a difference, test being false - have not
// failed. The command that gave the script its code decides: the last one, or the one before && if the
// last one cannot fail. A script that does not parse, or a command that is not known, fails with any
// code but 0.
func FailureExit(script string, code int) bool {
	if code == 0 {
		return false
	}
	file, err := Parse(script)
	return err != nil || len(file.Stmts) == 0 || !answers(file.Stmts[len(file.Stmts)-1], code)
}

// answers reports whether code is an answer of the command that gave st its code.
func answers(st *syntax.Stmt, code int) bool {
	if st.Negated {
		return code == 1 // the command did what was not wanted: a test
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && commandAnswers(wordsOf(cmd), code)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt && cannotFail(cmd.Y) {
			return answers(cmd.X, code)
		}
		return answers(cmd.Y, code)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		return code == 1
	}
	return bodyAnswers(st.Cmd, code)
}

// bodyAnswers looks at what may come last in a compound command.
func bodyAnswers(cmd syntax.Command, code int) bool {
	lists := bodies(cmd)
	switch cmd.(type) {
	case *syntax.IfClause, *syntax.WhileClause:
		lists = lists[1:]
	case *syntax.Block, *syntax.Subshell, *syntax.ForClause, *syntax.TimeClause, *syntax.CaseClause:
	default:
		return false
	}
	return slices.ContainsFunc(lists, func(list []*syntax.Stmt) bool { return len(list) > 0 && answers(list[len(list)-1], code) })
}

func cannotFail(st *syntax.Stmt) bool {
	c, ok := st.Cmd.(*syntax.CallExpr)
	return ok && len(st.Redirs) == 0 && (len(c.Args) == 0 || slices.Contains([]string{"echo", "printf", "true", ":", "pwd"}, c.Args[0].Lit()))
}

func commandAnswers(words []Word, code int) bool {
	name := baseName(words[0].Text)
	if words[0].Kind != Literal {
		return false
	}
	args := words[1:]
	switch name {
	case "xargs":
		rest := unwrap(words)
		return code == 123 && len(rest) < len(words) && commandAnswers(rest, 1)
	case "command":
		if len(args) > 0 && (args[0].Text == "-v" || args[0].Text == "-V") {
			return code == 1
		}
	case "sh", "bash":
		for i, w := range args {
			if strings.HasPrefix(w.Text, "-") && strings.HasSuffix(w.Text, "c") && i+1 < len(args) && args[i+1].Kind == Literal {
				return !FailureExit(args[i+1].Text, code)
			}
		}
		return false
	case "git":
		name, rest := subcommandOf(args)
		options, asks := tables.GitQuestions[name]
		return code == 1 && asks && (len(options) == 0 || slices.ContainsFunc(rest, func(w Word) bool { return slices.Contains(options, w.Text) }))
	case "jq", "gojq":
		return (code == 1 || code == 4) && slices.ContainsFunc(args, func(w Word) bool { return w.Text == "-e" || w.Text == "--exit-status" })
	}
	if inner := unwrap(words); len(inner) < len(words) {
		return commandAnswers(inner, code)
	}
	return code == 1 && tables.Questions[name]
}

// subcommandOf finds git's subcommand behind its own options.
func subcommandOf(args []Word) (name string, rest []Word) {
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--attr-source", "--config-env"}, args[0].Text) {
			args = args[min(1, len(args)-1):]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return "", nil
	}
	return args[0].Text, args[1:]
}
