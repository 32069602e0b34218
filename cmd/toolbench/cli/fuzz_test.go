package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
)

// fuzz runs the command in a folder of its own; self plays batches, "" is this
// process.
func fuzz(t *testing.T, self string, args ...string) (code int, stdout, stderr, dir string) {
	t.Helper()
	dir = t.TempDir()
	var out, errs bytes.Buffer
	p := cli.Process{Args: append([]string{"fuzz"}, args...), Stdout: &out, Stderr: &errs, Dir: dir, Self: self}
	code = cli.Main(context.Background(), p, cli.Scenarios())
	return code, out.String(), errs.String(), dir
}

func TestACampaignsReportFitsThePublishedSchema(t *testing.T) {
	_, text, _, _ := fuzz(t, "", "--schema")
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("fuzz.json", schema))
	compiled, err := c.Compile("fuzz.json")
	require.NoError(t, err)
	for _, args := range [][]string{
		{"--engine", "des", "--runs", "300", "--seed", "1"}, {"--engine", "both", "--runs", "5", "--seed", "1"},
		{"--replay", caseFile(t)},
	} {
		code, out, errs, _ := fuzz(t, "", append(args, "--format", "json")...)
		require.Equal(t, cli.ExitHeld, code, errs)
		report, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		require.NoError(t, err)
		assert.NoError(t, compiled.Validate(report), out)
	}
}

func caseFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "one.yaml")
	text := "about: One call.\nengine: both\ncase:\n  policy: streaming\n  limit: 2\n  turns:\n  - calls:\n    - {id: c1, at: 100ms, for: 1s, safe: true}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

// The same seed gives the same report, whole or in parts beside each other.
func TestACampaignIsTheSameEachTime(t *testing.T) {
	play := func(jobs string) map[string]any {
		code, out, errs, _ := fuzz(t, "", "--engine", "des", "--runs", "500", "--seed", "9", "-j", jobs, "--format", "json")
		require.Equal(t, cli.ExitHeld, code, errs)
		var report map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		delete(report, "seconds")
		return report
	}
	assert.Equal(t, play("1"), play("3"))
}

func TestANewSeedIsTold(t *testing.T) {
	_, _, errs, _ := fuzz(t, "", "--engine", "des", "--runs", "1")
	assert.Regexp(t, `seed \d+`, errs)
}

func TestWrongCommandLinesSayWhatIsRight(t *testing.T) {
	for args, says := range map[string]string{
		"--engine fast":          "use des, full, both",
		"--faults rain":          "use all, none, or globs of breaking",
		"--faults [":             "is no glob",
		"--policy fastest":       "use serial, batch, streaming, effects",
		"--runs 0":               "it must be 1 or more",
		"--shard 5/4":            "write I/N",
		"--replay nothing.yaml":  "nothing.yaml: no such file",
		"--replay .":             "holds no case",
		"--duration -3s":         "it must be 0s or more",
		"--child rubbish":        "--child",
		"--engine des something": "unknown command",
	} {
		code, _, errs, _ := fuzz(t, "", strings.Fields(args)...)
		assert.Equal(t, cli.ExitUsage, code, args)
		assert.Contains(t, errs, says, args)
	}
}

func TestABrokenCaseFileSaysWhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(file, []byte("about: x\ncase:\n  limits: 3\n"), 0o644))
	code, _, errs, _ := fuzz(t, "", "--replay", file)
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "bad.yaml:3:3: unknown field")
}

