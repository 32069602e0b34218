package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"toolbench/sim/world"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// user is who works in the worlds of these tests: not root, so that permissions
// count.
const user = 1000

// workplace is a tree of files and the conversation that works on it.
type workplace struct {
	t  testing.TB
	fs afero.Fs
	c  *tool.Context
}

// newWorkplace makes a workplace in /repo from a txtar text.
func newWorkplace(t testing.TB, tree string) *workplace {
	t.Helper()
	fs := world.NewFS(world.FSConfig{UID: user, GID: user, Umask: 0o022})
	require.NoError(t, fs.MkdirAll("/repo", 0o755))
	require.NoError(t, fs.Load("/repo", txtar.Parse([]byte(tree))))
	return &workplace{t: t, fs: fs, c: newContext()}
}

func newContext() *tool.Context {
	return &tool.Context{
		Core:     tool.Core{CallID: "call_1", Clock: tool.Clock{Sleep: func(context.Context, string, time.Duration) error { return nil }}},
		Security: tool.Security{Home: "/home/user", Roots: []string{"/repo"}},
		State:    tool.State{Dir: "/repo", Root: "/repo"},
	}
}

func (w *workplace) deps() file.Deps { return file.Deps{FS: w.fs} }

// answer is what became of a call.
type answer struct {
	tool.Output
	refusal *tool.Refusal
	err     error
}

func (a answer) text() string { return message.PlainText(a.Blocks) }

// call takes an input through the stages that belong to the tool: schema,
// validation, work; then the conversation learns what was observed.
func (w *workplace) call(t *tool.Tool, input map[string]any) answer {
	w.t.Helper()
	in := w.parse(t, input)
	if refusal := t.Validate(in, w.c); refusal != nil {
		return answer{refusal: refusal, err: errors.New(refusal.Message)}
	}
	out, err := t.Call(context.Background(), in, w.c)
	for _, o := range out.Observed {
		w.c.State = w.c.State.Observe(o)
	}
	return answer{Output: out, err: err}
}

func (w *workplace) parse(t *tool.Tool, input map[string]any) tool.Input {
	w.t.Helper()
	raw, err := json.Marshal(input)
	require.NoError(w.t, err)
	in, problems := t.Parse(raw)
	require.Empty(w.t, problems, problems.String())
	return in
}

// ok is a call that must succeed; it gives the text the model sees.
func (w *workplace) ok(t *tool.Tool, input map[string]any) string {
	w.t.Helper()
	a := w.call(t, input)
	require.NoError(w.t, a.err)
	return a.text()
}

// refused is a call that must be refused by validation.
func (w *workplace) refused(t *tool.Tool, code int, input map[string]any) string {
	w.t.Helper()
	a := w.call(t, input)
	require.NotNil(w.t, a.refusal, "not refused; err: %v, text: %s", a.err, a.text())
	require.Equal(w.t, code, a.refusal.Code, a.refusal.Message)
	return a.refusal.Message
}

// fails is a call that must get past validation and then fail.
func (w *workplace) fails(t *tool.Tool, input map[string]any) string {
	w.t.Helper()
	a := w.call(t, input)
	require.Nil(w.t, a.refusal)
	require.Error(w.t, a.err)
	return a.err.Error()
}

// read lets the conversation know a file.
func (w *workplace) read(name string) string {
	w.t.Helper()
	return w.ok(file.Read(w.deps()), map[string]any{"file_path": name})
}

func (w *workplace) put(name, content string) {
	w.t.Helper()
	require.NoError(w.t, afero.WriteFile(w.fs, name, []byte(content), 0o644))
}

func (w *workplace) content(name string) string {
	w.t.Helper()
	content, err := afero.ReadFile(w.fs, name)
	require.NoError(w.t, err)
	return string(content)
}

// names lists a folder, to show that nothing is left lying about.
func (w *workplace) names(dir string) []string {
	w.t.Helper()
	infos, err := afero.ReadDir(w.fs, dir)
	require.NoError(w.t, err)
	var names []string
	for _, info := range infos {
		names = append(names, info.Name())
	}
	return names
}

// noFS fails the test on any call: it stands for a filesystem that must not be
// asked.
type noFS struct{ t testing.TB }

func (f noFS) touched(op string) error {
	f.t.Errorf("the filesystem was asked: %s", op)
	return os.ErrInvalid
}

func (f noFS) Create(string) (afero.File, error) { return nil, f.touched("Create") }
func (f noFS) Open(string) (afero.File, error)   { return nil, f.touched("Open") }
func (f noFS) OpenFile(string, int, os.FileMode) (afero.File, error) {
	return nil, f.touched("OpenFile")
}
func (f noFS) Mkdir(string, os.FileMode) error            { return f.touched("Mkdir") }
func (f noFS) MkdirAll(string, os.FileMode) error         { return f.touched("MkdirAll") }
func (f noFS) Remove(string) error                        { return f.touched("Remove") }
func (f noFS) RemoveAll(string) error                     { return f.touched("RemoveAll") }
func (f noFS) Rename(string, string) error                { return f.touched("Rename") }
func (f noFS) Stat(string) (os.FileInfo, error)           { return nil, f.touched("Stat") }
func (f noFS) Name() string                               { return "none" }
func (f noFS) Chmod(string, os.FileMode) error            { return f.touched("Chmod") }
func (f noFS) Chown(string, int, int) error               { return f.touched("Chown") }
func (f noFS) Chtimes(string, time.Time, time.Time) error { return f.touched("Chtimes") }
func (f noFS) ReadlinkIfPossible(string) (string, error)  { return "", f.touched("Readlink") }
func (f noFS) LstatIfPossible(string) (os.FileInfo, bool, error) {
	return nil, false, f.touched("Lstat")
}
