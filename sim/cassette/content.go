package cassette

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// The errors of content encodings: one that is unknown or broken, and one that becomes too large.
var (
	ErrEncoding = errors.New("its content encoding is not known")
	ErrExpands  = errors.New("it decodes to more than the limit")
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	// plainStart is how a body begins that is not encoded: an object, or a stream of
	// events. An array's bracket may be the first byte of br.
	plainStart = regexp.MustCompile(`^[ \t\r\n]*(\z|\{|: |:\n|(event|data|id|retry):)`)
)

// peeked is how many bytes identify an encoding.
const peeked = 8

// window is how far an encoder may look back, in bytes, however little there is: the largest that HTTP servers use.
const window = 8 << 20

// NewDecoder undoes what a server did to a body on its way: gzip, deflate, br or zstd. The first bytes count more
// than the header, because recorders often decode a body and leave the header; a body that is not encoded is read as
// it is. Each kind is decoded while it arrives, so that the events of a stream keep their times. More than max bytes
// are ErrExpands, and a reader's other errors are ErrEncoding or those of r; a body that ends too early is
// io.ErrUnexpectedEOF. Nothing is read before the first Read. Close does not close r.
func NewDecoder(r io.Reader, encoding string, max int64) io.ReadCloser {
	return &decoder{encoded: r, encoding: strings.ToLower(strings.TrimSpace(encoding)), max: max, left: max}
}

// Decode decodes a complete body. One that is cut gives what there is of it: that shows
// by itself. Errors are ErrExpands and ErrEncoding.
func Decode(b []byte, encoding string, max int64) ([]byte, error) {
	r := NewDecoder(bytes.NewReader(b), encoding, max)
	defer r.Close()
	out, err := io.ReadAll(r)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && len(out) > 0:
		return out, nil
	case err != nil && !errors.Is(err, ErrExpands) && !errors.Is(err, ErrEncoding):
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return out, err
}

type decoder struct {
	encoded   io.Reader
	encoding  string
	max, left int64
	plain     io.ReadCloser
	failed    error
}

// Read implements io.Reader.
func (r *decoder) Read(p []byte) (int, error) {
	if r.plain == nil && r.failed == nil {
		r.plain, r.failed = decoding(r.encoded, r.encoding, r.max)
	}
	if r.failed != nil {
		return 0, r.failed
	}
	n, err := r.plain.Read(p)
	if r.left -= int64(n); r.left < 0 {
		n, err = 0, ErrExpands
	}
	r.failed = r.worded(err)
	return n, r.failed
}

func (r *decoder) worded(err error) error {
	switch {
	case errors.Is(err, ErrExpands), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("%w of %d bytes", ErrExpands, r.max)
	case malformed(err):
		return fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return err
}

// malformed reports whether an encoding is not what it looked like; other errors are a reader that failed.
func malformed(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || err != nil && (errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) ||
		strings.HasPrefix(err.Error(), "brotli:") || errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, zstd.ErrCRCMismatch) || errors.Is(err, zstd.ErrReservedBlockType))
}

// Close frees what decoding took.
func (r *decoder) Close() error {
	if r.plain == nil {
		return nil
	}
	return r.plain.Close()
}

// decoding chooses by the first bytes, and by the header where they decide nothing.
func decoding(from io.Reader, encoding string, max int64) (io.ReadCloser, error) {
	b := bufio.NewReader(from)
	head, err := b.Peek(peeked)
	if err != nil && err != io.EOF {
		return io.NopCloser(b), nil // what there is comes first, then the error
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return begun(gzip.NewReader(b))
	case bytes.HasPrefix(head, zstdMagic):
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max+window)))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
		}
		return d.IOReadCloser(), nil
	case plainStart.Match(head):
		return io.NopCloser(b), nil
	case encoding == "deflate" && len(head) > 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0:
		return begun(zlib.NewReader(b))
	case encoding == "deflate":
		return flate.NewReader(b), nil
	case encoding == "br":
		return io.NopCloser(brotli.NewReader(b)), nil
	}
	return io.NopCloser(b), nil
}

// begun keeps a reader that could not begin from being one.
func begun[R io.ReadCloser](r R, err error) (io.ReadCloser, error) {
	switch {
	case err == nil:
		return r, nil
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	case malformed(err):
		err = fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return nil, err
}

// KnownEncoding reports whether a Content-Encoding is one that is decoded here; "" and identity are.
func KnownEncoding(encoding string) bool {
	return slices.Contains([]string{"", "identity", "gzip", "x-gzip", "deflate", "br", "zstd"}, strings.ToLower(strings.TrimSpace(encoding)))
}

// maxPlain bounds what an encoded body may grow to, in bytes.
const maxPlain = 64 << 20

// plain undoes a body's encoding, in which no secret could be found. A body that cannot
// be decoded is left out: nobody can know what is in it.
func plain(h http.Header, body string) (http.Header, string) {
	encoding := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding")))
	packed := strings.HasPrefix(body, string(gzipMagic)) || strings.HasPrefix(body, string(zstdMagic))
	if (encoding == "" || encoding == "identity") && !packed {
		return h, body
	}
	text, err := Decode([]byte(body), encoding, maxPlain)
	if err != nil || !KnownEncoding(encoding) {
		text = []byte("[left out: compressed as " + encoding + "]")
	}
	h = h.Clone()
	h.Del("Content-Encoding")
	return h, string(text)
}

// inflated decodes a response while it arrives: its events would have no times otherwise,
// and its reader need not know how it was encoded.
func inflated(resp *http.Response) {
	encoding := resp.Header.Get("Content-Encoding")
	if encoding == "" || !KnownEncoding(encoding) {
		return
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	resp.Body = decoded{NewDecoder(resp.Body, encoding, maxPlain), resp.Body}
}

// decoded closes what it reads from as well.
type decoded struct {
	io.ReadCloser
	encoded io.Closer
}

// Close closes both.
func (d decoded) Close() error { return cmp.Or(d.ReadCloser.Close(), d.encoded.Close()) }
