package file_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"toolbench/sim/world"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// remember has the memory in a folder answer an input: with its text, or with why not.
func remember(t *testing.T, fs afero.Fs, dir, input string) (text, fail string) {
	t.Helper()
	m := file.Memory(fs, dir)
	in, problems := m.Parse(json.RawMessage(input))
	require.Empty(t, problems, input)
	if refusal := m.Validate(in, newContext()); refusal != nil {
		return "", refusal.Message
	}
	out, err := m.Call(t.Context(), in, newContext())
	if err != nil {
		return "", err.Error()
	}
	return message.PlainText(out.Blocks), ""
}

func memories(t *testing.T, tree string) afero.Fs {
	t.Helper()
	fs := world.NewFS(world.FSConfig{UID: user, GID: user, Umask: 0o022})
	require.NoError(t, fs.MkdirAll("/home/user/mem", 0o755))
	require.NoError(t, fs.Load("/home/user/mem", txtar.Parse([]byte(tree))))
	return fs
}

func TestMemoryKeepsFiles(t *testing.T) {
	fs := memories(t, "-- notes/a.md --\none\ntwo\nthree\n-- .hidden --\nx\n-- node_modules/m.js --\nx\n-- deep/er/est/b.md --\nx\n")
	for _, step := range []struct{ input, text, fail string }{
		{`{"command":"view","path":"/memories"}`, "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n" +
			"4.0K\t/memories\n4.0K\t/memories/deep\n4.0K\t/memories/deep/er\n4.0K\t/memories/notes\n0.0K\t/memories/notes/a.md", ""},
		{`{"command":"view","path":"/memories/notes/a.md"}`, "Here's the content of /memories/notes/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree", ""},
		{`{"command":"view","path":"/memories/notes/a.md","view_range":[2,-1]}`, "Here's the content of /memories/notes/a.md with line numbers:\n     2\ttwo\n     3\tthree", ""},
		{`{"command":"view","path":"/memories/notes/a.md","view_range":[3,3]}`, "Here's the content of /memories/notes/a.md with line numbers:\n     3\tthree", ""},
		{`{"command":"view","path":"/memories/notes/a.md","view_range":[0,1]}`, "", "view_range [0, 1] does not lie within the 3 lines"},
		{`{"command":"view","path":"/memories/notes/a.md","view_range":[3,2]}`, "", "view_range [3, 2]"},
		{`{"command":"view","path":"/memories/notes/a.md","view_range":[1,4]}`, "", "view_range [1, 4]"},
		{`{"command":"view","path":"/memories/none"}`, "", "The path /memories/none does not exist."},
		{`{"command":"insert","path":"/memories/notes/a.md","insert_line":3,"insert_text":"four"}`, "The file /memories/notes/a.md has been edited.", ""},
		{`{"command":"insert","path":"/memories/notes/a.md","insert_line":0,"insert_text":"zero\n"}`, "The file /memories/notes/a.md has been edited.", ""},
		{`{"command":"insert","path":"/memories/notes/a.md","insert_line":6,"insert_text":"x"}`, "", "Invalid `insert_line` parameter: 6. It should be within the range of lines of the file: [0, 5]"},
		{`{"command":"str_replace","path":"/memories/notes/a.md","old_str":"two","new_str":"2"}`, "The memory file has been edited.", ""},
		{`{"command":"str_replace","path":"/memories/notes/a.md","old_str":"o","new_str":"0"}`, "", "Multiple occurrences of old_str `o` in /memories/notes/a.md: 3."},
		{`{"command":"str_replace","path":"/memories/notes/a.md","old_str":"five","new_str":"5"}`, "", "did not appear verbatim"},
		{`{"command":"str_replace","path":"/memories/notes/a.md","new_str":"5"}`, "", "did not appear verbatim"},
		{`{"command":"str_replace","path":"/memories/notes","old_str":"a","new_str":"5"}`, "", "/memories/notes is no file"},
		{`{"command":"create","path":"/memories/notes/a.md","file_text":"x"}`, "", "File /memories/notes/a.md already exists"},
		{`{"command":"create","path":"/memories/new/c.md","file_text":"x"}`, "File created successfully at: /memories/new/c.md", ""},
		{`{"command":"rename","old_path":"/memories/new","new_path":"/memories/notes/old"}`, "Successfully renamed /memories/new to /memories/notes/old", ""},
		{`{"command":"rename","old_path":"/memories/new","new_path":"/memories/x"}`, "", "The path /memories/new does not exist"},
		{`{"command":"rename","old_path":"/memories/notes/a.md","new_path":"/memories/notes/old/c.md"}`, "", "The destination /memories/notes/old/c.md already exists"},
		{`{"command":"rename","old_path":"/memories/notes","new_path":"/memories/notes/old/in"}`, "", "/memories/notes cannot become /memories/notes/old/in"},
		{`{"command":"create","path":"/memories/notes/a.md/b.md","file_text":"x"}`, "", "/memories/notes/a.md"},
		{`{"command":"delete","path":"/memories/deep"}`, "Successfully deleted /memories/deep", ""},
		{`{"command":"delete","path":"/memories/deep"}`, "", "The path /memories/deep does not exist"},
	} {
		text, fail := remember(t, fs, "/home/user/mem", step.input)
		assert.Equal(t, step.text, text, step.input)
		assert.Contains(t, fail, step.fail, step.input)
		assert.Equal(t, step.fail == "", fail == "", "%s: %s", step.input, fail)
	}
	kept, err := afero.ReadFile(fs, "/home/user/mem/notes/a.md")
	require.NoError(t, err)
	assert.Equal(t, "zero\none\n2\nthree\nfour\n", string(kept))
}

