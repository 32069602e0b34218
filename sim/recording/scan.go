package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
	"golang.org/x/text/encoding/unicode"

	"toolbench/sim/cassette"
)

// Handler gets what Scan finds, as it finds it. Members may be nil.
type Handler struct {
	// Turn is called for each turn once its results are known or will not come, in
	// order within its conversation. An error ends the reading and is returned.
	Turn func(*Conversation, *Turn) error
	// Request is called with the body of the request that a turn answers, before Turn
	// is, where the recording holds requests; turn is the turn's Number.
	Request func(c *Conversation, turn int, body string) error
	// Exchange is called with each request that asks a model, as it was sent, before the
	// turns of its answer are; where the recording holds none, it never is.
	Exchange func(Exchange) error
	// Problem is called for each problem of the recording's own.
	Problem func(Problem)
}

// Summary is what is known at the end of a Scan.
type Summary struct {
	Format  Format
	Ignored map[string]int
}

// Scan reads a recording turn by turn (O2). The name is for messages. Memory is bounded by the limits, whatever the
// reader gives. Errors wrap ErrNotRecording, ErrTooLarge, ErrUnreadable, or are the handler's.
func Scan(name string, r io.Reader, limits Limits, h Handler) (Summary, error) {
	s := &scanner{name: name, limits: limits.complete(), handler: h, ignored: map[string]int{}}
	err := s.scan(bufio.NewReaderSize(cassette.Settled(r), peekSize))
	return Summary{Format: s.format, Ignored: s.ignored}, err
}

// Open reads a whole recording into memory: see Scan for the way to read large ones.
// Request is called as Handler's; it may be nil.
func Open(name string, r io.Reader, limits Limits, request func(*Conversation, int, string) error) (*Recording, error) {
	rec := &Recording{}
	sum, err := Scan(name, r, limits, Handler{
		Turn: func(c *Conversation, t *Turn) error {
			if len(c.Turns) == 0 {
				rec.Conversations = append(rec.Conversations, c)
			}
			c.Turns = append(c.Turns, t)
			return nil
		},
		Request: request,
		Problem: func(p Problem) { rec.Problems = append(rec.Problems, p) },
	})
	rec.Format, rec.Ignored = sum.Format, sum.Ignored
	// They come when their first turn is done, and are wanted in the order they began.
	slices.SortFunc(rec.Conversations, func(a, b *Conversation) int { return a.Number - b.Number })
	return rec, err
}

// scanner is a recording on its way.
type scanner struct {
	name    string
	limits  Limits
	handler Handler
	format  Format
	begun   int // conversations
	found   bool
	first   *Problem
	ignored map[string]int
}

// fail makes an error of the file.
func (s *scanner) fail(kind error, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", s.name, kind, fmt.Sprintf(format, args...))
}

// begin opens a conversation.
func (s *scanner) begin(id, agent string) (*Conversation, error) {
	if s.begun == s.limits.Conversations {
		return nil, s.fail(ErrTooLarge, "more than %d conversations; split the file", s.limits.Conversations)
	}
	s.begun++
	return &Conversation{Number: s.begun, ID: id, Agent: agent}, nil
}

// emit hands a turn on, with the problem that it may be.
func (s *scanner) emit(c *Conversation, t *Turn) error {
	s.found = true
	wrong := func(kind Kind, text string) {
		s.problem(Problem{Kind: kind, Text: text, Line: t.Line, Interaction: t.Interaction, Conversation: c.Number, Turn: t.Number})
	}
	if t.Ending != Whole {
		wrong(map[Ending]Kind{Cut: CutStream, Failed: ErrorEvent, Broken: Malformed}[t.Ending], t.Why)
	} else if t.Stop == "tool_use" && len(t.Calls) == 0 {
		wrong(Malformed, "the message ends so that its calls are made, and no call can be read in it")
	}
	for _, call := range t.Calls {
		if call.Repeated {
			wrong(Repeat, fmt.Sprintf("two calls of one message have the id %q", call.ID))
		}
	}
	if s.handler.Turn == nil {
		return nil
	}
	return s.handler.Turn(c, t)
}

func (s *scanner) problem(p Problem) {
	if s.first == nil {
		s.first = &p
	}
	if s.handler.Problem != nil {
		s.handler.Problem(p)
	}
}

// maxKinds bounds how many kinds of ignored things are counted by name: their names come from the file.
const maxKinds = 64

func (s *scanner) ignore(what string) {
	if _, known := s.ignored[what]; !known && len(s.ignored) >= maxKinds {
		what = "other"
	}
	s.ignored[what]++
}

