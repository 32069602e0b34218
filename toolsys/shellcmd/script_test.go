package shellcmd_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/shellcmd"
)

// read reads a script that starts in a trusted repository.
func read(script string) *shellcmd.Script {
	return shellcmd.Read(script, shellcmd.Env{Dir: "/repo", Home: "/home/me", Repository: func(dir string) bool { return dir == "/repo" || dir == "/repo/sub" }})
}

func TestReadOnlyAndSafe(t *testing.T) {
	const neither, reads, safe = "neither", "read-only", "safe"
	for script, want := range map[string]string{
		"ls -la":                                   safe,
		"cat a | grep -n x | sort | head -3":       safe,
		"find . -name '*.go' -type f":              safe,
		"find . -name '*.go' -exec grep -l x {} +": safe,
		"find . -name x | xargs grep y":            safe,
		"git status && git diff --stat HEAD~1":     safe,
		"git -C sub log --oneline -5":              safe,
		"git branch -a":                            safe,
		"git remote -v":                            safe,
		"git stash list":                           safe,
		"sed -n '1,20p' f":                         safe,
		"grep '# x' a#b \\\n f # all\n":            safe,
		"sed -n 1,20p ./*.go":                      safe,
		"jq .a f 2>/dev/null":                      safe,
		"echo hi >&2":                              safe,
		"ls 2>&1 | wc -l":                          safe,
		"test -f x && echo yes || echo no":         safe,
		"[[ -d x ]]":                               safe,
		"for f in a b; do cat \"$f\"; done":        safe,
		"LC_ALL=C sort f":                          safe,
		"echo $(git rev-parse HEAD)":               safe,
		"diff <(sort a) <(sort b)":                 safe,
		"timeout 5 grep -r x .":                    safe,
		"bash -c 'ls | head'":                      safe,
		"echo $((1 + 2)) ${#x}":                    safe,
		"rg -n foo -g '*.go' src":                  safe,
		"date -u +%F":                              safe,
		"go version":                               safe,
		"node --version":                           safe,
		"command -v go":                            safe,
		"env":                                      safe,
		"cat <<EOF\nhi $USER\nEOF":                 safe,
		"tee /dev/null":                            safe,
		"for i in $(seq 1 3); do echo $i; done":    safe,
		"echo $(seq 3) $(date +%s)":                safe,
		"n=$(wc -l < f); echo $((n+1))":            reads,
		"ls *.{go,md}":                             safe,
		"git symbolic-ref --short HEAD":            safe,
		"git symbolic-ref HEAD refs/heads/x":       neither,
		"git symbolic-ref HEAD *":                  neither,
		"git log -n1":                              safe,
		"git diff-tree --no-commit-id -r HEAD":     safe,
		"tar tzf f.tgz":                            safe,
		"tar -tvf f.tar sub/x":                     safe,
		"tar tf host:f.tar":                        neither,
		"sed -n '!:a w f' g":                       neither,
		"awk '/a|b/ {print | \"sh\"}' f":           neither,
		"awk 'x /a|b/' f":                          neither,
		"awk '!/a|(system)$/ {print $1}' f":        safe,
		"gofmt -d -l .":                            safe,
		"gofmt -w f":                               neither,
		"iconv -f latin1 -t utf8 f":                safe,
		"iconv -o g f":                             neither,
		"top -b -n1":                               safe,
		"lsof -nP -i :80 -sTCP:LISTEN":             safe,
		"lsof -D b":                                neither,
		"rg --type-add 'x:*.x' -tx y":              safe,
		`sed -n 's1x1\d19w f;p1g' g`:               neither,
		"tar tf f.tar --to-command=./evil.sh":      neither,
		"tar tIf ./evil.sh f.tar":                  neither,
		"tar xf f.tar":                             neither,
		"zcat f.gz":                                safe,
		"ulimit -a":                                safe,
		"ulimit -c 0":                              neither,
		"ulimit 0":                                 neither,
		"bc -l < f":                                safe,
		"n=$(wc -l f); echo $((n))":                neither,
		"n=$(seq $x); echo $((n))":                 neither,
		"n=$(seq -f x 3); echo $((n))":             neither,
		"n=$(wc -l < f); env -u $n ls ./f":         neither,
		"ls *.{go,-o}; sort {*,-oPWN}":             neither,
		"sort -k2,2n -t, f":                        safe,
		"grep -rn \"$PATTERN\" src":                safe,

		"cd src && ls":                      reads,
		"FOO=1; echo $FOO":                  reads,
		"export A=b":                        reads,
		"set -e; ls":                        reads,
		"f() { ls; }; f":                    reads,
		"while read -r l; do echo $l; done": reads,
		"sleep 100 &":                       reads,
		"for i in 1 2; do n=$((i+1)); done": reads,
		"unset X":                           reads,
		"printf -v x %d 3":                  reads,

		"pushd x; ls; popd":                neither,
		"trap 'echo bye' EXIT":             neither,
		"umask 022":                        neither,
		"exec ls":                          neither,
		"rm x":                             neither,
		"echo x > f":                       neither,
		"echo x >> f":                      neither,
		"ls &> out":                        neither,
		"cat < in > out":                   neither,
		": <> newfile":                     neither,
		"{ ls; } > out":                    neither,
		"for i in 1; do ls; done > out":    neither,
		"find . -delete":                   neither,
		"find . -exec rm {} \\;":           neither,
		"find . -fprint out":               neither,
		"find . -exec sh -c 'rm {}' \\;":   neither,
		"find . -exec sed -i s/a/b/ {} +":  neither,
		"sed -i s/a/b/ f":                  neither,
		"sed --in-place s/a/b/ f":          neither,
		"sed -ni p f":                      neither,
		"sed 's/a/b/w out' f":              neither,
		"sed 'w out' f":                    neither,
		"sed '1e rm x' f":                  neither,
		"sed -f script f":                  neither,
		"sed -n p *":                       neither,
		"sort -o f f":                      neither,
		"sort --output=f f":                neither,
		"sort --outp=f f":                  neither,
		"sort -uo f f":                     neither,
		"sort $x":                          neither,
		"sort --compress-program=rm f":     neither,
		"uniq a b":                         neither,
		"awk 'BEGIN {system(\"rm x\")}'":   neither,
		"awk '{print > \"f\"}' x":          neither,
		"awk '{print | \"sh\"}' x":         neither,
		"awk 'BEGIN {\"rm x\" | getline}'": neither,
		"awk -f prog x":                    neither,
		"awk \"$prog\" x":                  neither,
		"ls | tee out":                     neither,
		"ls | xargs rm":                    neither,
		"ls | xargs sed -n p":              neither,
		"ls | xargs -I{} sh -c 'cat {}'":   neither,
		"ls | xargs -n1 sh -c 'rm $0'":     neither,
		"date -s 10:00":                    neither,
		"date 01020304":                    neither,
		"env X=1 make":                     neither,
		"env PATH=. ls":                    neither,
		"echo $(rm x)":                     neither,
		"echo `rm x`":                      neither,
		"echo \"${x:-$(rm x)}\"":           neither,
		"cat <<EOF\n$(rm x)\nEOF":          neither,
		"eval ls":                          neither,
		"source f":                         neither,
		". f":                              neither,
		"$CMD":                             neither,
		"l?":                               neither,
		"./ls":                             neither,
		"PATH=. ls":                        neither,
		"LD_PRELOAD=x ls":                  neither,
		"GIT_EXTERNAL_DIFF=x git diff":     neither,
		"export PATH=.":                    neither,
		"git commit -m x":                  neither,
		"git branch new":                   neither,
		"git branch -D old":                neither,
		"git tag v1":                       neither,
		"git remote add x y":               neither,
		"git -c core.pager=rm log":         neither,
		"git diff --output=f":              neither,
		"git diff --outpu=f":               neither,
		"git log --output f":               neither,
		"git grep -Orm x":                  neither,
		"git checkout .":                   neither,
		"git stash":                        neither,
		"git config user.name x":           neither,
		"rg --pre rm x":                    neither,
		"tree -o out":                      neither,
		"less +'!rm x' f":                  neither,
		"alias ls=rm":                      neither,
		"ls() { rm x; }; ls":               neither,
		"trap 'rm x' EXIT":                 neither,
		"bash -c 'rm x'":                   neither,
		"bash script.sh":                   neither,
		"bash -c \"$x\"":                   neither,
		"nohup rm x":                       neither,
		"arch":                             safe,
		"arch -x86_64 touch x":             neither,
		"timeout 5 rm x":                   neither,
		"make":                             neither,
		"go build ./...":                   neither,
		"go env -w A=b":                    neither,
		"npm install":                      neither,
		"curl http://x":                    neither,
		"x='a[$(rm f)]'; echo $((x))":      neither,
		"read x; echo $((x + 1))":          neither,
		"[[ $(cat f) -eq 1 ]]":             neither,
		"unset 'a[$(rm f)]'":               neither,
		"test -v 'a[$(rm f)]'":             neither,
		"echo ${x@P}":                      neither,
		"echo ${PATH:=.}; ls":              neither,
		"cat > >(tee f)":                   neither,
		"cat < /dev/tcp/host/80":           neither,
		"coproc ls":                        neither,
		"time rm x":                        neither,
		"if rm x; then ls; fi":             neither,
		"case x in x) rm f;; esac":         neither,
		"ls; rm x":                         neither,
		"mkdir d":                          neither,
		`[ "$x" 'a[$(rm f)]' ]`:            neither,
		`[ "$x" "$y" ]`:                    neither,
		"[ $x f ]":                         neither,
		`x=f; while ls; do git log "$x"; x=--output=o; done`: neither,
		"x=f; for i in 1; do x=-oo; done; sort $x":           neither,
		"if ls; then x=-oo; fi; sort \"$x\"":                 neither,
		"kill 1":                                             neither,
		"":                                                   neither,
	} {
		c := read(script)
		require.NoError(t, c.Err, script)
		got := neither
		switch {
		case c.Safe:
			got = safe
		case c.ReadOnly:
			got = reads
		}
		assert.Equal(t, want, got, script)
	}
}