// A case that kills its process, or says nothing any more, is a finding: it is looked
// for among those of its batch, and written down.
func TestACrashIsAFinding(t *testing.T) {
	self := filepath.Join(t.TempDir(), "self")
	// Case 37 of the plan kills the process; all others are well.
	script := `#!/bin/sh
if [ "$2" = --replay ]; then if grep -q 'safe: true' "$3"; then echo "panic: boom" >&2; exit 2; fi; exit 0; fi
first=${3%%:*}; rest=${3#*:}; n=${rest%%:*}
echo "{\"at\":$first}"
if [ $first -le 37 ] && [ $((first+n)) -gt 37 ]; then echo "panic: boom" >&2; exit 2; fi
echo "{\"done\":{\"cases\":$n,\"calls\":$n,\"seen\":[]}}"
`
	require.NoError(t, os.WriteFile(self, []byte(script), 0o755))
	code, out, errs, dir := fuzz(t, self, "--engine", "des", "--runs", "200", "--seed", "4")
	assert.Equal(t, cli.ExitFailed, code, errs)
	assert.Contains(t, out, "FAILED case 37 broke crash")
	assert.Contains(t, out, "calls 1 are left", "a smaller case kills it too")
	assert.Contains(t, out, "panic: boom")
	assert.Contains(t, out, "again: toolbench fuzz --seed 4 --runs 38 --engine des")
	for _, name := range []string{"fuzz-4-37.yaml", "fuzz-4-37.case.yaml"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	code, _, errs, _ = fuzz(t, "", "--replay", filepath.Join(dir, "fuzz-4-37.case.yaml"))
	assert.Equal(t, cli.ExitHeld, code, errs)
	assert.Empty(t, runFile(t, filepath.Join(dir, "fuzz-4-37.yaml")), "what is written is a scenario")
}

// A case that goes on for ever is a finding as well: its process is asked where it is,
// and what it says is told.
func TestAHangIsAFinding(t *testing.T) {
	self := filepath.Join(t.TempDir(), "self")
	// Case 21 of the plan never ends; all others are well.
	script := `#!/bin/sh
if [ "$2" = --replay ]; then if grep -q 'id: c' "$3"; then exec sleep 600; fi; exit 0; fi
first=${3%%:*}; rest=${3#*:}; n=${rest%%:*}
if [ $first -le 21 ] && [ $((first+n)) -gt 21 ]; then
echo "{\"at\":21}"
sleep 600 & sleeps=$!
trap 'echo "SIGQUIT: goroutine 1 waits" >&2; kill $sleeps; exit 2' QUIT
wait
fi
echo "{\"done\":{\"cases\":$n,\"calls\":$n,\"seen\":[]}}"
`
	require.NoError(t, os.WriteFile(self, []byte(script), 0o755))
	code, out, errs, dir := fuzz(t, self, "--engine", "full", "--runs", "40", "--seed", "4", "--patience", "600ms", "--format", "json")
	assert.Equal(t, cli.ExitFailed, code, errs)
	var report struct {
		Failure struct {
			Case         int
			Left         int `json:"calls_left"`
			Broke, Found string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report), out)
	assert.Equal(t, 21, report.Failure.Case)
	assert.Equal(t, "hang", report.Failure.Broke)
	assert.Contains(t, report.Failure.Found, "goroutine 1 waits")
	assert.Equal(t, 1, report.Failure.Left, "a smaller case hangs too")
	assert.FileExists(t, filepath.Join(dir, "fuzz-4-21.case.yaml"))
}

// A campaign that is stopped counts what was played of the batches under way.
func TestAStoppedRunKeepsWhatWasPlayed(t *testing.T) {
	self := filepath.Join(t.TempDir(), "self")
	script := `#!/bin/sh
read word
if [ "$word" = enough ]; then echo "{\"done\":{\"cases\":7,\"calls\":9,\"seen\":[]}}"; fi
`
	require.NoError(t, os.WriteFile(self, []byte(script), 0o755))
	code, out, errs, _ := fuzz(t, self, "--engine", "des", "--duration", "100ms", "--seed", "4", "-j", "1", "--format", "json")
	assert.Equal(t, cli.ExitHeld, code, errs)
	assert.Contains(t, out, `"cases": 7`)
}

// A system case that fails is saved and run again as any case is; files of before have it
// under scene.
func TestASystemCaseIsReplayed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.yaml")
	text := "about: One call.\nengine: full\nscene:\n  policy: batch\n  tools:\n  - {name: Alpha1, deferrable: true}\n  turns:\n  - calls:\n    - {id: c1, tool: Alpha1, bad: true}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	code, out, errs, _ := fuzz(t, "", "--replay", file)
	assert.Equal(t, cli.ExitHeld, code, errs)
	assert.Contains(t, out, "1 case: 1 held, 0 failed")
	for bad, says := range map[string]string{
		"about: x\n": "no case: write one under case or under system_case",
		"about: x\nsystem_case:\n  policy: batch\n":                                    "the case has no turn",
		"about: x\nscene:\n  turns:\n  - calls: [{id: c1, tool: Nobody, at: 100ms}]\n": `no case has a tool "Nobody"`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(bad), 0o644))
		code, _, errs, _ := fuzz(t, "", "--replay", file)
		assert.Equal(t, cli.ExitUsage, code, bad)
		assert.Contains(t, errs, says)
	}
}

// runFile runs a scenario and gives its errors.
func runFile(t *testing.T, file string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cli.Main(context.Background(), cli.Process{Args: []string{"run", file}, Stdout: &out, Stderr: &errs, Dir: t.TempDir()}, cli.Scenarios())
	return errs.String()
}

func TestAChildSaysWhatItDoes(t *testing.T) {
	code, out, errs, _ := fuzz(t, "", "--child", "10:3:2", "--engine", "full", "--seed", "1")
	require.Equal(t, cli.ExitHeld, code, errs)
	assert.Contains(t, out, "{\"at\":10}\n{\"at\":12}\n{\"at\":14}\n{\"done\":{\"cases\":3,")
}
