package shell_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	simshell "toolbench/sim/shell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestExitCarriesDirectoryAndExportedEnvironment(t *testing.T) {
	got := runWith(t, shellOn(memory(t)), simshell.Command{Script: "cd src; export A=1 B=2; C=3; unset GONE; KEPT=new; exit 4", Env: map[string]string{"GONE": "x", "KEPT": "old"}})
	assert.Equal(t, simshell.Exit{Code: 4, Dir: "/w/src", Env: map[string]string{"A": "1", "B": "2", "KEPT": "new"}}, got.exit)
}

func TestSubshellsAndPipesKeepTheirChangesToThemselves(t *testing.T) {
	got := run(t, memory(t), "(cd src; export A=1); cd docs | cat; echo $(cd src; pwd); export B=2 & pwd")
	assert.Equal(t, "/w/src\n/w\n", got.stdout)
	assert.Equal(t, "/w", got.exit.Dir)
	assert.NotContains(t, got.exit.Env, "A")
	assert.NotContains(t, got.exit.Env, "B")
}

// TestTheHostIsOutOfReach: each script asks for something that exists on the machine and not in memory.
func TestTheHostIsOutOfReach(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("of the host"), 0o644))
	t.Setenv("HOST_VARIABLE", "of the host")
	for script, want := range map[string]string{
		"cat " + secret:                           "",
		"cat < " + secret:                         "",
		"echo \"$(< " + secret + ")\"":            "\n",
		". " + secret:                             "",
		"source " + secret:                        "",
		"[ -e " + secret + " ] && echo there":     "",
		"[[ -e " + secret + " ]] && echo there":   "",
		"ls " + filepath.Dir(secret):              "",
		"echo " + filepath.Dir(secret) + "/*":     filepath.Dir(secret) + "/*\n",
		"cd " + filepath.Dir(secret) + " && pwd":  "",
		"echo \"[$HOST_VARIABLE]\"":               "[]\n",
		"env | grep HOST_VARIABLE":                "",
		"type go; command -v go; which go":        "",
		"go version":                              "",
		"/bin/sh -c 'cat " + secret + "'":         "",
		"grep . " + secret:                        "",
		"sed -n p " + secret:                      "",
		"head " + secret:                          "",
		"echo ~root":                              "/root\n",
		"echo ~daemon":                            "~daemon\n",
		"pwd -P":                                  "/w\n",
		"echo $UID $$ $PPID":                      "1000 1000 1\n",
		"echo $HOSTNAME $UID":                     "localhost 1000\n",
		"exec /bin/ls /etc":                       "",
		"cat /etc/passwd":                         "",
		"find / -name passwd":                     "",
		"[[ -O a.txt && -G a.txt ]] && echo mine": "mine\n",
		"[[ -t 0 || -t 1 ]] || echo no terminal":  "no terminal\n",
		"trap 'cat " + secret + "' EXIT":          "",
		"bash " + secret:                          "",
		secret:                                    "",
	} {
		got := run(t, memory(t), script)
		require.NoError(t, got.err, script)
		assert.Equal(t, want, got.stdout, script)
		assert.NotContains(t, got.stderr, "internal error", script)
	}
}

func TestWritingStaysInMemory(t *testing.T) {
	dir := t.TempDir()
	mem := memory(t)
	require.NoError(t, mem.MkdirAll(dir, 0o755))
	require.NoError(t, mem.MkdirAll(os.TempDir(), 0o755))
	fifo := filepath.Join(os.TempDir(), "sh-interp-"+filepath.Base(dir))
	got := run(t, mem, "cd "+dir+" && echo x > f && mkdir d && touch t && cp f g && echo y > "+fifo+" && ls && cat "+fifo)
	assert.Equal(t, "d\nf\ng\nt\ny\n", got.stdout, got.stderr)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.NoFileExists(t, fifo)
}

