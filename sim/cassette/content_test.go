package cassette_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/cassette"
)

type flusher interface {
	io.WriteCloser
	Flush() error
}

// packers are the ways a server encodes a body, by their names.
var packers = map[string]func(io.Writer) flusher{
	"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) flusher { return zlib.NewWriter(w) },
	"br":      func(w io.Writer) flusher { return brotli.NewWriter(w) },
	"zstd":    func(w io.Writer) flusher { z, _ := zstd.NewWriter(w); return z },
	"raw":     func(w io.Writer) flusher { f, _ := flate.NewWriter(w, 6); return f },
}

const text = "event: ping\ndata: {\"type\":\"ping\"}\n\n"

func header(name string) string { return strings.Replace(name, "raw", "deflate", 1) }

func pack(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := packers[name](&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestEachEncodingIsUndone(t *testing.T) {
	for name := range packers {
		got, err := cassette.Decode(pack(t, name, text), header(name), 1<<20)
		require.NoError(t, err, name)
		assert.Equal(t, text, string(got), name)
		assert.True(t, cassette.KnownEncoding(header(name)))
	}
}

// Recorders unpack a body and leave the header: such a body is read as it is.
func TestABodyThatIsNotPackedStaysAsItIs(t *testing.T) {
	for name := range packers {
		for _, body := range []string{"", "{}", "  {\"a\":1}", text, ": ping\n\n"} {
			got, err := cassette.Decode([]byte(body), header(name), 100)
			require.NoError(t, err, name)
			assert.Equal(t, body, string(got), name)
		}
	}
}

// An event is there as soon as the server has flushed it, not at the end.
func TestAStreamIsReadWhileItArrives(t *testing.T) {
	for name, packer := range packers {
		from, to := io.Pipe()
		r := cassette.NewDecoder(from, header(name), 1<<20)
		w := packer(to)
		next := make(chan struct{})
		go func() {
			for range 3 {
				if _, err := io.WriteString(w, text); err != nil || w.Flush() != nil {
					return
				}
				<-next // waits until it was read
			}
			to.CloseWithError(w.Close())
		}()
		got := make([]byte, len(text))
		for range 3 {
			_, err := io.ReadFull(r, got)
			require.NoError(t, err, name)
			assert.Equal(t, text, string(got), name)
			next <- struct{}{}
		}
		rest, err := io.ReadAll(r)
		require.NoError(t, err, name)
		assert.Empty(t, rest, name)
		require.NoError(t, r.Close())
	}
}

func TestWhatGrowsBeyondTheLimitIsRefused(t *testing.T) {
	for name := range packers {
		_, err := cassette.Decode(pack(t, name, strings.Repeat(text, 10_000)), header(name), 10_000)
		assert.ErrorIs(t, err, cassette.ErrExpands, name)
	}
}

func TestACutBodyGivesWhatThereIs(t *testing.T) {
	for name := range packers {
		whole := pack(t, name, strings.Repeat(text, 10_000))
		got, err := cassette.Decode(whole[:len(whole)-1], header(name), 1<<20)
		require.NoError(t, err, name)
		assert.True(t, strings.HasPrefix(strings.Repeat(text, 10_000), string(got)), name)
	}
}

func TestAnUnknownContentEncodingIsAnError(t *testing.T) {
	for _, name := range []string{"br", "deflate"} {
		_, err := cassette.Decode([]byte("\xff\xff\xff\xff\xff no such thing"), name, 100)
		assert.ErrorIs(t, err, cassette.ErrEncoding, name)
	}
	assert.False(t, cassette.KnownEncoding("compress"))
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(text), "br")
	f.Add([]byte{0x1f, 0x8b, 8, 0}, "")
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1}, "zstd")
	f.Fuzz(func(t *testing.T, body []byte, encoding string) {
		got, err := cassette.Decode(body, encoding, 1<<16)
		if err == nil {
			assert.LessOrEqual(t, len(got), 1<<16)
		}
	})
}
