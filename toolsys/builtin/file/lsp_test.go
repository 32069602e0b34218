package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// recorded is a language server that notes what it is sent and answers every hover with it.
type recorded struct {
	mu   sync.Mutex
	seen []string
}

func (r *recorded) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var p struct {
		TextDocument struct {
			URI, Text, LanguageID string
			Version               int
		}
		ContentChanges []struct{ Text string }
		Position       struct{ Line, Character int }
	}
	if req.Params != nil {
		_ = json.Unmarshal(*req.Params, &p)
	}
	switch req.Method {
	case "textDocument/didOpen":
		r.seen = append(r.seen, "open "+p.TextDocument.URI+" "+p.TextDocument.LanguageID+" "+p.TextDocument.Text)
	case "textDocument/didChange":
		r.seen = append(r.seen, "change "+p.TextDocument.URI+" "+p.ContentChanges[0].Text)
	case "textDocument/didClose":
		r.seen = append(r.seen, "close "+p.TextDocument.URI)
	case "initialize":
		_ = conn.Reply(ctx, req.ID, map[string]any{})
	case "textDocument/hover":
		_ = conn.Reply(ctx, req.ID, map[string]any{"contents": []any{strings.Join(r.seen, "\n"), map[string]any{"language": "go", "value": "second"}}})
	case "workspace/symbol":
		at := map[string]any{"uri": "file:///repo/a.go", "range": map[string]any{"start": map[string]any{"line": -1}}}
		_ = conn.Reply(ctx, req.ID, []any{
			map[string]any{"name": "One", "kind": 12, "containerName": "box", "location": at}, map[string]any{"name": "Two", "kind": 12, "location": at},
		})
	case "textDocument/references":
		_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: 1, Message: "still loading"})
	}
}

func languages(t *testing.T, start func() (io.ReadWriteCloser, error)) *file.Languages {
	l := file.NewLanguages(file.LanguagesConfig{
		Servers: []file.LanguageServer{{Language: "go", Extensions: []string{".go"}, Command: []string{"gopls", "-x"}}},
		Start:   func(context.Context, []string, string, map[string]string) (io.ReadWriteCloser, error) { return start() },
	})
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func askLSP(t *testing.T, lsp *tool.Tool, c *tool.Context, input string) (string, error) {
	t.Helper()
	in, problems := lsp.Parse(json.RawMessage(input))
	require.Empty(t, problems)
	c.Clock.Sleep = func(_ context.Context, _ string, d time.Duration) error { time.Sleep(d); return nil }
	out, err := lsp.Call(t.Context(), in, c)
	return message.PlainText(out.Blocks), err
}

// The server sees the files as they are at each question.
func TestALanguageServerIsShownWhatChanged(t *testing.T) {
	fs := afero.NewMemMapFs()
	write := func(name, text string) { require.NoError(t, afero.WriteFile(fs, name, []byte(text), 0o644)) }
	write("/repo/a.go", "a1")
	write("/repo/b c.go", "b1")
	r := &recorded{}
	l := languages(t, func() (io.ReadWriteCloser, error) {
		mine, theirs := net.Pipe()
		jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}), r)
		return mine, nil
	})
	lsp := file.LSP(file.Deps{FS: fs}, l)
	c := &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}
	const hover = `{"operation":"hover","file_path":"a.go","line":1,"character":1}`
	for _, want := range []struct {
		before func()
		seen   string
	}{
		{func() {}, "open file:///repo/a.go go a1"},
		{func() { write("/repo/a.go", "a2") }, "change file:///repo/a.go a2"},
		{func() { c.State = c.State.Observe(tool.Seen("/repo/b c.go", nil)) }, "open file:///repo/b%20c.go go b1"},
		{func() { require.NoError(t, fs.Remove("/repo/b c.go")) }, "close file:///repo/b%20c.go"},
	} {
		want.before()
		text, err := askLSP(t, lsp, c, hover)
		require.NoError(t, err)
		assert.Equal(t, want.seen+"\n\nsecond", text[strings.LastIndex("\n"+strings.TrimSuffix(text, "\n\nsecond"), "\n"):])
	}
	_, err := askLSP(t, lsp, c, `{"operation":"references","file_path":"a.go","line":1,"symbol":"a2"}`)
	assert.ErrorContains(t, err, "refused: still loading")
	text, err := askLSP(t, lsp, c, `{"operation":"workspace_symbols","file_path":"a.go"}`)
	require.NoError(t, err, "a line that no file has is shown as it is")
	assert.Equal(t, "a.go:0:1: function One (in box)\na.go:0:1: function Two", text, "what contains one symbol does not contain the next")
	require.NoError(t, l.Close())
	_, err = askLSP(t, lsp, c, hover)
	assert.ErrorContains(t, err, "have been closed")
}

