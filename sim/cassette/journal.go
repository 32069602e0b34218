package cassette

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/spf13/afero"
	"gopkg.in/yaml.v3"

	"toolbench/sim/secret"
)

// Journal is a transport that records what goes through it while it goes through: bodies
// are passed on as they arrive, whatever is in them, and the file is a whole cassette at
// any time, with each exchange up to its last whole event. So what was recorded outlives
// whoever is killed. The work is done beside the requests, which wait for none of it.
type Journal struct {
	next  http.RoundTripper
	file  string
	now   func() time.Time
	tally secret.Tally

	// backlog counts the bytes of exchanges that ended and are not in the file's fixed part
	// yet. One on its way holds nobody up: it may end only once another has been answered.
	backlog atomic.Int64

	mu     sync.Mutex
	known  []secret.Known
	finder *secret.Memory
	open   []*openEntry // in the order in which they began
	ending []*openEntry // passed on to their ends, in that order, and not all completed yet
	over   []*openEntry // completed, and not in the file's fixed part yet
	// closing: nothing is waited for any more.
	closing bool
	work    sync.WaitGroup
	wake    chan struct{}
	closed  chan struct{}
	ended   chan struct{}
	failed  error

	// The writer's own: the file, and the length of the part that does not change any more.
	out      afero.File
	fixed    int64
	length   int64
	recorded int
	bodies   Bodies // of the part that does not change any more
}

// NewJournal begins a recording to path of what goes through next. Nothing is written before there is an answer, so
// that an earlier file stays until then. The caller ends it with Close.
func NewJournal(path string, next http.RoundTripper, known []secret.Known) (*Journal, error) {
	if next == nil {
		return nil, fmt.Errorf("record to %q: there is no transport to record", path)
	}
	j := &Journal{
		next: next, file: path, now: time.Now, known: slices.Clone(known), finder: secret.New(known...).Remember(),
		wake: make(chan struct{}, 1), closed: make(chan struct{}), ended: make(chan struct{}),
	}
	go j.run()
	return j, nil
}

// openEntry is one exchange that is being recorded.
type openEntry struct {
	journal *Journal
	began   time.Time
	size    atomic.Int64
	// last is when bytes were last passed on, in nanoseconds since 1970; ended is when their
	// end was, guarded by the journal's lock.
	last  atomic.Int64
	ended time.Time

	mu      sync.Mutex
	request vcr.Request
	sent    bytes.Buffer // of the request's body
	resp    vcr.Response
	stamps  stamps
	body    bytes.Buffer
	dirty   bool
	chunks  *queue
	once    sync.Once // of its end
	done    bool      // guarded by the journal's lock

	// The writer's own: the blanked request, of so many bytes of its body.
	blanked *vcr.Request
	length  int
}

// chunk is bytes of a response, and when they came.
type chunk struct {
	at    time.Duration
	bytes []byte
}

// queue holds chunks that were passed on and not decoded yet: however many, since who passes them on never waits.
type queue struct {
	mu    sync.Mutex
	more  sync.Cond
	list  []chunk
	ended bool
}

func (q *queue) put(c chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, c)
	q.more.Signal()
}

func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.more.Signal()
}

// take waits for the next chunk; ok is false behind the last.
func (q *queue) take() (c chunk, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && !q.ended {
		q.more.Wait()
	}
	if len(q.list) == 0 {
		return c, false
	}
	c, q.list = q.list[0], q.list[1:]
	return c, true
}

// RoundTrip implements http.RoundTripper.
func (j *Journal) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := j.room(req.Context()); err != nil {
		return nil, err
	}
	j.learn(req)
	e := &openEntry{journal: j, began: j.now()}
	e.request = vcr.Request{Method: req.Method, URL: req.URL.String(), Headers: req.Header.Clone(), Form: url.Values{}}
	if req.Body != nil && req.Body != http.NoBody {
		out := *req
		out.Body = copiedBody{req.Body, e}
		req = &out
	}
	resp, err := j.next.RoundTrip(req)
	if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	e.resp = vcr.Response{Status: resp.Status, Code: resp.StatusCode, Headers: resp.Header.Clone(), Duration: j.now().Sub(e.began)}
	e.resp.Headers.Del(OffsetsHeader)
	e.stamps.header = e.resp.Headers
	e.dirty, e.chunks = true, &queue{}
	e.chunks.more.L = &e.chunks.mu
	e.last.Store(j.now().UnixNano())
	j.mu.Lock()
	j.open = append(j.open, e)
	j.mu.Unlock()
	j.work.Go(e.decode)
	resp.Body = &observedBody{ReadCloser: resp.Body, entry: e}
	return resp, nil
}

