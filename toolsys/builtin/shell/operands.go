package shell

import (
	"slices"
	"strings"

	"toolbench/toolsys/shellcmd"
)

// readsNothing are commands whose arguments are words, never files.
var readsNothing = map[string]bool{
	":": true, "arch": true, "basename": true, "dirname": true, "echo": true, "expr": true, "false": true,
	"hostname": true, "id": true, "nproc": true, "printf": true, "pwd": true, "seq": true, "sleep": true,
	"tr": true, "true": true, "type": true, "uname": true, "which": true, "whoami": true,
}

// runsOthers are commands that read what another command, a script or their input
// tells them to.
var runsOthers = map[string]bool{
	".": true, "bash": true, "dash": true, "env": true, "eval": true, "parallel": true, "sh": true, "source": true,
	"xargs": true, "zsh": true,
}

// follows are the options by which a command that walks a tree goes through links.
var follows = map[string][]string{
	"diff": {"r", "--recursive"},
	"du":   {"L", "D", "H", "--dereference", "--dereference-args"},
	"find": {"-L", "-H", "-follow", "-exec", "-execdir", "-ok", "-okdir", "-files0-from"},
	"grep": {"R", "--dereference-recursive"},
	"ls":   {"L", "--dereference"},
	"rg":   {"L", "--follow"},
	"tree": {"l"},
}

// readsMore tells whether a part may read files that its arguments do not name.
func readsMore(p shellcmd.Part) bool {
	if runsOthers[p.Name] {
		return true
	}
	for _, option := range follows[p.Name] {
		for _, arg := range p.Args {
			if arg == option || (len(option) == 1 && isCluster(arg) && strings.Contains(arg, option)) {
				return true
			}
		}
	}
	return programReads(p)
}

// isCluster knows short options: -rn, not --long, not a lone dash.
func isCluster(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-'
}

// patternFirst are the commands whose first operand is a pattern or a program and
// no file, unless an option brought it.
var patternFirst = map[string]bool{
	"ack": true, "ag": true, "awk": true, "egrep": true, "fgrep": true, "gawk": true, "gojq": true,
	"grep": true, "jq": true, "mawk": true, "nawk": true, "rg": true, "sed": true,
}

// wordOptions are, for a command, the short options whose value, the next
// argument, is a word and no file. Each is exactly that option's meaning.
var wordOptions = map[string]string{
	"awk": "F", "cut": "bcdf", "egrep": "ABCem", "fgrep": "ABCem", "gawk": "F", "grep": "ABCem",
	"head": "cn", "rg": "ABCegmt", "sed": "e", "sort": "kt", "tail": "cn",
}

// operands are the arguments of a reading command that may name files: what is no
// option, and what is joined to one. Too many rather than too few: a pattern is
// passed over only where the shell does not make file names of it.
func operands(p shellcmd.Part, loose []looseness) []string {
	var files []string
	skip := patternFirst[p.Name] && !bringsPattern(p.Args)
	plain := false // after --
	for i := 0; i < len(p.Args); i++ {
		arg := p.Args[i]
		switch {
		case !plain && arg == "--":
			plain = true
		case !plain && len(arg) > 1 && arg[0] == '-':
			if takesWord(p.Name, arg) && i+1 < len(p.Args) && loose[i+1] == fixed {
				i++
			}
			files = append(files, joined(arg)...)
		case skip && loose[i] == fixed:
			skip = false
		default:
			skip = false
			files = append(files, arg)
		}
	}
	return files
}

// bringsPattern tells whether any option may have brought the pattern: -e, -f,
// --regexp, --file and their like, also inside a cluster.
func bringsPattern(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		if isCluster(arg) {
			return strings.ContainsAny(arg, "ef")
		}
		for _, long := range []string{"--re", "--fi", "--ex", "--fr", "--ty", "--pa", "--so"} {
			if strings.HasPrefix(arg, long) {
				return true
			}
		}
		return false
	})
}

// switches are letters that take no value in any command that knows -e for a
// pattern, so that -rne is -r -n -e.
const switches = "EFHIchilnoqrsvwx"

// takesWord tells whether an option's value is the next argument, and a word.
func takesWord(name, arg string) bool {
	if !isCluster(arg) {
		return false
	}
	last := arg[len(arg)-1]
	joined := strings.Trim(arg[1:len(arg)-1], switches) != ""
	return !joined && (len(arg) == 2 || last == 'e') && strings.IndexByte(wordOptions[name], last) >= 0
}

// joined are the values inside one option that may be a file: --file=x, -fx. A
// single character is a separator and no file.
func joined(arg string) []string {
	if _, value, has := strings.Cut(arg, "="); has && strings.HasPrefix(arg, "--") {
		return []string{value}
	}
	if !isCluster(arg) {
		return nil
	}
	var values []string
	if len(arg) > 3 {
		values = append(values, arg[2:])
	}
	if i := strings.IndexAny(arg, "/~"); i > 0 && len(arg) > i+1 {
		values = append(values, arg[i:])
	}
	return values
}
