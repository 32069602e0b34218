package packing

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// The errors: a packing that nobody here knows or that is broken, and one that becomes
// too much.
var (
	ErrUnknown = errors.New("its packing is not known")
	ErrTooMuch = errors.New("it unpacks to more than the limit")
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	// plainStart is how a body begins that is not packed: an object, or a stream of
	// events. An array's bracket may be the first byte of br.
	plainStart = regexp.MustCompile(`^[ \t\r\n]*(\z|\{|: |:\n|(event|data|id|retry):)`)
)

// peeked is how many bytes tell a packing.
const peeked = 8

// window is what a packer may look back, in bytes, however little there is: the largest
// that those which pack HTTP use.
const window = 8 << 20

// Reader reads what is in a body, given its Content-Encoding; a body that is not
// packed is read as it is. More than max bytes are ErrTooMuch, and a reader's other
// errors are ErrUnknown or those of r; a body that ends too early is
// io.ErrUnexpectedEOF. Nothing is read before the first Read. Close does not close r.
func Reader(r io.Reader, encoding string, max int64) io.ReadCloser {
	return &reader{packed: r, encoding: strings.ToLower(strings.TrimSpace(encoding)), max: max, left: max}
}

// All reads a whole body. One that is cut gives what there is of it: that shows by
// itself.
func All(b []byte, encoding string, max int64) ([]byte, error) {
	r := Reader(bytes.NewReader(b), encoding, max)
	defer r.Close()
	out, err := io.ReadAll(r)
	if errors.Is(err, io.ErrUnexpectedEOF) && len(out) > 0 {
		return out, nil
	}
	return out, err
}

type reader struct {
	packed    io.Reader
	encoding  string
	max, left int64
	plain     io.ReadCloser
	failed    error
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.plain == nil && r.failed == nil {
		r.plain, r.failed = unpacking(r.packed, r.encoding, r.max)
	}
	if r.failed != nil {
		return 0, r.failed
	}
	n, err := r.plain.Read(p)
	if r.left -= int64(n); r.left < 0 {
		n, err = 0, ErrTooMuch
	}
	r.failed = r.worded(err)
	return n, r.failed
}

func (r *reader) worded(err error) error {
	switch {
	case errors.Is(err, ErrTooMuch), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("%w of %d bytes", ErrTooMuch, r.max)
	case broken(err):
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return err
}

// broken tells a packing that is not what it looked like from a reader that failed.
func broken(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || err != nil && (errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) ||
		strings.HasPrefix(err.Error(), "brotli:") || errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, zstd.ErrCRCMismatch) || errors.Is(err, zstd.ErrReservedBlockType))
}

// Close frees what unpacking took.
func (r *reader) Close() error {
	if r.plain == nil {
		return nil
	}
	return r.plain.Close()
}

// unpacking chooses by the first bytes, and by the header where they say nothing.
func unpacking(from io.Reader, encoding string, max int64) (io.ReadCloser, error) {
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
			return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
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
	case broken(err):
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return nil, err
}

// Known says whether a Content-Encoding is one that is read here; "" and identity are.
func Known(encoding string) bool {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity", "gzip", "x-gzip", "deflate", "br", "zstd":
		return true
	}
	return false
}