// maxBacklog is how much may wait to be written before the next request waits as well: a
// flood that is faster than the writer would fill the memory.
const maxBacklog = 16 << 20

// room waits until there is room for another exchange.
func (j *Journal) room(ctx context.Context) error {
	for j.backlog.Load() > maxBacklog {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-j.closed:
			return nil
		case <-time.After(gathering):
		}
	}
	return nil
}

// learn takes the credentials of a request as known secrets, wherever else they may stand.
func (j *Journal) learn(req *http.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := len(j.known)
	add := func(name, value string) {
		if len(value) >= 2*secret.MinKnown && !slices.ContainsFunc(j.known, func(k secret.Known) bool { return k.Value == value }) {
			j.known = append(j.known, secret.Known{Name: name, Value: value})
		}
	}
	for _, name := range secretHeaders {
		for _, v := range req.Header.Values(name) {
			if _, token, ok := strings.Cut(v, " "); ok {
				v = token
			}
			add(name, v)
		}
	}
	for name, list := range req.URL.Query() {
		if secretNames.MatchString(name) {
			for _, v := range list {
				add(name, v)
			}
		}
	}
	if len(j.known) > before {
		j.finder = secret.New(j.known...).Remember()
	}
}

// copiedBody is a request's body that is kept as it is read.
type copiedBody struct {
	io.ReadCloser
	entry *openEntry
}

// Read implements io.Reader.
func (c copiedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.entry.mu.Lock()
	c.entry.sent.Write(p[:n])
	c.entry.mu.Unlock()
	return n, err
}

// observedBody is a response's body that is kept as it is read.
type observedBody struct {
	io.ReadCloser
	entry *openEntry
}

// Read implements io.Reader.
func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.entry.size.Add(int64(n))
		b.entry.last.Store(b.entry.journal.now().UnixNano())
		b.entry.chunks.put(chunk{b.entry.journal.now().Sub(b.entry.began), bytes.Clone(p[:n])})
	}
	if err != nil {
		b.end()
	}
	return n, err
}

// Close ends the exchange too: who closes reads no more.
func (b *observedBody) Close() error {
	b.end()
	return b.ReadCloser.Close()
}

func (b *observedBody) end() {
	b.entry.once.Do(func() {
		b.entry.journal.backlog.Add(b.entry.size.Load())
		b.entry.journal.ends(b.entry)
	})
	b.entry.chunks.end()
}

// arrivalReader reads chunks, and knows when the last one came.
type arrivalReader struct {
	chunks *queue
	rest   []byte
	at     time.Duration
}

