package shellcmd_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/shellcmd"
)

// provesNone asserts that no script is proved to only read.
func provesNone(t *testing.T, scripts ...string) {
	t.Helper()
	for _, script := range scripts {
		assert.False(t, read(script).ReadOnly, script)
	}
}

// provesAll asserts that each script is proved to only read.
func provesAll(t *testing.T, scripts ...string) {
	t.Helper()
	for _, script := range scripts {
		assert.True(t, read(script).ReadOnly, script)
	}
}

// Who opens /dev/stdin to write opens the file that is read, and empties it; so it is with /dev/stdout and
// /dev/stderr where these numbers stand for a file that is read.
func TestTheDeviceOfAFileThatIsReadIsThatFile(t *testing.T) {
	provesNone(t,
		"echo x < f > /dev/stdin", "echo x < f >> /dev/stdin", "echo x < f &> /dev/stdin", "echo x < f >| /dev/stdin", "echo x < f 1<> /dev/stdin",
		"tee /dev/stdin < f", "tee -a /dev/stdin < f", "cat f | tee /dev/stdin", "while read -r l; do echo y > /dev/stdin; done < f",
		"find . -exec tee /dev/stdin ';' < f", "echo x 2< f > /dev/stderr", "{ echo x > /dev/stdout; } 1< f", "f() { echo x > /dev/stderr; }; f 2< f",
		"bash -c 'echo x > /dev/stderr' 2< f", "tee /dev/stderr 2< f", "{ echo x > /dev/stdout; } < f >&0", "{ echo x > /dev/stdout; } < f 1<&0",
		"{ echo x > /dev/stdout; } < f 3<&0 >&3", "{ echo x > /dev/stdout; } 3< f >&3", "{ echo x > /dev/stderr; } < f 2>&0-",
	)
	provesAll(t, "echo x > /dev/stdout", "echo x > /dev/stderr", "ls 2>&1 >&2", "cat 0< f", "cat <&0", "cat < f 2>&1", "ls | tee /dev/stderr", "echo x > /dev/tty")
	for _, script := range []string{"echo x < f > /dev/stdin", "tee /dev/stdin < f", "{ echo x > /dev/stdout; } < f >&0"} {
		assert.True(t, slices.ContainsFunc(read(script).Steps, func(st shellcmd.Step) bool { return st.FilesUnknown }), script)
	}
	written := read("{ echo x > /dev/stdout; } 1< f").Steps[0].Files
	assert.Contains(t, written, shellcmd.File{Path: "/repo/f", Write: true})
}

// Behind {} a brace expansion may still close, unless the word begins with it: ”{},-delete} is } and -delete.
func TestEmptyBracesMayBeginAnExpansion(t *testing.T) {
	provesNone(t,
		"find . ''{},-delete}", `find . ""{},-delete}`, "find . a{},-delete}", "find . ''{},-exec} touch x ';'", "sed p ''{},-i} f", "sort f ''{},-ox}",
		`find . ''{}"x",-delete}`, `sed p ''{}$'x',-i} f`, "sed p f ''{}{,-i}", "find . {}{,-delete}", "uniq ''{},f} x", "find . -maxdepth 0 x{}..,-delete}",
	)
	provesAll(t, "find . -name x -exec grep y {} +", "find . -exec echo x{} ';'", `ls "$d"/{}`, "echo {} a,b {x", "find . -exec ls {}/.. ';'")
}

// Of -I and the options that count words or lines, some xargs heed the last and append what they read.
func TestXargsMayAppendThoughItReplaces(t *testing.T) {
	provesNone(t,
		"ls | xargs -I{} -n2 sort f", "ls | xargs -I{} -L2 sort f", "ls | xargs -n2 -I{} sort f", "ls | xargs -I{} --max-args=2 sort f", "ls | xargs -I{} --max-lines sort f",
		"ls | xargs -I{} --max-lines=1 sort f", "ls | xargs -I{} -n2 uniq f", "ls | xargs -I{} -n 3 find .", "find . -print0 | xargs -0 -I-i -n2 sed p -i",
	)
	provesAll(t, "ls | xargs -n1 -I{} grep x {}", "ls | xargs -I{} -n 1 wc -l {}", "ls | xargs -I{} sort f", "ls | xargs -n2 echo", "find . -print0 | xargs -0 -I{} sed -n p {}")
}