func TestWhatDoesNotParseIsNothing(t *testing.T) {
	for _, script := range []string{"echo 'x", "if true; then", "ls | | cat", "(", "$(", "for", "ls )", "ls\u00a0x", "ls\rx", "ls \u200bx", "ls \xff",
		"ls # all of it \\\nrm f", "ls #\\\nrm f", "(ls # x\\\nrm f\n)", "echo `ls # x\\\nrm f\n`", "ls & coproc cat # x\\\nf"} {
		c := read(script)
		assert.Error(t, c.Err, script)
		assert.False(t, c.ReadOnly || c.Safe, script)
		assert.Empty(t, c.Steps, script)
		assert.NotEmpty(t, c.Doubt, script)
		assert.True(t, shellcmd.FailureExit(script, 1), script)
	}
}

func TestFolding(t *testing.T) {
	for script, want := range map[string]string{
		"grep -rn x .":                  "search",
		"rg x | head -5":                "search",
		"find . -name x | xargs grep y": "search",
		"timeout 5 grep x f":            "search",
		"grep a f; rg b":                "search",
		"echo searching; grep a f":      "search",
		"cat f":                         "read",
		"cat f | grep x":                "read",
		"head -5 f && tail -5 f":        "read",
		"wc -l f":                       "read",
		"ls -la":                        "list",
		"ls | wc -l":                    "list",
		"tree; du -sh .":                "list",
		"grep a f; cat f":               "",
		"echo hi":                       "",
		"cat f > g":                     "",
		"find . -delete":                "",
		"grep x f | tee out":            "",
		"cd x && ls":                    "",
		"make":                          "",
	} {
		c := read(script)
		got := ""
		for name, is := range map[string]bool{"search": c.Search, "read": c.Read, "list": c.List} {
			if is {
				got += name
			}
		}
		assert.Equal(t, want, got, script)
	}
}

