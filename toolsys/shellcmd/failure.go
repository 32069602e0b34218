package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// FailureExit says whether an exit code means that the script failed (J3). Commands that answer a
// question with their code - grep without a match, diff with a difference, test being false - have not
// failed. The command that gave the script its code decides: the last one, or the one before && if the
// last one cannot fail. A script that does not parse, or a command that is not known, fails with any
// code but 0.
func FailureExit(script string, code int) bool {
	if code == 0 {
		return false
	}
	file, err := Parse(script)
	if err != nil || len(file.Stmts) == 0 {
		return true
	}
	return !answers(file.Stmts[len(file.Stmts)-1], code)
}

// answers says whether code is an answer of the command that gave st its code.
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
	for _, list := range lists {
		if len(list) > 0 && answers(list[len(list)-1], code) {
			return true
		}
	}
	return false
}

func cannotFail(st *syntax.Stmt) bool {
	c, ok := st.Cmd.(*syntax.CallExpr)
	return ok && len(st.Redirs) == 0 && (len(c.Args) == 0 || slices.Contains([]string{"echo", "printf", "true", ":", "pwd"}, c.Args[0].Lit()))
}

// questions are the commands whose exit code 1 is an answer. Read only.
var questions = []string{"[", "ack", "ag", "cmp", "diff", "egrep", "expr", "false", "fgrep", "find", "grep", "locate", "pgrep", "rg", "test", "type", "whereis", "which", "zgrep"}

func commandAnswers(words []word, code int) bool {
	name := baseCommand(words[0].text)
	if !words[0].literal {
		return false
	}
	args := words[1:]
	switch name {
	case "xargs":
		rest, _ := wrappers[name].strip(args)
		return code == 123 && len(rest) > 0 && commandAnswers(rest, 1)
	case "command":
		if len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
			return code == 1
		}
	case "sh", "bash":
		for i, w := range args {
			if strings.HasPrefix(w.text, "-") && strings.HasSuffix(w.text, "c") && i+1 < len(args) && args[i+1].literal {
				return !FailureExit(args[i+1].text, code)
			}
		}
		return false
	case "git":
		return code == 1 && gitAnswers(args)
	case "jq", "gojq":
		return (code == 1 || code == 4) && slices.ContainsFunc(args, func(w word) bool { return w.text == "-e" || w.text == "--exit-status" })
	}
	if inner := unwrap(words); len(inner) < len(words) {
		return commandAnswers(inner, code)
	}
	return code == 1 && slices.Contains(questions, name)
}

// gitAnswers: grep, and the subcommands that are asked to tell a difference.
func gitAnswers(args []word) bool {
	name, rest, _ := subcommand(args)
	has := func(option string) bool {
		return slices.ContainsFunc(rest, func(w word) bool { return w.text == option })
	}
	switch name {
	case "grep", "check-ignore":
		return true
	case "diff", "diff-index", "diff-files", "diff-tree":
		return has("--exit-code") || has("--quiet") || has("--no-index")
	case "merge-base":
		return has("--is-ancestor")
	case "show-ref":
		return has("--verify") || has("--exists")
	}
	return false
}
