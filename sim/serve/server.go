package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/clock"
	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// Options are how a script is served.
type Options struct {
	// Speed is how many times faster than recorded streams run; 0: at once.
	Speed float64
	// Again serves conversations once more when all were served.
	Again bool
	// Strict makes a result that differs from its recording a failure.
	Strict bool
	// Names say what stands for the script's tools in the client's; what they leave open is guessed from the tools
	// that the client offers. World, if given, rewrites the paths in the inputs of calls.
	Names Names
	World func(text string) string
	// Fault may change the answer to the n-th request of an agent's turn, counted from 1.
	Fault func(request int) cassette.Fault
	// Log receives a line for each thing that happens; nil drops them.
	Log func(Line)
	// Hosts are names and addresses to answer to, beside those of loopback and the one that the connection came to.
	Hosts []string
	// Now and Wait are the clock; nil: those of the wall.
	Now  func() time.Time
	Wait cassette.Wait
}

// MaxBody is the largest request in bytes that is read: what the API itself takes.
const MaxBody = 32 << 20

// Server answers a Messages API's requests from a script. It is an http.Handler; listening is its owner's business.
type Server struct {
	o      Options
	script *Script
	start  time.Time

	mu       sync.Mutex
	router   router
	inFlight int
	requests int
	last     time.Time
	kept     storedConversation
	// rejected is why the last request was that came under another's name.
	rejected string
}

// New gives a server.
func New(t *Script, o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = clock.Now().Sleep
	}
	if o.Speed <= 0 || math.IsInf(o.Speed, 0) {
		o.Speed = 0
	}
	if o.Fault == nil {
		o.Fault = func(int) cassette.Fault { return cassette.Fault{} }
	}
	if o.Log == nil {
		o.Log = func(Line) {}
	}
	s := &Server{o: o, script: t, start: o.Now()}
	s.router = router{script: t, again: o.Again, used: map[*Conversation]bool{}, names: o.Names, world: o.World, fault: o.Fault}
	s.kept = storedConversation{items: map[string]json.RawMessage{}, responses: map[string][]json.RawMessage{}}
	s.last = s.start
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := s.forbidden(r); why != "" {
		s.mu.Lock()
		s.rejected = why
		s.mu.Unlock()
		x, _ := wireOf(r)
		x.fail(w, http.StatusForbidden, "permission_error", why)
		return
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	ends := func(end string) bool { return strings.HasSuffix(path, end) }
	switch x, asks := wireOf(r); {
	case asks:
		s.messages(w, r, x)
	case r.Method == http.MethodPost && slices.ContainsFunc([]string{"/messages/count_tokens", ":countTokens", "/responses/input_tokens"}, ends):
		s.countTokens(w, r)
	case r.Method == http.MethodGet && ends("/models"):
		s.models(w, r)
	case strings.HasPrefix(path, "/api/") && s.ollama(w, strings.TrimPrefix(path, "/api/")):
	default:
		x.fail(w, http.StatusNotFound, "not_found_error", r.Method+" "+r.URL.Path+" is not served; POST "+served+" are")
	}
}

// served are the paths that are.
const served = "/v1/messages, /v1/chat/completions, /v1/responses, /v1beta/models/M:generateContent, :streamGenerateContent, /api/chat, " +
	"/model/ID/invoke, /model/ID/invoke-with-response-stream, /model/ID/converse, /model/ID/converse-stream, :rawPredict and :streamRawPredict"

// State is how far the serving has come.
type State struct {
	// Requests were made for answers, InFlight are still being answered. Done: every
	// conversation was served to its end.
	Requests, InFlight int
	Done               bool
	// Turns of the agent that asked first have come to their ends: its user may go on.
	Turns int
	// Last is when something last happened.
	Last time.Time
	// Forbidden is why a request was not answered that came under another's name.
	Forbidden string
}

// State is how far the serving has come.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{Requests: s.requests, InFlight: s.inFlight, Done: s.inFlight == 0 && s.router.done(), Turns: s.router.turnsEnded(), Last: s.last, Forbidden: s.rejected}
}

// Report is what the clients did so far.
func (s *Server) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Source: s.script.Source, Conversations: len(s.script.Conversations), Refused: slices.Clone(s.router.refused), Asides: slices.Clone(s.router.asides)}
	for _, session := range s.router.sessions {
		r.Sessions = append(r.Sessions, review(session, s.o.Strict))
	}
	for _, c := range s.script.Conversations {
		if !s.router.used[c] {
			r.Unserved = append(r.Unserved, c.Number)
		}
	}
	return r
}