// peekSize is how much of a file decides what it is.
const peekSize = 64 << 10

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	gzipMagic     = []byte{0x1f, 0x8b}
	zstdMagic     = []byte{0x28, 0xb5, 0x2f, 0xfd}
	txtarMark     = regexp.MustCompile(`(?m)^-- \S.* --\r?$`)
	tornLog       = regexp.MustCompile(`^[^\n]*\}\r?\n\{"`)
	tornStream    = regexp.MustCompile(`^[^\n]*\}\s*\n(?:event|data):`)
	snapshotHead  = regexp.MustCompile(`^(?s:---\r?\nsource: .*?\n---\r?\n)`)  // of Rust's insta
	partLine      = regexp.MustCompile(`^[0-9a-k]:["\[{]`)                     // of Vercel's AI SDK, whose versions 3 and 4 streamed a letter and a value
	frameMark     = regexp.MustCompile(`^[<>]\d+ `)                            // before what Google's test server kept of a WebSocket, with its length
	stampedLine   = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\S+ (?:\S+ )?\{"`) // of a log that has its time before each line
	pageStart     = regexp.MustCompile(`^data: ?\{"type": ?"(?:start|start-step|RUN_STARTED)"`)
	sseStart      = regexp.MustCompile(`^(?:(?:event|data|retry)?:|error: ?\{"|id:[^\n]*\n(?:event|data|retry)?:)`)
)

// scan finds out what the file is and reads it as that.
func (s *scanner) scan(r *bufio.Reader) error {
	head, err := r.Peek(peekSize)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return s.fail(ErrUnreadable, "%s", err)
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) { // as shells of Windows write what they redirect
		plain := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Reader(r)
		return s.scan(bufio.NewReaderSize(plain, peekSize))
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		_, _ = r.Discard(len(byteOrderMark)) // it was peeked at
		head = head[len(byteOrderMark):]
	}
	if about := snapshotHead.Find(head); about != nil { // lines keep their numbers
		blank := bytes.Repeat([]byte("\n"), bytes.Count(about, []byte("\n")))
		_, _ = r.Discard(len(about))
		return s.scan(bufio.NewReaderSize(io.MultiReader(bytes.NewReader(blank), r), peekSize))
	}
	if err := s.read(head, r); err != nil || s.found {
		return err
	}
	why := "it holds no turn of a model"
	if other := s.instead(); other != "" {
		why += ", only " + other
	}
	if s.first != nil {
		why += "; " + s.first.String()
	}
	return s.fail(ErrNotRecording, "%s", why)
}

func (s *scanner) read(head []byte, r *bufio.Reader) error {
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(text) == 0:
		return s.fail(ErrNotRecording, "it is empty")
	case bytes.HasPrefix(head, gzipMagic), bytes.HasPrefix(head, zstdMagic):
		return s.unpackFile(head, r)
	case bytes.HasPrefix(head, zipMagic):
		return s.scanZip(r)
	case isFrame(head):
		return s.scanFrames(r)
	case bytes.HasPrefix(head, httprrMark):
		return s.scanTrace(r)
	case bytes.IndexByte(head, 0) >= 0:
		return s.fail(ErrNotRecording, "it is a binary file of no known kind")
	case pageStart.Match(text), partLine.Match(text), stampedLine.Match(text):
		return s.scanLines(r)
	case frameMark.Match(text):
		return s.scanDocument(bufio.NewReaderSize(&unframed{r: r}, peekSize), false)
	case sseStart.Match(text):
		return s.scanSSE(r)
	case text[0] == '[' && !txtarMark.Match(head):
		return s.scanDocument(r, true)
	case text[0] == '{':
		if isDocument(text) {
			return s.scanDocument(r, false)
		}
		return s.scanLines(r)
	case txtarMark.Match(head):
		return s.scanArchive(r)
	case tornLog.Match(text):
		return s.scanLines(r)
	case tornStream.Match(text):
		s.problem(Problem{Kind: CutStream, Text: "the file begins inside an event", Line: 1})
		return s.scanSSE(r)
	}
	return s.scanYAML(r)
}

// isDocument reports whether a file is one JSON document, not a JSON value a line.
func isDocument(text []byte) bool {
	first, rest, more := bytes.Cut(text, []byte("\n"))
	switch {
	case json.Valid(first):
		return hasRecordersList(first)
	case hasRecordersList(text):
		return true
	}
	line := bytes.Contains(first, []byte(`"type"`)) || bytes.Contains(first, []byte(`"message"`)) // of a log, be it a broken one
	second, _, whole := bytes.Cut(rest, []byte("\n"))
	line = line && (json.Valid(second) || len(second) == 0 || !whole && second[0] == '{')
	return more && (len(bytes.TrimSpace(first)) <= 1 || !line)
}