func TestErrorsBeforeAnythingRuns(t *testing.T) {
	for script, want := range map[string]error{
		"touch new; echo 'x":                   simshell.ErrSyntax,
		"touch new; if true":                   simshell.ErrSyntax,
		"touch new; ls > >(cat)":               simshell.ErrUnsupported,
		"touch new; echo {1..999999999}":       simshell.ErrUnsupported,
		"touch new; coproc cat":                simshell.ErrUnsupported,
		"touch new; cat 3< a.txt":              simshell.ErrUnsupported,
		"touch new; select x in a; do :; done": simshell.ErrUnsupported,
		"touch new; " + strings.Repeat("(", 5000) + strings.Repeat(")", 5000): simshell.ErrSyntax,
	} {
		mem := memory(t)
		got := run(t, mem, script)
		assert.ErrorIs(t, got.err, want, script)
		assert.NotZero(t, got.exit.Code, script)
		exists, err := afero.Exists(mem, "/w/new")
		require.NoError(t, err)
		assert.False(t, exists, script)
	}
	_, err := shellOn(memory(t)).Run(t.Context(), simshell.Command{Script: "ls", Dir: "/nowhere"})
	assert.ErrorContains(t, err, "/nowhere")
}

// Commands that read all of their input before they write come to an end on a device that has none.
func TestEndlessInputEnds(t *testing.T) {
	for _, script := range []string{"wc -c < /dev/zero", "sort /dev/urandom", "x=$(head -n 1 /dev/zero)", "sed -n 1p /dev/zero", "mapfile -t a < /dev/zero", "diff /dev/zero /dev/zero"} {
		got := runWith(t, limitedShell(t), simshell.Command{Script: script})
		require.NoError(t, got.err, script)
		assert.Contains(t, got.stderr, "was cut off", script)
	}
	got := run(t, memory(t), "head -c 4 /dev/zero | wc -c")
	assert.Equal(t, "4\n", got.stdout)
	assert.Empty(t, got.stderr)
}

func TestEndlessOutputEnds(t *testing.T) {
	for _, c := range []struct {
		script, out string
		code        int
	}{
		{"yes | head -2", "y\ny\n", 0},
		{"while true; do echo x; done | head -2", "x\nx\n", 0},
		{"cat /dev/zero | head -c 3 | wc -c", "3\n", 0},
		{"echo $(yes | head -1)", "y\n", 0},
		{"yes | tail -1 > last; cat last", "y\n", 0},
	} {
		got := runWith(t, limitedShell(t), simshell.Command{Script: c.script})
		require.NoError(t, got.err)
		assert.Equal(t, c.out, got.stdout, c.script)
		assert.Equal(t, c.code, got.exit.Code, c.script)
	}
	got := runWith(t, limitedShell(t), simshell.Command{Script: "yes; echo never"})
	assert.Equal(t, 141, got.exit.Code)
	assert.Len(t, got.stdout, 64<<10)
	got = runWith(t, limitedShell(t), simshell.Command{Script: "yes > f; wc -c < f"})
	assert.Equal(t, 0, got.exit.Code)
}

func TestAScriptThatNeverEndsIsStopped(t *testing.T) {
	for _, script := range []string{"while true; do :; done", "while [[ 1 ]]; do ((i++)); done", "for ((;;)); do x=1; done", "until false; do true; done", ":(){ :|:& };:", "f() { f | f; }; f", "f() { f; }; f; echo never", "x='eval \"$x\"'; eval \"$x\"; echo never", "echo '. ./s' > s; . ./s", "f() { eval f; }; f",
		"sh -c 'while :; do :; done'; echo never", "while :; do (exit 1); done", "while sh -c :; do :; done", "x=$(while :; do :; done); echo never", "while :; do x=$(echo a | cat); done | cat"} {
		s := limitedShell(t)
		s.MaxSteps = 20_000
		got := runWith(t, s, simshell.Command{Script: script})
		assert.ErrorIs(t, got.err, simshell.ErrRunaway, script)
		assert.Empty(t, got.stdout, script)
	}
}

