package mutants_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
)

var (
	plant = flag.Bool("plant", false, "plant each fault and see what notices; takes minutes")
	only  = flag.String("only", "", "plant only faults whose name matches")
)

const root = "../.."

// Every edit fits the file it is for, in exactly one place: a list that no longer
// fits the code would plant nothing and prove nothing.
func TestEveryFaultFits(t *testing.T) {
	names := map[string]bool{}
	for _, m := range all(t) {
		assert.False(t, names[m.name], "%s is there twice", m.name)
		names[m.name] = true
		planted(t, m)
	}
}

// Every fault is noticed.
func TestEveryFaultIsNoticed(t *testing.T) {
	if !*plant {
		t.Skip("give -plant to plant the faults")
	}
	pick := regexp.MustCompile(*only)
	for _, m := range all(t) {
		if !pick.MatchString(m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			by := notice(t, m)
			require.NotEmpty(t, by, "nothing notices that %s", m.name)
			t.Logf("noticed by %s", strings.Join(by[:min(len(by), 4)], ", "))
		})
	}
}

// all are the faults of the list and, for each built-in tool, its body deleted.
func all(t *testing.T) []mutant {
	t.Helper()
	return append(slices.Clone(list), bodies(t)...)
}

// bodies makes every built-in, one after the other, a tool that does nothing.
func bodies(t *testing.T) []mutant {
	t.Helper()
	sys, err := toolsys.New(toolsys.Config{})
	require.NoError(t, err)
	var out []mutant
	for _, e := range sys.Catalogue.Entries() {
		if e.Tool == nil {
			continue
		}
		out = append(out, mutant{
			name: e.Name + " has no body",
			file: "toolsys/builtin/table.go",
			old:  "e.Tool = r.make(d)\n",
			new: "e.Tool = r.make(d)\n\t\t\tif r.name == " + fmt.Sprintf("%q", e.Name) + " {\n" +
				"\t\t\t\tempty := *e.Tool\n" +
				"\t\t\t\tempty.Call = func(context.Context, tool.Input, *tool.Context) (tool.Outcome, error) {\n" +
				"\t\t\t\t\treturn tool.Outcome{}, nil\n\t\t\t\t}\n\t\t\t\te.Tool = &empty\n\t\t\t}\n",
		})
	}
	return out
}

// planted gives the file's text with the fault in it.
func planted(t *testing.T, m mutant) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, m.file))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(data), m.old), "%s: %q in %s", m.name, m.old, m.file)
	text := strings.Replace(string(data), m.old, m.new, 1)
	if strings.HasSuffix(m.name, "has no body") {
		text = strings.Replace(text, "import (\n", "import (\n\t\"context\"\n\n", 1)
	}
	return text
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// notice runs the tests with the fault laid over the build, and names those that
// fail. A fault that does not compile proves nothing.
func notice(t *testing.T, m mutant) []string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "mutant.go")
	require.NoError(t, os.WriteFile(file, []byte(planted(t, m)), 0o600))
	target, err := filepath.Abs(filepath.Join(root, m.file))
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {target: file}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	what := m.by
	if what == nil {
		what = []string{"-run", "^TestTheSuiteHolds$", "./scenarios"}
	}
	args := append([]string{"test", "-overlay", filepath.Join(dir, "overlay.json"), "-vet=off", "-timeout", "60s"}, what...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NotContains(t, string(out), "[build failed]", "%s", out)
	if err == nil {
		return nil
	}
	var names []string
	for _, hit := range failed.FindAllStringSubmatch(string(out), -1) {
		if strings.Contains(hit[1], "/") {
			names = append(names, strings.TrimPrefix(hit[1], "TestTheSuiteHolds/"))
		}
	}
	if names == nil {
		names = []string{"the test run itself: " + strings.SplitN(strings.TrimSpace(string(out)), "\n", 2)[0]}
	}
	return names
}
