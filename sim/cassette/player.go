package cassette

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolbench/sim/clock"
	"toolbench/sim/secret"
	"toolbench/sim/stream"
)

// Options are how a cassette is played. The zero value matches strictly and
// keeps the recorded times on the standard clock.
type Options struct {
	// Wait and Now are the clock; nil: those of the wall, both virtual inside a bubble. The actor is
	// "stream/<interaction number>", followed by "#<try>" when an interaction is played again.
	Wait Wait
	Now  func() time.Time
	// Pace replaces the recorded times of all streams; nil keeps them.
	Pace *stream.Pace
	// Lenient gives the n-th Messages request the n-th recorded answer, be the request what it may; Diffs has how
	// they differ. Other requests are still matched.
	Lenient bool
	// Secrets are the values that Record was given: blanked here too before comparing.
	Secrets []string
	// Fault may change an answer; nil changes none. It is called once an answer, and must not call the Player.
	Fault func(Attempt) Fault
}

// Player answers requests from a cassette (O2, O3): an http.RoundTripper whose bodies arrive as they were recorded.
// Each interaction answers once, equal ones in their order. A Player starts no goroutine and may be used by many.
type Player struct {
	cassette *Cassette
	options  Options
	compare  normalizer
	scripted bool // lenient, and nothing but answers: no request is compared

	mu      sync.Mutex // never held while waiting
	matcher matcher
	diffs   []Diff
}

// Diff is a difference that lenient matching let pass.
type Diff struct {
	Interaction int    // which answered
	Text        string // unified, as in MissError
}

// Leftover is an interaction that answered nothing.
type Leftover struct {
	Interaction int
	Line        int // in the cassette; 0 if it came from no file
	Method, URL string
}

// Respond answers a request with these events as a Player does, whatever the request, and with this fault.
func Respond(req *http.Request, events []stream.Event, o Options, f Fault) (*http.Response, error) {
	p, err := NewPlayer(Scripted("answer", events), o)
	if err != nil {
		return nil, err
	}
	return p.response(req, &p.cassette.Interactions[0], f, actor(1, 1), p.options.Now())
}

// NewPlayer prepares a cassette for playing. It is an error if the event times of an interaction do not fit its body.
func NewPlayer(c *Cassette, o Options) (*Player, error) {
	p := &Player{cassette: c, options: o, matcher: matcher{name: c.Name, lenient: o.Lenient},
		compare: normalizer{redact: redactor{secret.New(nameless(o.Secrets)...).Remember(), &secret.Tally{}}}}
	if p.options.Wait == nil {
		p.options.Wait = clock.Now().Sleep
	}
	if p.options.Now == nil {
		p.options.Now = time.Now
	}
	for k := range c.Interactions {
		i := &c.Interactions[k]
		if err := i.laidOut(); err != nil {
			return nil, fmt.Errorf("cassette %s: %w", c.Name, err)
		}
		p.matcher.entries = append(p.matcher.entries, entry{
			index: k, number: i.Number, raw: raw{strings.ToUpper(i.Request.Method), i.Request.URL, i.Request.Body},
			noBody: i.Request.Body == "" && isMessages(i.Request.URL, nil),
		})
	}
	p.scripted = o.Lenient && !slices.ContainsFunc(p.matcher.entries, func(e entry) bool { return !e.noBody })
	return p, nil
}

// RoundTrip implements http.RoundTripper. The response's headers are there at
// once; its body takes its time. A request without an answer is a *MissError.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	start := p.options.Now()
	r, err := p.live(req)
	if err != nil {
		return nil, err
	}
	if err := context.Cause(req.Context()); err != nil {
		return nil, err
	}
	i, try, fault, err := p.take(r)
	if err != nil {
		return nil, err
	}
	return p.response(req, i, fault, actor(i.Number, try), start)
}

// live reads the request that is to be answered. Where it will not be compared, its body is left unread.
func (p *Player) live(req *http.Request) (raw, error) {
	if p.unread(req.URL.String()) {
		return raw{method: strings.ToUpper(req.Method), url: req.URL.String()}, nil
	}
	return live(req)
}

// unread reports whether a request's body does not matter to its answer.
func (p *Player) unread(url string) bool { return p.scripted && isMessages(url, nil) }

// take finds the interaction that answers and books it.
func (p *Player) take(live raw) (*Interaction, int, Fault, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e *entry
	if !p.options.Lenient { // which goes by order
		e = p.matcher.same(live)
	}
	if e == nil {
		var err error
		if e, err = p.search(live); err != nil {
			return nil, 0, Fault{}, err
		}
	}
	e.tries++
	var f Fault
	if p.options.Fault != nil {
		f = p.options.Fault(Attempt{Try: e.tries, URL: p.compare.redact.url(live.url, "")})
	}
	i := &p.cassette.Interactions[e.index]
	e.used = !f.refused(i) && !f.breaks() // it stays unused until it is replayed in full
	return i, e.tries, f, nil
}

// search compares what requests mean, where no recorded one has the same bytes.
func (p *Player) search(live raw) (*entry, error) {
	p.matcher.open(p.compare)
	r := p.compare.request(live.method, live.url, live.body)
	r.messages = r.messages || p.unread(live.url)
	e, err := p.matcher.find(r)
	if err == nil && e.key != r.key && !e.noBody {
		p.diffs = append(p.diffs, Diff{e.number, e.diff(r)})
	}
	return e, err
}

