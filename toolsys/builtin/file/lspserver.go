package file

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"toolbench/toolsys/tool"
)

// LanguageServer is a program that knows a language.
type LanguageServer struct {
	// Language is the protocol's name for it, such as "go"; Extensions are those of its files: ".go", or whole names: "Dockerfile". Files that
	// are by their extension of another language that the protocol names, as ".tsx" of "typescriptreact", are shown as that.
	Language   string
	Extensions []string
	// Command is the program and its arguments; the protocol runs over its standard input and output.
	Command []string
	// Options are sent when it is initialized.
	Options any
}

//go:embed lsp.json
var lspJSON []byte

// protocol is what this client can do, as servers are told it, and names of the protocol's: of languages by the
// extensions of their files, of the operations about a place in a file, and of the kinds of symbols, from 1.
var protocol = sync.OnceValue(func() (p struct {
	Capabilities       json.RawMessage
	Languages, Methods map[string]string
	Kinds              []string
}) {
	if err := json.Unmarshal(lspJSON, &p); err != nil {
		panic(err) // the file beside this one is wrong, which every test of a server shows
	}
	return p
})

// LanguagesConfig configures Languages.
type LanguagesConfig struct {
	Servers []LanguageServer
	// Start starts a server in a folder, with the environment of the conversation. Closing what it gives
	// ends the server. host.StartProcess is one for this machine.
	Start func(ctx context.Context, command []string, dir string, env map[string]string) (io.ReadWriteCloser, error)
}

// Languages are the language servers of a system, each started when it is first asked about a project.
// The caller closes them.
type Languages struct {
	cfg LanguagesConfig

	mu      sync.Mutex
	running map[string]*server
	closed  bool
}

// NewLanguages makes them; none is started yet.
func NewLanguages(cfg LanguagesConfig) *Languages {
	return &Languages{cfg: cfg, running: map[string]*server{}}
}

// Close ends the servers.
func (l *Languages) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, s := range l.running {
		s.end()
	}
	clear(l.running)
	return nil
}

// of finds the server of a file by its extension.
func (l *Languages) of(name string) (LanguageServer, *tool.Refusal) {
	if l == nil || len(l.cfg.Servers) == 0 {
		return LanguageServer{}, refuse(CodeType, "There is no language server here. Search with Grep.")
	}
	var known []string
	for _, s := range l.cfg.Servers {
		if slices.Contains(s.Extensions, path.Ext(name)) || slices.Contains(s.Extensions, path.Base(name)) {
			return s, nil
		}
		known = append(known, s.Extensions...)
	}
	return LanguageServer{}, refuse(CodeType, "There is no language server for %s, only for files that end in %s. Search with Grep.", path.Base(name), strings.Join(known, ", "))
}

// started gives the server of the conversation's project, which is started where it does not run yet.
func (l *Languages) started(ctx context.Context, def LanguageServer, c *tool.Context) (*server, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("the language servers have been closed")
	}
	key := def.Language + "\x00" + c.State.Root
	if s := l.running[key]; s != nil && s.alive() {
		return s, nil
	}
	stream, err := l.cfg.Start(ctx, def.Command, c.State.Root, c.State.Env)
	if err != nil {
		return nil, fmt.Errorf("the language server for %s (%s) did not start: %w", def.Language, strings.Join(def.Command, " "), err)
	}
	s := &server{def: def, open: map[string]*document{}}
	line := &bounded{WriteCloser: stream, LimitedReader: io.LimitedReader{R: stream}}
	s.conn = jsonrpc2.NewConn(context.WithoutCancel(ctx), jsonrpc2.NewBufferedStream(line, line),
		jsonrpc2.HandlerWithError(s.answer).SuppressErrClosed(), jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	if err := s.initialize(ctx, c.State.Root); err != nil {
		s.end()
		return nil, s.problem(err)
	}
	l.running[key] = s
	return s, nil
}

// bounded is what a server writes and reads, as far as the message that is read may go.
type bounded struct {
	jsonrpc2.VSCodeObjectCodec
	io.WriteCloser
	io.LimitedReader
}

// ReadObject implements jsonrpc2.ObjectCodec.
func (b *bounded) ReadObject(r *bufio.Reader, v any) error {
	b.N = 64 << 20 // a longer message ends the connection
	return b.VSCodeObjectCodec.ReadObject(r, v)
}

// server is one that runs.
type server struct {
	def  LanguageServer
	conn *jsonrpc2.Conn

	mu   sync.Mutex
	open map[string]*document // by path

	// progress has the tokens of what the server reports that it works on; ready reports whether it once had read the
	// project, or took too long.
	progress sync.Map
	ready    atomic.Bool
}

// reads reports whether the server works on something by itself.
func (s *server) reads() (some bool) {
	s.progress.Range(func(any, any) bool { some = true; return false })
	return some
}