// messages answers a request for a model's turn.
func (s *Server) messages(w http.ResponseWriter, r *http.Request, x wire) {
	body, ok := x.body(w, r)
	if !ok {
		return
	}
	if x.api == dialect.Messages && gjson.GetBytes(body, "thread").IsObject() {
		// It would send only what is new, and leave nothing to compare with the recording: what a client keeps, orders
		// and repeats. The official SDKs go on with whole conversations at these words.
		answer(w, http.StatusBadRequest, map[string]any{"type": "error", "error": map[string]any{
			"type":    "invalid_request_error",
			"message": "thread: conversations are not kept here, so that what the client sends can be checked: send all messages",
			"details": map[string]any{"error_code": "thread_unsupported_request", "unsupported": []string{"thread"}},
		}})
		return
	}
	retries, _ := strconv.Atoi(r.Header.Get("X-Stainless-Retry-Count")) // without it, 0
	t, req, err := s.route(&x, body, retries > 0)
	if err != nil {
		x.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	defer s.ended(t)
	w.Header().Set("Request-Id", t.id())
	s.give(w, r, t, req, x)
}

// keep keeps an answer that a client may refer to. That is before its last piece is sent: the next
// request may come at once.
func (s *Server) keep(o *eventWriter) {
	if document := o.encoder.Document(); o.api == dialect.Responses && document != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.kept.keep(s.kept.input(gjson.ParseBytes(o.asked)), document)
	}
}

// read reads a request, with what it refers to in its place. One that goes on from what is not kept
// is refused: answered as a new conversation, it would get another's answers.
func (s *Server) read(x *wire, body []byte) (*request, error) {
	if x.api == dialect.Responses {
		whole, missing := s.kept.complete(body)
		if missing != "" {
			return nil, fmt.Errorf("%q is not kept here: nothing of that id was given since the server began", missing)
		}
		body = whole
	}
	return x.read(body)
}

// route asks the router; the lock is not held while anything is waited for, and keeps lines in order.
func (s *Server) route(x *wire, body []byte, retry bool) (t reply, req *request, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.last = s.o.Now()
	at := s.last.Sub(s.start)
	if req, err = s.read(x, body); err != nil {
		s.router.refused = append(s.router.refused, Refusal{Text: err.Error()})
	} else {
		t, err = s.router.route(req, retry, at)
	}
	switch {
	case err != nil:
		s.o.Log(Line{At: at, What: "refused", Text: err.Error()})
	case t.session == nil:
		s.o.Log(Line{At: at, What: "aside", Text: t.aside})
	default:
		s.o.Log(Line{At: at, Conversation: t.session.conv.Number, What: "request", Text: t.session.story(t.place)})
	}
	if err == nil {
		s.inFlight++
	}
	return t, req, err
}

func (s *Server) ended(t reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	s.last = s.o.Now()
	if t.session != nil {
		t.session.log[t.place].ended = s.last.Sub(s.start)
	}
}

// writeTime is how long a client may take to read an event.
const writeTime = 30 * time.Second

// give sends an answer as it comes from a player of cassettes, which paces it and has it
// fail as demanded. An answer that was cut ends as a lost connection.
func (s *Server) give(w http.ResponseWriter, r *http.Request, t reply, req *request, x wire) {
	resp, err := s.played(r, t)
	if err != nil {
		x.fail(w, http.StatusInternalServerError, "api_error", err.Error())
		return
	}
	defer resp.Body.Close()
	o := &eventWriter{wire: x, asked: req.body, encoder: dialect.Encoder{API: x.api, Model: req.model, Usage: x.usage, Freeform: req.freeform}}
	switch {
	case resp.StatusCode != http.StatusOK:
		body, _ := io.ReadAll(resp.Body) // it is in memory
		x.fail(w, resp.StatusCode, gjson.GetBytes(body, "error.type").Str, gjson.GetBytes(body, "error.message").Str)
	case req.stream:
		s.play(w, resp.Body, t.answer, o)
	default:
		s.whole(w, resp.Body, t.answer, o)
	}
}

// played opens the body of an answer, on a clock that runs as fast as was asked for.
func (s *Server) played(r *http.Request, t reply) (*http.Response, error) {
	began := s.o.Now()
	return cassette.Respond(r, t.answer.Events, cassette.Options{
		Now: func() time.Time { return began.Add(time.Duration(float64(s.o.Now().Sub(began)) * s.o.Speed)) },
		Wait: func(ctx context.Context, actor string, d time.Duration) error {
			if s.o.Speed == 0 {
				return ctx.Err()
			}
			return s.o.Wait(ctx, actor, time.Duration(float64(d)/s.o.Speed))
		},
	}, t.fault)
}

