package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"regexp"
)

// peekSize is how much of a file decides what it is.
const peekSize = 64 << 10

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	gzipMagic     = []byte{0x1f, 0x8b}
	zstdMagic     = []byte{0x28, 0xb5, 0x2f, 0xfd}
	txtarMark     = regexp.MustCompile(`(?m)^-- \S.* --\r?$`)
	sseStart      = regexp.MustCompile(`^(?:event|data|id|retry)?:`)
	jsonDocument  = regexp.MustCompile(`^\{\s*(?:"[^"]{1,40}"\s*:\s*(?:"[^"]{0,200}"|[0-9.]+)\s*,\s*)*"(?:log|interactions|http_interactions|mappings|Entries)"\s*:`)
)

// scan finds out what the file is and reads it as that.
func (s *scanner) scan(r *bufio.Reader) error {
	head, err := r.Peek(peekSize)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return s.fail(ErrUnreadable, "%s", err)
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		if _, err := r.Discard(len(byteOrderMark)); err != nil {
			return s.fail(ErrUnreadable, "%s", err)
		}
		head = head[len(byteOrderMark):]
	}
	if err := s.read(head, r); err != nil {
		return err
	}
	if s.found {
		return nil
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
	case bytes.HasPrefix(head, gzipMagic):
		return s.unpackFile(r)
	case isFrame(head):
		return s.scanFrames(r)
	case bytes.HasPrefix(head, httprrMark):
		return s.scanTrace(r)
	case bytes.IndexByte(head, 0) >= 0:
		return s.fail(ErrNotRecording, "it is a binary file of no known kind")
	case sseStart.Match(text):
		return s.scanSSE(r)
	case text[0] == '[' && !txtarMark.Match(head):
		return s.scanList(r)
	case text[0] == '{':
		if isDocument(text) {
			return s.scanDocument(r)
		}
		return s.scanLines(r)
	case txtarMark.Match(head):
		return s.scanArchive(r)
	}
	return s.scanYAML(r)
}

// isDocument tells one JSON document from a JSON value a line.
func isDocument(text []byte) bool {
	if jsonDocument.Match(text) {
		return true
	}
	first, _, more := bytes.Cut(text, []byte("\n"))
	if !more || json.Valid(first) {
		return false // a line of its own, or one that is longer than what was peeked at
	}
	return len(bytes.TrimSpace(first)) <= 1 || !looksLikeLine(first)
}

// looksLikeLine: a line of a log that is broken is still a line of a log.
func looksLikeLine(first []byte) bool {
	return bytes.Contains(first, []byte(`"type"`)) || bytes.Contains(first, []byte(`"message"`))
}

// unpackFile reads a file that is packed as a whole.
func (s *scanner) unpackFile(r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return s.fail(ErrUnreadable, "it begins like gzip: %s", err)
	}
	defer z.Close()
	if s.format == packed {
		return s.fail(ErrNotRecording, "it is packed twice")
	}
	s.format = packed
	whole := &torn{r: z}
	err = s.scan(bufio.NewReaderSize(&capped{r: whole, left: s.limits.Unpacked}, peekSize))
	if whole.cut && err == nil {
		s.problem(Problem{Kind: CutStream, Text: "the packed file is cut off; it was read as far as it goes"})
	}
	if errors.Is(err, errCapped) {
		return s.fail(ErrTooLarge, "it unpacks to more than %d bytes", s.limits.Unpacked)
	}
	return err
}

// packed is no format: it marks that the file has been unpacked once.
const packed Format = "gzip"

var errCapped = errors.New("too many bytes")

// torn takes the end of what is packed for an end, though it should go on.
type torn struct {
	r   io.Reader
	cut bool
}

func (t *torn) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		t.cut, err = true, io.EOF
	}
	return n, err
}

// capped gives an error, not the end, when more than its allowance is read.
type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errCapped
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
