package run

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/sourcegraph/jsonrpc2"

	"toolbench/sim/scenario"
	"toolbench/toolsys/builtin/file"
)

var errNoServer = errors.New("there is no such program")

// languages are the scenario's language servers, in memory.
func (r *runner) languages() *file.Languages {
	cfg := file.LanguagesConfig{Start: r.startLanguage}
	for _, l := range r.sc.World.Languages {
		cfg.Servers = append(cfg.Servers, file.LanguageServer{Language: l.Name, Extensions: l.Extensions, Command: []string{l.Name}})
	}
	return file.NewLanguages(cfg)
}

func (r *runner) startLanguage(ctx context.Context, command []string, _ string, _ map[string]string) (io.ReadWriteCloser, error) {
	i := slices.IndexFunc(r.sc.World.Languages, func(l scenario.Language) bool { return l.Name == command[0] })
	l := r.sc.World.Languages[i]
	if l.Refused {
		return nil, errNoServer
	}
	mine, theirs := net.Pipe()
	jsonrpc2.NewConn(context.WithoutCancel(ctx), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.AsyncHandler(languageServer{l}))
	return mine, nil
}

// languageServer answers as the scenario has it.
type languageServer struct{ scenario.Language }

// Handle implements jsonrpc2.Handler.
func (l languageServer) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	switch {
	case req.Method == "exit", l.Ends != "" && req.Method == l.Ends:
		_ = conn.Close() // it may be closed already
	case req.Notif:
	case req.Method == "initialize":
		_ = conn.Reply(ctx, req.ID, map[string]any{"capabilities": map[string]any{}})
	default:
		_ = conn.Reply(ctx, req.ID, l.Answers[req.Method])
	}
}
