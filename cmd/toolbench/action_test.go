package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// actionFile is the action of this repository, as a workflow elsewhere names it.
const (
	actionFile = ".ci/action/action.yml"
	actionName = "OWNER/toolbench/.ci/action@main"
)

// workflow is what of a workflow or an action a runner acts on.
type workflow struct {
	Inputs map[string]struct {
		Description, Default string
	}
	Runs struct {
		Using string
		Steps []step
	}
	Jobs yaml.MapSlice
}

type job struct {
	Strategy struct {
		Matrix map[string][]int
	}
	Needs string
	If    string
	Steps []step
}

type step struct {
	Uses, Run, Shell, If string
	With, Env            map[string]string
}

// runner does what GitHub's does with the steps of a job: those with run are run by bash in
// the job's folder, ours does what its file says, and artifacts are copied.
type runner struct {
	t                    *testing.T
	dir, temp, artifacts string
	// values stand for expressions.
	values map[string]string
	// printed is what the steps printed, and summary what they wrote into the job's summary.
	printed, summary string
	failed           bool
}

func newRunner(t *testing.T, files map[string]string, artifacts string) *runner {
	t.Helper()
	r := &runner{t: t, dir: t.TempDir(), temp: t.TempDir(), artifacts: artifacts, values: map[string]string{}}
	for name, text := range files {
		file := filepath.Join(r.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return r
}

// prepared is a runner on a machine that has toolbench already, as the action built it for
// the runner before: to link it takes seconds.
func (r *runner) prepared(before *runner) *runner {
	r.copied([]string{filepath.Join(before.temp, "path")}, r.temp)
	return r
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z._-]+) *\}\}`)

// expand puts values in place of expressions.
func (r *runner) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		value, ok := r.values[name]
		require.True(r.t, ok, "%s stands for nothing here", e)
		return value
	})
}

func (r *runner) steps(steps []step) {
	r.t.Helper()
	for _, s := range steps {
		require.Contains(r.t, []string{"", "always()"}, s.If)
		if r.failed && s.If == "" {
			continue
		}
		switch action, _, _ := strings.Cut(s.Uses, "@"); {
		case s.Run != "":
			r.bash(s)
		case s.Uses == actionName:
			r.ours(s)
		case action == "actions/upload-artifact":
			found, err := filepath.Glob(filepath.Join(r.dir, r.expand(s.With["path"])))
			require.NoError(r.t, err)
			require.NotEmpty(r.t, found, "nothing to keep")
			r.copied(found, r.artifacts)
		case action == "actions/download-artifact":
			found, err := filepath.Glob(filepath.Join(r.artifacts, "*"))
			require.NoError(r.t, err)
			r.copied(found, r.dir)
		default:
			require.Contains(r.t, []string{"actions/checkout", "actions/setup-go"}, action)
		}
	}
}

func (r *runner) copied(files []string, to string) {
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(r.t, err)
		require.NoError(r.t, os.WriteFile(filepath.Join(to, filepath.Base(file)), data, 0o644))
	}
}

// ours runs the steps of our own action with the inputs of a step.
func (r *runner) ours(s step) {
	var a workflow
	read(r.t, filepath.Join(root, actionFile), &a)
	outer := r.values
	defer func() { r.values = outer }()
	at, err := filepath.Abs(filepath.Join(root, filepath.Dir(actionFile)))
	require.NoError(r.t, err)
	inner := map[string]string{"github.action_path": at}
	for name, input := range a.Inputs {
		assert.NotEmpty(r.t, input.Description, name)
		inner["inputs."+name] = input.Default
	}
	for name, value := range s.With {
		require.Contains(r.t, a.Inputs, name)
		inner["inputs."+name] = r.expand(value)
	}
	r.values = inner
	require.Equal(r.t, "composite", a.Runs.Using)
	r.steps(a.Runs.Steps)
}

// bash runs a step as the runner does, with the path of the machine but for toolbench.
func (r *runner) bash(s step) {
	added, err := os.ReadFile(filepath.Join(r.temp, "path"))
	if err != nil {
		require.ErrorIs(r.t, err, fs.ErrNotExist)
	}
	dirs := strings.FieldsFunc(string(added), func(r rune) bool { return r == '\n' }) // a folder's name may have blanks
	summary := filepath.Join(r.temp, "summary")
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", r.expand(s.Run))
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+strings.Join(append(dirs, withoutToolbench(r.t)...), string(os.PathListSeparator)),
		"GITHUB_ACTIONS=true", "GITHUB_PATH="+filepath.Join(r.temp, "path"), "GITHUB_STEP_SUMMARY="+summary, "RUNNER_TEMP="+r.temp,
		"GITHUB_ACTION_PATH="+r.values["github.action_path"], "XDG_CACHE_HOME="+filepath.Join(r.temp, "cache"), "GOCACHE="+goCache(r.t), "COLUMNS=120")
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+r.expand(value))
	}
	out, err := cmd.CombinedOutput()
	r.printed += string(out)
	r.failed = r.failed || err != nil
	if text, err := os.ReadFile(summary); err == nil {
		r.summary += string(text)
	}
}

// withoutToolbench is the path of this machine without folders that have a toolbench.
func withoutToolbench(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "toolbench"))
		return err == nil
	})
}

func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func read(t *testing.T, file string, to any) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, to))
}

// jobs are those of a workflow, in its order.
func jobs(t *testing.T, text string) (names []string, all []job) {
	t.Helper()
	var w workflow
	require.NoError(t, yaml.Unmarshal([]byte(text), &w))
	for _, item := range w.Jobs {
		text, err := yaml.Marshal(item.Value)
		require.NoError(t, err)
		var j job
		require.NoError(t, yaml.Unmarshal(text, &j))
		names, all = append(names, fmt.Sprint(item.Key)), append(all, j)
	}
	return names, all
}

// mine is a repository with two scenarios, one of which is as slow as said.
func mine(slow string) map[string]string {
	scenario := func(name, end string) string {
		return "name: " + name + "\nabout: It answers.\nstream: {turns: [{text: Hello., end: " + end + "}]}\n"
	}
	return map[string]string{"scenarios/one.yaml": scenario("one", "1s"), "scenarios/two.yaml": scenario("two", slow)}
}

// The action builds toolbench in a folder that has none, passes where all holds, and fails
// where a scenario does not, or is slower than allowed; the comparison is in the summary.
func TestTheActionRunsInACleanFolder(t *testing.T) {
	first := newRunner(t, mine("1s"), t.TempDir())
	first.steps([]step{{Uses: actionName}})
	use := func(files map[string]string, with map[string]string) *runner {
		r := newRunner(t, files, t.TempDir()).prepared(first)
		r.steps([]step{{Uses: actionName, With: with}})
		return r
	}
	require.False(t, first.failed, first.printed)
	assert.Contains(t, first.printed, "2 passed")
	baseline, err := os.ReadFile(filepath.Join(first.dir, "report.json"))
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(first.dir, "report.html"))
	assert.Empty(t, first.summary)

	slower := mine("2s")
	slower["baseline.json"] = string(baseline)
	r := use(slower, map[string]string{"baseline": "baseline.json"})
	assert.False(t, r.failed, r.printed)
	assert.Contains(t, r.summary, "| slower | two | makespan 1s → 2s (+100%)")
	r = use(slower, map[string]string{"baseline": "baseline.json", "fail-if": "makespan > +5%"})
	assert.True(t, r.failed)
	assert.Contains(t, r.printed, "EXCEEDED makespan > +5%: two")

	failing := mine("2s")
	failing["scenarios/two.yaml"] += "expect: {makespan: 1s}\n"
	failing["baseline.json"] = string(baseline)
	r = use(failing, map[string]string{"baseline": "baseline.json", "paths": "scenarios/two.yaml scenarios/one.yaml", "arguments": "--policy serial --jobs 1"})
	assert.False(t, r.failed, "times are not checked under another policy")
	r = use(failing, map[string]string{"baseline": "baseline.json"})
	assert.True(t, r.failed)
	assert.Contains(t, r.printed, "::error file=scenarios/two.yaml,line=4")
	assert.Contains(t, r.summary, "| failing | two |", "the comparison is written all the same")
}

// Each workflow of the documents, and the one that init writes, does what it is for, step by
// step, each job in a folder of its own.
func TestWorkflowsRunInCleanFolders(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "ci.md"))
	require.NoError(t, err)
	var flows []string
	for _, s := range samples(t, "docs/ci.md", strings.Split(string(data), "\n")) {
		if text := strings.Join(s.body, "\n"); strings.Contains(text, "\njobs:\n") {
			flows = append(flows, text)
		}
	}
	require.Len(t, flows, 1)
	repository := mine("1s")
	r := newRunner(t, repository, t.TempDir())
	r.steps([]step{{Uses: actionName}, {Run: "toolbench init --project --ci github --out new"}, {Run: "toolbench bless report.json baseline.json"}})
	require.False(t, r.failed, r.printed)
	written, err := os.ReadFile(filepath.Join(r.dir, "new", ".github", "workflows", "toolbench.yml"))
	require.NoError(t, err)
	baseline, err := os.ReadFile(filepath.Join(r.dir, "baseline.json"))
	require.NoError(t, err)
	repository["baseline.json"] = string(baseline)

	printed, failed := played(t, flows[0], repository, r)
	assert.False(t, failed, printed)
	assert.Equal(t, 2, strings.Count(printed, "1 passed"), "each part has one: %s", printed)
	assert.Contains(t, printed, "2 passed")
	assert.Contains(t, printed, "no change in 2 scenarios")
	repository["scenarios/two.yaml"] = mine("3s")["scenarios/two.yaml"] + "expect: {makespan: 1s}\n"
	printed, failed = played(t, flows[0], repository, r)
	assert.True(t, failed)
	assert.Contains(t, printed, "1 passed, 1 failed", "the whole is told, though a part failed")
	assert.Contains(t, printed, "1 newly failing")

	printed, failed = played(t, string(written), mine("1s"), r)
	assert.False(t, failed, printed)
	assert.Contains(t, printed, "2 passed")
}

// played runs the jobs of a workflow, each once for each value of its matrix.
func played(t *testing.T, text string, repository map[string]string, before *runner) (printed string, failed bool) {
	t.Helper()
	names, all := jobs(t, text)
	require.NotEmpty(t, all)
	artifacts := t.TempDir()
	for i, j := range all {
		require.Contains(t, append(names[:i:i], ""), j.Needs)
		if failed && j.If != "always()" {
			continue
		}
		parts := j.Strategy.Matrix["part"]
		if parts == nil {
			parts = []int{0}
		}
		for _, part := range parts {
			r := newRunner(t, repository, artifacts).prepared(before)
			r.values["matrix.part"] = fmt.Sprint(part)
			r.steps(j.Steps)
			printed += r.printed
			failed = failed || r.failed
		}
	}
	return printed, failed
}