// play passes a stream on piece by piece, each as soon as it is due.
func (s *Server) play(w http.ResponseWriter, body io.Reader, a *Answer, o *eventWriter) {
	w.Header().Set("Content-Type", o.kind())
	w.Header().Set("Cache-Control", "no-cache")
	out, buf := http.NewResponseController(w), make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		piece := buf[:n]
		if o.api != dialect.Messages || o.framed {
			piece = o.add(piece)
		}
		whole := err == io.EOF && (a.Whole || failed(a))
		if whole {
			piece = append(piece, o.end()...)
		}
		if o.over {
			s.keep(o)
		}
		// Writers without deadlines or flushing, as in tests, lose nothing by it.
		_ = out.SetWriteDeadline(s.o.Now().Add(writeTime))
		if _, err := w.Write(piece); err != nil {
			return // the client went away
		}
		_ = out.Flush()
		switch {
		case whole:
			return
		case err != nil:
			panic(http.ErrAbortHandler)
		}
	}
}

// failed reports whether the stream ended in an error of its own, so that nothing is cut.
func failed(a *Answer) bool {
	return slices.ContainsFunc(a.Events, func(e stream.Event) bool { return e.Type == "error" })
}

// whole answers a client that asked for no stream, when the stream is over.
func (s *Server) whole(w http.ResponseWriter, body io.Reader, a *Answer, o *eventWriter) {
	arrived, err := io.ReadAll(body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	events, _ := stream.Decode(arrived) // what cannot be decoded makes the answer one that did not come to its end
	got := NewAnswer(events)
	if got.Whole = got.Whole && a.Whole; !got.Whole {
		status, kind, text := refusal(&got)
		o.fail(w, status, kind, text)
		return
	}
	message, err := Message(&got)
	if err != nil {
		o.fail(w, http.StatusInternalServerError, "api_error", "the recorded answer is no message: "+err.Error())
		return
	}
	if o.api != dialect.Messages {
		for _, e := range got.Events {
			o.encoder.Add(e)
		}
		message = o.encoder.Document()
		s.keep(o)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(message) // an error means that the client went away
}

// body takes a request's body; what is too large is answered here.
func (x wire) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		x.fail(w, http.StatusRequestEntityTooLarge, "request_too_large", fmt.Sprintf("the request is larger than %d bytes", MaxBody))
		return nil, false
	}
	if packed := r.Header.Get("Content-Encoding"); err == nil && packed != "" {
		body, err = cassette.Decode(body, packed, MaxBody)
	}
	if err != nil {
		x.fail(w, http.StatusBadRequest, "invalid_request_error", "the body cannot be read: "+err.Error())
		return nil, false
	}
	return body, true
}

// countTokens estimates what a request's prompt comes to: stream.BytesPerToken bytes a token.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	x, _ := wireOf(r)
	body, ok := x.body(w, r)
	if !ok {
		return
	}
	n := len(body)
	if x.api == dialect.Messages {
		req, err := parse(body)
		if err != nil {
			x.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		n = len(req.system.Raw)
		for _, part := range slices.Concat(req.tools, req.messages) {
			n += len(part.Raw)
		}
	}
	n /= stream.BytesPerToken
	if x.api == dialect.Gemini {
		answer(w, http.StatusOK, map[string]int{"totalTokens": n})
		return
	}
	answer(w, http.StatusOK, map[string]any{"object": "response.input_tokens", "input_tokens": n})
}

// models lists those that the recording has: in a form that clients of the Messages API and
// of OpenAI's read, and in Gemini's.
func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	type model struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Display string `json:"display_name"`
		Created string `json:"created_at"`
		Object  string `json:"object"`
		Seconds int    `json:"created"`
		Owner   string `json:"owned_by"`
	}
	type resource struct {
		Name    string   `json:"name"`
		Display string   `json:"displayName"`
		Methods []string `json:"supportedGenerationMethods"`
	}
	list, resources := []model{}, []resource{}
	for _, name := range s.script.Models() {
		list = append(list, model{"model", name, name, "1970-01-01T00:00:00Z", "model", 0, "toolbench"})
		resources = append(resources, resource{"models/" + name, name, []string{"generateContent", "streamGenerateContent", "countTokens"}})
	}
	if shapeOf(r.URL.Path) == dialect.Gemini {
		answer(w, http.StatusOK, map[string]any{"models": resources})
		return
	}
	answer(w, http.StatusOK, map[string]any{"object": "list", "data": list, "has_more": false, "first_id": nil, "last_id": nil})
}

// ollama answers what Ollama's clients ask before they chat, and reports whether that was it.
func (s *Server) ollama(w http.ResponseWriter, what string) bool {
	models := []map[string]string{}
	for _, name := range s.script.Models() {
		models = append(models, map[string]string{"name": name, "model": name, "modified_at": "1970-01-01T00:00:00Z"})
	}
	known := map[string]any{
		"tags": map[string]any{"models": models}, "ps": map[string]any{"models": models}, "version": map[string]string{"version": "0.12.0"},
		"show": map[string]any{"capabilities": []string{"completion", "tools", "thinking", "vision"}, "details": map[string]string{}, "model_info": map[string]string{}},
	}
	v, ok := known[what]
	if ok {
		answer(w, http.StatusOK, v)
	}
	return ok
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client went away
}
