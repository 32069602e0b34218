package cassette

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"unicode/utf8"
)

// SharedHeader is the request header of a body of which only a part is written: every request of a conversation
// repeats the one before it, so that a cassette would grow with the square of its length. Its value is how many
// interactions before this one the rest stands, how many bytes of that body this one begins with and how many it ends
// with, and the CRC-32 of the whole, as in "1 81234 5120 1c291ca3".
const SharedHeader = "X-Toolbench-Shared-Body"

const (
	// sharedAtLeast is how many bytes are shared before a body is written in part: a small one is
	// for people, and for other programs.
	sharedAtLeast = 16 << 10
	// bodiesKept is how many interactions before its own a body may refer to: agents that work
	// beside each other send theirs in turns.
	bodiesKept = 8
)

// ErrShared is the error of a body whose rest is not to be found.
var ErrShared = errors.New("is written as a part of an earlier one, which is not as it was")

// Bodies are the latest request bodies of a cassette, by which the next one is written short, or
// read back. The zero Bodies has none.
type Bodies struct{ latest []string }

func (b *Bodies) keep(body string) {
	if len(b.latest) == bodiesKept {
		b.latest = b.latest[1:]
	}
	b.latest = append(b.latest, body)
}

// Shorten gives what is written of the next body, and sets the header where that is not all of it.
func (b *Bodies) Shorten(h http.Header, body string) string {
	back, head, tail := 0, 0, 0
	for i, earlier := range b.latest {
		begins, ends := shared(body, earlier)
		if begins+ends >= max(head+tail, sharedAtLeast) {
			back, head, tail = len(b.latest)-i, begins, ends
		}
	}
	b.keep(body)
	if back == 0 {
		return body
	}
	h.Set(SharedHeader, fmt.Sprintf("%d %d %d %08x", back, head, tail, crc32.ChecksumIEEE([]byte(body))))
	return body[head : len(body)-tail]
}

// Restore gives the whole of the next body and takes the header away. Its error is ErrShared.
func (b *Bodies) Restore(h http.Header, body string) (string, error) {
	if text := h.Get(SharedHeader); text != "" {
		var back, head, tail int
		var sum uint32
		_, err := fmt.Sscanf(text, "%d %d %d %x", &back, &head, &tail, &sum)
		if err != nil || back < 1 || back > len(b.latest) {
			return body, ErrShared
		}
		rest := b.latest[len(b.latest)-back]
		if head < 0 || tail < 0 || head > len(rest) || tail > len(rest)-head {
			return body, ErrShared
		}
		body = rest[:head] + body + rest[len(rest)-tail:]
		if crc32.ChecksumIEEE([]byte(body)) != sum && !json.Valid([]byte(body)) {
			return body, ErrShared // else a word was put in place of another, all over the file
		}
		h.Del(SharedHeader)
	}
	b.keep(body)
	return body, nil
}

// shared gives how many bytes two texts begin with alike, and how many of the rest they end with,
// in whole characters.
func shared(a, b string) (begins, ends int) {
	const step = 64
	n := min(len(a), len(b))
	for begins+step <= n && a[begins:begins+step] == b[begins:begins+step] {
		begins += step
	}
	for begins < n && a[begins] == b[begins] {
		begins++
	}
	for begins > 0 && begins < len(a) && !utf8.RuneStart(a[begins]) {
		begins--
	}
	a, b = a[begins:], b[begins:]
	n = min(len(a), len(b))
	for ends+step <= n && a[len(a)-ends-step:len(a)-ends] == b[len(b)-ends-step:len(b)-ends] {
		ends += step
	}
	for ends < n && a[len(a)-ends-1] == b[len(b)-ends-1] {
		ends++
	}
	for ends > 0 && !utf8.RuneStart(a[len(a)-ends]) {
		ends--
	}
	return begins, ends
}