// Programs of one name differ by system and age: where others take an option or an operand for something else,
// nothing may hide in it.
func TestProgramsOfOtherSystemsOnlyReadToo(t *testing.T) {
	provesNone(t,
		"sed 'w x' -e p f", "sed -n 'w x' -e p f", "sed 'w x' --expression=p f", "sed 'w x' -ep f", // BSD's ends its options at the first operand
		"uniq f -c", "uniq f -d -", // as does its uniq, to which the second operand is the output
		"scc -tox", "tokei -tox", "scc -sttox", // -t is a switch of scc, and -o writes
		"lsof -g -Dbx", "lsof -p-Dbx", "lsof -c -Dbx", "lsof -u-Dbx", // lsof takes no value that begins with a dash
		"make -v",                                                                                                    // a BSD make tells more, and makes
		"env -i ls", "env -u PATH ls", "env -uPATH bash -c ls", "env --unset=PATH ls", "env --ignore-environment ls", // then old systems look here first
		"timeout ./evil ls", "timeout PWN ls", // an old busybox takes no time there
		"git branch -l new", "git branch -l new old*", // an old git makes new, with a log
		"locate -o x -U .", "locate -u", "locate --output=x f", // slocate makes its index
		"golangci-lint --version", // an old one loads what the folder's configuration names before all else
		`yq '"f" | modulemeta' g`,
	)
	provesAll(t, "sed -n -e p f", "sed -n p f", "uniq -c f", "uniq -c", "scc -s lines", "lsof -p 1 -a -d ^cwd", "lsof -u ^root", "make --version", "env -u X ls", "env", "env -i",
		"timeout 5 ls", "timeout 1.5m ls", "timeout -k 1 5s ls", "git branch -l", "git branch -l 'f*'", "git branch --list f", "git tag -l v1", "locate -i f", "yq .a f")
}

// Behind the name of a setting, git takes an option for the value: git config user.name --global names somebody so.
func TestAnOptionBehindASettingIsItsValue(t *testing.T) {
	provesNone(t, "git config user.name --global", "git config a.b --local", "git config --global a.b --show-origin", "git config a.b -z")
	provesAll(t, "git config user.name", "git config --global user.name", "git config --list --show-origin", "git config -l --global", "git config --get user.name", "git config get user.name")
}

// A line feed is no delimiter: GNU's sed complains, and busybox goes on with the next line.
func TestALineFeedIsNoDelimiterOfSed(t *testing.T) {
	provesNone(t, "sed '\\\n$!Nw x\np' f", "sed 's\na\nb\n' f", "sed 'y\na\nb\n' f")
	_, err := shellcmd.ParseSed("\\\nx\np", false)
	assert.ErrorContains(t, err, "unterminated address regex")
}

// What a shell reads for its grammar it does not run; that is so where -n is its only option and a file its only operand.
func TestAScriptThatIsReadForItsGrammarIsNotRun(t *testing.T) {
	provesAll(t, "bash -n f", "sh -n ./x.sh", "dash -n /repo/f", "git fsck", "git fsck --no-dangling --full", "git help", "git help -a")
	provesNone(t, "bash -n", "bash -n -c ls", "bash -n +n f", "bash -nx f", "bash -in f", "bash -n f g", "bash -n *", `bash -n "$x"`, "zsh -n f", "git fsck --lost-found", "git help log", "git help -w log")
	assert.Equal(t, []shellcmd.File{{Path: "/repo/f"}}, read("bash -n f").Steps[0].Files)
}

// A name with a backslash is that of a program in some folder, or of one that has it in its name.
func TestABackslashInANameIsOfAFolder(t *testing.T) {
	provesNone(t, `'x\ls' f`, `x\\ls f`, `'\ls' f`, `'/bin/x\ls' f`, `'/bin/\ls' f`, `'C:\bin\ls.exe'`, `env 'x\ls'`)
	provesAll(t, `\ls f`, `/bin/\ls f`)
	assert.Subset(t, read(`'C:\x\git.exe' push`).Steps[0].Readings, []string{"git push", `C:\x\git.exe push`})
}

// Help is asked for by the only word, and a certificate is shown by words that write none.
func TestHelpAndCertificatesAreOnlyShown(t *testing.T) {
	provesNone(t, "rm --help f", "rm -f --help", "xargs --help ls", "cp --help a b", "openssl x509 -in c -out d", "openssl x509 -req -in c", "openssl x509 -in pkcs11:x -text", "openssl x509 -engine x -in c",
		"openssl x509 -in c -CAcreateserial", "openssl req -in c", "openssl rand -out f 9", "npm --help", "find -E . -delete", "find -E . -exec rm {} +", `openssl x509 -in "$x"`)
	assert.Equal(t, []shellcmd.File{{Path: "/repo/c.pem"}}, read("openssl x509 -in c.pem -noout").Steps[0].Files)
}