// hasRecordersList reports whether a document, of which this is the begin, has the list of a recorder.
func hasRecordersList(text []byte) (found bool) {
	gjson.ParseBytes(text).ForEach(func(name, value gjson.Result) bool {
		found = slices.Contains([]string{"log", "interactions", "http_interactions", "mappings", "recordings", "Entries"}, name.Str) && value.Type == gjson.JSON
		return !found
	})
	return found
}

// unpackFile reads a file that is packed as a whole.
func (s *scanner) unpackFile(head []byte, r *bufio.Reader) error {
	z, err := unpacked(head, r)
	if err != nil {
		return s.fail(ErrUnreadable, "it begins like what is packed: %s", err)
	}
	defer z.Close()
	if s.format == packed {
		return s.fail(ErrNotRecording, "it is packed twice")
	}
	s.format = packed
	whole := &truncatedReader{z: z, r: r}
	text := &limitedReader{r: whole, left: s.limits.Unpacked + 1}
	err = s.scan(bufio.NewReaderSize(text, peekSize))
	switch {
	case errors.Is(err, errCapped):
		return s.fail(ErrTooLarge, "it decodes to more than %d bytes", s.limits.Unpacked)
	case whole.cut && text.left > s.limits.Unpacked:
		return s.fail(ErrNotRecording, "the packed file is cut off or broken before any of it can be read")
	case whole.cut && err == nil:
		s.problem(Problem{Kind: CutStream, Text: "the packed file is cut off; it was read as far as it goes"})
	case whole.behind && err == nil:
		s.problem(Problem{Kind: Malformed, Text: "what stands behind the end of the packed file is not packed; it was left out"})
	}
	return err
}

// unpacked reads what begins as gzip or as zstd.
func unpacked(head []byte, r io.Reader) (io.ReadCloser, error) {
	if bytes.HasPrefix(head, gzipMagic) {
		z, err := gzip.NewReader(r)
		if err == nil {
			z.Multistream(false) // to see what stands behind its end
		}
		return z, err
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// packed is no format: it marks that the file has been unpacked once.
const packed Format = "gzip"

var errCapped = errors.New("too many bytes")

// truncatedReader takes the end of what is packed for an end, though it should go on, or other bytes do.
type truncatedReader struct {
	z           io.Reader
	r           *bufio.Reader // what z unpacks
	cut, behind bool
}

func (t *truncatedReader) Read(p []byte) (int, error) {
	n, err := t.z.Read(p)
	if z, ok := t.z.(*gzip.Reader); ok && err == io.EOF {
		next, _ := t.r.Peek(len(gzipMagic))
		if t.behind = len(next) > 0; bytes.Equal(next, gzipMagic) {
			t.behind, err = false, z.Reset(t.r)
			z.Multistream(false)
		}
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		t.cut, err = true, io.EOF
	case errors.Is(err, zstd.ErrMagicMismatch):
		t.behind, err = true, io.EOF
	}
	return n, err
}

// limitedReader gives an error, not the end, when more than its allowance is read.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (c *limitedReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errCapped
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// lineReader reads lines of bounded length; of a longer one it keeps nothing.
type lineReader struct {
	r   *bufio.Reader
	max int
	n   int
	buf []byte
}

// line is one line without its end. Its text is valid until the next is read.
type line struct {
	n    int
	text []byte
	// long: it passed the limit, and text is empty. ended: a line feed followed.
	long, ended bool
}

// next gives io.EOF after the last line.
func (l *lineReader) next() (line, error) {
	l.buf = l.buf[:0]
	out := line{n: l.n + 1}
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case out.long:
		case len(l.buf)+len(part) > l.max+1:
			out.long, out.text = true, nil
		case err == nil && len(l.buf) == 0:
			out.text = part // no copy: it lies in the reader's buffer
		default:
			l.buf = append(l.buf, part...)
			out.text = l.buf
		}
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case !errors.Is(err, io.EOF), len(out.text) == 0 && !out.long:
			return line{}, err
		}
		l.n++
		out.ended = err == nil
		out.text = bytes.TrimSuffix(bytes.TrimSuffix(out.text, []byte("\n")), []byte("\r"))
		return out, nil
	}
}

// all gives the lines that are left; an error, in the words of s, is the last.
func (l *lineReader) all(s *scanner) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for {
			next, err := l.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = s.broken(err)
			}
			if !yield(next, err) || err != nil {
				return
			}
		}
	}
}
