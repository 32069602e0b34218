package host_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/host"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

func TestAProcessEndsWithItsStream(t *testing.T) {
	dir := host.Follow(t.TempDir())
	p, err := host.StartProcess(t.Context(), []string{"sh", "-c", `sleep 1000 & echo $!; pwd; echo $GIVEN; read line; echo "got $line"; trap '' TERM; sleep 1000`}, dir, theirs)
	require.NoError(t, err)
	out := bufio.NewScanner(p)
	next := func() string { require.True(t, out.Scan()); return out.Text() }
	left := next()
	assert.Equal(t, []string{dir, "yes"}, []string{next(), next()})
	_, err = io.WriteString(p, "this\n")
	require.NoError(t, err)
	assert.Equal(t, "got this", next())
	require.NoError(t, p.Close())
	require.NoError(t, p.Close(), "closing twice is closing once")
	gone(t, left)

	_, err = host.StartProcess(t.Context(), []string{"/no/such/program"}, dir, nil)
	require.Error(t, err)
	_, err = host.StartProcess(t.Context(), nil, dir, nil)
	require.Error(t, err)
}

// The language server of Go, on a small module of its own, through the tool.
func TestARealLanguageServerIsAsked(t *testing.T) {
	gopls, err := exec.LookPath("gopls")
	if err != nil {
		t.Skip("gopls is not on this machine")
	}
	dir := host.Follow(t.TempDir())
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("go.mod", "module small\n\ngo 1.24\n")
	write("greet.go", "package small\n\n// greet greets.\nfunc greet(name string) string { return \"hello \" + name }\n")
	write("main.go", "package small\n\nvar all = greet(\"all\")\n\nfunc run() string { return greet(\"one\") }\n")
	languages := file.NewLanguages(file.LanguagesConfig{
		Servers: []file.LanguageServer{{Language: "go", Extensions: []string{".go"}, Command: []string{gopls}}}, Start: host.StartProcess,
	})
	defer func() { require.NoError(t, languages.Close()) }()
	lsp := file.LSP(file.Deps{FS: afero.NewOsFs()}, languages)
	env := map[string]string{}
	for _, name := range []string{"PATH", "HOME", "GOPATH", "GOCACHE", "GOROOT"} {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	c := &tool.Context{State: tool.State{Dir: dir, Root: dir, Env: env}}
	c.Roots = []string{dir}
	c.Clock = toolsys.RealClock()
	ask := func(operation, name string, line int, symbol string) string {
		t.Helper()
		raw, err := json.Marshal(map[string]any{"operation": operation, "file_path": name, "line": line, "symbol": symbol, "query": "greet"})
		require.NoError(t, err)
		in, problems := lsp.Parse(raw)
		require.Empty(t, problems)
		out, err := lsp.Call(t.Context(), in, c)
		require.NoError(t, err)
		return message.PlainText(out.Blocks)
	}
	greet := "greet.go:4:6: func greet(name string) string { return \"hello \" + name }"
	assert.Equal(t, greet, ask("definition", "main.go", 3, "greet"))
	assert.Contains(t, ask("hover", "main.go", 3, "greet"), "greet greets.")
	references := ask("references", "greet.go", 4, "greet")
	assert.Contains(t, references, "main.go:3:11")
	assert.Contains(t, references, "main.go:5:28")
	assert.Contains(t, ask("document_symbols", "main.go", 1, "x"), "main.go:5:6: function run")
	assert.Contains(t, ask("workspace_symbols", "main.go", 1, "x"), "greet.go:4:6: function greet")
	assert.Contains(t, ask("incoming_calls", "greet.go", 4, "greet"), "function run")
	assert.Contains(t, ask("outgoing_calls", "main.go", 5, "run"), "function greet")

	// What changed since is seen, in the file asked about and in those the server has.
	write("main.go", "package small\n\nfunc other() {}\n")
	c.State = c.State.Observe(tool.Seen(filepath.Join(dir, "main.go"), nil))
	assert.Equal(t, greet, ask("references", "greet.go", 4, "greet"), "the uses in main.go are gone")
}
