// Package property_test holds what must be true of the project whatever the input: the
// direction of its imports as a table, and that calls which run out of order leave the
// same results, files and state as one at a time. The packages below it generate random
// cases (generate), predict what must come of them and check what did (oracle), run both
// beside each other (fuzz, des), and plant faults in the code to see that all of it
// notices (mutants).
package property_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The architecture, as data: what each package may import of the project. A
// pattern ending in /... stands for a package and all below it. Every package has
// a row; a new one without a row fails the test.
var layers = []struct {
	pkg string
	may []string
}{
	// Leaves: they import nothing but the standard library and libraries.
	{"toolsys/jsonscan", nil},
	// Both read JSON in place: every event of a stream, every input of a call.
	{"toolsys/message", []string{"toolsys/jsonscan"}},
	{"toolsys/schema", []string{"toolsys/jsonscan"}},
	{"toolsys/settings", nil},
	{"toolsys/trace", nil},
	{"toolsys/permission", nil},
	{"toolsys/search", nil},
	{"toolsys/schedule", nil},
	// What is shown, without a screen; writers are in reports.
	{"toolsys/render", nil},
	{"toolsys/shellcmd", nil},

	// The contract, and what stands on it and on leaves only.
	{"toolsys/tool", leaves},
	{"toolsys/hook", contract},
	{"toolsys/pool", contract},
	{"toolsys/mcptool", contract},
	// A family of built-ins imports the contract and leaves: no pipeline, no pool, no
	// other family.
	{"toolsys/builtin/...", contract},
	{"toolsys/builtin", append([]string{"toolsys/builtin/...", "toolsys/pool"}, contract...)},

	// One call, then the conversation, then the front door.
	{"toolsys/pipeline", append([]string{"toolsys/hook", "toolsys/pool"}, contract...)},
	{"toolsys/loop", append([]string{"toolsys/pipeline", "toolsys/hook", "toolsys/pool"}, contract...)},
	{"toolsys/host", []string{"toolsys/builtin/shell", "toolsys/schedule"}},
	{"toolsys/host/browser", []string{"toolsys/builtin/web"}},
	{"toolsys/api", []string{"toolsys/loop", "toolsys/message"}},
	// The front door is handed the built-in tools and the way to servers.
	{"toolsys", append([]string{"toolsys/pipeline", "toolsys/loop", "toolsys/pool"}, contract...)},

	// The bench stands on the system; the system never on the bench.
	{"sim/clock", nil},
	{"sim/stream", []string{"toolsys/jsonscan"}},
	{"sim/secret", nil},
	{"sim/cassette", []string{"sim/clock", "sim/stream", "sim/secret"}},
	// The providers' wire forms: recordings are read through it, and served APIs read
	// their clients' requests.
	{"sim/dialect", []string{"sim/stream", "toolsys/jsonscan"}},
	{"sim/recording", []string{"sim/stream", "sim/cassette", "sim/dialect", "toolsys/message"}},
	{"sim/replay", []string{"sim/clock", "sim/stream", "sim/cassette", "sim/dialect", "sim/recording", "toolsys", "toolsys/..."}},
	{"sim/world", []string{"toolsys/jsonscan", "toolsys/mcptool"}},
	{"sim/shell", []string{"toolsys/schedule", "toolsys/shellcmd"}},
	{"sim/economics", []string{"sim/dialect", "sim/recording", "sim/world", "toolsys", "toolsys/..."}},
	{"sim/serve", []string{"sim/clock", "sim/stream", "sim/cassette", "sim/dialect", "sim/recording", "sim/replay", "sim/scenario", "sim/scenario/check", "toolsys/jsonscan", "toolsys/message", "toolsys/schema", "toolsys/trace"}},
	{"sim/draft", []string{"toolsys/jsonscan", "toolsys/message", "toolsys/shellcmd", "sim/stream", "sim/cassette", "sim/recording", "sim/replay", "sim/scenario", "sim/scenario/check", "sim/scenario/run", "toolsys/tool", "toolsys/trace"}},
	{"sim/scenario", []string{"sim/cassette", "sim/secret", "sim/stream", "toolsys/message", "toolsys/permission", "toolsys/schedule", "toolsys/schema", "toolsys/search", "fixtures"}},
	{"sim/scenario/check", []string{"sim/scenario", "sim/secret", "sim/economics", "sim/recording", "toolsys/jsonscan", "toolsys/message", "toolsys/pipeline", "toolsys/render", "toolsys/schedule", "toolsys/settings", "toolsys/tool", "toolsys/trace", "fixtures"}},
	{"sim/scenario/run", []string{"sim/...", "toolsys", "toolsys/...", "fixtures"}},
	{"fixtures", nil},
	{"scenarios", nil},
	{"docs", nil},
	{"property/mutants", []string{"toolsys/builtin", "toolsys/host"}},
	{"property/shards", []string{"sim/clock"}},
	{"property/...", nil},
	{"property/des", []string{"sim/clock", "sim/scenario", "sim/stream", "toolsys/schedule"}},
	{"property/generate", []string{"property/des"}},
	{"property/oracle", []string{"property/des", "property/generate", "sim/scenario/check", "toolsys/schedule", "toolsys/trace"}},
	{"property/fuzz", []string{"property/...", "sim/clock", "sim/scenario", "sim/scenario/check", "sim/scenario/run", "sim/stream", "sim/world", "toolsys/..."}},

	// Reports read outcomes, and reports that were stored, which they hold against the
	// published schemas; only the command, and tests of scenarios, read reports.
	{"reports", []string{"sim/world", "property/fuzz", "property/oracle", "sim/scenario", "sim/scenario/check", "sim/replay", "sim/economics", "sim/serve", "toolsys/trace", "toolsys/search", "sim/scenario/run", "sim/secret", "sim/draft", "toolsys/schema", "toolsys/tool", "toolsys/render", "toolsys/message"}},
	// Another trade on the public packages alone, with no part in the rest.
	{"scenarios/support", []string{"toolsys", "toolsys/loop", "toolsys/permission", "toolsys/tool"}},
	{"scenarios/scenariotest", []string{"reports", "sim/scenario", "sim/scenario/check", "sim/scenario/run"}},
	{"cmd/...", []string{"cmd/...", "reports", "sim/...", "property/...", "scenarios", "docs", "fixtures", "toolsys/jsonscan", "toolsys/render", "toolsys/settings", "toolsys/schedule", "toolsys/search", "toolsys/trace", "toolsys/host", "toolsys/host/browser", "toolsys/pipeline", "toolsys/permission", "toolsys/tool", "toolsys/message", "toolsys/mcptool", "toolsys/api", "toolsys/builtin", "toolsys/builtin/file", "toolsys/builtin/shell", "toolsys/builtin/web", "toolsys/builtin/work", "toolsys/loop", "toolsys/pool", "toolsys"}},
}

