package property_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
)

// randomScenario makes one scenario of real tools on real files.
type randomScenario struct {
	*rand.Rand
	calls     int
	durations map[string]string
	at        int
	// files and folders are the few names that this scenario is about.
	files, folders []string
	// limit is how many calls may run at once; 10 never holds one of these back.
	limit int
}

// Names of which many are one file's, or a file's and its folder's.
var (
	files = []string{
		"/repo/a.go", "/repo/b.go", "/repo/notes.txt", "/repo/link.txt", "notes.txt", "/repo/docs/index.md", "docs/index.md",
		"/repo/sub/d.go", "/repo/ld/d.go", "/repo/ll/d.go", "/repo/new.txt", "/repo/fresh/new.txt", "/repo/docs/more.md", "/repo/missing.go", "b.go",
		"/repo/new.md", "/repo/note.txt", "fresh/deep/x", "/repo/fresh", "/repo/ld", "sub/l.md",
	}
	folders = []string{"/repo", "/repo/docs", "/repo/sub", "/repo/ld", "/repo/ll", "docs", "sub", "/repo/fresh", "."}
	texts   = []string{"package", "e", "one", "d", "\n", "fresh", "text"}
)

func (m *randomScenario) some(all []string, n int) []string {
	few := slices.Clone(all)
	m.Shuffle(len(few), func(i, j int) { few[i], few[j] = few[j], few[i] })
	return few[:n]
}

func pick[T any](m *randomScenario, from ...T) T { return from[m.IntN(len(from))] }

// one is a random call's tool and input.
func (m *randomScenario) one() (string, map[string]any) {
	switch m.IntN(24) {
	case 0, 1, 2, 3, 4, 5:
		return "Read", map[string]any{"file_path": pick(m, m.files...)}
	case 6, 7, 8:
		return "Write", map[string]any{"file_path": pick(m, m.files...), "content": fmt.Sprintf("fresh text %d\none\n", m.IntN(9))}
	case 9, 10, 11:
		return "Edit", map[string]any{"file_path": pick(m, m.files...), "old_string": pick(m, texts...), "new_string": fmt.Sprintf("e%d", m.IntN(9)), "replace_all": m.IntN(3) > 0}
	case 12, 13:
		return "Glob", map[string]any{"pattern": pick(m, "**/*", "*", "*.go", "docs/*"), "path": pick(m, m.folders...)}
	case 14, 15:
		return "Grep", map[string]any{"pattern": pick(m, "package", "e", "fresh"), "path": pick(m, slices.Concat(m.folders, m.files)...), "output_mode": pick(m, "content", "files_with_matches", "count")}
	case 16:
		return "TodoWrite", map[string]any{"todos": []map[string]any{{"content": fmt.Sprint("Item ", m.IntN(9)), "status": "pending", "activeForm": "Doing"}}}
	case 17:
		return pick(m, "ToolSearch", "Nobody", "Reed"), map[string]any{"query": pick(m, "select:TodoWrite", "notebook", "select:NotebookEdit")}
	case 18:
		return "NotebookEdit", map[string]any{"notebook_path": "/repo/analysis.ipynb", "cell_number": m.IntN(3), "new_source": "1"}
	}
	return "Bash", map[string]any{"command": m.command() + " || true"}
}

// command is a shell command: readers, known writers, and some that are neither.
func (m *randomScenario) command() string {
	file, other, folder := pick(m, m.files...), pick(m, m.files...), pick(m, m.folders...)
	switch m.IntN(24) {
	case 0, 1, 2:
		return "cat " + file
	case 3:
		return "ls " + folder
	case 4:
		return "cat " + file + " | wc -l"
	case 5:
		return "grep -r package " + folder
	case 6, 7:
		return "echo word >> " + file
	case 8:
		return "cat " + other + " > " + file
	case 9:
		return "touch " + file
	case 10:
		return "mkdir -p " + pick(m, "/repo/fresh", "fresh/deep", "/repo/docs/deep")
	case 11, 12:
		return "cp " + file + " " + pick(m, other, folder)
	case 13, 14:
		return "mv " + file + " " + pick(m, other, folder)
	case 15, 16:
		return "rm " + file
	case 17:
		return "rm -rf " + pick(m, "/repo/fresh", "/repo/ll", "/repo/docs/deep")
	case 18:
		return "sed -i s/e/E/ " + file
	case 19:
		return "cd " + pick(m, "/repo", "sub", "/repo/docs", "..")
	case 20:
		return "ln -sf " + file + " " + pick(m, "/repo/link.txt", "/repo/docs/l.md", "sub/l.md", "/repo/ll")
	case 21:
		return "ls " + pick(m, "docs/*", "*.go", "fresh/*")
	case 22:
		return "export WORD=" + pick(m, "a", "b")
	}
	return pick(m, "find . -name '*.go'", "head -1 "+file+" "+other, "for f in *.go; do cat $f; done", "test -f "+file+" && echo yes", "sed -n 1p < "+file, "echo $WORD > "+file, "tee "+file+" < "+other)
}

