package cassette

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
)

// maxPlain bounds what a compressed body may grow to, in bytes.
const maxPlain = 64 << 20

// plain undoes a body's compression, in which no secret could be seen. A body in an
// encoding that cannot be undone is left out: nobody can say what is in it.
func plain(h http.Header, body string) (http.Header, string) {
	encoding := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding")))
	if (encoding == "" || encoding == "identity") && !strings.HasPrefix(body, "\x1f\x8b") {
		return h, body
	}
	text, ok := inflate(encoding, body)
	if !ok {
		text = "[left out: compressed as " + encoding + "]"
	}
	h = h.Clone()
	h.Del("Content-Encoding")
	return h, text
}

func inflate(encoding, body string) (string, bool) {
	if body == "" {
		return "", true
	}
	var r io.ReadCloser
	var err error
	switch encoding {
	case "gzip", "x-gzip", "", "identity":
		r, err = gzip.NewReader(strings.NewReader(body))
	case "deflate":
		r, err = zlib.NewReader(strings.NewReader(body))
	default:
		return "", false
	}
	if err != nil {
		return "", false
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(r, maxPlain+1))
	return b.String(), err == nil && b.Len() <= maxPlain
}

// inflated reads a response that the server has compressed, although nobody asked for
// it, while it arrives: its events would have no times otherwise.
func inflated(resp *http.Response) {
	if encoding := strings.ToLower(resp.Header.Get("Content-Encoding")); encoding != "gzip" && encoding != "x-gzip" {
		return
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	resp.Body = &unpacked{packed: resp.Body}
}

// unpacked begins to unpack when it is first read: the header may not be there yet.
type unpacked struct {
	packed io.ReadCloser
	reader *gzip.Reader
}

// Read implements io.Reader.
func (u *unpacked) Read(p []byte) (int, error) {
	if u.reader == nil {
		r, err := gzip.NewReader(u.packed)
		if err != nil {
			return 0, err
		}
		u.reader = r
	}
	return u.reader.Read(p)
}

// Close closes what is unpacked.
func (u *unpacked) Close() error { return u.packed.Close() }