var leaves = []string{
	"toolsys/jsonscan", "toolsys/message", "toolsys/schema", "toolsys/settings", "toolsys/trace", "toolsys/permission", "toolsys/search",
	"toolsys/render", "toolsys/schedule", "toolsys/shellcmd",
}

var contract = append([]string{"toolsys/tool"}, leaves...)

const module = "toolbench/"

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		require.NoError(t, dec.Decode(&p))
		all = append(all, p)
	}
	require.NotEmpty(t, all)
	return all
}

func matches(pattern, pkg string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == prefix || strings.HasPrefix(pkg, prefix+"/")
	}
	return pattern == pkg
}

// allowed finds a package's row: its own before one of a pattern.
func allowed(pkg string) ([]string, bool) {
	for _, exact := range []bool{true, false} {
		for _, l := range layers {
			if exact == (l.pkg == pkg) && matches(l.pkg, pkg) {
				return l.may, true
			}
		}
	}
	return nil, false
}

// Imports go one way: the table above is the architecture, and this holds it.
func TestImportsGoOneWay(t *testing.T) {
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		may, listed := allowed(pkg)
		assert.True(t, listed, "%s has no row in the table of layers", pkg)
		for _, imp := range p.Imports {
			name, own := strings.CutPrefix(imp, module)
			if !own && imp != strings.TrimSuffix(module, "/") {
				continue
			}
			ok := slices.ContainsFunc(may, func(m string) bool { return matches(m, name) })
			assert.True(t, ok, "%s must not import %s", pkg, name)
		}
	}
}

