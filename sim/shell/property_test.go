package shell_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
	simworld "toolbench/sim/world"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	simshell "toolbench/sim/shell"
	"toolbench/toolsys/shellcmd"
)

// TestReadOnlyLeavesTheFilesystemAlone holds what the scheduler relies on: whatever Classify calls read-only
// changes nothing when it runs. The generated scripts join harmless and harmful commands, options and
// constructions, so that a wrong yes would be caught in the act.
func TestReadOnlyLeavesTheFilesystemAlone(t *testing.T) {
	readOnly, harmful := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		script := generate(t, 3)
		watchdog := time.AfterFunc(20*time.Second, func() { panic("runs for ever: " + script) })
		defer watchdog.Stop()
		c := shellcmd.Read(script, shellcmd.Env{Dir: "/w", Home: "/w"})
		if !c.ReadOnly {
			harmful++
			return
		}
		readOnly++
		mem := world(t)
		before := snapshot(t, mem)
		shell := shellOn(mem)
		shell.Now = func() time.Time { return epoch.Add(time.Hour) }
		shell.MaxOutput, shell.MaxSteps = 64<<10, 2000
		exit, err := shell.Run(t.Context(), simshell.Command{Script: script, Dir: "/w", Env: map[string]string{"HOME": "/w", "X": "x", "F": "a.txt", "S": " -oc"}, Stdin: strings.NewReader("a.txt\nb.txt\n")})
		if !errors.Is(err, simshell.ErrRunaway) { // f in f
			require.NoError(t, err, script)
		}
		require.Equal(t, before, snapshot(t, mem), script)
		if c.Safe && err == nil {
			require.Equal(t, "/w", exit.Dir, script)
			require.Equal(t, map[string]string{"HOME": "/w", "X": "x", "F": "a.txt", "S": " -oc"}, exit.Env, script)
		}
	})
	t.Logf("%d scripts were read-only and ran, %d were not", readOnly, harmful)
	require.Positive(t, readOnly)
	require.Positive(t, harmful)
}

// TestHarmIsReal keeps the test above honest: its harmful pieces do change the filesystem when they run.
func TestHarmIsReal(t *testing.T) {
	for _, script := range harms {
		mem := world(t)
		before := snapshot(t, mem)
		shell := shellOn(mem)
		shell.Now = func() time.Time { return epoch.Add(time.Hour) }
		_, err := shell.Run(t.Context(), simshell.Command{Script: script, Dir: "/w", Env: map[string]string{"F": "a.txt", "X": "x", "S": " -oc"}})
		require.NoError(t, err, script)
		require.NotEqual(t, before, snapshot(t, mem), script)
	}
	for _, script := range slices.Concat(harms, foreignHarms) {
		require.False(t, shellcmd.Read(script, shellcmd.Env{Dir: "/w", Home: "/w"}).ReadOnly, script)
	}
}

// harms are commands that change files.
var harms = []string{
	"rm a.txt", "touch a.txt", "mkdir new", "mv a.txt c", "cp a.txt c", "sed -i s/o/0/ a.txt", "sed --in-place=.b s/o/0/ a.txt", "sed -ni p a.txt", "sed 's/o/0/w out' a.txt", "sed -n 'w out' a.txt",
	"sort -o a.txt b.txt", "sort -ro a.txt b.txt", "sort --output=c b.txt", "sort --ou=c b.txt", "sort b.txt -o c", "sort $'-o' c a.txt", "sort \\-oc a.txt", "sort {-oc,a.txt}", "sort a.txt$S", "sort \"a.txt\"$S", "sort a.*$S", "sort *oc a.txt", "uniq a.txt c", "tee c", "tee -a a.txt <<< x", "find . -name a.txt -delete", "find . -name a.txt -exec rm {} \\;",
	"find . -name a.txt -exec rm {} +", "echo a.txt | xargs rm", "echo -oc a.txt | xargs sort", "echo -oc | xargs -I{} sort {} a.txt", "echo a.txt | xargs -I{} mv {} c", "echo a.txt | xargs sh -c 'rm $0'",
	"env A=1 rm a.txt", "timeout 5 rm a.txt",
	"bash -c 'rm a.txt'", "sh -c \"rm $F\"", "eval 'rm a.txt'", "command rm a.txt", "echo x > c", "echo x >> a.txt", ": > a.txt", "ls nofile 2> c", "ls &> c", "cat <<< x > c", "{ ls; } > c", "f() { rm a.txt; }; f",
	"rm $F", "$(echo rm) a.txt", "echo $(rm a.txt)", "echo ${NO:-$(rm a.txt)}", "cat <(rm a.txt)", "trap 'rm a.txt' EXIT", "if true; then rm a.txt; fi",
	"ls() { rm a.txt; }; ls", "tree -o c . ; touch c", "V='rm a.txt'; $V", "set -- rm a.txt; \"$@\"", "exec rm a.txt", "echo 'rm a.txt' | sh", "sh <<< 'rm a.txt'", "./run.sh; rm a.txt", "echo 'rm a.txt' > s; . ./s",
}

// foreignHarms are others, by what a real machine has and this shell does not: property/fuzz runs their like.
var foreignHarms = []string{
	"find . -name b.txt -execdir touch new \\;", "awk '{print > \"c\"}' a.txt", "awk '{print >> FILENAME}' a.txt", "awk 'BEGIN {system(\"rm a.txt\")}'", "awk '{print | \"cat > c\"}' a.txt", "awk 'BEGIN {\"rm a.txt\" | getline}'", "nohup rm a.txt",
	"chmod 600 a.txt", "mktemp -p .", "rmdir void",
}

func harmfulLess(list []string, drop string) []string {
	var out []string
	for _, s := range list {
		if !strings.Contains(s, drop) {
			out = append(out, s)
		}
	}
	return out
}

