package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// sent is one request that left the system, in order.
type sent struct {
	method, url string
	header      http.Header
	body        message.Body
	// dropped: it was given up before it reached anybody.
	dropped bool
	answer  *answer
}

// answer is a response's body that notes whether it was read to its end.
type answer struct {
	io.ReadCloser
	whole atomic.Bool
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err == io.EOF {
		a.whole.Store(true)
	}
	return n, err
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
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	read := &answer{}
	w.mu.Lock()
	w.sent = append(w.sent, sent{method: req.Method, url: req.URL.String(), header: req.Header.Clone(), body: body, dropped: req.Context().Err() != nil, answer: read})
	w.mu.Unlock()
	resp, err := w.next.RoundTrip(req)
	if err == nil {
		read.ReadCloser, resp.Body = resp.Body, read
	}
	if miss, ok := errors.AsType[*cassette.MissError](err); ok {
		w.mu.Lock()
		w.misses = append(w.misses, miss)
		w.mu.Unlock()
	}
	return resp, err
}

// bodyOf is a request's body, which stays to be read. One that comes in its parts is not
// put together.
func bodyOf(req *http.Request) (message.Body, error) {
	if r, ok := req.Body.(*message.BodyReader); ok {
		return r.Body(), nil
	}
	data, err := take(req)
	if err != nil {
		return message.Body{}, err
	}
	body, _ := message.ReadBody(data) // what is no request to the model stays whole
	return body, nil
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

// note adds what was sent to the model, and what came of it, to a record.
func (w *wire) note(rec *check.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sent {
		if !isModel(s.url) {
			continue
		}
		if s.dropped {
			rec.Dropped = append(rec.Dropped, len(rec.Requests))
		}
		rec.Requests = append(rec.Requests, s.body)
		if !s.answer.whole.Load() {
			rec.GivenUp = append(rec.GivenUp, len(rec.Requests))
		}
	}
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

	mu sync.Mutex
	// named are the turns of sub-agents, plain all others, without those at the front that were used.
	named, plain []*scriptedTurn
	begun        []lastRequest
	asked        map[string]int // how often each page was asked for
}

type scriptedTurn struct {
	match  string
	player *cassette.Player
	used   bool
}

// lastRequest is a conversation as it was sent last, and its task.
type lastRequest struct {
	body message.Body
	task string
}

var errScriptOver = errors.New("the script has no turn left for this request; add one under stream.turns")

func newScript(sc *scenario.Scenario, o playOptions) (*script, error) {
	s := &script{pages: sc.World.Web, wait: o.wait, asked: map[string]int{}}
	n := 0
	for _, t := range sc.Stream.Turns {
		for range t.Repeat + 1 {
			c := cassette.Scripted(fmt.Sprintf("turn %d", n+1), t.Events(n, o.seed))
			c.Interactions[0].Number = n + 1
			p, err := cassette.NewPlayer(c, cassette.Options{Wait: o.wait, Now: o.now, Pace: o.pace, Lenient: true, Fault: o.fault})
			if err != nil {
				return nil, err
			}
			turns := &s.plain
			if t.For != "" {
				turns = &s.named
			}
			*turns = append(*turns, &scriptedTurn{match: t.For, player: p})
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
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	turn := s.pick(s.task(body))
	s.mu.Unlock()
	if turn == nil {
		return nil, errScriptOver
	}
	resp, err := turn.player.RoundTrip(req)
	s.mu.Lock()
	turn.used = len(turn.player.Leftover()) == 0 // an answer with a fault is given again
	s.mu.Unlock()
	return resp, err
}

func (s *script) pick(task string) *scriptedTurn {
	for _, t := range s.named {
		if !t.used && strings.Contains(task, t.match) {
			return t
		}
	}
	for len(s.plain) > 0 && s.plain[0].used {
		s.plain = s.plain[1:]
	}
	for _, t := range s.plain {
		if !t.used {
			return t
		}
	}
	return nil
}

// forkMark is what a fork reads before its task.
const forkMark = "This is a fork of the conversation above"

// task is the content of the message that a conversation began with, as it was sent: the first
// one, and of a fork the one that it was forked with. Messages that were looked at for an earlier
// request of the conversation are not looked at again.
func (s *script) task(body message.Body) string {
	i := slices.IndexFunc(s.begun, func(b lastRequest) bool { return body.Continues(b.body) })
	if i < 0 {
		i = len(s.begun)
		s.begun = append(s.begun, lastRequest{task: firstContent(body)})
	}
	known := &s.begun[i]
	for m := body.Messages() - 1; m >= max(1, known.body.Messages()); m-- {
		if at := bytes.Index(body.Message(m), []byte(forkMark)); at >= 0 {
			known.task = string(body.Message(m)[at:])
			break
		}
	}
	known.body = body
	return known.task
}

// firstContent is the content of a request's first message, as it was sent; of a fork that snipped what stood
// before its task, the task.
func firstContent(body message.Body) string {
	var first struct {
		Content json.RawMessage `json:"content"`
	}
	if body.Messages() == 0 || json.Unmarshal(body.Message(0), &first) != nil {
		return ""
	}
	return string(first.Content[max(0, bytes.LastIndex(first.Content, []byte(forkMark))):])
}

// knows reports whether the scenario has a page for a request, and by which key.
func knows(pages map[string]scenario.Page, method, url string) (key string, known bool) {
	for _, key := range []string{method + " " + url, url} {
		if _, known := pages[key]; known {
			return key, true
		}
	}
	return "", false
}

// unrecorded are the pages that no recording has: those that are refused, break off or repeat
// their content, at least once.
func unrecorded(pages map[string]scenario.Page) map[string]scenario.Page {
	kept := maps.Clone(pages)
	maps.DeleteFunc(kept, func(_ string, p scenario.Page) bool {
		return !slices.ContainsFunc(append(slices.Clone(p.Again), p.WebAnswer), func(a scenario.WebAnswer) bool { return a.Refused || a.Breaks || a.Repeat > 1 })
	})
	return kept
}

// beside answers pages from the scenario, and passes on what is asked of others.
func (r *runner) beside(pages map[string]scenario.Page, next http.RoundTripper) http.RoundTripper {
	s := &script{pages: pages, wait: r.gate.Sleep, asked: map[string]int{}}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if _, known := knows(pages, req.Method, req.URL.String()); known {
			return s.page(req)
		}
		return next.RoundTrip(req)
	})
}

// answer is what the page of a request answers this time.
func (s *script) answer(req *http.Request) scenario.WebAnswer {
	key, known := knows(s.pages, req.Method, req.URL.String())
	if !known {
		return scenario.WebAnswer{Status: http.StatusNotFound, Type: "text/plain", Body: "no such page"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, p := s.asked[key], s.pages[key]
	s.asked[key]++
	if n == 0 || len(p.Again) == 0 {
		return p.WebAnswer
	}
	return p.Again[min(n, len(p.Again))-1]
}

// page answers what is no request to the model from the scripted web.
func (s *script) page(req *http.Request) (*http.Response, error) {
	p := s.answer(req)
	if err := s.wait(req.Context(), "web/"+req.URL.String(), p.After.D()); err != nil {
		return nil, err
	}
	if p.Refused {
		return nil, syscall.ECONNREFUSED
	}
	p.Status, p.Type = cmp.Or(p.Status, http.StatusOK), cmp.Or(p.Type, "text/html; charset=utf-8")
	var body io.Reader = strings.NewReader(strings.Repeat(p.Body, max(p.Repeat, 1)))
	if p.Breaks {
		body = io.MultiReader(body, brokenBody{})
	}
	h := http.Header{"Content-Type": {p.Type}}
	if p.To != "" {
		h.Set("Location", p.To)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", p.Status, http.StatusText(p.Status)), StatusCode: p.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: req,
		Body: io.NopCloser(body), ContentLength: -1,
	}, nil
}

// brokenBody is the body of an answer that breaks off.
type brokenBody struct{}

// Read gives the error of a connection that broke.
func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// buildWire puts the model in place: the cassette, or the scripted turns.
func (r *runner) buildWire() error {
	if r.live != nil {
		r.wire = &wire{next: r.liveWire()}
		return nil
	}
	s := r.sc.Stream
	faults := streamFaults(r.sc)
	if r.o.chunk > 0 {
		whole := faults
		faults = func(a cassette.Attempt) cassette.Fault {
			f := whole(a)
			f.Chunk = func(int) int { return r.o.chunk }
			return f
		}
	}
	if r.o.answers != nil {
		return r.lenient(faults)
	}
	if s.Cassette == "" || r.o.Scripted {
		turns, err := newScript(r.sc, playOptions{wait: r.gate.Sleep, now: r.gate.Now, seed: 1, pace: s.Pace.Stream(), fault: faults})
		if err != nil {
			return r.sc.ErrorAt("stream.turns", err.Error(), "")
		}
		r.wire = &wire{next: turns}
		return nil
	}
	c, err := r.sc.Recording()
	if err != nil {
		return err
	}
	r.answered = c
	r.player, err = cassette.NewPlayer(c, cassette.Options{
		Wait: r.gate.Sleep, Now: r.gate.Now, Pace: s.Pace.Stream(), Lenient: s.Requests == "lenient", Fault: faults,
	})
	if err != nil {
		return r.sc.ErrorAt("stream.cassette", err.Error(), "")
	}
	r.wire = &wire{next: r.beside(unrecorded(r.sc.World.Web), r.player)}
	return nil
}

// lenient puts given answers in place of the model, be the requests what they may.
func (r *runner) lenient(faults func(cassette.Attempt) cassette.Fault) error {
	p, err := cassette.NewPlayer(r.o.answers, cassette.Options{Wait: r.gate.Sleep, Now: r.gate.Now, Lenient: true, Fault: faults})
	if err != nil {
		return err
	}
	r.wire = &wire{next: r.beside(unrecorded(r.sc.World.Web), p)}
	return nil
}

// streamFaults injects the scenario's faults into answers; requests are counted from 1
// as they reach the model, each try by itself.
func streamFaults(sc *scenario.Scenario) func(cassette.Attempt) cassette.Fault {
	var mu sync.Mutex
	n, faults := 0, sc.StreamFaults()
	return func(a cassette.Attempt) cassette.Fault {
		if !isModel(a.URL) {
			return faults(0)
		}
		mu.Lock()
		n++
		request := n
		mu.Unlock()
		return faults(request)
	}
}
