package cassette

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"toolbench/sim/clock"
	"toolbench/sim/stream"
)

// Transit is what goes wrong with a response on its way from a model that is really there.
// Events are counted from 1; a cut, an error and a stall come behind so many.
type Transit struct {
	// Refused is the answer in the model's place; nothing is asked.
	Refused *Refused
	// CutAfter ends the body as a lost connection does; with LastWords, behind those.
	CutAfter  int
	LastWords string
	// StallAfter delays what follows by Stall; 0: for ever.
	StallAfter int
	Stall      time.Duration
	// Malformed loses half of an event's data, Twice comes twice, Late comes LateFor later.
	Malformed, Twice, Late int
	LateFor                time.Duration
}

// Refused is an answer that is an error, in the words of whoever is asked.
type Refused struct {
	Status int
	Header http.Header
	Body   string
}

// Disturbed is a transport that spoils responses; Fault gives what goes wrong with the
// next one, the zero value for nothing. Others are passed on untouched.
type Disturbed struct {
	Next  http.RoundTripper
	Fault func(*http.Request) Transit
}

// RoundTrip implements http.RoundTripper.
func (d Disturbed) RoundTrip(req *http.Request) (*http.Response, error) {
	t := d.Fault(req)
	if t == (Transit{}) {
		return d.Next.RoundTrip(req)
	}
	if t.Refused != nil {
		if req.Body != nil {
			defer req.Body.Close()
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return nil, err
			}
		}
		resp := bare(req, t.Refused.Status, "")
		resp.Header = t.Refused.Header.Clone()
		resp.Body = io.NopCloser(strings.NewReader(t.Refused.Body))
		return resp, nil
	}
	req = req.Clone(req.Context())
	req.Header.Set("Accept-Encoding", "identity") // events have to be seen
	resp, err := d.Next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	inflated(resp)
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Body = t.body(req.Context(), resp.Body, piecesOf(resp.Header))
	return resp, nil
}

// body spoils a body event by event.
func (t Transit) body(ctx context.Context, from io.ReadCloser, pieces pieces) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	d := &disturbance{Transit: t, ctx: ctx, w: w, pieces: pieces}
	go func() { w.CloseWithError(d.run(from)) }()
	return &disturbedBody{r, from, cancel}
}

// disturbedBody ends its writer when it is closed.
type disturbedBody struct {
	*io.PipeReader
	from   io.Closer
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *disturbedBody) Close() error {
	b.cancel()
	_ = b.PipeReader.Close() // it never fails
	return b.from.Close()
}

// disturbance passes a body on.
type disturbance struct {
	Transit
	ctx     context.Context
	mu      sync.Mutex // of the writer: a late event comes between others
	w       *io.PipeWriter
	late    sync.WaitGroup
	pieces  pieces // nil: events are server-sent
	decoder stream.Decoder
	buf     []byte // what is not part of a whole event yet
	from    int64  // where it begins
	seen    int
}

// run gives the error with which the body ends; io.EOF is its own end.
func (d *disturbance) run(from io.Reader) error {
	defer d.late.Wait()
	p := make([]byte, 32<<10)
	for {
		n, err := from.Read(p)
		d.buf = append(d.buf, p[:n]...)
		if fed := d.feed(p[:n]); fed != nil {
			return fed
		}
		if err != nil {
			d.late.Wait()
			return cmp.Or(d.write(d.buf), err)
		}
	}
}

// feed takes in what arrived, which is in the buffer already.
func (d *disturbance) feed(p []byte) error {
	if d.pieces == nil {
		return d.decoder.Feed(p, d.event)
	}
	for size := d.pieces.next(d.buf); size > 0; size = d.pieces.next(d.buf) {
		piece := bytes.Clone(d.buf[:size])
		d.buf = d.buf[size:]
		if err := d.pass(piece, d.pieces.broken, d.pieces.twice); err != nil {
			return err
		}
	}
	return nil
}

// event passes a server-sent event on, or does not.
func (d *disturbance) event(e stream.Event) error {
	size := int(d.decoder.Offset() - d.from)
	text := bytes.Clone(d.buf[:size])
	d.buf, d.from = d.buf[size:], d.decoder.Offset()
	broken := func([]byte) []byte {
		e.Data = e.Data[:len(e.Data)/2]
		return stream.Append(nil, e)
	}
	return d.pass(text, broken, func(p []byte) []byte { return append(p, p...) })
}

