package scenarios_test

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/fixtures"
	"toolbench/scenarios"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
)

var update = flag.Bool("update", false, "make the cassettes of the suite anew from their scripted turns")

// suite is the whole suite, which is read once and which no test changes.
func suite(t *testing.T) []*scenario.Scenario {
	t.Helper()
	all, errs := read()
	require.Empty(t, errs)
	return all
}

var read = sync.OnceValues(func() ([]*scenario.Scenario, []error) { return scenario.Find(scenarios.Files, ".") })

// The command line looks for a scenario's name in a line of its own, so that it need not
// read the whole suite.
func TestEachFileHasItsNameInALine(t *testing.T) {
	for _, sc := range suite(t) {
		text, err := fs.ReadFile(scenarios.Files, sc.File())
		require.NoError(t, err)
		assert.Contains(t, string(text), "\nname: "+sc.Name+"\n", sc.File())
	}
}

// Every cassette is recorded through go-vcr from the scripted turns of its
// scenario. Made anew, it must be the same bytes; -update writes them.
func TestCassettesAreWhatTheScriptsRecord(t *testing.T) {
	for _, sc := range suite(t) {
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, "cassettes/"+sc.Name+".yaml", sc.Cassette(), "a scenario of the suite replays a cassette of its own")
			if *update {
				_, _, err := run.Record(context.Background(), sc, filepath.Join("..", "fixtures", sc.Cassette()))
				require.NoError(t, err)
				return
			}
			fresh := filepath.Join(t.TempDir(), sc.Name+".yaml")
			_, _, err := run.Record(context.Background(), sc, fresh)
			require.NoError(t, err)
			want, err := fs.ReadFile(fixtures.Files, sc.Cassette())
			require.NoError(t, err, "run: go test ./scenarios -update")
			got, err := os.ReadFile(fresh)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got), "run: go test ./scenarios -update")
		})
	}
}

// No cassette stays behind when its scenario is gone.
func TestNoCassetteIsLeftOver(t *testing.T) {
	known := map[string]bool{}
	for _, sc := range suite(t) {
		known[sc.Cassette()] = true
	}
	files, err := fs.Glob(fixtures.Files, "cassettes/*.yaml")
	require.NoError(t, err)
	for _, f := range files {
		assert.True(t, known[f], "%s belongs to no scenario", f)
	}
}

// The suite holds, scenario by scenario.
func TestTheSuiteHolds(t *testing.T) {
	if *update {
		t.Skip("the cassettes are being made anew")
	}
	for _, sc := range suite(t) {
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			out := alone(sc)
			require.NoError(t, out.Err)
			assert.GreaterOrEqual(t, out.Makespan, out.LowerBound, "it is faster than any order of its calls allows")
			for _, f := range out.Failures {
				t.Errorf("%s: %s\nexpected: %s\nfound:    %s", f.At, f.Expectation, f.Expected, f.Found)
			}
			if t.Failed() && testing.Verbose() {
				for _, e := range out.Trace {
					t.Log(string(e.AppendLine(nil)))
				}
			}
		})
	}
}

// What the suite promises of itself: enough of each kind, a sentence each, and no
// two with the same sentence.
func TestTheSuiteCoversItsSubjects(t *testing.T) {
	tags, abouts := map[string]int{}, map[string]string{}
	for _, sc := range suite(t) {
		for _, tag := range sc.Tags {
			tags[tag]++
		}
		about := strings.TrimSpace(sc.About)
		assert.Empty(t, abouts[about], "%s guards the same as %s", sc.Name, abouts[about])
		abouts[about] = sc.Name
		assert.True(t, strings.HasSuffix(about, "."), "%s: about is a sentence", sc.Name)
	}
	for _, tag := range []string{"partition", "ordering", "modifiers", "deferral", "pool", "latency", "permissions", "size", "faults"} {
		assert.GreaterOrEqual(t, tags[tag], 4, "scenarios tagged %s", tag)
	}
	assert.Greater(t, len(abouts), 300, "scenarios, without the cases that must fail")
}