// go test finds the same in each run: a package whose tests use rapid gives it a seed.
func TestPropertiesAreSeeded(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if imports := strings.Fields(line); slices.Contains(imports, "pgregory.net/rapid") {
			assert.Contains(t, imports, module+"property/seeded", "%s: import it in a test", imports[0])
		}
	}
}

// externals is how many modules of others a package of toolsys links, which is what a
// program that imports it has to download and build. A number may fall, never grow.
var externals = map[string]int{
	"toolsys":               5,
	"toolsys/api":           23,
	"toolsys/builtin":       15, // one of them is go-cron, for the lines of CronCreate
	"toolsys/builtin/file":  9,
	"toolsys/builtin/shell": 7,
	"toolsys/builtin/web":   8,
	"toolsys/builtin/work":  8, // go-cron; YAML and afero for the files of workflows
	"toolsys/hook":          5,
	"toolsys/host":          12, // those of builtin/shell, whose Runner it implements, Landlock's three, a terminal's two
	"toolsys/host/browser":  11, // those of builtin/web, whose Browser it implements, and chromedp's three
	"toolsys/loop":          5,
	"toolsys/mcptool":       13,
	"toolsys/permission":    1,
	"toolsys/pipeline":      5,
	"toolsys/pool":          5,
	"toolsys/schema":        3,
	"toolsys/search":        1,
	"toolsys/settings":      1,
	"toolsys/shellcmd":      1,
	"toolsys/tool":          5,
}

// TestExternalModulesDoNotGrow holds the table above; a package without a row links none.
func TestExternalModulesDoNotGrow(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Deps,Module", "-deps", "./toolsys/...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	type linked struct {
		ImportPath string
		Deps       []string
		Module     *struct {
			Path string
			Main bool
		}
	}
	var own []linked
	external := map[string]string{} // the module of a package
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p linked
		require.NoError(t, dec.Decode(&p))
		switch {
		case p.Module == nil:
		case p.Module.Main:
			own = append(own, p)
		default:
			external[p.ImportPath] = p.Module.Path
		}
	}
	require.NotEmpty(t, own)
	for _, p := range own {
		modules := map[string]bool{}
		for _, d := range p.Deps {
			if m := external[d]; m != "" {
				modules[m] = true
			}
		}
		pkg := strings.TrimPrefix(p.ImportPath, module)
		assert.LessOrEqual(t, len(modules), externals[pkg], "%s links more modules than its row in the table has: %v", pkg, slices.Sorted(maps.Keys(modules)))
	}
}

// The bench is a module of its own that CI builds in part, since the other libraries are
// large: it has to name what this module's packages bring, or nobody can build it.
func TestTheBenchNamesTheModulesItNeeds(t *testing.T) {
	used := regexp.MustCompile(`"(toolbench/(?:toolsys|sim|property|reports|cmd|scenarios)[^"]*)"`)
	packages := map[string]bool{}
	require.NoError(t, filepath.WalkDir("../bench", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range used.FindAllSubmatch(text, -1) {
			packages[string(m[1])] = true
		}
		return err
	}))
	require.NotEmpty(t, packages)
	args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}, slices.Sorted(maps.Keys(packages))...)
	cmd := exec.Command("go", args...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	has, err := os.ReadFile("../bench/go.mod")
	require.NoError(t, err)
	for _, m := range strings.Fields(string(out)) {
		assert.True(t, strings.Contains(string(has), "\t"+m+" v"), "bench/go.mod does not name %s: go mod tidy in bench/", m)
	}
}

// A package named for nothing in particular holds things that belong elsewhere.
func TestNoPackageIsNamedForNothing(t *testing.T) {
	for _, p := range packages(t) {
		assert.NotContains(t, []string{"util", "utils", "common", "helpers", "misc"}, path.Base(p.ImportPath))
	}
}
