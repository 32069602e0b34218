package world

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Admission is how a server behind an address lets clients in (N9); the zero value lets everybody in.
type Admission struct {
	// Asks has it ask for a token of its own authorization server. Lasts is how long one is
	// valid, an hour if not given; with Forgets it cannot be refreshed.
	Asks    bool
	Lasts   time.Duration
	Forgets bool
}

// ServerWeb is a server behind an address and its authorization server. Requests are handed to it without a network.
type ServerWeb struct {
	h    *Host
	p    *program
	let  Admission
	mux  *http.ServeMux
	base string

	mu     sync.Mutex
	issued int
	until  time.Time
	// open ends the answers that are still written.
	open map[*answering]func(error)
	// calls are those of each session: see receive.
	calls map[string]map[any]string
}

// Address is where a server of a host is behind an address.
func Address(server string) string { return "https://" + server + ".example" }

// Web gives the way to a server whose protocol behind answers, at Address and /mcp. Faults
// that take it away, slow it down or have it send rubbish happen as in a pipe.
func (h *Host) Web(server string, behind http.Handler, let Admission) *ServerWeb {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &ServerWeb{h: h, p: h.servers[server], let: let, mux: http.NewServeMux(), base: Address(server), open: map[*answering]func(error){}, calls: map[string]map[any]string{}}
	w.p.web = w
	w.mux.Handle("/mcp", w.guarded(behind))
	for path, content := range map[string]map[string]any{
		"/resource": {"resource": w.base + "/mcp", "authorization_servers": []string{w.base}},
		"/.well-known/oauth-authorization-server": {
			"issuer": w.base, "authorization_endpoint": w.base + "/agree", "token_endpoint": w.base + "/token",
			"registration_endpoint": w.base + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		},
	} {
		w.mux.HandleFunc(path, func(out http.ResponseWriter, _ *http.Request) { writeJSON(out, http.StatusOK, content) })
	}
	w.mux.HandleFunc("/register", func(out http.ResponseWriter, _ *http.Request) {
		writeJSON(out, http.StatusCreated, map[string]any{"client_id": "registered", "client_secret": "secret", "token_endpoint_auth_method": "client_secret_post"})
	})
	w.mux.HandleFunc("/token", w.token)
	return w
}

func writeJSON(out http.ResponseWriter, status int, v any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_ = json.NewEncoder(out).Encode(v) // a client that is gone reads nothing
}

// guarded lets those in who have the last token.
func (w *ServerWeb) guarded(behind http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
		w.mu.Lock()
		token, valid := fmt.Sprintf("Bearer access-%d", w.issued), w.h.clock.Now().Before(w.until)
		w.mu.Unlock()
		if w.let.Asks && (!valid || req.Header.Get("Authorization") != token) {
			out.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+w.base+`/resource"`)
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(out, req)
	})
}

// token gives a new token for a code, for the last one's refresh token, or for a client's secret.
func (w *ServerWeb) token(out http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if req.FormValue("grant_type") == "refresh_token" && (w.let.Forgets || req.FormValue("refresh_token") != fmt.Sprintf("refresh-%d", w.issued)) {
		writeJSON(out, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	lasts := cmp.Or(w.let.Lasts, time.Hour)
	w.issued++
	w.until = w.h.clock.Now().Add(lasts)
	writeJSON(out, http.StatusOK, map[string]any{
		"access_token": fmt.Sprintf("access-%d", w.issued), "refresh_token": fmt.Sprintf("refresh-%d", w.issued),
		"token_type": "Bearer", "expires_in": int(lasts.Seconds()),
	})
}

// RoundTrip implements http.RoundTripper.
func (w *ServerWeb) RoundTrip(req *http.Request) (*http.Response, error) {
	w.h.mu.Lock()
	away := w.p.never || w.h.clock.Now().Before(w.p.back)
	w.h.mu.Unlock()
	if away {
		return nil, syscall.ECONNREFUSED
	}
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close() // it is read
	}
	fault, err := w.suffers(req.Context(), req.Header.Get("Mcp-Session-Id"), body)
	switch {
	case err != nil:
		return nil, err
	case fault.Rubbish != "":
		return w.handed(req, body, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(out, fault.Rubbish)
		})
	}
	return w.handed(req, body, w.mux.ServeHTTP)
}

// suffers notes what a client sends and gives the fault that it meets, after its time.
func (w *ServerWeb) suffers(ctx context.Context, session string, body []byte) (ServerFault, error) {
	msg, err := jsonrpc.DecodeMessage(body)
	request, ok := msg.(*jsonrpc.Request)
	if err != nil || !ok {
		return ServerFault{}, nil
	}
	fault, call := w.h.receive(w.p, w.callsOf(session), request)
	switch {
	case request.Method != "tools/call":
		return fault, nil
	case fault.Gone:
		return fault, io.ErrUnexpectedEOF
	}
	return fault, w.h.clock.Sleep(ctx, "server/"+w.p.spec.Name+"/"+call, fault.Slow)
}

func (w *ServerWeb) callsOf(session string) map[any]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls[session] == nil {
		w.calls[session] = map[any]string{}
	}
	return w.calls[session]
}

// handed has a handler answer a request. The answer is read while it is still written, and ends with its request.
func (w *ServerWeb) handed(req *http.Request, body []byte, handler http.HandlerFunc) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	in := req.Clone(ctx)
	in.Body, in.Host = io.NopCloser(bytes.NewReader(body)), req.URL.Host
	read, write := io.Pipe()
	out := &answering{header: http.Header{}, body: write, begun: make(chan struct{})}
	end := func(err error) { _ = write.CloseWithError(err); cancel() } // a pipe closes without an error
	w.mu.Lock()
	w.open[out] = end
	w.mu.Unlock()
	context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	go func() {
		handler(out, in)
		out.WriteHeader(http.StatusOK)
		_ = write.Close()
		w.mu.Lock()
		delete(w.open, out)
		w.mu.Unlock()
		cancel()
	}()
	select {
	case <-out.begun:
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
	return &http.Response{
		Status: http.StatusText(out.status), StatusCode: out.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.sent, Body: read, ContentLength: -1, Request: req,
	}, nil
}

// cut breaks all answers off, as a crash of the server does.
func (w *ServerWeb) cut() {
	w.mu.Lock()
	open := w.open
	w.open = map[*answering]func(error){}
	w.mu.Unlock()
	for _, end := range open {
		end(io.ErrUnexpectedEOF)
	}
}

// answering is an answer while it is written.
type answering struct {
	header, sent http.Header
	body         *io.PipeWriter
	once         sync.Once
	status       int
	begun        chan struct{}
}

// Header implements http.ResponseWriter.
func (a *answering) Header() http.Header { return a.header }

// WriteHeader sends the header, once.
func (a *answering) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

// Write hands a part of the body on, when it is read.
func (a *answering) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush implements http.Flusher.
func (a *answering) Flush() { a.WriteHeader(http.StatusOK) }