// response is the recorded one, as a fault has it.
func (p *Player) response(req *http.Request, i *Interaction, f Fault, actor string, start time.Time) (*http.Response, error) {
	if f.Status != 0 {
		return refusal(req, f), nil
	}
	t, err := timelineOf(i, p.options.Pace, f)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(req.Context())
	resp := bare(req, i.Response.Code, i.Response.Status)
	for name, values := range i.Response.Headers {
		resp.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	resp.Header.Del(OffsetsHeader)
	resp.Header.Del("Content-Length") // a fault may shorten the body
	resp.Header.Del("Transfer-Encoding")
	if resp.Header.Get("Content-Type") == "" && i.IsStream() {
		resp.Header.Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	resp.Body = &body{timeline: t, actor: actor, start: start, wait: p.options.Wait, now: p.options.Now, ctx: ctx, cancel: cancel}
	return resp, nil
}

// Leftover lists the interactions that have answered nothing, in order.
func (p *Player) Leftover() []Leftover {
	p.mu.Lock()
	defer p.mu.Unlock()
	var left []Leftover
	for i := range p.matcher.entries {
		if e := &p.matcher.entries[i]; !e.used {
			p.matcher.open(p.compare)
			left = append(left, Leftover{e.number, p.cassette.Interactions[e.index].Line, e.method, e.target})
		}
	}
	return left
}

// Diffs lists what lenient matching let pass, in the order of the requests.
func (p *Player) Diffs() []Diff {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.diffs)
}

func actor(number, try int) string {
	name := "stream/" + strconv.Itoa(number)
	if try > 1 {
		name += "#" + strconv.Itoa(try)
	}
	return name
}

// refusal is the answer of a server that refuses: see Fault.Status.
func refusal(req *http.Request, f Fault) *http.Response {
	kind, message := Refusal(f.Status)
	if f.Error != nil {
		kind, message = f.Error.Type, f.Error.Message
	}
	media, text := "application/json", string(stream.Error{Type: kind, Message: message}.JSON())
	if f.Body != "" {
		media, text = "text/html", f.Body
	}
	resp := bare(req, f.Status, "")
	resp.Header.Set("Content-Type", media)
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp
}

// Refusal is the type and the text of the error with which a status comes.
func Refusal(status int) (kind, text string) {
	switch status {
	case http.StatusTooManyRequests:
		return "rate_limit_error", "Rate limited"
	case 529:
		return "overloaded_error", "Overloaded"
	}
	return "api_error", "Internal server error"
}

func bare(req *http.Request, code int, status string) *http.Response {
	return &http.Response{
		Status: cmp.Or(status, strings.TrimSpace(strconv.Itoa(code)+" "+http.StatusText(code))), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, ContentLength: -1, Request: req,
	}
}

// Attempt is an answer that is about to be given: what a fault may depend on.
type Attempt struct {
	Try int // from 1; more when an earlier answer was changed
	URL string
}

// Fault changes one answer (O7). The zero value changes nothing. Where events
// are counted, a body that is no stream counts as one event.
//
// An answer that is changed by Status, CutAfter, Error or an endless Stall does not use its
// interaction up, so that the same request, retried, finds it.
type Fault struct {
	// Status answers with this HTTP status and an error body (429, 529, 500)
	// instead of the recorded response; Body is a text in place of the error, as proxies have pages of their own.
	Status int
	Body   string
	// Rewrite replaces the events: malformed data, repeated ids, anything.
	Rewrite func([]stream.Event) []stream.Event
	Stall   *Stall
	// CutAfter ends the body after that many events, as a lost connection does (io.ErrUnexpectedEOF); 0 does not.
	CutAfter int
	// Error ends the stream with an error event, after ErrorAfter events, at Error.At or with the event before it.
	Error      *stream.Error
	ErrorAfter int
	// Chunk cuts the body into pieces, the i-th of Chunk(i) bytes, without
	// regard to events; a piece arrives with the last event it holds a part of.
	Chunk func(i int) int
	// AgainIf looks at what Rewrite made: true leaves the interaction unused, for what the
	// client will not accept. nil is false.
	AgainIf func([]stream.Event) bool
}

// Stall delays all that follows the first After events by For. For 0: for
// ever, until the request is cancelled or the body closed.
type Stall struct {
	After int
	For   time.Duration
}

// Breaks reports whether an answer of these events fails on its way to the client, which will then ask for it again.
func (f Fault) Breaks(events []stream.Event) bool {
	return f.breaks() || f.Rewrite != nil && f.AgainIf != nil && f.AgainIf(f.Rewrite(slices.Clone(events)))
}

func (f Fault) breaks() bool {
	return f.Status != 0 || f.CutAfter > 0 || f.Error != nil || f.Stall != nil && f.Stall.For == 0
}

// refused reports whether the client will not accept what Rewrite made.
func (f Fault) refused(i *Interaction) bool {
	if f.Rewrite == nil || f.AgainIf == nil || !i.IsStream() {
		return false
	}
	events, err := i.Events()
	return err == nil && f.AgainIf(f.Rewrite(events))
}