// Read implements io.Reader.
func (a *arrivalReader) Read(p []byte) (int, error) {
	if len(a.rest) == 0 {
		c, ok := a.chunks.take()
		if !ok {
			return 0, io.EOF
		}
		a.rest, a.at = c.bytes, c.at
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// decode takes the response in as it arrives, without its content encoding, and gives each
// event its time. One that cannot be decoded is kept as it came.
func (e *openEntry) decode() {
	from := &arrivalReader{chunks: e.chunks}
	encoding, r := e.resp.Headers.Get("Content-Encoding"), io.Reader(from)
	if encoding != "" && KnownEncoding(encoding) {
		d := NewDecoder(from, encoding, maxPlain)
		defer d.Close()
		r = d
		e.mu.Lock()
		e.resp.Headers.Del("Content-Encoding")
		e.resp.Headers.Del("Content-Length")
		e.mu.Unlock()
	}
	buf := make([]byte, 4<<10) // an event at a time; a thousand exchanges may be open
	for {
		n, err := r.Read(buf)
		e.mu.Lock()
		e.body.Write(buf[:n])
		seen := len(e.stamps.at)
		e.stamps.add(buf[:n], from.at)
		e.dirty = e.dirty || len(e.stamps.at) > seen || !e.stamps.streamed()
		e.mu.Unlock()
		if err != nil {
			break
		}
		e.journal.stir()
	}
	for rest := true; rest; { // behind what could not be decoded
		_, rest = e.chunks.take()
	}
	e.mu.Lock()
	e.stamps.finish(from.at)
	e.dirty = true
	e.mu.Unlock()
	e.journal.finished(e)
}

// ends notes that an exchange was passed on to its end. The file has exchanges in the order of their ends, be one
// decoded later than the next; but one of which all bytes had been passed on when another began stands before that,
// though its end was seen later: who read its last event may have sent the next request because of it.
func (j *Journal) ends(e *openEntry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.ended = j.now()
	at := slices.IndexFunc(j.ending, e.precedes)
	if at < 0 {
		at = len(j.ending)
	}
	j.ending = slices.Insert(j.ending, at, e)
}

// precedes reports whether nothing more was passed on of e once o had begun.
func (e *openEntry) precedes(o *openEntry) bool { return e.last.Load() < o.began.UnixNano() }

// finished moves what is decoded among those that do not change any more, up to the first that is not.
func (j *Journal) finished(e *openEntry) {
	j.mu.Lock()
	e.done = true
	j.mu.Unlock()
	j.settle()
}

// settle takes those from the front of the ended that wait for nobody.
func (j *Journal) settle() {
	j.mu.Lock()
	for len(j.ending) > 0 && j.ending[0].done {
		next := j.ending[0]
		if wait := j.held(next); wait > 0 {
			time.AfterFunc(wait, j.settle)
			break
		}
		j.ending = j.ending[1:]
		j.open = slices.DeleteFunc(j.open, func(o *openEntry) bool { return o == next })
		j.over = append(j.over, next)
	}
	j.mu.Unlock()
	j.stir()
}

// patience is how long an exchange that ended waits for the end of one that precedes it:
// that may as well have fallen silent, and would hold up all that follow.
const patience = time.Second

// held is how much longer an exchange waits for those that precede it and have not ended.
func (j *Journal) held(e *openEntry) time.Duration {
	if j.closing || !slices.ContainsFunc(j.open, func(o *openEntry) bool { return o.ended.IsZero() && o.precedes(e) }) {
		return 0
	}
	return patience - j.now().Sub(e.ended)
}

// stir has the writer look.
func (j *Journal) stir() {
	select {
	case j.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// run writes what is new, again and again. It rests in proportion to what writing took of exchanges on their way, so
// that a long one is not blanked from its beginning for each of its events.
func (j *Journal) run() {
	defer close(j.ended)
	for {
		select {
		case <-j.wake:
		case <-j.closed:
			j.write()
			return
		}
		j.rest(gathering)
		j.rest(2 * j.write())
	}
}

// gathering is how long events are gathered before they are written: the machine first passes on what comes.
const gathering = 5 * time.Millisecond

// rest waits, unless the journal is closed.
func (j *Journal) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-j.closed:
	}
}

// write brings the file up to date: what is complete behind what was, then what is on its
// way, which the next write replaces. It gives what these took.
func (j *Journal) write() (again time.Duration) {
	j.mu.Lock()
	over, open, finder := j.over, slices.Clone(j.open), j.finder
	j.over = nil
	j.mu.Unlock()
	defer func() {
		for _, e := range over {
			j.backlog.Add(-e.size.Load())
		}
	}()
	changed := len(over) > 0
	for _, e := range open {
		e.mu.Lock()
		changed = changed || e.dirty
		e.mu.Unlock()
	}
	if !changed || j.failed != nil {
		return 0
	}
	var whole, part []byte
	for _, e := range over {
		whole = append(whole, e.yaml(redactor{finder, &j.tally}, &j.bodies, true)...)
	}
	began, bodies := time.Now(), &Bodies{slices.Clip(j.bodies.latest)} // it goes on from here without being kept
	for _, e := range open {
		part = append(part, e.yaml(redactor{finder, &secret.Tally{}}, bodies, false)...)
	}
	again = time.Since(began)
	if err := j.put(whole, part); err != nil {
		j.mu.Lock()
		j.failed = err
		j.mu.Unlock()
	}
	j.recorded += len(over)
	return again
}

// put brings the file from what it has to what it shall have. A kill may end a write between any two pages, and
// leave some of two moments; so what is coming is first put behind the end, as a comment that counts once its
// last line is there (see settled). What becomes shorter is filled up with a comment, for other readers.
func (j *Journal) put(whole, part []byte) error {
	if j.out == nil {
		whole = append([]byte("---\nversion: 1\ninteractions:\n"), whole...)
		j.fixed, j.length = int64(len(whole)), int64(len(whole)+len(part))
		return j.begin(slices.Concat(whole, part))
	}
	if err := j.stay(); err != nil {
		return err
	}
	text := slices.Concat(whole, part)
	end := j.fixed + int64(len(text))
	space := max(0, end-j.length) // for what is then written before it
	coming := bufio.NewWriterSize(io.NewOffsetWriter(j.out, j.length), 64<<10)
	_, _ = fmt.Fprintf(coming, "#%s\n", strings.Repeat("-", int(space)))
	for line := range bytes.Lines(text) {
		_, _ = coming.WriteString("#")
		_, _ = coming.Write(line)
	}
	_, _ = fmt.Fprintf(coming, "#"+comingFormat, j.fixed, j.length+space+int64(len("#\n")))
	if err := coming.Flush(); err != nil { // the first of all
		return errors.Join(err, j.out.Truncate(j.length))
	}
	if spare := j.length - end; spare > 0 {
		text = fmt.Appendf(text, "#%s\n", strings.Repeat("-", int(max(0, spare-2))))
	}
	if _, err := j.out.WriteAt(text, j.fixed); err != nil {
		return err
	}
	j.fixed, j.length = j.fixed+int64(len(whole)), end
	return j.out.Truncate(end)
}

// comingFormat is how the last line goes on, behind the mark of a comment, of a text that is to stand elsewhere.
const comingFormat = "from byte %d of this file on stands what follows in comments from byte %d on\n"

// Settled reads a journal's file as it stands once the change is made that is noted at its end: a kill may have left that
// undone. It is r itself where none is noted, or where r is no file that can be read at any place.
func Settled(r io.Reader) io.Reader {
	file, ok := r.(io.ReaderAt)
	seeker, seeks := r.(io.Seeker)
	if !ok || !seeks {
		return r
	}
	at, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil || at != 0 { // what is read from a place in a file is no file
		return r
	}
	size, err := seeker.Seek(0, io.SeekEnd)
	if _, back := seeker.Seek(0, io.SeekStart); err != nil || back != nil {
		return r
	}
	end := make([]byte, min(size, int64(2*len(comingFormat))))
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return r
	}
	to, from, last, ok := noted(end, size)
	if !ok || last-from > (Limits{}).withDefaults().Bytes {
		return r
	}
	coming := make([]byte, last-from)
	if _, err := file.ReadAt(coming, from); err != nil {
		return r
	}
	return io.MultiReader(io.NewSectionReader(file, 0, to), bytes.NewReader(uncommented(coming)))
}

// settled is Settled for a file of which all is read.
func settled(raw []byte) []byte {
	to, from, last, ok := noted(raw, int64(len(raw)))
	if !ok {
		return raw
	}
	return append(raw[:to:to], uncommented(raw[from:last])...)
}

// noted finds the change that the last line of a file of this size notes: the place that it is for, and where what comes
// there begins and ends.
func noted(end []byte, size int64) (to, from, last int64, ok bool) {
	at := bytes.LastIndexByte(bytes.TrimSuffix(end, []byte("\n")), '\n') + 1
	last = size - int64(len(end)-at)
	n, _ := fmt.Sscanf(string(end[at:]), "#"+comingFormat, &to, &from)
	return to, from, last, n == 2 && to >= 0 && from >= to && from <= last && bytes.HasSuffix(end, []byte("\n"))
}

// uncommented takes the marks of comments from the beginnings of lines.
func uncommented(lines []byte) []byte {
	return bytes.ReplaceAll(append([]byte("\n"), lines...), []byte("\n#"), []byte("\n"))[1:]
}

// stay puts the file there anew where somebody removed it, with all that it has. One that stands there
// in its place is somebody else's.
func (j *Journal) stay() error {
	there, err := os.Stat(j.file)
	ours, _ := j.out.Stat() // of an open file
	switch {
	case err == nil && os.SameFile(there, ours):
		return nil
	case err == nil:
		return errors.New("another file took its place; record each session into a file of its own")
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	text := make([]byte, j.length)
	if _, err = j.out.ReadAt(text, 0); err != nil {
		return err
	}
	_ = j.out.Close() // nobody sees it any more
	return j.begin(text)
}

// begin puts a new file with its first text in the place of one that is there, such that at
// no moment there is an empty one, and whoever is killed leaves the earlier one or this.
func (j *Journal) begin(text []byte) error {
	earlier, err := os.OpenFile(j.file, os.O_WRONLY, 0)
	if err == nil {
		err = earlier.Close() // it may be written, so it may be replaced
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	next := filepath.Join(filepath.Dir(j.file), "."+filepath.Base(j.file)+".new")
	if err := os.MkdirAll(filepath.Dir(j.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(next, text, 0o644); err != nil {
		return errors.Join(err, os.RemoveAll(next))
	}
	if err := os.Rename(next, j.file); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	j.out, err = afero.NewOsFs().OpenFile(j.file, os.O_RDWR, 0)
	return err
}

// yaml is the exchange as an item of a cassette's list, blanked. Of one on its way it has the events that are whole.
func (e *openEntry) yaml(r redactor, bodies *Bodies, whole bool) []byte {
	e.mu.Lock()
	e.dirty = false
	out := &vcr.Interaction{Request: e.request, Response: e.resp}
	sent := e.sent.String()
	out.Response.Headers = e.resp.Headers.Clone()
	out.Response.Body = e.body.String()
	if !whole {
		out.Response.Body = out.Response.Body[:e.stamps.whole(e.body.Len())]
		e.stamps.note(out.Response.Headers)
	}
	e.mu.Unlock()
	if e.blanked == nil || whole || e.length != len(sent) {
		out.Request.Body = sent
		r.request(&out.Request)
		e.blanked, e.length = &out.Request, len(sent)
	}
	out.Request = *e.blanked
	out.Request.Headers = e.blanked.Headers.Clone()
	out.Request.Body = bodies.Shorten(out.Request.Headers, out.Request.Body)
	r.response(&out.Response)
	text, err := yaml.Marshal(struct{ Interactions []*vcr.Interaction }{[]*vcr.Interaction{out}})
	if err != nil { // texts and numbers: it cannot be
		return nil
	}
	return bytes.TrimPrefix(text, []byte("interactions:\n"))
}

// Close ends the recording: what is still on its way is written as far as it came, once ctx ends or its readers have
// closed it. The error is that of the file; ErrNothingRecorded if there was no answer.
func (j *Journal) Close(ctx context.Context) error {
	idle := make(chan struct{})
	go func() { j.work.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	j.mu.Lock()
	j.closing = true
	j.mu.Unlock()
	j.settle()
	close(j.closed)
	<-j.ended
	switch {
	case j.failed != nil:
		return j.failed
	case j.out == nil:
		return fmt.Errorf("record to %q: %w", j.file, ErrNothingRecorded)
	}
	return errors.Join(j.stay(), j.out.Close())
}

// Begun reports whether the file has anything of the recording, once Close has returned.
func (j *Journal) Begun() bool { return j.out != nil }

// Recorded counts the exchanges in the file, once Close has returned.
func (j *Journal) Recorded() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.recorded + len(j.open)
}

// Blanked counts what was blanked, by kind and place, once Close has returned.
func (j *Journal) Blanked() []secret.Count { return j.tally.Counts() }