// A value that doubles fills no memory: the script ends with an error that says where.
func TestAValueThatGrowsEndsTheScript(t *testing.T) {
	for _, script := range []string{
		"x=aaaaaaaa; for i in {1..60}; do x=$x$x; done; echo never", "x=a; while :; do x+=$x; done", "x=a; while [[ -n $x ]]; do x=\"$x $x\"; done", "x=a; while :; do x+=aaaaaaaaaaaaaaaa; done",
		"x=a; f() { local y=$1$1; f \"$y\"; }; f aaaaaaaa; echo never", "x=a; while :; do declare x=$x$x; done", "x=(a); while :; do x=(\"${x[@]}\" \"${x[@]}\"); done", "x=a; while :; do export x=$x$x; done",
		"set -- aaaa; while :; do set -- \"$@\" \"$@\"; done", "x=aaaa; while :; do printf -v x '%s%s' \"$x\" \"$x\"; done",
		"x=a; while :; do x=$x$(echo $x)$x; done", "x=aaaa; while :; do x=${x//a/$x}; done", "sh -c 'x=a; while :; do x=$x$x; done'; echo never", "x=$(x=a; while :; do x=$x$x; done); echo never",
		"x=a; for i in {1..15}; do x=$x$x; done; echo " + strings.Repeat("$x", 300),
	} {
		s := limitedShell(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := runWith(t, s, simshell.Command{Script: script})
		runtime.ReadMemStats(&after)
		assert.ErrorIs(t, got.err, simshell.ErrTooLarge, script)
		assert.ErrorContains(t, got.err, "line 1", script)
		assert.Empty(t, got.stdout, script)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20), script)
	}
	got := runWith(t, limitedShell(t), simshell.Command{Script: "x=aaaa; for i in {1..5}; do x=$x$x; done; false; y=$?$x; echo ${#x} ${#y} ${x//aaaa/$y} | wc -c; false || z=$x; echo $?"})
	assert.NoError(t, got.err)
	assert.Equal(t, "4137\n0\n", got.stdout)
}

func TestFunctionsMayNestAndRedirect(t *testing.T) {
	got := run(t, memory(t), "f() { [ $1 -gt 0 ] && f $(($1 - 1)) || echo bottom; }; f 300; g() { cat; } < b.txt; g; log() { exec > out; }; log; echo logged; eval 'exec 2>&1'; ls nofile")
	assert.NoError(t, got.err)
	assert.Equal(t, "bottom\ntwo\nfour\nsix\n", got.stdout)
	assert.Empty(t, got.stderr)
}

func limitedShell(t *testing.T) simshell.Shell {
	s := shellOn(memory(t))
	s.MaxOutput = 64 << 10
	return s
}

func TestACutPipeIsSaidAloudOnlyIfItMatters(t *testing.T) {
	assert.Empty(t, runWith(t, limitedShell(t), simshell.Command{Script: "yes | head -1"}).stderr)
	assert.Contains(t, runWith(t, limitedShell(t), simshell.Command{Script: "yes | wc -l"}).stderr, "cut off at 65536 bytes")
}

func TestSameScriptSameOutput(t *testing.T) {
	script := "echo $RANDOM $((RANDOM % 7)) $(echo $RANDOM); head -c 4 /dev/urandom | cat -A; for k in a b; do echo $k & done; wait"
	first := run(t, memory(t), script)
	for range 5 {
		assert.Equal(t, first, run(t, memory(t), script))
	}
}

func TestTimesComeFromTheShellsClock(t *testing.T) {
	mem := memory(t)
	s := shellOn(mem)
	s.Now = func() time.Time { return time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC) }
	got := runWith(t, s, simshell.Command{Script: "echo x > new; mkdir d; date +%F; date -r new; date -r d; find . -newer a.txt | sort; ls -l new"})
	assert.Equal(t, "2030-05-06\nMon May  6 07:08:09 UTC 2030\nMon May  6 07:08:09 UTC 2030\n./d\n./new\n-rw-r--r-- 1 user user 2 May  6 07:08 new\n", got.stdout)
}

// broken is a filesystem on which opening files panics.
type brokenFs struct{ afero.Fs }

func (brokenFs) Open(string) (afero.File, error) { panic("disk on fire") }

func TestAPanicIsAnExitCode(t *testing.T) {
	got := run(t, brokenFs{memory(t)}, "cat a.txt; echo $?; echo after")
	assert.NoError(t, got.err)
	assert.Equal(t, "2\nafter\n", got.stdout)
	assert.Contains(t, got.stderr, "cat: internal error: disk on fire")
	got = run(t, brokenFs{memory(t)}, "cat < a.txt")
	assert.Equal(t, 2, got.exit.Code)
	assert.Contains(t, got.stderr, "disk on fire")
}