// A server of several languages reads a file as what it is shown as.
func TestAFileIsShownAsOfTheLanguageOfItsExtension(t *testing.T) {
	fs := afero.NewMemMapFs()
	l := file.NewLanguages(file.LanguagesConfig{
		Servers: []file.LanguageServer{{Language: "web", Extensions: []string{".ts", ".tsx", ".js", ".jsx", ".vue"}, Command: []string{"server"}}},
		Start: func(context.Context, []string, string, map[string]string) (io.ReadWriteCloser, error) {
			mine, theirs := net.Pipe()
			jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}), &recorded{})
			return mine, nil
		},
	})
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	lsp, c := file.LSP(file.Deps{FS: fs}, l), &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}
	for name, language := range map[string]string{"a.ts": "typescript", "a.tsx": "typescriptreact", "a.js": "javascript", "a.jsx": "javascriptreact", "a.vue": "web"} {
		require.NoError(t, afero.WriteFile(fs, "/repo/"+name, []byte("x"), 0o644))
		text, err := askLSP(t, lsp, c, `{"operation":"hover","file_path":"`+name+`","line":1,"character":1}`)
		require.NoError(t, err)
		assert.Contains(t, text, "open file:///repo/"+name+" "+language+" x")
	}
}

// deafAfter is a stream whose other end stops reading after a while.
type deafAfter struct {
	io.ReadWriteCloser
	writes atomic.Int32
	closed chan struct{}
	once   sync.Once
}

func (d *deafAfter) Write(p []byte) (int, error) {
	if d.writes.Add(-1) < 0 {
		<-d.closed
		return 0, io.ErrClosedPipe
	}
	return d.ReadWriteCloser.Write(p)
}

func (d *deafAfter) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.ReadWriteCloser.Close()
}

// A server that does not read what it is told holds up nobody beyond the context, and another takes its
// place at the next question.
func TestALanguageServerThatDoesNotReadIsEnded(t *testing.T) {
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/repo/a.go", []byte("a"), 0o644))
	c := &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}
	c.Clock.Sleep = func(context.Context, string, time.Duration) error { return nil }
	for reads := range int32(12) {
		started := int32(0)
		lsp := file.LSP(file.Deps{FS: fs}, languages(t, func() (io.ReadWriteCloser, error) {
			mine, theirs := net.Pipe()
			jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}), &recorded{})
			way := &deafAfter{ReadWriteCloser: mine, closed: make(chan struct{})}
			if started++; started == 1 {
				way.writes.Store(reads)
			} else {
				way.writes.Store(1 << 20)
			}
			return way, nil
		}))
		in, problems := lsp.Parse(json.RawMessage(`{"operation":"hover","file_path":"a.go","line":1,"character":1}`))
		require.Empty(t, problems)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := lsp.Call(ctx, in, c)
		cancel()
		if err == nil {
			assert.Greater(t, reads, int32(3), "it read all that it was asked")
			return
		}
		_, err = lsp.Call(t.Context(), in, c)
		require.NoError(t, err)
		assert.Equal(t, int32(2), started)
	}
	t.Error("no server ever read enough")
}

func TestALanguageServerThatDoesNotStartIsNamed(t *testing.T) {
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/repo/a.go", []byte("a"), 0o644))
	c := &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}
	lsp := file.LSP(file.Deps{FS: fs}, languages(t, func() (io.ReadWriteCloser, error) { return nil, errors.New("no such program") }))
	_, err := askLSP(t, lsp, c, `{"operation":"document_symbols","file_path":"a.go"}`)
	assert.ErrorContains(t, err, "the language server for go (gopls -x) did not start: no such program")
}