func texts(c *shellcmd.Script) []string {
	var out []string
	for _, st := range c.Steps {
		out = append(out, st.Text)
	}
	return out
}

func TestStepsAreAllThatAScriptDoes(t *testing.T) {
	for script, want := range map[string][]string{
		"cd /x && git  push   origin":         {"cd /x", "git push origin"},
		"FOO=1 rm -rf 'a b' > /dev/null 2>&1": {"FOO=1 rm -rf 'a b'"},
		"echo $(rm x) `date`":                 {"rm x", "date", "echo $(rm x) $(date)"},
		"ls | xargs rm -f":                    {"ls", "xargs rm -f", "rm -f {}"},
		"env A=1 make test":                   {"env A=1 make test", "make test"},
		"find . -exec rm {} \\;":              {"find . -exec rm {} \\;", "rm {}"},
		"timeout 5 nohup sleep 3":             {"timeout 5 nohup sleep 3", "nohup sleep 3", "sleep 3"},
		"bash -c 'rm a; ls'":                  {"bash -c 'rm a; ls'", "rm a", "ls"},
		"f() { rm x; }; f":                    {"rm x", "f"},
		"for i in 1 2; do rm $i; done":        {"rm $i", "rm $i"},
		"(rm x)":                              {"rm x"},
		"cat <(rm x)":                         {"rm x", "cat <(rm x)"},
		"cat <<E\n$(rm x)\nE":                 {"rm x", "cat"},
		"export x=$(rm x)":                    {"rm x", "export x=$(rm x)"},
		"echo a > out 2>> 'e f'":              {"> out", ">> 'e f'", "echo a"},
		"cat < in":                            {"< in", "cat"},
		"x=1; PATH=.":                         {"x=1", "PATH=.", "PATH=."},
		"[[ -f x && $y == z ]]":               {"[[ x"},
	} {
		assert.Equal(t, want, texts(read(script)), script)
	}
}