// pass passes the text of an event on, or does not, or otherwise.
func (d *disturbance) pass(text []byte, broken, twice func([]byte) []byte) error {
	d.seen++
	switch d.seen {
	case d.Late:
		d.late.Go(func() {
			if clock.Pause(d.ctx, d.LateFor) == nil {
				_ = d.write(text) // an error means that nobody reads any more
			}
		})
		return nil
	case d.Malformed:
		text = broken(text)
	case d.Twice:
		text = twice(text)
	}
	if err := d.write(text); err != nil {
		return err
	}
	switch d.seen {
	case d.CutAfter:
		return d.cut()
	case d.StallAfter:
		if d.Stall == 0 {
			<-d.ctx.Done()
			return context.Cause(d.ctx)
		}
		return clock.Pause(d.ctx, d.Stall)
	}
	return nil
}

func (d *disturbance) cut() error {
	if d.LastWords == "" {
		return io.ErrUnexpectedEOF
	}
	return cmp.Or(d.write([]byte(d.LastWords)), io.EOF)
}

func (d *disturbance) write(p []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.w.Write(p)
	return err
}

// pieces takes a body apart that is a stream, but none of server-sent events.
type pieces interface {
	// next is the length of the piece at the beginning; 0: it is not whole yet.
	next(buf []byte) int
	// broken and twice are the piece as faults have it.
	broken(piece []byte) []byte
	twice(piece []byte) []byte
}

// piecesOf chooses by what a response is; nil: its events are server-sent.
func piecesOf(h http.Header) pieces {
	switch kind := h.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/vnd.amazon.eventstream"):
		return frames{}
	case strings.HasPrefix(kind, "application/json"):
		return &jsonList{}
	case strings.HasPrefix(kind, "application/x-ndjson"), strings.HasPrefix(kind, "application/jsonl"):
		return &lines{}
	}
	return nil
}

// frames are the binary ones of AWS: each begins with its length.
type frames struct{}

func (frames) next(buf []byte) int {
	if _, _, size, ok := stream.NextFrame(buf); ok {
		return size
	}
	return 0
}

// broken spoils the payload, which its checksum shows.
func (frames) broken(piece []byte) []byte {
	piece[len(piece)-5] ^= 0xff
	return piece
}

func (frames) twice(piece []byte) []byte { return append(piece, piece...) }

// lines are JSON values, each on a line of its own, as Ollama streams them.
type lines struct{ seen int }

func (l *lines) next(buf []byte) int {
	end := bytes.IndexByte(buf[l.seen:], '\n')
	if end < 0 {
		l.seen = len(buf)
		return 0
	}
	end, l.seen = l.seen+end+1, 0
	return end
}

func (*lines) broken(piece []byte) []byte { return append(piece[:len(piece)/2], '\n') }

func (*lines) twice(piece []byte) []byte { return append(piece, piece...) }

// jsonList is the values of one JSON list, as Gemini streams them. A piece has what stands
// before its value: the bracket or the comma. It has read a piece as far as seen, and goes on there.
type jsonList struct {
	seen, depth  int
	text, escape bool // inside a string, and behind its backslash
	inside       bool // behind the list's bracket
	other        bool // the document is no list of objects: it has no pieces
}

func (l *jsonList) next(buf []byte) int {
	for ; l.seen < len(buf) && !l.other; l.seen++ {
		switch c := buf[l.seen]; {
		case l.escape:
			l.escape = false
		case l.text && c == '\\':
			l.escape = true
		case l.depth > 0 && c == '"':
			l.text = !l.text
		case l.text:
		case c == '{' && l.inside:
			l.depth++
		case c == '}' && l.depth > 0:
			if l.depth--; l.depth == 0 {
				end := l.seen + 1
				l.seen = 0
				return end
			}
		case l.depth == 0:
			l.other = !strings.ContainsRune(" \t\r\n[],", rune(c))
			l.inside = l.inside || c == '['
		}
	}
	return 0
}

func (*jsonList) broken(piece []byte) []byte {
	at := bytes.IndexByte(piece, '{')
	return piece[:at+(len(piece)-at)/2]
}

func (*jsonList) twice(piece []byte) []byte {
	return append(append(piece, ','), piece[bytes.IndexByte(piece, '{'):]...)
}