func TestQuestionsThatCannotBeAskedAreRefused(t *testing.T) {
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/repo/a.go", []byte("one\ntwo"), 0o644))
	require.NoError(t, fs.MkdirAll("/repo/dir.go", 0o755))
	c := &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}
	l := languages(t, func() (io.ReadWriteCloser, error) { panic("nothing is to be started") })
	lsp := file.LSP(file.Deps{FS: fs}, l)
	for input, want := range map[string]string{
		`{"operation":"hover","file_path":"a.go"}`:                         "give line, and symbol or character",
		`{"operation":"hover","file_path":"a.go","line":1}`:                "give line, and symbol or character",
		`{"operation":"hover","file_path":"a.go","line":3,"character":1}`:  "has 2 lines",
		`{"operation":"hover","file_path":"a.go","line":1,"character":9}`:  "has 3 characters",
		`{"operation":"hover","file_path":"a.go","line":1,"symbol":"two"}`: `"two" is not on line 1`,
		`{"operation":"document_symbols","file_path":"gone.go"}`:           "does not exist",
		`{"operation":"document_symbols","file_path":"dir.go"}`:            "is a folder",
		`{"operation":"document_symbols","file_path":"a.txt"}`:             "only for files that end in .go",
		`{"operation":"document_symbols","file_path":"a"}`:                 "no language server for a",
	} {
		in, problems := lsp.Parse(json.RawMessage(input))
		require.Empty(t, problems, input)
		if refusal := lsp.Validate(in, c); assert.NotNil(t, refusal, input) {
			assert.Contains(t, refusal.Message, want, input)
		}
	}
	in, _ := lsp.Parse(json.RawMessage(`{"operation":"document_symbols","file_path":"//host/share/a.go"}`))
	assert.Nil(t, lsp.Validate(in, c), "a UNC path passes without a look")
	_, err := lsp.Call(t.Context(), in, c)
	assert.ErrorContains(t, err, "UNC path")
	in, _ = lsp.Parse(json.RawMessage(`{"operation":"document_symbols","file_path":"a.go"}`))
	assert.Contains(t, file.LSP(file.Deps{FS: fs}, nil).Validate(in, c).Message, "There is no language server here")
	assert.True(t, lsp.LSP && lsp.Loading.Deferrable)
}

// flooding is a language server that writes without end.
type flooding struct {
	io.ReadWriteCloser
	text    string
	written atomic.Int64
}

func (f *flooding) Read(p []byte) (int, error) {
	if f.written.Add(int64(len(p))) > 400<<20 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = f.text[i%len(f.text)]
	}
	return len(p), nil
}

func (f *flooding) Write(p []byte) (int, error) { return len(p), nil }

func (f *flooding) Close() error { return nil }

// A language server cannot fill the memory: not with a line of a message's head, nor with a message.
func TestAMessageWithoutEndIsGivenUp(t *testing.T) {
	for _, text := range []string{"x", "Content-Length: 4294967295\r\n\r\n[" + strings.Repeat("1,", 4<<10)} {
		flood := &flooding{text: text}
		fs := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fs, "/repo/a.go", []byte("a"), 0o644))
		lsp := file.LSP(file.Deps{FS: fs}, languages(t, func() (io.ReadWriteCloser, error) { return flood, nil }))
		_, err := askLSP(t, lsp, &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}, `{"operation":"document_symbols","file_path":"a.go"}`)
		require.ErrorContains(t, err, "ended; the next call starts it again")
		assert.Less(t, flood.written.Load(), int64(200<<20), "and it read on")
	}
}

// What a hover nests is read once, however deep it is.
func TestADeepHoverIsShownAtOnce(t *testing.T) {
	const depth = 9_000
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/repo/a.go", []byte("a"), 0o644))
	hover := json.RawMessage(strings.Repeat("[", depth) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", depth))
	lsp := file.LSP(file.Deps{FS: fs}, languages(t, func() (io.ReadWriteCloser, error) {
		mine, theirs := net.Pipe()
		jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.HandlerWithError(
			func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) {
				return map[string]any{"contents": hover}, nil
			}).SuppressErrClosed())
		return mine, nil
	}))
	answered := make(chan string, 1)
	go func() {
		text, _ := askLSP(t, lsp, &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}, `{"operation":"hover","file_path":"a.go","line":1,"character":1}`)
		answered <- text
	}()
	select {
	case text := <-answered:
		assert.Len(t, text, 1<<20)
	case <-time.After(30 * time.Second):
		t.Fatal("it is still read")
	}
}