// The folder itself stays a folder, whether it is there yet or not.
func TestTheMemoryItselfStays(t *testing.T) {
	for _, fs := range []afero.Fs{memories(t, "-- a.md --\nx\n"), world.NewFS(world.FSConfig{})} {
		for _, input := range []string{
			`{"command":"create","path":"/memories","file_text":"x"}`, `{"command":"create","path":"/memories/.","file_text":"x"}`,
			`{"command":"delete","path":"/memories"}`, `{"command":"delete","path":"/memories/"}`,
			`{"command":"rename","old_path":"/memories","new_path":"/memories/x"}`, `{"command":"rename","old_path":"/memories/a.md","new_path":"/memories/"}`,
		} {
			_, fail := remember(t, fs, "/home/user/mem", input)
			assert.NotEmpty(t, fail, input)
		}
		text, fail := remember(t, fs, "/home/user/mem", `{"command":"view","path":"/memories"}`)
		assert.Contains(t, text, "up to 2 levels deep in /memories", fail)
	}
}

func TestAPathOfTheMemoryLeadsNowhereElse(t *testing.T) {
	real := t.TempDir()
	dir, secret := filepath.Join(real, "mem"), filepath.Join(real, "memories-secret")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "file")))
	require.NoError(t, os.Symlink(real, filepath.Join(dir, "folder")))
	for _, p := range []string{
		"", "/", "/memorie", "/memories-secret", "/memoriesx", "memories/a", "./memories", "/memories/../memories-secret", "/memories/..", "/memories/a/../../x",
		`/memories/..\\x`, "/memories/%2e%2e/x", "/memories/a\\u0000b", "//memories/a", "/MEMORIES/a", "/memories/file", "/memories/folder/memories-secret", "/memories/folder/new",
	} {
		for _, input := range []string{
			`{"command":"view","path":"` + p + `"}`, `{"command":"create","path":"` + p + `","file_text":"x"}`, `{"command":"delete","path":"` + p + `"}`,
			`{"command":"insert","path":"` + p + `","insert_line":0,"insert_text":"x"}`, `{"command":"str_replace","path":"` + p + `","old_str":"secret","new_str":"x"}`,
			`{"command":"rename","old_path":"` + p + `","new_path":"/memories/x"}`, `{"command":"rename","old_path":"/memories/file","new_path":"` + p + `"}`,
		} {
			text, fail := remember(t, afero.NewOsFs(), dir, input)
			assert.Empty(t, text, input)
			assert.Contains(t, fail, "paths of the memory begin with /memories", input)
		}
	}
	left, err := os.ReadFile(secret)
	require.NoError(t, err)
	assert.Equal(t, "secret", string(left))
}

func TestOnlyALookAtTheMemoryRunsUnasked(t *testing.T) {
	m := file.Memory(afero.NewMemMapFs(), "/mem")
	for input, want := range map[string]tool.Subject{
		`{"command":"view","path":"/memories/a"}`:                                {Paths: []string{"/mem/a"}, Kin: []string{"Read"}},
		`{"command":"delete","path":"/memories/a"}`:                              {Paths: []string{"/mem/a"}, Kin: []string{"Edit", "Write"}},
		`{"command":"rename","old_path":"/memories/a","new_path":"/memories/b"}`: {Paths: []string{"/mem/a", "/mem/b"}, Kin: []string{"Edit", "Write"}},
	} {
		in, problems := m.Parse(json.RawMessage(input))
		require.Empty(t, problems)
		looks := want.Kin[0] == "Read"
		assert.Equal(t, want, m.Subject(in, newContext()), input)
		assert.Equal(t, looks, m.Behaviour.ReadOnly(in), input)
		assert.Equal(t, looks, m.Permit(in, newContext()).Behaviour == permission.Allow, input)
	}
}