func TestAWordIsKnownAsFarAsBashMakesIt(t *testing.T) {
	for source, want := range map[string]shellcmd.Word{
		`git`:           {Text: "git", Source: "git"},
		`g"i"'t'`:       {Text: "git", Source: `g"i"'t'`},
		`$'\x67it'`:     {Text: "git", Source: `$'\x67it'`},
		`a\ b`:          {Text: "a b", Source: `a\ b`},
		`~/x`:           {Text: "/home/me/x", Source: "~/x"},
		`*.go`:          {Kind: shellcmd.Pattern, Text: "*.go", Source: "*.go", Bound: "*.go"},
		`"$y"`:          {Kind: shellcmd.Unknown, Source: `"$y"`, Given: true},
		`$y`:            {Kind: shellcmd.Many, Source: "$y", Given: true},
		`"dir/$(date)"`: {Kind: shellcmd.Unknown, Text: "dir/", Source: `"dir/$(date)"`, Given: true},
		`$x`:            {Text: "push", Source: "$x"},
		`{'-o',y}`:      {Kind: shellcmd.Many, Source: `{'-o',y}`},
		`$(date)`:       {Kind: shellcmd.Many, Source: `$(date)`, Given: true},
		`$(cat f)`:      {Kind: shellcmd.Many, Source: `$(cat f)`},
		`"$@"*`:         {Kind: shellcmd.Many, Source: `"$@"*`},
		`"$@"`:          {Kind: shellcmd.Many, Source: `"$@"`, Given: true},
		`$#`:            {Kind: shellcmd.Unknown, Source: "$#", Given: true, Undashed: true},
	} {
		c := read("x=push; echo " + source)
		words := c.Steps[len(c.Steps)-1].Words
		require.Len(t, words, 2, source)
		assert.Equal(t, want, words[1], source)
	}
	words := read("echo a{b,c}d {1..3}").Steps[0].Words
	assert.Equal(t, []string{"echo", "abd", "acd", "1", "2", "3"}, []string{words[0].Text, words[1].Text, words[2].Text, words[3].Text, words[4].Text, words[5].Text})
}

func TestChanges(t *testing.T) {
	c := read("cd x; A=1; export B=2; unset C; f() { :; }; set -e; for D in 1; do E=1 ls; done")
	assert.Equal(t, shellcmd.Changes{Dir: true, Vars: []string{"A", "B", "C"}, Functions: []string{"f"}, Options: true}, c.Changes)
	assert.Equal(t, shellcmd.Changes{}, read("X=1 ls; bash -c 'cd y'").Changes)
}

func TestSedEditIsAWholeScript(t *testing.T) {
	c := read(`sed -i 's/one/two/g' a.txt`)
	require.NotNil(t, c.SedEdit)
	assert.Equal(t, shellcmd.SedEdit{Script: "s/one/two/g", File: "a.txt"}, *c.SedEdit)
	got, err := c.SedEdit.Apply("one one\nx\n")
	require.NoError(t, err)
	assert.Equal(t, "two two\nx\n", got)

	c = read(`sed -E -i -e 's/(a)(b)/\2\1/' "dir/f 1"`)
	require.NotNil(t, c.SedEdit)
	assert.Equal(t, shellcmd.SedEdit{Script: `s/(a)(b)/\2\1/`, Extended: true, File: "dir/f 1"}, *c.SedEdit)

	for _, script := range []string{"sed 's/a/b/' f", "sed -i 's/a/b/' f g", "sed -i '1d' f", "sed -i 's/a/b/' f && ls", "sed -i.bak 's/a/b/' f", "sed -i 's/a/b/w x' f",
		`sed -i "s/a/$b/" f`, "sed -i 's/a/b/' *", "sed -i 's/a/b/' f > g", "sed -i 's/a/b/;s/c/d/' f", "sed -n -i 's/a/b/' f", "X=1 sed -i 's/a/b/' f"} {
		assert.Nil(t, read(script).SedEdit, script)
	}
}

func TestGitAndNetwork(t *testing.T) {
	c := read("git -C x add . && git commit -m y && git push; git --version; curl x")
	assert.Equal(t, []string{"add", "commit", "push"}, c.Git)
	assert.True(t, c.Network)
	assert.False(t, read("git log").Network)
}