// document is a file as the server was shown it last.
type document struct {
	text    string
	version int
}

type object = map[string]any

func (s *server) initialize(ctx context.Context, root string) error {
	err := s.call(ctx, "initialize", object{
		"processId": nil, "rootUri": uri(root), "initializationOptions": s.def.Options,
		"workspaceFolders": []object{{"uri": uri(root), "name": path.Base(root)}},
		"capabilities":     protocol().Capabilities,
	}, new(json.RawMessage))
	if err != nil {
		return err
	}
	return s.tell(ctx, "initialized", object{})
}

// answer is what a server gets that asks something: empty settings, and no permission to change a file.
func (s *server) answer(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	var params struct {
		Token any
		Value struct{ Kind string }
		Items []json.RawMessage
	}
	if req.Params != nil {
		_ = json.Unmarshal(*req.Params, &params) // what cannot be read is taken for empty
	}
	switch req.Method {
	case "window/workDoneProgress/create":
		s.progress.Store(fmt.Sprint(params.Token), true)
		return nil, nil
	case "$/progress":
		if params.Value.Kind == "begin" {
			s.progress.Store(fmt.Sprint(params.Token), true)
		} else if params.Value.Kind == "end" {
			s.progress.Delete(fmt.Sprint(params.Token))
		}
	case "workspace/configuration":
		return make([]any, len(params.Items)), nil
	case "workspace/applyEdit":
		return object{"applied": false}, nil
	case "client/registerCapability", "client/unregisterCapability", "window/showMessageRequest", "workspace/workspaceFolders":
		return nil, nil
	}
	if req.Notif {
		return nil, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: req.Method + " is not offered"}
}

// shown are the files that the server has open.
func (s *server) shown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open))
}

// show tells the server a file's text, or that the file is there no more.
func (s *server) show(ctx context.Context, name, text string, exists bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return err // the server is not to be blamed, nor ended
	}
	doc := s.open[name]
	id := object{"uri": uri(name)}
	switch {
	case !exists && doc == nil, exists && doc != nil && doc.text == text:
		return nil
	case !exists:
		delete(s.open, name)
		return s.tell(ctx, "textDocument/didClose", object{"textDocument": id})
	case doc == nil:
		s.open[name] = &document{text: text, version: 1}
		return s.tell(ctx, "textDocument/didOpen", object{
			"textDocument": object{"uri": uri(name), "languageId": cmp.Or(protocol().Languages[path.Ext(name)], s.def.Language), "version": 1, "text": text},
		})
	}
	doc.text, doc.version = text, doc.version+1
	id["version"] = doc.version
	return s.tell(ctx, "textDocument/didChange", object{"textDocument": id, "contentChanges": []object{{"text": text}}})
}

func (s *server) alive() bool {
	select {
	case <-s.conn.DisconnectNotify():
		return false
	default:
		return true
	}
}

// end takes leave of the server and closes its streams, which ends it.
func (s *server) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // to read that it is to end
	defer cancel()
	_ = s.tell(ctx, "exit", nil) // the closed stream ends it all the same
	_ = s.conn.Close()
}

// tell sends a notice. A write does not look at the context: a server that does not read is ended with it.
func (s *server) tell(ctx context.Context, method string, params any) error {
	defer s.sending(ctx)()
	return s.conn.Notify(ctx, method, params)
}

// call asks the server; one that does not read what it is asked is ended with the context, and one that
// takes its time to answer is not.
func (s *server) call(ctx context.Context, method string, params, result any) error {
	sent := s.sending(ctx)
	answer, err := s.conn.DispatchCall(ctx, method, params)
	sent()
	if err != nil {
		return err
	}
	return answer.Wait(ctx, result)
}

// sending closes the connection when the context ends before sent is called.
func (s *server) sending(ctx context.Context) (sent func() bool) {
	return context.AfterFunc(ctx, func() { _ = s.conn.Close() })
}

// outdated reports whether a server gave an answer up because what it is about changed meanwhile.
func outdated(err error) bool {
	refused, is := errors.AsType[*jsonrpc2.Error](err)
	return is && (refused.Code == -32801 || refused.Code == -32802)
}

// problem words an error of the server for the model.
func (s *server) problem(err error) error {
	switch refused, is := errors.AsType[*jsonrpc2.Error](err); {
	case is:
		return fmt.Errorf("the language server for %s refused: %s", s.def.Language, refused.Message)
	case errors.Is(err, jsonrpc2.ErrClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the language server for %s ended; the next call starts it again, or search with Grep", s.def.Language)
	}
	return fmt.Errorf("the language server for %s: %w", s.def.Language, err)
}

// uri is a path as the protocol names it.
func uri(name string) string { return (&url.URL{Scheme: "file", Path: name}).String() }