// The protocol counts lines and characters from 0, and a character in units of UTF-16.
func TestALanguageServerIsAskedAboutTheRightPlace(t *testing.T) {
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/repo/a.go", []byte("first\r\né😀 name name\r\nfunc (n *né) run(names ...n) name(n)\r\n"), 0o644))
	lsp := file.LSP(file.Deps{FS: fs}, languages(t, func() (io.ReadWriteCloser, error) {
		mine, theirs := net.Pipe()
		jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.HandlerWithError(
			func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
				var p struct {
					Position struct{ Line, Character int }
				}
				if req.Params != nil {
					_ = json.Unmarshal(*req.Params, &p)
				}
				return map[string]any{"contents": fmt.Sprint(p.Position.Line, ":", p.Position.Character)}, nil
			}).SuppressErrClosed())
		return mine, nil
	}))
	for place, want := range map[string]string{
		`"line":1,"character":1`: "0:0", `"line":1,"character":6`: "0:5", `"line":2,"character":2`: "1:1", `"line":2,"character":3`: "1:3", `"line":2,"symbol":"name"`: "1:4",
		`"line":3,"symbol":"n"`: "2:6", `"line":3,"symbol":"né"`: "2:9", `"line":3,"symbol":"name"`: "2:29", `"line":3,"symbol":"name("`: "2:29", `"line":3,"symbol":"nam"`: "2:17", `"line":3,"symbol":"...n"`: "2:23",
	} {
		text, err := askLSP(t, lsp, &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}, `{"operation":"hover","file_path":"a.go",`+place+`}`)
		require.NoError(t, err)
		assert.Equal(t, want, text, place)
	}
}

// pointing is a language server in which whatever is asked for stands in the second line of files.
type pointing []string

func (p pointing) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Method == "initialize" {
		_ = conn.Reply(ctx, req.ID, map[string]any{})
		return
	}
	var found []any
	for _, uri := range p {
		found = append(found, map[string]any{"uri": uri, "range": map[string]any{"start": map[string]any{"line": 1}}})
	}
	if !req.Notif {
		_ = conn.Reply(ctx, req.ID, found)
	}
}

// A definition in a file that a rule keeps from being read is not shown, however the server names the file; where the rule is
// about the very file of the question, that was decided before.
func TestALanguageServerShowsNothingOfForbiddenFiles(t *testing.T) {
	w := newWorkplace(t, "-- a.go --\npackage a\nvar a = key\n-- secrets/k.go --\npackage secrets\nvar key = 42\n")
	require.NoError(t, w.fs.(afero.Linker).SymlinkIfPossible("secrets", "/repo/other"))
	l := languages(t, func() (io.ReadWriteCloser, error) {
		mine, theirs := net.Pipe()
		jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}),
			pointing{"file:///repo/secrets/k.go", "file:///repo/other/k.go", "file:///repo/a.go"})
		return mine, nil
	})
	lsp := file.LSP(w.deps(), l)
	const shown = "secrets/k.go:2:1: var key = 42\nother/k.go:2:1: var key = 42\na.go:2:1: var a = key"
	const left = "a.go:2:1: var a = key\n[2 more were left out]"
	for _, row := range []struct {
		behaviour        permission.Behaviour
		rule, from, want string
	}{
		{permission.Allow, "Read(secrets/**)", "a.go", shown}, {permission.Deny, "Read(secrets/**)", "a.go", left}, {permission.Ask, "LSP(secrets/**)", "a.go", left},
		{permission.Deny, "Read(//repo/secrets/k.go)", "a.go", left}, {permission.Deny, "Edit(secrets/**)", "a.go", shown}, {permission.Ask, "Read(secrets/**)", "secrets/k.go", shown},
	} {
		rules, err := permission.Rules{}.Parse(permission.Project, row.behaviour, row.rule)
		require.NoError(t, err)
		w.c.Rules = rules
		text := w.ok(lsp, map[string]any{"operation": "definition", "file_path": row.from, "line": 2, "symbol": "key"})
		assert.Equal(t, row.want, text, row.rule)
	}
}

// Before permission, which a question about a file outside of the roots needs, or about one that a rule keeps, no line is
// looked at: a refusal would show whether it has a text.
func TestAQuestionThatNeedsPermissionIsNotRefusedForWhatTheFileHas(t *testing.T) {
	w := newWorkplace(t, "-- in.go --\npackage a\n")
	require.NoError(t, w.fs.MkdirAll("/other", 0o755))
	require.NoError(t, afero.WriteFile(w.fs, "/other/a.go", []byte("key = 42"), 0o644))
	require.NoError(t, w.fs.(afero.Linker).SymlinkIfPossible("/other/a.go", "/repo/link.go"))
	lsp := file.LSP(w.deps(), languages(t, func() (io.ReadWriteCloser, error) { return nil, errors.New("not there") }))
	for _, name := range []string{"/other/a.go", "../other/a.go", "link.go"} {
		w.fails(lsp, map[string]any{"operation": "hover", "file_path": name, "line": 1, "symbol": "guess"})
	}
	guess := map[string]any{"operation": "hover", "file_path": "in.go", "line": 1, "symbol": "guess"}
	w.refused(lsp, file.CodePlace, guess)
	rules, err := permission.Rules{}.Parse(permission.Project, permission.Ask, "Read(in.go)")
	require.NoError(t, err)
	w.c.Rules = rules
	w.fails(lsp, guess)
}