func TestFailureExit(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
		failed bool
	}{
		{"anything", 0, false}, {"make", 1, true}, {"grep x f", 1, false}, {"grep x f", 2, true}, {"diff a b", 1, false}, {"diff a b", 2, true},
		{"test -f x", 1, false}, {"[ -f x ]", 1, false}, {"[ -f x ]", 2, true}, {"[[ -f x ]]", 1, false}, {"((0))", 1, false}, {"cmp a b", 1, false}, {"find . -name x", 1, false},
		{"rg x", 1, false}, {"cat f | grep x", 1, false}, {"grep x f | cat", 1, true}, {"make && grep x f", 1, false}, {"grep x f && make", 1, true}, {"grep -q x f && echo yes", 1, false},
		{"grep x f || make", 1, true}, {"make; grep x f", 1, false}, {"grep x f; make", 1, true}, {"(grep x f)", 1, false}, {"{ cd y && grep x f; }", 1, false},
		{"if test -f x; then grep y x; fi", 1, false}, {"if grep x f; then make; fi", 1, true}, {"! make", 1, false}, {"! make", 2, true}, {"timeout 5 grep x f", 1, false}, {"timeout 5 grep x f", 124, true},
		{"bash -c 'grep x f'", 1, false}, {"bash -c make", 1, true}, {"ls | xargs grep x", 123, false}, {"ls | xargs rm", 123, true}, {"git diff --exit-code", 1, false}, {"git diff", 1, true},
		{"git grep x", 1, false}, {"command -v foo", 1, false}, {"which foo", 1, false}, {"jq -e .x f", 1, false}, {"jq .x f", 1, true}, {"false", 1, false}, {"exit 3", 3, true}, {"$x", 1, true},
		{"for i in 1; do grep x f; done", 1, false}, {"nosuch", 127, true}, {"LC_ALL=C grep x f", 1, false},
		{"git -C d diff --quiet", 1, false}, {"git --no-pager -c a=b diff --no-index a b", 1, false}, {"git merge-base --is-ancestor a b", 1, false}, {"git merge-base a b", 1, true},
		{"git show-ref --verify x", 1, false}, {"git", 1, true}, {"git -C", 1, true}, {"git grep x", 2, true}, {"x=1", 1, true}, {"case x in y) ;; esac", 1, true}, {"xargs", 123, true},
		{"command", 1, true}, {"command ls", 1, true}, {"command -V x", 1, false}, {"bash -c", 1, true}, {"bash -x f", 1, true}, {"while grep x f; do make; done", 1, true}, {"while make; do grep x f; done", 1, false},
		{"xargs grep x", 1, true}, {"jq -e .x f", 4, false}, {"jq --exit-status .x f", 1, false}, {"jq -e .x f", 2, true}, {"let x=0", 1, false}, {"env A=1 grep x f", 1, false},
	} {
		assert.Equal(t, c.failed, shellcmd.FailureExit(c.script, c.code), "%s -> %d", c.script, c.code)
	}
}

// What xargs appends is below the folders that the command before it goes through, and is
// nothing that is known where that command can print a text of its own, the target of a link,
// or a part of a name.
func TestXargsKnowsWhatMayBePrinted(t *testing.T) {
	for script, want := range map[string]string{
		"find . -name x":                     "/repo",
		"find d -size -5k -o -mtime -7":      "/repo/d",
		"find d -name x -type f":             "/repo/d",
		"find /etc -name x":                  "/etc",
		"find -L /etc -name x":               "/etc",
		"find d e":                           "/repo",
		"find":                               "/repo",
		"find d /etc":                        "",
		"find . -printf '/etc/shadow\\n'":    "",
		"find . -ls":                         "",
		"find . -exec echo /etc/shadow \\;":  "",
		"find . -files0-from f":              "",
		"ls -1 d":                            "/repo",
		"ls -l":                              "",
		"ls -g":                              "",
		"ls /etc/passwd":                     "",
		"ls ../x":                            "",
		"rg -l x":                            "/repo",
		"rg --files --glob='*.go' d":         "/repo",
		"rg -l x /etc":                       "",
		"rg x":                               "",
		"rg -l --hyperlink-format=/etc/x x":  "",
		"fd x -e go":                         "/repo",
		"fd x /etc":                          "",
		"fd -l x":                            "",
		"fd --format=/etc/x":                 "",
		"git ls-files -m --exclude-standard": "/repo",
		"git ls-files ../..":                 "",
		"git ls-files --format=/etc/shadow":  "",
		"git status":                         "",
		"grep -rl /api . --include=*.go":     "/repo",
		"grep -l x /etc/passwd":              "",
		"grep -l x --label=/etc/shadow -":    "",
		"grep -l --label=/etc/shadow x":      "",
		"grep x f":                           "",
		"find . | grep -v x | sort -u":       "/repo",
		"find . | head -n 5 | tail -3":       "/repo",
		"find . | uniq -d | cat | tac":       "/repo",
		"find . | uniq -c":                   "",
		"find . -type f | uniq -dc":          "",
		"find . 2>&1":                        "",
		"find . | grep -o '/etc/.*'":         "",
		"find . | tail -c 12":                "",
		"find . | tac -s x":                  "",
		"find . | grep -l --label=/etc/x y":  "",
		"find . | grep x f":                  "",
		"find . | sort f":                    "",
		"find . | sed s,^,/etc/,":            "",
		"find . | sort > f":                  "",
	} {
		c := read(script + " | xargs cat")
		last := c.Steps[len(c.Steps)-1]
		if want == "" {
			assert.True(t, last.FilesUnknown, script)
			assert.Empty(t, last.Files, script)
			continue
		}
		assert.False(t, last.FilesUnknown, script)
		assert.Equal(t, []shellcmd.File{{Path: want, Glob: true, Tree: true, Links: !strings.Contains(script, "-type f"), Split: true}}, last.Files, script)
	}
}