func (m *randomScenario) call(name string, input map[string]any) map[string]any {
	m.calls++
	id := fmt.Sprintf("c%d", m.calls)
	m.durations[id] = fmt.Sprintf("%dms", 1+m.IntN(50))
	m.at += m.IntN(8)
	return map[string]any{"id": id, "tool": name, "input": input, "at": fmt.Sprintf("%dms", m.at)}
}

func (m *randomScenario) turn() map[string]any {
	m.at = 0
	var calls []map[string]any
	for range 2 + m.IntN(9) {
		calls = append(calls, m.call(m.one()))
	}
	return map[string]any{"calls": calls}
}

// first makes links and, mostly, reads what can be edited then; last looks at all
// there is, the newest first.
func (m *randomScenario) first() map[string]any {
	m.at = 0
	calls := []map[string]any{m.call("Bash", map[string]any{"command": "ln -s sub ld && ln -s ld ll"})}
	for _, name := range []string{"/repo/a.go", "/repo/notes.txt", "/repo/docs/index.md", "/repo/sub/d.go", "/repo/b.go", "/repo/analysis.ipynb"} {
		if m.IntN(4) > 0 {
			calls = append(calls, m.call("Read", map[string]any{"file_path": name}))
		}
	}
	return map[string]any{"calls": calls}
}

func (m *randomScenario) last() map[string]any {
	return map[string]any{"calls": []map[string]any{
		m.call("Glob", map[string]any{"pattern": "**/*", "path": "/repo"}),
		m.call("Bash", map[string]any{"command": "ls -a /repo /repo/*; cat /repo/*.* /repo/docs/* || true"}),
	}}
}

// scenario is all of it as a file: equal under effects and one at a time.
func (m *randomScenario) scenario() ([]byte, error) {
	m.files, m.folders = m.some(files, 6), m.some(folders, 3)
	m.limit = pick(m, 2, 3, 10, 10, 10)
	turns := []map[string]any{m.first()}
	for range 1 + m.IntN(3) {
		turns = append(turns, m.turn())
	}
	turns = append(turns, m.last(), map[string]any{"text": "Done."})
	permissions := map[string]any{"mode": pick(m, "acceptEdits", "acceptEdits", "acceptEdits", "bypass", "default", "plan", "auto"), "allow": []string{"Bash(*)"}}
	if m.IntN(4) == 0 {
		permissions["deny"] = []string{pick(m, "Read(/repo/docs/**)", "Edit(/repo/b.go)", "Bash(rm *)")}
	}
	return json.Marshal(map[string]any{
		"name": "random", "about": "A random scenario.", "policy": "effects",
		"world": map[string]any{
			"tree": "trees/webapp.txtar", "only": []string{"Read", "Write", "Edit", "Glob", "Grep", "Bash", "TodoWrite", "ToolSearch", "NotebookEdit"},
			"permissions": permissions,
			"settings":    map[string]string{"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY": fmt.Sprint(m.limit), "ENABLE_TOOL_SEARCH": "true"},
		},
		"stream":    map[string]any{"turns": turns},
		"durations": m.durations,
		"user":      map[string]any{"permits": m.permits()},
		"expect":    map[string]any{"same_under": []string{"serial"}},
	})
}

// permits are a person's answers in the order of asking, in some scenarios; in the others
// nobody can be asked.
func (m *randomScenario) permits() []map[string]any {
	if m.IntN(3) > 0 {
		return nil
	}
	var all []map[string]any
	for range 60 {
		all = append(all, map[string]any{"allow": m.IntN(3) > 0, "after": fmt.Sprintf("%dms", 1+m.IntN(40))})
	}
	return all
}

func newRandomScenario(t testing.TB, seed uint64) (sc *scenario.Scenario, text []byte, limit int) {
	m := &randomScenario{Rand: rand.New(rand.NewPCG(seed, 8)), durations: map[string]string{}}
	text, err := m.scenario()
	require.NoError(t, err)
	sc, err = scenario.Parse("random.yaml", text)
	require.NoError(t, err)
	return sc, text, m.limit
}