// Bash joins a line that ends in a backslash with the next before it looks for operators, also within double quotes and
// here-documents, where the parser sees a dollar sign and text.
func TestAnOperatorMayGoOnInTheNextLine(t *testing.T) {
	provesNone(t,
		"echo \"$\\\n(touch x)\"", "echo \"$\\\n\\\n(touch x)\"", "cat <<E\n$\\\n(touch x)\nE", "cat <<< \"$\\\n(touch x)\"", "y=\"$\\\n(touch x)\"", "[[ \"$\\\n(touch x)\" ]]",
		"echo \"${y:-$\\\n(touch x)}\"", "ls a\"$\\\n(touch x)\"", "bash -c 'echo \"$\\\n(touch x)\"'", "sed $\\\n's/a/b/\\x3bw x' f",
		"cat <<\\\n-E\n\tE\ntouch x\n-E\n", "echo='a[$(touch x)]'; (\\\n(echo))", "echo='a[$(touch x)]'; echo $(\\\n(echo))",
	)
	provesAll(t, "ls \\\n  -la", "ls |\\\nwc -l", "ls &&\\\nwc -l f", "echo \"a \\\n b\"", "grep -e a \\\n  -e b f", "(\\\nls)")
}

// Only a ~ that is a word's first name, with nothing of it quoted, is somebody's home.
func TestATildeBesideAQuoteIsNoHome(t *testing.T) {
	provesNone(t, "sed ~'s/a//;w x' f", "sed ~\"s/a//;w x\" f", "sed ~$'s/a//;w x' f")
	provesAll(t, "sed -n p ~/f", "cat ~/'a b'", "ls ~")
	assert.Equal(t, "/home/me/a", read("cat ~/'a'").Steps[0].Files[0].Path)
	assert.True(t, read("cat ~'/a'").Steps[0].FilesUnknown)
}

// To Bash, what stands right behind a list belongs to its word; there no comment begins.
func TestNoCommentBeginsBehindAList(t *testing.T) {
	provesNone(t, "a=(y)#; touch x", "a=()#; touch x", "declare a=(y)#; touch x", "a=(\n'y'\n)#'; touch x\n#'", "a=(y)\\\n#; touch x", "a=(y)\\\n\\\n#; touch x", "bash -c 'a=(y)#; touch x'")
	provesAll(t, "a=(y) #; touch x", "(ls)#; touch x", "sed -E 's#(a)#b#' f", "a=(y); grep '(a)#' f", "a=('y)#')")
}

// No comment of Bash begins in the middle of a word, as one does for the parser in a substitution. In backquotes Bash takes off
// backslashes first, quoted or not; within double quotes the quotes of such a substitution end those around it, so that braces in it are expanded.
func TestSubstitutionsHoldTheScriptThatBashMakesOfThem(t *testing.T) {
	provesNone(t,
		"echo \"`echo ''#; touch x`\"", "x=`cat 'f'#; touch x`", "[ \"`echo \"\"#; touch x`\" ]", "grep \"`echo $x#; touch x`\" f", "echo \"`echo ${x}#; touch x`\"", "bash -c 'x=`echo \"\"#; touch x`'",
		"cat <<E\n`echo ''#; touch x`\nE", "echo \"`echo \\`echo ''#; touch x\\``\"", "echo \"$(echo `echo ''#; touch x`)\"", "echo \"${y:-`echo ''#; touch x`}\"",
		"echo \"$(echo ''#; touch x\n)\"", "echo $(grep ''#; touch x\n)", "x=$(echo $y#; touch x\n)", "x=$(echo \"\"\\\n#; touch x\n)", "cat <(echo ${y}#; touch x\n)", "x=$(echo $(ls)#; touch x\n)", "x=$(echo $((1))#; touch x\n)", "(x=$(echo 'a'#; touch x\n))",
		"cat <<E\n`grep \\\"a b\\\" f`\nE", "x=`cat 'a\\\nb'`", "x=`echo \\`cat 'a\\\nb'\\``", "echo \"`cat \"{a,b}\"`\"", "echo \"`cat \"a{1..3}\"`\"",
	)
	provesAll(t, "x=`cat 'f' # y`", "x=$(cat 'f' # y\n)", "x=$(ls;# y\n)", "x=$( (ls)#; touch x\n)", "echo a#b $# ${#x} '#' \"$(echo a#b)\"", "ls \\\n# x", "x=`ls; # touch x\n`", "x=`cat \\\n f`", "echo \"`cat '{a,b}'`\"", "x=`grep '#' f`", "x=`echo \\`ls a\\``", "echo `echo '$x' \"a\"` '`'", "echo \"`wc -l f`\" '{a,b}'", "echo \"`grep \\\"a b\\\" f`\"")
}