// What find is asked for, and how xargs is told to read names, decides whether a name may lead elsewhere.
func TestNamesBelowAFolderMayLeadElsewhere(t *testing.T) {
	for script, want := range map[string][]bool{
		"find . -exec cat {} +":                         {true, false},
		"find . -type f -exec cat {} ';'":               {false, false},
		"find . -type f -o -name x -exec cat {} +":      {true, false},
		"find . '!' -type f -exec cat {} +":             {true, false},
		"find . -name f -exec cat {} +":                 {true, false},
		"find -H d -type f -exec cat {} +":              {true, false},
		"find . -type f | xargs cat":                    {false, true},
		"find . -type f | grep -v x | xargs cat":        {false, true},
		"find . -type f -print0 | xargs -0 cat":         {false, false},
		"find . -type f -print0 | xargs -0 -I{} cat {}": {false, false},
		"find . | xargs -I{} cat {}":                    {true, true},
		"ls | xargs -0 cat":                             {true, false},
	} {
		c := read(script)
		files := c.Steps[len(c.Steps)-1].Files
		assert.Equal(t, want, []bool{files[0].Links, files[0].Split}, "%s: links and split", script)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"ls -la", "find . -exec sh -c 'rm {}' \\;", "x='a[$(y)]'; echo $((x))", "sed -n '1,$p' <(cat)", "cat <<-E\n\t$(x)\nE", "awk '{print > f}' \"$@\"", "f() { ${x:-`y`}; } 2>&1", "git -c x=y log |& tee"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := read(s)
		if c.Safe && !c.ReadOnly || c.ReadOnly && c.Err != nil {
			t.Fatalf("%q: %+v", s, c)
		}
		shellcmd.FailureExit(s, 1)
	})
}

func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		read(`cd src && grep -rn "func main" --include='*.go' . | sort | head -20 && sed -n '1,20p' main.go`)
	}
}