func TestFilesystemErrorsAreReported(t *testing.T) {
	got := run(t, afero.NewReadOnlyFs(memory(t)), "echo x > f; echo $?; rm a.txt; echo $?; sed -i s/o/0/ a.txt; echo $?; mkdir d; cp a.txt c; touch a.txt; cat a.txt | head -1")
	assert.Equal(t, "1\n1\n4\none\n", got.stdout)
	assert.Equal(t, 6, strings.Count(got.stderr, "\n"), got.stderr)
}

func TestUnsupportedOptionsAreRefused(t *testing.T) {
	for _, name := range simshell.Names() {
		switch name {
		case "true", "false", "echo", "test", "[", "printf", "yes", "whoami", "hostname", "id", "uname", "git", "nohup", "kill", "find", "sleep", "timeout", "env", "xargs", "time":
			continue // take any words, or have exit codes of their own
		}
		got := run(t, memory(t), name+" --no-such-option a.txt b.txt")
		assert.Equal(t, 2, got.exit.Code, "%s: %s", name, got.stderr)
		assert.Contains(t, got.stderr, "no-such-option", name)
	}
	got := run(t, memory(t), "grep -P x a.txt; git status; find . -ok rm {} \\;; sed -n '/\\(a\\)\\1/p' a.txt; tail -f a.txt; ln a.txt b")
	assert.Equal(t, 6, strings.Count(got.stderr, "\n"), got.stderr)
}

// What a real machine has and this shell does not is as missing as any other command, and says so.
func TestAUtilityThatIsLeftOutIsNotFound(t *testing.T) {
	got := run(t, memory(t), "awk '{print $1}' words; echo $?; nosuch; grep -P x a.txt; sort --parallel=2 nums; find . -mtime 1; ls -Z")
	assert.Equal(t, "127\n", got.stdout)
	assert.Equal(t, []string{
		"bash: line 1: awk: command not found (the in-process shell does not have it)",
		"bash: line 1: nosuch: command not found",
		"grep: invalid option -- 'P' (the in-process shell does not have it)",
		"sort: unrecognized option '--parallel' (the in-process shell does not have it)",
		"find: unknown predicate `-mtime' (the in-process shell does not have it)",
		"ls: invalid option -- 'Z' (the in-process shell does not have it)",
	}, strings.Split(strings.TrimSpace(got.stderr), "\n"))
}

func TestLinksWorkWhereTheFilesystemHasThem(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	got := runWith(t, shellOn(afero.NewOsFs()), simshell.Command{Dir: dir, Script: "echo body > f; ln -s f l; ln -s d ld; cat l; ls -F; ls -l l | cut -d'>' -f2; [ -L l ] && echo link; find . -type l | sort; ln -s f l; echo $?; rm l; cat f; cp -r ld x; ls -l ld | cut -c1"})
	assert.Equal(t, "body\nd/\nf\nl@\nld@\n f\nlink\n./l\n./ld\n1\nbody\nl\n", got.stdout, got.stderr)
	without := afero.NewMemMapFs()
	require.NoError(t, without.MkdirAll("/w", 0o755))
	got = run(t, without, "ln -s a.txt l")
	assert.Equal(t, 1, got.exit.Code)
}

// slow is a reader that counts what is taken from it.
type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

func TestStandardInputIsReadOnlyWhenAskedFor(t *testing.T) {
	in := &counting{Reader: strings.NewReader("line\n")}
	runWith(t, shellOn(memory(t)), simshell.Command{Script: "echo x | cat; ls < a.txt; true & wait", Stdin: in})
	assert.Zero(t, in.n)
	runWith(t, shellOn(memory(t)), simshell.Command{Script: "read x", Stdin: in})
	assert.Equal(t, 5, in.n)
}

func TestSleepErrorThatIsNoCancellation(t *testing.T) {
	s := shellOn(memory(t))
	s.Sleep = func(context.Context, time.Duration) error { return errors.New("clock broke") }
	got := runWith(t, s, simshell.Command{Script: "sleep 1; echo $?"})
	assert.NoError(t, got.err)
	assert.Equal(t, "124\n", got.stdout)
}
