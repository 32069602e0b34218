package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/cmd/toolbench/cli"
	_ "toolbench/property/seeded"
	"toolbench/reports"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

// bench has n scenarios; the verdict of each is given by its number.
func bench(n int, status func(i int) check.Status) cli.Bench {
	b := cli.Scenarios()
	b.Suite = fstest.MapFS{}
	b.Find = func(fs.FS, ...string) ([]cli.Case, []error) {
		var cases []cli.Case
		for i := range n {
			name := fmt.Sprintf("case-%03d", i)
			cases = append(cases, cli.Case{Name: name, File: name + ".yaml", Run: func(_ context.Context, o run.Options) check.Result {
				out := check.Result{Name: name, Status: status(i), Seed: o.Seed}
				if out.Status == check.Failed {
					out.Failures = []check.Failure{{Expectation: "x"}}
				}
				return out
			}})
		}
		return cases, nil
	}
	return b
}

// printed is all that a command line prints.
func printed(t *testing.T, args ...string) string {
	var out bytes.Buffer
	cli.Main(context.Background(), cli.Process{Args: args, Stdout: &out, Stderr: &out, Dir: t.TempDir()}, bench(1, pass))
	return out.String()
}

// commands are the names of those that the help lists.
func commands(t *testing.T) (names []string) {
	for _, found := range regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`).FindAllStringSubmatch(printed(t, "--help"), -1) {
		names = append(names, found[1])
	}
	require.Greater(t, len(names), 25)
	return names
}

// Each short form that a help lists can be written.
func TestShortFormsOfHelpAreTaken(t *testing.T) {
	for _, command := range commands(t) {
		for _, short := range regexp.MustCompile(`(?m)^  (-[a-zA-Z]), --`).FindAllStringSubmatch(printed(t, command, "--help"), -1) {
			// The first unknown flag is the value of a flag that takes one.
			assert.NotContains(t, printed(t, command, short[1], "--nosuch", "--nosuch"), "unknown shorthand", "%s %s", command, short[1])
		}
	}
}

// What help explains fits a terminal of the usual width as it was written, also where nothing is folded.
func TestHelpFitsTheUsualWidth(t *testing.T) {
	for _, command := range append(commands(t), "") {
		text, _, ok := strings.Cut(printed(t, strings.Fields(command+" --help")...), "\nFlags:")
		require.True(t, ok, command)
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, reports.Width(strings.TrimSuffix(line, "\n")), 80, "%s: %s", command, line)
		}
	}
}

func pass(int) check.Status { return check.Passed }

// names runs a command line with a JSON report and gives the scenarios in it.
func names(t require.TestingT, b cli.Bench, args ...string) (list []string, code int) {
	var out, errs bytes.Buffer
	code = cli.Main(context.Background(), cli.Process{Args: append(args, "--format", "json"), Stdout: &out, Stderr: &errs}, b)
	var report struct{ Outcomes []struct{ Name string } }
	require.NoError(t, json.Unmarshal(out.Bytes(), &report), errs.String())
	for _, o := range report.Outcomes {
		list = append(list, o.Name)
	}
	return list, code
}

func TestEachScenarioRunsInExactlyOneShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, parts := rapid.IntRange(1, 30).Draw(t, "scenarios"), rapid.IntRange(1, 9).Draw(t, "parts")
		b := bench(total, pass)
		all, _ := names(t, b, "run")
		var together []string
		for i := range parts {
			share, _ := names(t, b, "run", "--shard", fmt.Sprintf("%d/%d", i+1, parts))
			assert.InDelta(t, float64(total)/float64(parts), len(share), 1, "shares are even")
			together = append(together, share...)
		}
		assert.ElementsMatch(t, all, together)
	})
}

func TestFailFastEndsAtTheFirstInOrderForAnyNumberOfJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		failing := rapid.SliceOfN(rapid.Bool(), 1, 20).Draw(t, "failing")
		b := bench(len(failing), func(i int) check.Status {
			if failing[i] {
				return check.Failed
			}
			return check.Passed
		})
		want, wantCode := len(failing), cli.ExitHeld
		for i, f := range failing {
			if f {
				want, wantCode = i+1, cli.ExitFailed
				break
			}
		}
		got, code := names(t, b, "run", "-x", "-j", fmt.Sprint(rapid.IntRange(1, 8).Draw(t, "jobs")))
		assert.Len(t, got, want)
		assert.Equal(t, wantCode, code)
	})
}

func TestFailFastIsNotMovedBackByALaterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bench(3, func(i int) check.Status {
			time.Sleep(time.Duration(i+1) * time.Second) // the first fails while the others run
			return check.Failed
		})
		got, _ := names(t, b, "run", "-x", "-j", "3")
		assert.Equal(t, []string{"case-000"}, got)
	})
}

func TestAsManyAsJobsRunAtOnceAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		b := bench(20, func(int) check.Status {
			now := running.Add(1)
			old := most.Load()
			for now > old && !most.CompareAndSwap(old, now) {
				old = most.Load()
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return check.Passed
		})
		began := time.Now()
		names(t, b, "run", "-j", "3")
		assert.Equal(t, int64(3), most.Load())
		assert.Equal(t, 7*time.Second, time.Since(began), "20 of a second each, three at once")
	})
}

func TestAPanicAnywhereIsAnExitCodeAndNoStack(t *testing.T) {
	b := bench(1, pass)
	b.Find = func(fs.FS, ...string) ([]cli.Case, []error) { panic("no such luck") }
	var errs bytes.Buffer
	p := cli.Process{Args: []string{"run"}, Stdout: io.Discard, Stderr: &errs}
	assert.Equal(t, cli.ExitHarness, cli.Main(context.Background(), p, b))
	assert.Contains(t, errs.String(), "internal error: no such luck")
	assert.NotContains(t, errs.String(), "goroutine")

	p.Env = []string{"TOOLBENCH_DEBUG=1"}
	assert.Equal(t, cli.ExitHarness, cli.Main(context.Background(), p, b))
	assert.Contains(t, errs.String(), "goroutine")
}

func TestNothingAScenarioIsCalledReachesTheTerminal(t *testing.T) {
	b := bench(1, pass)
	b.Find = func(fs.FS, ...string) ([]cli.Case, []error) {
		return []cli.Case{{Name: "a\x1b[2Jb", About: "x\u202ey", Tags: []string{"t\rt"}, File: "f",
			Run: func(context.Context, run.Options) check.Result {
				return check.Result{Name: "a\x1b[2Jb", Status: check.Errored, Err: fmt.Errorf("e\x1b]0;x\a")}
			}}}, nil
	}
	for _, args := range [][]string{{"list"}, {"list", "--format", "json"}, {"run"}, {"run", "-v"}, {"run", "nob\x1b[2Jdy"}} {
		var out bytes.Buffer
		cli.Main(context.Background(), cli.Process{Args: args, Stdout: &out, Stderr: &out}, b)
		for _, bad := range []string{"\x1b", "\u202e", "\r", "\a"} {
			assert.NotContains(t, out.String(), bad, "%q", args)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAReportThatCannotBeWrittenIsAFailureOfTheHarness(t *testing.T) {
	for _, args := range [][]string{{"run"}, {"run", "-v"}, {"run", "--format", "json"}, {"list"}, {"schema", "run"}, {"version"}} {
		var errs bytes.Buffer
		code := cli.Main(context.Background(), cli.Process{Args: args, Stdout: full{}, Stderr: &errs}, bench(2, pass))
		assert.Equal(t, cli.ExitHarness, code, args)
		assert.Contains(t, errs.String(), "no space left on device")
	}
}

func TestAnInterruptedRunKeepsWhatEnded(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	b := bench(5, func(i int) check.Status {
		if i == 2 {
			stop()
		}
		return check.Passed
	})
	var out, errs bytes.Buffer
	code := cli.Main(ctx, cli.Process{Args: []string{"run", "-j", "1"}, Stdout: &out, Stderr: &errs}, b)
	assert.Equal(t, cli.ExitInterrupted, code)
	assert.Contains(t, out.String(), "3 passed")
	assert.Contains(t, errs.String(), "interrupted: 3 of 5 scenarios ran")
}

// A comparison of recordings that were replayed in part would be one of something else.
func TestAnInterruptedComparisonShowsNothing(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	dir := t.TempDir()
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(`{"type":"message","id":"m","role":"assistant","content":[{"type":"text","text":"Done."}]}`+"\n"), 0o600))
	}
	var out, errs bytes.Buffer
	code := cli.Main(ctx, cli.Process{Args: []string{"compare", "a.jsonl", "b.jsonl"}, Stdout: &out, Stderr: &errs, Dir: dir}, bench(0, pass))
	assert.Equal(t, cli.ExitInterrupted, code)
	assert.Empty(t, out.String())
	assert.Contains(t, errs.String(), "interrupted: 0 of 1 files were replayed")
}

func BenchmarkRunOf1000(b *testing.B) {
	suite := bench(1000, pass)
	p := cli.Process{Args: []string{"run", "--format", "json"}, Stdout: io.Discard, Stderr: io.Discard}
	for b.Loop() {
		if code := cli.Main(context.Background(), p, suite); code != cli.ExitHeld {
			b.Fatal(code)
		}
	}
}

// A scenario that is named, or stands on the disk, is read without the other 500.
func TestOneScenarioIsReadWithoutTheSuite(t *testing.T) {
	b := cli.Scenarios()
	read := 0
	whole := b.Find
	b.Find = func(fsys fs.FS, paths ...string) ([]cli.Case, []error) {
		cases, errs := whole(fsys, paths...)
		read += len(cases) + len(errs)
		return cases, errs
	}
	for arg, want := range map[string]int{"partition-headline": 1, "must-fail-calls/loose-order": 80, "../../../docs/samples/greet.yaml": 1} {
		read = 0
		var out, errs bytes.Buffer
		assert.Equal(t, cli.ExitHeld, cli.Main(t.Context(), cli.Process{Args: []string{"list", arg}, Dir: ".", Stdout: &out, Stderr: &errs}, b), errs.String())
		assert.Contains(t, out.String(), strings.TrimSuffix(filepath.Base(arg), ".yaml"))
		assert.Greater(t, read, 0, arg)
		assert.LessOrEqual(t, read, want, arg)
	}
}

// Another process may note what it found while this one runs.
func TestALedgerKeepsWhatOthersNoteMeanwhile(t *testing.T) {
	dir := t.TempDir()
	ledger := filepath.Join(dir, "found", "ledger.json")
	b := bench(1, func(int) check.Status {
		require.NoError(t, os.MkdirAll(filepath.Dir(ledger), 0o755))
		require.NoError(t, os.WriteFile(ledger, []byte(`{"version": 1, "findings": [{"id": "theirs"}]}`), 0o644))
		return check.Failed
	})
	var errs bytes.Buffer
	code := cli.Main(t.Context(), cli.Process{Args: []string{"run", "--findings", "found"}, Dir: dir, Stdout: io.Discard, Stderr: &errs}, b)
	require.Equal(t, cli.ExitFailed, code, errs.String())
	data, err := os.ReadFile(ledger)
	require.NoError(t, err)
	assert.Contains(t, string(data), "theirs")
	assert.Contains(t, string(data), `"case-000: x"`)
}

// Settings with many rules are read in room, and so in time, that grows as they do.
func TestManyRulesTakeRoomInProportion(t *testing.T) {
	room := func(n int) uint64 {
		var rules []string
		for i := range n {
			rules = append(rules, fmt.Sprintf("Bash(tool%d *)", i))
		}
		text, err := json.Marshal(map[string]any{"permissions": map[string]any{"allow": rules}})
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "settings.json"), text, 0o600))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code := cli.Main(context.Background(), cli.Process{Args: []string{"rules", "--settings", "settings.json", "--command", "make"}, Stdout: io.Discard, Stderr: io.Discard, Dir: dir}, bench(1, pass))
		runtime.ReadMemStats(&after)
		assert.Zero(t, code)
		return after.TotalAlloc - before.TotalAlloc
	}
	assert.Less(t, room(4000)-room(1), 8*(room(1000)-room(1)))
}