// slow is a language server that is asked before it has read the project: its answers to the questions after each other are
// those given, the last one from then on.
type slow struct {
	answers  []any // values, or errors of the protocol
	progress []string
	wait     time.Duration // before progress ends, where it does
	asked    int
}

func (s *slow) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	switch req.Method {
	case "initialized":
		report := func(kind string) {
			_ = conn.Notify(ctx, "$/progress", map[string]any{"token": 7, "value": map[string]any{"kind": kind, "title": "Loading"}})
		}
		for _, kind := range s.progress {
			if kind == "end" && s.wait > 0 {
				go func() { time.Sleep(s.wait); report(kind) }()
				continue
			}
			report(kind)
		}
	case "textDocument/references":
		answer := s.answers[min(s.asked, len(s.answers)-1)]
		if s.asked++; answer == nil {
			_ = conn.Reply(ctx, req.ID, []any{})
		} else if err, ok := answer.(*jsonrpc2.Error); ok {
			_ = conn.ReplyWithError(ctx, req.ID, err)
		} else {
			_ = conn.Reply(ctx, req.ID, answer)
		}
	default:
		if !req.Notif {
			_ = conn.Reply(ctx, req.ID, map[string]any{})
		}
	}
}

// Servers answer before they have read the project: with nothing, with part of it, or with an error that has a client ask again.
func TestALanguageServerThatStillReadsIsAskedAgain(t *testing.T) {
	place := func(line int) any {
		return map[string]any{"uri": "file:///repo/a.go", "range": map[string]any{"start": map[string]any{"line": line}}}
	}
	one, two := []any{place(0)}, []any{place(0), place(1)}
	const first, both = "a.go:1:1", "a.go:1:1\na.go:2:1"
	for name, row := range map[string]struct {
		server slow
		text   string
		took   time.Duration
		then   string // the answer to the same question asked again
		later  time.Duration
	}{
		"an answer is taken at once":            {slow{answers: []any{one}}, first, 250 * time.Millisecond, first, 0},
		"part of it, though it reports nothing": {slow{answers: []any{one, two}}, both, 500 * time.Millisecond, both, 0},
		"nothing, as it reads what is opened":   {slow{answers: []any{nil, nil, one}}, first, 750 * time.Millisecond, first, 0},
		"nothing there":                         {slow{answers: []any{nil}}, "The language server found nothing.", time.Second, "The language server found nothing.", 0},
		"part of it, as it loads":               {slow{answers: []any{one, two}, progress: []string{"begin", "report", "end"}, wait: 4900 * time.Millisecond}, both, 5250 * time.Millisecond, both, 0},
		"part of it, as it loads without end":   {slow{answers: []any{one}, progress: []string{"begin"}}, first + "\n[The language server is still reading the project: there may be more.]", 30 * time.Second, first, 0},
		"nothing, as it loads without end":      {slow{answers: []any{nil}, progress: []string{"begin"}}, "The language server found nothing.\n[The language server is still reading the project: there may be more.]", 30 * time.Second, "The language server found nothing.\n[The language server is still reading the project: there may be more.]", 30 * time.Second},
		"files that change while it thinks":     {slow{answers: []any{&jsonrpc2.Error{Code: -32801, Message: "content modified"}, one}}, first, 500 * time.Millisecond, first, 0},
		"a server that gives its answer up":     {slow{answers: []any{&jsonrpc2.Error{Code: -32802, Message: "cancelled"}, one}}, first, 500 * time.Millisecond, first, 0},
		"a server that has loaded":              {slow{answers: []any{one}, progress: []string{"begin", "end"}}, first, 250 * time.Millisecond, first, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := afero.NewMemMapFs()
				require.NoError(t, afero.WriteFile(fs, "/repo/a.go", []byte("a\na2\n"), 0o644))
				lsp := file.LSP(file.Deps{FS: fs}, languages(t, func() (io.ReadWriteCloser, error) {
					mine, theirs := net.Pipe()
					jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}), &row.server)
					return mine, nil
				}))
				c := &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo"}}
				for _, want := range []struct {
					text string
					took time.Duration
				}{{row.text, row.took}, {row.then, row.later}} {
					begun := time.Now()
					text, err := askLSP(t, lsp, c, `{"operation":"references","file_path":"a.go","line":1,"symbol":"a"}`)
					require.NoError(t, err)
					assert.Equal(t, want.text, text)
					assert.Equal(t, want.took, time.Since(begun))
				}
			})
		})
	}
}