// The names that find gives begin with that of its folder: @x is a file of options to nm, and +x a command to a pager.
func TestWhatIsFoundMayBeginWithASign(t *testing.T) {
	provesNone(t, "find @d -exec nm {} ';'", "find a @d -exec nm {} ';'", "find @d -print0 | xargs -0 -I{} nm {}", "find a @d -print0 | xargs -0 -I{} size {}", "find +x -exec less {} ';'")
	provesAll(t, "find . -exec nm {} ';'", "find a d -exec nm {} +", "find d -print0 | xargs -0 -I{} nm {}", "find @d -exec grep x {} ';'", "find @d -name x", "find . -mtime +5 -exec less {} ';'")
}

// Where Bash cannot expand a word it skips what is left of the line, and goes on with what the variables held before.
func TestWhatCannotBeExpandedIsNotUnderstood(t *testing.T) {
	for _, e := range []string{"?^", "#,", "-^x", "#+", "#%", "#/", "?,{a"} {
		provesNone(t, "y=touch\n{ : ${"+e+"}; y=echo\n}\n$y x", "y=touch\n: \"${"+e+"}\"; y=echo\n$y x")
	}
	for _, e := range []string{"z^", "z,,", "z/", "1^^", "@,"} { // so has Bash 3.2, to which these are none
		provesNone(t, "y=touch\n{ : ${"+e+"}; y=echo\n}\n$y x")
	}
	provesAll(t, "y=echo; : ${y/a} ${y^}; $y ${y,,}", "y=echo; : ${1:-a} \"${@:2}\" ${#} ${?} ${#y} ${1%x}\n$y x")
}

// What names git's folder may be several words, of which the others are options; without a subcommand, too.
func TestTheFolderOfGitIsOneWord(t *testing.T) {
	provesNone(t,
		`git -C "."$(echo " -c core.fsmonitor=./evil status")`, `v=". -c core.fsmonitor=./evil status"; git -C $v`, "git -C .`echo ' status'`",
		"git -C ${v:-. -c core.fsmonitor=./evil status}", `git -C "$@"`, "git -C *", "git -C s*", "git -C {.,-p,log}x*", `git -C "${a[@]}"`, "git --no-pager -C $v", "git -C . -C $v",
	)
	for _, script := range []string{"git -C $v", `git -C "$@" status`, "git -C *"} {
		assert.True(t, slices.ContainsFunc(read(script).Steps, func(st shellcmd.Step) bool { return st.Opaque != "" }), script)
	}
	provesAll(t, "git -C .", "git -C sub status", "git --no-pager -C sub log")
}

// Another shell than Bash takes a comparison for a redirection, reads no escapes in $'...', and knows fewer brackets.
func TestAPlainShellReadsOtherwise(t *testing.T) {
	for _, script := range []string{
		"[[ a > f ]]", "[[ $x > f ]] && echo y", "(( 1 > 2 ))", "x=1; while (( x > 2 )); do ls; done", "if [[ a < b ]]; then ls; fi",
		`echo $'a\'; touch f; echo \'b'`, `echo $'\''; echo '; touch f; echo '`, "x=(a b)", "cat <(ls)", "function f { ls; }", "export LANG=C", "(ls; [[ a > f ]])", "echo ${x//a/b}",
	} {
		assert.True(t, read(script).ReadOnly, script)
		assert.False(t, shellcmd.Read(script, shellcmd.Env{Dir: "/repo", Plain: true}).ReadOnly, script)
	}
	for _, script := range []string{"ls", "cat a | grep b", "for f in *.go; do wc -l \"$f\"; done", "[ -f a ] && echo y", "cd sub && git log", "x=$(date +%s); echo $((x + 1))", "ls >/dev/null 2>&1", "cat <<'E'\n$(a)\nE\n"} {
		env := shellcmd.Env{Dir: "/repo", Plain: true, Repository: func(string) bool { return true }}
		assert.True(t, shellcmd.Read(script, env).ReadOnly, script)
	}
	written := shellcmd.Read("[[ a > f ]]", shellcmd.Env{Dir: "/repo", Plain: true})
	assert.True(t, slices.ContainsFunc(written.Steps, func(st shellcmd.Step) bool {
		return slices.Contains(st.Files, shellcmd.File{Path: "/repo/f", Write: true})
	}))
}
