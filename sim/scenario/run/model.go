package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/sim/stream"
)

// sent is one request that left the system, in order.
type sent struct {
	method, url string
	header      http.Header
	body        []byte
	// dropped: it was given up before it reached anybody.
	dropped bool
}

// wire is the transport of a run: it notes every request and every miss, and
// passes on to a cassette or to scripted turns.
type wire struct {
	next http.RoundTripper

	mu     sync.Mutex
	sent   []sent
	misses []*cassette.MissError
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := take(req)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.sent = append(w.sent, sent{method: req.Method, url: req.URL.String(), header: req.Header.Clone(), body: body, dropped: req.Context().Err() != nil})
	w.mu.Unlock()
	resp, err := w.next.RoundTrip(req)
	var miss *cassette.MissError
	if errors.As(err, &miss) {
		w.mu.Lock()
		w.misses = append(w.misses, miss)
		w.mu.Unlock()
	}
	return resp, err
}

// take reads a request's body and puts it back.
func take(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := req.Body.Close(); err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// bodies are the requests to the model.
func (w *wire) bodies() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out [][]byte
	for _, s := range w.sent {
		if isModel(s.url) {
			out = append(out, s.body)
		}
	}
	return out
}

// dropped are the places in bodies of the requests that were given up at once.
func (w *wire) dropped() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []int
	n := 0
	for _, s := range w.sent {
		if !isModel(s.url) {
			continue
		}
		if s.dropped {
			out = append(out, n)
		}
		n++
	}
	return out
}

func isModel(url string) bool {
	return strings.HasSuffix(strings.SplitN(url, "?", 2)[0], "/v1/messages")
}

// script answers requests from scripted turns: in order, or, for sub-agents, by a
// text in their first user message. It is the model that cassettes are recorded
// from.
type script struct {
	pages map[string]scenario.Page
	wait  cassette.Wait

	mu    sync.Mutex
	turns []scriptedTurn
}

type scriptedTurn struct {
	match  string
	player *cassette.Player
	used   bool
}

var errScriptOver = errors.New("the script has no turn left for this request; add one under stream.turns")

func newScript(sc *scenario.Scenario, o playOptions) (*script, error) {
	s := &script{pages: sc.World.Web, wait: o.wait}
	n := 0
	for _, t := range sc.Stream.Turns {
		for range t.Repeat + 1 {
			c := cassette.Scripted(fmt.Sprintf("turn %d", n+1), t.Events(n, o.seed))
			c.Interactions[0].Number = n + 1
			p, err := cassette.NewPlayer(c, cassette.Options{Wait: o.wait, Now: o.now, Pace: o.pace, Lenient: true, Fault: o.fault})
			if err != nil {
				return nil, err
			}
			s.turns = append(s.turns, scriptedTurn{match: t.For, player: p})
			n++
		}
	}
	return s, nil
}

// playOptions is what a transport needs of a run.
type playOptions struct {
	wait  cassette.Wait
	now   func() time.Time
	seed  uint64
	pace  *stream.Pace // nil keeps the scripted times
	fault func(cassette.Attempt) cassette.Fault
}

// RoundTrip implements http.RoundTripper.
func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	if !isModel(req.URL.String()) {
		return s.page(req)
	}
	body, err := take(req)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	i := s.pick(firstUserText(body))
	s.mu.Unlock()
	if i < 0 {
		return nil, errScriptOver
	}
	resp, err := s.turns[i].player.RoundTrip(req)
	s.mu.Lock()
	s.turns[i].used = len(s.turns[i].player.Leftover()) == 0 // a spoiled answer is given again
	s.mu.Unlock()
	return resp, err
}

func (s *script) pick(first string) int {
	named := slices.IndexFunc(s.turns, func(t scriptedTurn) bool {
		return !t.used && t.match != "" && strings.Contains(first, t.match)
	})
	if named >= 0 {
		return named
	}
	return slices.IndexFunc(s.turns, func(t scriptedTurn) bool { return !t.used && t.match == "" })
}

func firstUserText(body []byte) string {
	var req struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &req) != nil || len(req.Messages) == 0 {
		return ""
	}
	return string(req.Messages[0].Content)
}

// page answers what is no request to the model from the scripted web.
func (s *script) page(req *http.Request) (*http.Response, error) {
	p, ok := s.pages[req.URL.String()]
	if !ok {
		p = scenario.Page{Status: http.StatusNotFound, Type: "text/plain", Body: "no such page"}
	}
	if err := s.wait(req.Context(), "web/"+req.URL.String(), p.After.D()); err != nil {
		return nil, err
	}
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	if p.Type == "" {
		p.Type = "text/html; charset=utf-8"
	}
	h := http.Header{"Content-Type": {p.Type}}
	if p.To != "" {
		h.Set("Location", p.To)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", p.Status, http.StatusText(p.Status)), StatusCode: p.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: req,
		Body: io.NopCloser(strings.NewReader(p.Body)), ContentLength: int64(len(p.Body)),
	}, nil
}
