package bash

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generate makes the script of a seed and a number, the same each time.
func Generate(seed, number uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, number))}
	g.inside = g.IntN(4) > 0
	return g.script(2)
}

type generator struct {
	*rand.Rand
	// inside keeps to what Bash does itself: such scripts cost a tenth of those that
	// start programs, and it is Bash's own grammar that is hard to read.
	inside bool
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

// one reports true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

// script is a list of commands, nested as deep as depth allows.
func (g *generator) script(depth int) string {
	text := g.form(depth)
	for g.one(4) {
		text += g.pick([]string{"; ", " && ", " || ", "\n", " | ", " |& "}) + g.form(depth)
	}
	return text
}

func (g *generator) form(depth int) string {
	if depth == 0 || g.one(2) {
		return g.command()
	}
	sub := func() string { return g.script(depth - 1) }
	switch g.IntN(16) {
	case 0:
		return "( " + sub() + " )"
	case 1:
		return "{ " + sub() + "; }"
	case 2:
		return "if " + sub() + "; then " + sub() + "; else " + sub() + "; fi"
	case 3:
		return "for " + g.name() + " in " + g.words(3) + "; do " + sub() + "; done"
	case 4:
		return "case " + g.word() + " in " + g.word() + ") " + sub() + ";; *) " + sub() + ";; esac"
	case 5:
		return g.pick([]string{"f", "g", "ls", "npm"}) + "() { " + sub() + "; }; " + g.pick([]string{"f", "g", "ls x", "npm"})
	case 6:
		return "while read " + g.pick([]string{"-r ", ""}) + g.name() + "; do " + sub() + "; done < " + g.pick(plainFiles)
	case 7:
		return "[[ " + g.test() + " ]] && " + sub()
	case 8:
		return "[ " + g.classicTest() + " ] && " + sub()
	case 9:
		return g.assignment() + "; " + sub()
	case 10:
		return "echo " + g.quotedly("$("+sub()+")")
	case 11:
		return "(( " + g.arithmetic() + " )); " + sub()
	case 12:
		return "cat <<" + g.pick([]string{"E", "'E'", "\"E\""}) + "\n" + g.word() + "\nE\n"
	case 13:
		return "! " + sub()
	case 14:
		return "for ((i=0; i<" + g.pick([]string{"2", "3", g.arithmetic()}) + "; i++)); do " + sub() + "; done"
	}
	return g.pick([]string{"bash -c ", "sh -c ", "env bash -c ", "eval "}) + quote(sub())
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (g *generator) quotedly(s string) string {
	if g.one(2) {
		return `"` + s + `"`
	}
	return s
}

// command is one simple command with redirections.
func (g *generator) command() string {
	text := ""
	if g.one(8) {
		text = g.pick(settingsInFront) + " "
	}
	switch g.kind() {
	case 0:
		text += g.pick(wrapping) + " " + g.plainCommand()
	case 1:
		text += "find " + g.pick([]string{".", "sub", "f", ""}) + " " + g.pick(findWords) + " " + g.pick(findWords)
	case 2:
		text += "sed " + g.pick([]string{"", "-n ", "-E ", "-e ", "-i ", "-s ", "-ni "}) + quote(g.pick(sedScripts)) + " " + g.word()
	case 3:
		text += "awk " + g.pick([]string{"", "-F: ", "-v x=1 ", "-f "}) + quote(g.pick(awkPrograms)) + " " + g.word()
	case 4:
		text += g.pick(builtinUses)
	case 5:
		if g.one(3) {
			return text + g.plainCommand()
		}
		if !g.one(4) {
			return text + g.pick(builtinUses)
		}
		text += "git " + g.pick(gitOptions) + g.pick(gitUses) + g.maybe(g.word())
	default:
		text += g.plainCommand()
	}
	for g.one(6) {
		text += " " + g.pick(redirections)
	}
	return text
}

// kind draws what a command is: a number below 6 is one of a kind.
func (g *generator) kind() int {
	if !g.inside {
		return g.IntN(12)
	}
	if g.one(3) {
		return 4
	}
	return 12
}

func (g *generator) maybe(s string) string {
	if g.one(2) {
		return " " + s
	}
	return ""
}

func (g *generator) plainCommand() string {
	if g.inside || g.one(2) {
		return g.pick(inShell) + " " + g.words(3)
	}
	return g.pick(programs) + g.maybe(g.pick(options)) + " " + g.words(2)
}

func (g *generator) words(most int) string {
	list := make([]string, 1+g.IntN(most))
	for i := range list {
		list[i] = g.word()
	}
	return strings.Join(list, " ")
}

// word is a word of any make; one in four is made to do harm.
func (g *generator) word() string {
	switch g.IntN(12) {
	case 0:
		return g.quotedly(g.pick(expansions))
	case 1:
		if g.inside {
			return g.quotedly("$(" + g.pick(insidePayloads) + ")")
		}
		return g.quotedly("$(" + g.pick(payloads) + ")")
	case 2:
		return "{" + g.pick(plainFiles) + "," + g.pick(options) + "}"
	case 3:
		return g.pick(oddWords)
	case 4:
		return g.quotedly(`$((` + g.arithmetic() + `))`)
	case 5:
		return "<(" + g.plainCommand() + ")"
	case 6:
		return `"` + g.pick([]string{"-", "--", "", "x"}) + g.pick(expansions) + `"`
	}
	return g.pick(plainFiles)
}

func (g *generator) name() string { return g.pick(names) }

func (g *generator) assignment() string {
	switch g.IntN(6) {
	case 0:
		return g.name() + "=(" + g.pick([]string{"a b", "['a[$(touch PWN)]']=1", "[0]=x", "*"}) + ")"
	case 1:
		return g.pick([]string{"export ", "declare ", "declare -i ", "declare -n ", "readonly ", "local ", "typeset -a "}) + g.name() + "=" + g.word()
	case 2:
		return "read " + g.name() + " <<< " + g.pick([]string{"x", "'a[$(touch PWN)]'", "7"})
	case 3:
		return "printf -v " + g.name() + " " + g.pick([]string{"x", "'a[$(touch PWN)]'", "7", "-oPWN"})
	}
	return g.name() + "=" + g.pick([]string{"f", "7", "-oPWN", "'a[$(touch PWN)]'", "\"touch PWN\"", "$(cat f)", "$((2+3))", "*", "'-delete'", g.word()})
}

func (g *generator) arithmetic() string {
	return g.pick([]string{"1", "n", "i", "x", "n+1", "n=3", "x++", "$n", "${n}", "a[0]", "a[x]", "'a[$(touch PWN)]'", `"x"`, "REPLY", "_", "$(touch PWN)", "${#x}", "x ? 1 : 2", "RANDOM", "PATH=1"})
}

func (g *generator) test() string {
	switch g.IntN(5) {
	case 0:
		return g.pick([]string{"-f", "-d", "-v", "-n", "-z", "-R", "-e"}) + " " + g.word()
	case 1:
		return g.word() + " " + g.pick([]string{"==", "!=", "=~", "<"}) + " " + g.word()
	case 2:
		return g.word() + " " + g.pick([]string{"-eq", "-lt", "-nt"}) + " " + g.pick([]string{"1", "x", "$n", `"$x"`})
	}
	return "-f f"
}

func (g *generator) classicTest() string {
	return g.pick([]string{"-f f", "-d sub", `"$x" = y`, `-n "$x"`, "-v x", "-v 'a[$(touch PWN)]'", `"$x" "$y"`, `"$x" 'a[$(touch PWN)]'`, "$x f", `"$n" -eq 1`, `! -f "$x"`,
		`-f f -a "$x" 'a[$(touch PWN)]'`, g.word()})
}

var (
	names      = []string{"x", "y", "n", "file", "F", "i", "a", "PATH", "IFS", "RANDOM", "SECONDS", "OPTIND", "REPLY", "HOME", "BASH_ENV", "LD_PRELOAD", "PS4", "_", "GIT_DIR", "LC_ALL"}
	plainFiles = []string{"f", "x", "b.go", "sub", "sub/s", ".", "*.go", "*", "./f", "nofile", "-", "/dev/null", "1", "2"}
	inShell    = []string{"echo", "printf %s", "printf", "test", "[ -f", ":", "true", "type", "command -v", "[ -n", "pwd", "false", "echo -n"}
	programs   = []string{"cat", "ls", "head", "tail", "wc", "grep", "sort", "uniq", "cut", "tr", "diff", "comm", "paste", "nl", "od", "stat", "file", "du", "tree", "basename", "dirname", "realpath", "readlink", "echo", "printf", "test", "true", "date", "seq", "expr",
		"md5sum", "base64", "tac", "rev", "fold", "join", "cmp", "strings", "xxd", "id", "uname", "which", "type", "command -v", "env", "tee", "touch", "rm", "cp", "mv", "mkdir", "ln", "dd", "./evil.sh", "bin/ls", "'ls'", `l\s`, "l''s", "$x", "l?", "hostname", "less", "more", "egrep", "rg", "jq", "column", "getconf", "sh", "bash"}
	options = []string{"-n", "-o", "-oPWN", "-o PWN", "--output=PWN", "-c", "-r", "-i", "-e", "-f", "-d", "-x", "-s", "-t", "-k1", "-u", "-w", "-z", "-m", "-C", "-L", "-R", "-a", "-l", "-1", "-5", "-nr", "-ro", "--", "-delete", "-v", "-p", "-T.", "-S1", "--compress-program=./evil.sh", "--files0-from=f", "--help", "--version",
		"-I{}", "-0", "-Lo", "-exec", "--color", "-b", "-g", "--pre=./evil.sh", "+x", "-q"}
	insidePayloads = []string{"touch PWN", "echo x", "echo -oPWN", "echo PWN", "./evil.sh", "printf 'a[$(touch PWN)]'", "pwd", "echo -delete", "echo 7"}
	payloads       = []string{"touch PWN", "cat f", "echo x", "echo -oPWN", "echo PWN", "ls", "./evil.sh", "printf 'a[$(touch PWN)]'", "pwd", "echo -delete", "rm f", "git status"}
	expansions     = []string{"$x", "${x}", "${x:-f}", "${x:=PWN}", "${x:-$(touch PWN)}", "${x%f}", "${x##*/}", "${x/a/b}", "${#x}", "${x@P}", "${!x}", "${x:0:1}", "${x:n}", "${a[0]}", "${a[@]}", "${a['a[$(touch PWN)]']}", "$@", "$*", "$1", "$#", "$?", "$HOME", "$PWD", "$RANDOM", "${x^^}", "${!x*}", "$[1+1]", "$[x]", "`cat f`", "`touch PWN`"}
	oddWords       = []string{"'a b'", `"a b"`, `a\ b`, "$'\\x66'", "$'a\\tb'", `$"f"`, "~", "~/f", "~root", "a{b,c}", "{1..3}", "{'-o',PWN}", "[fx]", "?", "!(f)", "@(f|x)", "a=b", "PWN", "';touch PWN'", `"\$(touch PWN)"`, `\$(touch PWN)`, "f;", "'{}'", "{}", "\\;", "+", "''", `""`, "-$x", `"-$(echo oPWN)"`, "--$x", "x=1", "'$(touch PWN)'", "/dev/stdin"}
	redirections   = []string{"> /dev/null", "2>&1", "2>/dev/null", "> PWN", ">> f", "< f", "<<< x", "<<< $(touch PWN)", "&> PWN", ">| PWN", "2> PWN", "< nofile", "> $x", "< $x", "<> f", ">&2", "3< f", "{fd}> PWN", "&>/dev/null", "< <(touch PWN)", "> >(cat)", "2>&-", "< /dev/null"}
	wrapping       = []string{"env", "env A=1", "env PATH=./bin", "timeout 5", "timeout -k 1 5", "nohup", "nice", "nice -n 5", "stdbuf -o0", "time", "command", "builtin", "exec", "xargs", "echo f | xargs", "ls | xargs -n1", "ls | xargs -I{}", "ls | xargs -0", "xargs --replace", "env -i", "env -S", "env -u X", "command -p", "setsid", "find . -exec", "sudo", "trap", "eval", "LC_ALL=C", "coproc", "jobs -x"}
	findWords      = []string{"-name f", "-name '*.go'", "-type f", "-delete", "-exec cat {} \\;", "-exec touch PWN \\;", "-exec grep x {} +", "-exec sh -c 'touch PWN' \\;", "-ok touch PWN \\;", "-fprint PWN", "-maxdepth 1", "-print0", "-printf '%p'", "\\( -name f -o -name x \\)", "-newer f", "-execdir touch PWN \\;", "| xargs cat", "| xargs -I{} echo {}", "| xargs touch", "-name $x", `-name "$x"`, "-empty", "-size +1k", "! -name f", "-fls PWN", "-prune", "\"-$x\"", "-exec echo {} + -exec touch PWN +", "-exec $x {} \\;"}
	sedScripts     = []string{"p", "1p", "1,3p", "s/a/b/", "s/a/b/g", "/a/d", "$p", "s/a/b/w PWN", "w PWN", "1e touch PWN", "e touch PWN", "s/.*/touch PWN/e", "r f", "R f", "a x", "i\\\nw PWN", ":a;N;$!ba;s/x/y/", "y/ab/ba/", "p;p", "s|a|b|", "1!G;h;$!d", "n;w PWN", "{p}", "/a/,/b/p", "s/a/b/;w PWN", "q", "=", "l", "W PWN", "p # w PWN", "s/w/e/", "\\,a,p", "s/a\\/b/c/", "1~2p", "0,/a/p", "b x; :x", "t;p", "}"}
	awkPrograms    = []string{"{print}", "{print $1}", "NR>1", "NR>1 {print $2}", "{print > \"PWN\"}", "BEGIN{system(\"touch PWN\")}", "{print | \"cat > PWN\"}", "{s+=$1} END {print s}", "BEGIN{\"touch PWN\" | getline}", "BEGIN{getline x < \"f\"}", "/a/", "$1 > 2", "{print $1, $2}", "BEGIN{print 1>2}", "{printf \"%s\\n\", $1}", "BEGIN{ARGV[1]=\"f\"}", "length > 3", "{print > $1}", "BEGIN { x = 1; print x >> \"PWN\" }", "!seen[$0]++", "{ if ($1 > 1) print }", "1", "{gsub(/a/,\"b\")}1", "a||b", "@include \"f\""}
	builtinUses    = []string{"cd sub", "cd bare", "cd .", "cd -", "cd $x", "pwd", "read x < f", "read -a a < f", "mapfile a < f", "mapfile -C 'touch PWN' a < f", "printf -v x 1", "set -e", "set -k", "set -- a b", "set -x", "set -o pipefail", "shopt -s expand_aliases", "alias ls='touch PWN'", "unset x", "unset 'a[$(touch PWN)]'", "export A=1", "export PATH=./bin:$PATH", "trap 'touch PWN' EXIT", "trap '' INT", "source f", ". ./evil.sh", "wait", "jobs", "type ls", "hash -p ./bin/ls ls", "enable -n echo", "let x=1", "let 'a[$(touch PWN)]=1'", "getopts a x", "declare -A m", "ulimit -c 0", "umask 022", "times", ":", "shift", "return 0", "exec 3< f", "BASH_CMDS[ls]=./bin/ls", "complete -C 'touch PWN' x", "dirs", "history", "command -v ls", "exit 0"}
	gitOptions     = []string{"", "", "", "-C sub ", "-C bare ", "--no-pager ", "-c core.fsmonitor=./evil.sh ", "-c a.b=c ", "-P ", "--git-dir=bare "}
	gitUses        = []string{"status", "log --oneline", "diff", "diff --output=PWN", "show", "branch", "branch PWN", "log -p -1", "rev-parse HEAD", "ls-files", "grep -n x", "grep -O./evil.sh x", "config --list", "config alias.x '!touch PWN'", "stash list", "tag", "remote -v", "blame f", "describe", "diff --ext-diff", "log --format=%H", "diff --no-index f x", "cat-file -p HEAD", "difftool", "bisect log", "worktree list", "shortlog -s HEAD", "log $x"}

	settingsInFront = []string{"LC_ALL=C", "A=1", "PATH=./bin", "LD_PRELOAD=./x.so", "BASH_ENV=./evil.sh", "GIT_PAGER=cat", "GIT_EXTERNAL_DIFF=./evil.sh", "TZ=UTC", "IFS=", "LESSOPEN='|./evil.sh %s'", "NO_COLOR=1", "PAGER=./evil.sh", "LANG=C", "TMPDIR=.", "x=f", "GREP_OPTIONS=-r"}
)

// Name is the name under which a case is saved.
func Name(seed, number uint64) string { return fmt.Sprintf("fuzz-%d-%d.shell.sh", seed, number) }
