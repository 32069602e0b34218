package cassette

import (
	"io"
	"net/http"
	"strings"

	"toolbench/sim/packing"
)

// maxPlain bounds what a packed body may grow to, in bytes.
const maxPlain = 64 << 20

// plain undoes a body's packing, in which no secret could be seen. A body that cannot
// be unpacked is left out: nobody can say what is in it.
func plain(h http.Header, body string) (http.Header, string) {
	encoding := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding")))
	if (encoding == "" || encoding == "identity") && !strings.HasPrefix(body, "\x1f\x8b") {
		return h, body
	}
	text, err := packing.All([]byte(body), encoding, maxPlain)
	if err != nil || !packing.Known(encoding) {
		text = []byte("[left out: compressed as " + encoding + "]")
	}
	h = h.Clone()
	h.Del("Content-Encoding")
	return h, string(text)
}

// inflated reads a response that the server has packed while it arrives: its events
// would have no times otherwise, and its reader need not know how it was packed.
func inflated(resp *http.Response) {
	encoding := resp.Header.Get("Content-Encoding")
	if encoding == "" || !packing.Known(encoding) {
		return
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	resp.Body = unpacked{packing.Reader(resp.Body, encoding, maxPlain), resp.Body}
}

// unpacked closes what it reads from as well.
type unpacked struct {
	io.ReadCloser
	packed io.Closer
}

// Close closes both.
func (u unpacked) Close() error {
	err := u.ReadCloser.Close()
	if closed := u.packed.Close(); err == nil {
		err = closed
	}
	return err
}