// Proving must not become refusing: what people run every day to look around is still
// proved, but for one command whose only word may be an option.
func TestEverydayCommandsAreProved(t *testing.T) {
	text, err := os.ReadFile("testdata/everyday.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var doubtful []string
	for _, line := range lines {
		if !read(line).ReadOnly {
			doubtful = append(doubtful, line)
		}
	}
	assert.Greater(t, len(lines), 200)
	assert.Equal(t, []string{"file *"}, doubtful)
}

// A pattern that is the value of an option may bring further words: options where a file is named so, as
// "+" and "-oPWN" beside sort -T *, and operands in any case.
func TestAPatternMayBringFurtherWords(t *testing.T) {
	for _, script := range []string{"sort -T * f", "sort -t ./* f", "tree -I * .", "rg -g * x", "diff -x *.o a b", "uniq -f 1* f", "date -f ./*", "xxd -c ./* f", "git log -n 1* f"} {
		assert.False(t, read(script).ReadOnly, script)
	}
	for script, want := range map[string][]string{
		"grep -r x --include *.ts src": {"/repo/*.ts", "/repo/src", "/repo/x"}, "grep -r --include a* x": {"/repo", "/repo/a*", "/repo/x"},
		"head -n * f": {"/repo/*", "/repo/f"}, "ls -I a*": {"/repo", "/repo/a*"}, "cut -d ./* f": {"/repo/*", "/repo/f"},
	} {
		s := read(script)
		assert.True(t, s.ReadOnly, script)
		var paths []string
		for _, f := range s.Steps[0].Files {
			paths = append(paths, f.Path)
		}
		slices.Sort(paths)
		assert.Equal(t, want, slices.Compact(paths), script)
	}
	for _, script := range []string{
		"echo x /etc/passwd | xargs tac -s", "ls -a | xargs column -s", "ls | xargs head -n", "find . -exec paste -d {} +", "find . | xargs cut -b",
		"read n < f; head -n $n f", "for n in $(cat f); do tail -n $n f; done", "ls | xargs grep -c x -A", "ls | xargs -n1 fold -w", "ls | xargs sort --key",
		"echo -F .env | xargs pgrep",
	} {
		steps := read(script).Steps
		last := steps[len(steps)-1]
		assert.True(t, last.FilesUnknown || slices.ContainsFunc(last.Files, func(f shellcmd.File) bool { return f.Path != "/repo/f" }), script)
	}
	for _, script := range []string{"n=$(wc -l < f); tail -n $n f", "head -n $N f", "for n in 1 2; do head -n $n f; done", "ls | xargs -I{} head -n {} f"} {
		assert.False(t, slices.ContainsFunc(read(script).Steps, func(st shellcmd.Step) bool { return st.FilesUnknown }), script)
	}
}

// On some systems another program has the name: ugrep that of grep, bat that of cat, jaq that of jq, procs that of ps,
// and pgrep, md5, cksum and uname do more on Android, OpenBSD and illumos. What they write or run with is no reading,
// though a word that is not literal is taken for none of it.
func TestOptionsOfOtherProgramsOfTheNameAreNoReading(t *testing.T) {
	for _, script := range []string{
		"grep --filter='*:touch PWN' x f", "grep --filt '*:touch PWN' x f", "egrep --pager='touch PWN' x f", "grep --view=touch -Q x",
		"fgrep --save-config=PWN x f", "grep --save-config x f", "grep --config=f x f", "grep ---conf x f", "grep --pager=\"$x\" y f", "grep \"--$x\" y f", "jq \"-$x\" f", "grep \"-$x\" y f", "grep --pre ./evil.sh x f",
		"grep -r --hostname-bin=./evil.sh x", "x=--filter; grep $x '*:touch PWN' x f", "grep {--pager=x,y} f",
		"cat --paging=always --pager='touch PWN' f", "cat --lessopen f", "cat --generate-config-file", "cat cache --build", "cat cache --clear",
		"jq -i .a f", "jq -ri .a f", "jq --in-place .a f", "jq --in-p .a f",
		"ps --gen-completion zsh", "pgrep -L9 x", "pgrep -fL 9 x", "md5 -h PWN f", "cksum -qh PWN f", "uname -S x",
	} {
		assert.False(t, read(script).ReadOnly, script)
	}
	for _, script := range []string{
		"grep --files-with-matches x f", "grep --count -P x f", "grep x $(git ls-files)", "git ls-files | xargs grep x", "grep x *", "grep -A$n x f", "grep --include=\"*.$x\" -r y",
		"ps -p$p", "ps -o pid= -p \"$p\"", "base64 -w\"$n\" f", "seq -s- 3",
		"cat *", "cat -A f", "jq -r .a *", "jq --indent 2 . f", "ps -ef", "ps -o pid= -p 1", "pgrep -fl x", "md5 -q f", "cksum *", "uname -a",
	} {
		assert.True(t, read(script).ReadOnly, script)
	}
}

// Since 2.51 an alias may stand for a subcommand that git is about to drop: then it runs whatever the configuration has.
func TestASubcommandThatGitDropsMayBeAnAlias(t *testing.T) {
	for _, script := range []string{"git whatchanged", "git whatchanged -p f", "git -C . whatchanged", "git pack-redundant --all"} {
		s := read(script)
		assert.False(t, s.ReadOnly, script)
		assert.NotEmpty(t, s.Steps[0].Opaque, script)
	}
}

// What stands between quotes in an awk program is text, whatever signs are in it, where nothing else in the program
// could be taken for a quote: a regular expression, a comment or a backslash.
func TestTextInAnAwkProgramIsText(t *testing.T) {
	for _, script := range []string{
		`awk '{print $1 "|" $2}' f`, `awk '{print $1 " -> " $2}' f`, `awk -F: '{print $1 "|" $3}' f`, `awk '{split($0, a, "|"); print a[1]}' f`,
		`awk 'BEGIN{FS="|"; OFS=">"} {print $1, $2}' f`, `awk '{printf "%s -> %s\n", $1, $2}' f`, `awk '{print "<" $1 ">"}' f`, `awk '/a b/{print "a|b"}' f`,
		`awk '{print "\"" $1 "\" | \"" $2}' f`, `awk '{print "the system is " $1}' f`, `awk '{print "a/b", "# > x", "c/d"}' f`, `awk 'NR > 1 {print "> " $0}' f`,
		`awk '{print > "/dev/stderr"}' f`, `awk '/x/{print $1 > "/dev/stderr"; n++} END {printf "%d>", n >"/dev/null"}' f`,
	} {
		assert.True(t, read(script).ReadOnly, script)
	}
	for _, script := range []string{
		`awk '{print "a" > "PWN"}' f`, `awk '{print "a>b" > "PWN"}' f`, `awk '{print "|" | "sh"}' f`, `awk '{"touch PWN" | getline}' f`, `awk '{print "a" |& "sh"}' f`,
		`awk '{system("touch PWN")}' f`, `awk 'BEGIN{getline < "x"}'`, `awk '{x = /"/; print > "PWN" "/"}' f`, `awk '{x = "a" # "
		print "b" > "PWN" # "}' f`, `awk '{print "a\
b" > "PWN" "c"}' f`, `awk '{print "a
b" > "PWN"}' f`, `awk '{print \"a" > "PWN" "b"}' f`, `awk '{print "\\" > "PWN" "\\"}' f`, `awk '{print 4 / 2 "|" 6 / 3 | "sh"}' f`,
		`awk 'BEGIN{f = "system"; @f("touch PWN")}'`, `awk '/"/{print "a" > "PWN"; x = "/"}' f`, `awk '/a/{x = "b"} /"/{print > "PWN"}; "/"' f`, `awk -f "|" f`,
		`awk '{print > "/dev/stderr" x}' f`, `awk '{print > "/dev/stderr" "/x"}' f`, `awk '{print > "/dev/null"; print > "PWN"}' f`, `awk '{print > "/dev/fd/3"}' f`,
	} {
		assert.False(t, read(script).ReadOnly, script)
	}
}

// Beside the words with which a program only shows what is there stand those with which it does more.
func TestWhatIsNearToShowingIsNoShowing(t *testing.T) {
	for _, script := range []string{
		"docker ps --format", "docker ps --format -x", "docker ps --format=", "docker ps -a --filter name=x y", `docker inspect -f "$x" y`, "docker -H tcp://x ps --format y",
		"docker context use x", "docker compose ps", "docker logs -f", "docker logs -f ./x", "systemctl show -p x nginx", "systemctl status nginx --host=x", "systemctl edit nginx",
		"systemctl --user start x", "crontab -", "crontab f", "crontab -l f", "crontab -r", "history -c", "history -w f", "history -p '$(x)'", "shellcheck -x f", "shellcheck --rcfile=x f",
		"git reflog expire", "git reflog delete x", "git reflog -5 expire", "git reflog drop x", "git reflog write x a b c", "git remote show origin", "git remote show -n", "git remote add x y",
		"git diff --color-words --output=PWN", "git log --remerge-diff", "git log --diff-merges=remerge", "git rev-parse --parseopt", "git diff --ext-diff -W", "git shortlog -e --output=x",
		"fd -1x touch", "fd -0X touch", "fd --max-results 5 -x touch", "rg --crlf --pre=x y", "yq -io json f", "yq -o json -i . f", "yq -n 'load(\"f\")'", "strace -V ls",
		"resolvectl flush-caches", "launchctl list -x", "pmset -a sleep 0", "just --version x", "fzf --version --preview x",
		"git rev-parse --show-superproject-working-tree", // for which git lists files in the folder above, as that is configured
		"tree -aLI 2 x", "tree -aLo 2 f", "tree -oL f 2", "unxz f", "bzip2 -k f", "xz -d f", "zstd --rm -c f", "unzstd f", "tmux ls -F x", "docker logs x --tail", "uuidgen -t",
	} {
		assert.False(t, read(script).ReadOnly, script)
	}
	outside := read("rg --ignore-file=/etc/x y")
	assert.Contains(t, outside.Steps[0].Files, shellcmd.File{Path: "/etc/x"})
}

// What some commands print holds no sign of a pattern, so that no shell goes through a folder for it.
func TestWhatPrintsNoPatternLooksThroughNoFolder(t *testing.T) {
	for _, script := range []string{
		"echo $(date)", "echo $(date -u)", "echo $(date -u +%F)", "echo x $(git describe --tags --always)", "echo $(git rev-list --count HEAD)",
		"echo $(git rev-parse --short=8 HEAD)", "for u in $(id -un); do echo x; done",
	} {
		for _, st := range read(script).Steps {
			assert.False(t, st.FilesUnknown, script)
		}
	}
	for _, script := range []string{"echo $(date -d x)", "echo $(git describe --match x)", "echo $(git rev-list HEAD)", "echo $(git rev-list --count '*')", "echo $(date '+*')"} {
		assert.True(t, slices.ContainsFunc(read(script).Steps, func(st shellcmd.Step) bool { return st.FilesUnknown }), script)
	}
}

// A folder that is not written as others write absolute paths, as on Windows, is not known by its variable: it would be taken
// for a name in the folder.
func TestAFolderWithADriveIsNotKnownByItsVariable(t *testing.T) {
	for _, text := range []string{"cat $PWD/f", "cat ~+/f", "cat $HOME/f", "cat ~/f", "cat $(pwd)/f"} {
		for _, st := range shellcmd.Read(text, shellcmd.Env{Dir: "C:/repo", Home: "C:/me"}).Steps {
			assert.True(t, st.FilesUnknown || st.Name == "pwd", text)
		}
	}
}
