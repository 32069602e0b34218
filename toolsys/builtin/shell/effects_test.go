package shell_test

import (
	"slices"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

// effectsWorld has /repo/a, /repo/dir/b and nothing else.
func effectsWorld(t *testing.T) func(text string) tool.Effects {
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/repo/a", nil, 0o644))
	require.NoError(t, afero.WriteFile(fs, "/repo/dir/b", nil, 0o644))
	b := shell.Bash(shell.Deps{FS: fs})
	return func(text string) tool.Effects { return b.Behaviour.Effects(command(t, b, text), inRepo()) }
}

func TestWhatACommandReadsIsKnownFromItsWords(t *testing.T) {
	effects := effectsWorld(t)
	for text, want := range map[string][]string{
		"echo hi":                {"/repo"},
		"cat a":                  {"/repo", "/repo/a", "/repo/a/**"},
		"cat a | sort":           {"/repo", "/repo/a", "/repo/a/**"},
		"cat dir/*":              {"/repo", "/repo/dir", "/repo/dir/**", "/repo/dir/b", "/repo/dir/b/**"},
		"ls":                     {"/repo", "/repo/**"},
		"ls dir":                 {"/repo", "/repo/dir", "/repo/dir/**"},
		"grep -r x":              {"/repo", "/repo/**"},
		"rg x dir":               {"/**", "/repo", "/repo/dir", "/repo/dir/**"},
		"wc -l < dir/b":          {"/repo", "/repo/dir/b", "/repo/dir/b/**"},
		"test -f new/x || cat a": {"/repo", "/repo/a", "/repo/a/**", "/repo/new", "/repo/new/**", "/repo/new/x", "/repo/new/x/**"},
	} {
		assert.Equal(t, tool.Effects{Reads: want}, effects(text), text)
	}
}

func TestWhatACommandChangesIsKnownOfPlainWriters(t *testing.T) {
	effects := effectsWorld(t)
	for text, want := range map[string]tool.Effects{
		"echo hi > a":          {Writes: []string{"/repo/a"}},
		"echo hi >> new/x":     {Writes: []string{"/repo/new", "/repo/new/x"}},
		"touch x 2>/dev/null":  {Writes: []string{"/repo/x"}},
		"mkdir -p d/e":         {Writes: []string{"/repo/d", "/repo/d/**", "/repo/d/e", "/repo/d/e/**"}},
		"cp a c":               {Writes: []string{"/repo/c", "/repo/c/**"}},
		"cp a dir":             {Writes: []string{"/repo/dir/a"}},
		"rm a":                 {Writes: []string{"/repo/a", "/repo/a/**"}, Shifts: []string{"/repo/a", "/repo/a/**"}},
		"rm -rf dir || true":   {Writes: []string{"/repo/dir", "/repo/dir/**"}, Shifts: []string{"/repo/dir", "/repo/dir/**"}},
		"mv a dir":             {Writes: []string{"/repo/a", "/repo/a/**", "/repo/dir/a", "/repo/dir/a/**"}, Shifts: []string{"/repo/a", "/repo/a/**", "/repo/dir/a", "/repo/dir/a/**"}},
		"sed -i s/x/y/ a":      {Writes: []string{"/repo/a", "/repo/a/**"}, Shifts: []string{"/repo/a", "/repo/a/**"}},
		"cat <<X > x\nhi\nX\n": {Writes: []string{"/repo/x"}},
	} {
		want.Writes = append(want.Writes, schedule.OrderKey)
		slices.Sort(want.Writes)
		got := effects(text)
		assert.False(t, got.Everything, text)
		assert.Equal(t, want.Writes, got.Writes, text)
		assert.Equal(t, want.Shifts, got.Shifts, text)
	}
}

func TestWhatIsNotWrittenOutIsEverything(t *testing.T) {
	effects := effectsWorld(t)
	for _, text := range []string{
		"make", "cat $X", "cd dir", "ls ('", "export A=1", "A=1 touch x", "touch x &", "touch $X", "touch *.go", "echo x > $F",
		"f() { touch x; }; f", "for i in 1; do touch x; done", "(touch x)", "touch `ls`", "cp -r dir e", "cp --backup a c", "ln -s a l",
		"chmod +x a", "rm a && cat a", "mv a c; cat c", "rm -rf /repo", "mv /repo /elsewhere", "xargs rm < a", "find . -delete", "sh -c 'touch x'",
		"sed -i s/x/y/ a && cat a", "sed -i s/x/y/ a dir/b", "tee $(ls)", "touch ~other/x", "cat < $X", "cat $(rm a)", "rm //host/share/x",
	} {
		assert.True(t, effects(text).Everything, text)
	}
}