// The words that options and operands are taken from: harmless ones, and all that ever writes.
var (
	commands = []string{"ls", "cat", "head", "tail", "grep", "rg", "sort", "uniq", "wc", "cut", "tr", "sed", "awk", "find", "xargs", "env", "timeout", "sh", "tee", "date", "echo", "printf", "test", "stat", "du", "tree", "file",
		"diff", "comm", "paste", "jq", "sleep", "basename", "realpath", "read", "cd", "export", "command", "bash", "rm", "touch", "cp", "nl", "eval", "time", "expr", "md5sum", "base64", "git", "trap", "unset", "nohup"}
	arguments = []string{"a.txt", "b.txt", "src", ".", "-n", "-i", "-o", "-c", "-e", "-r", "-u", "-w", "-v", "-d", "-f", "-k2", "-t,", "-s", "-a", "-l", "-1", "-delete", "-exec", "rm", "{}", "\\;", "+", "-name", "'*.txt'", "-type", "f", "-I{}", "-n1", "-0", "-print",
		"--output=c", "--in-place", "-ni", "-in", "-ro", "'s/o/0/'", "'s/o/0/w c'", "'1,2p'", "p", "'w c'", "'{print}'", "'{print > \"c\"}'", "'BEGIN {system(\"rm a.txt\")}'", "'.'", "$F", "\"$F\"", "$X", "\"$(cat b.txt)\"", "$(echo -o)", "*", "*.txt", "./*.txt", "a{.txt,b}",
		"--", "'rm a.txt'", "'cat a.txt'", "A=1", "PATH=.", "x", "5", "2", "o", "c", "-oc", "\"-o\"", "\\-o", "-x", "+%F", "/dev/null", "-C", "-p", "-vx", "-A1", "EXIT", "-fprint", "-printf", "'%p'", "-files0-from=x", "-m1", "-E", "-g", "-q", "<(cat a.txt)", "a.txt$S", "\"a.txt$S\"", "${S}", "./*$S"}
	redirections = []string{"> /dev/null", "2>&1", "2>/dev/null", "> c", ">> a.txt", "< a.txt", "<<< x", "&> c", ">| c", "< nofile", "2> c", "<<E\nbody $(cat b.txt)\nE\n", "<<'E'\n$(rm a.txt)\nE\n", "> $F", "> \"/dev/null\""}
)

func pick(t *rapid.T, list []string, label string) string {
	return rapid.SampledFrom(list).Draw(t, label)
}

// generate draws a script.
func generate(t *rapid.T, depth int) string {
	if depth == 0 {
		return simple(t)
	}
	sub := func() string { return generate(t, depth-1) }
	switch rapid.IntRange(0, 15).Draw(t, "form") {
	case 0:
		return sub() + " | " + sub()
	case 1:
		return sub() + " && " + sub()
	case 2:
		return sub() + "\n" + sub()
	case 3:
		return "( " + sub() + " )"
	case 4:
		return "for i in a.txt b.txt; do " + sub() + "\ndone"
	case 5:
		return "if " + sub() + "\nthen " + sub() + "\nfi"
	case 6:
		return "echo \"$(" + sub() + "\n)\""
	case 7:
		return "f() { " + sub() + "\n}\nf"
	case 8:
		return "{ " + sub() + "\n}" + maybe(t, redirections)
	case 9:
		return "! " + simple(t)
	case 10:
		return pick(t, []string{"timeout 5 ", "env ", "xargs ", "nohup ", "command ", "time ", "exec ", "A=1 ", "sh -c ", "find . -name a.txt -exec "}, "wrapper") + simple(t) + pick(t, []string{"", " \\;", " {} +"}, "end")
	case 11:
		return "while read -r l; do " + sub() + "\ndone < b.txt"
	default:
		return simple(t)
	}
}

func maybe(t *rapid.T, list []string) string {
	if rapid.IntRange(0, 3).Draw(t, "some") > 0 {
		return ""
	}
	return " " + pick(t, list, "redirection")
}

func simple(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "harm") == 0 {
		return pick(t, harmfulLess(slices.Concat(harms, foreignHarms), "\n"), "harm")
	}
	parts := []string{pick(t, commands, "command")}
	for range rapid.IntRange(0, 4).Draw(t, "arguments") {
		parts = append(parts, pick(t, arguments, "argument"))
	}
	return strings.Join(parts, " ") + maybe(t, redirections)
}

// world is a small tree with names that look like options.
func world(t require.TestingT) afero.Fs {
	mem := simworld.NewFS(simworld.FSConfig{})
	require.NoError(t, mem.MkdirAll("/w/src", 0o755))
	for name, body := range map[string]string{"/w/a.txt": "one\ntwo\nfoo\n", "/w/b.txt": "two\na.txt\n", "/w/src/c.txt": "three\n", "/w/-oc": "named like an option\n", "/w/run.sh": "echo hi\n"} {
		require.NoError(t, afero.WriteFile(mem, name, []byte(body), 0o755))
		require.NoError(t, mem.Chtimes(name, epoch, epoch))
	}
	require.NoError(t, mem.MkdirAll("/w/void", 0o755))
	return mem
}

func snapshot(t require.TestingT, mem afero.Fs) string {
	var b strings.Builder
	require.NoError(t, afero.Walk(mem, "/", func(name string, info fs.FileInfo, err error) error {
		require.NoError(t, err)
		body := []byte(nil)
		if !info.IsDir() {
			if body, err = afero.ReadFile(mem, name); err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s %v %v ", name, info.Mode(), info.ModTime().Unix())
		}
		fmt.Fprintf(&b, "%s %q\n", name, body)
		return nil
	}))
	return b.String()
}
