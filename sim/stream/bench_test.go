package stream_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/stretchr/testify/require"

	"toolbench/sim/stream"
)

// benchBody is a response of some 400 kB in deltas of the usual size.
func benchBody() []byte {
	in, _ := json.Marshal(map[string]string{"content": strings.Repeat("func main() {\n\treturn\n}\n", 400)})
	turn := stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: strings.Repeat("Reading the files first. ", 800)}, {Kind: stream.ToolUse, Name: "Write", Input: in}}}
	return stream.Bytes(stream.Script(turn))
}

// sdkDecode reads the body with the official SDK's decoder.
func sdkDecode(body []byte) int {
	d := ssestream.NewDecoder(&http.Response{Body: io.NopCloser(bytes.NewReader(body)), Header: http.Header{}})
	n := 0
	for d.Next() {
		n++
	}
	return n
}

func TestTheSDKReadsWhatScriptWrites(t *testing.T) {
	body := benchBody()
	events, err := stream.Decode(body)
	require.NoError(t, err)
	require.Equal(t, len(events), sdkDecode(body))
}

func BenchmarkDecode(b *testing.B) {
	body := benchBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := stream.Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFeedInChunks(b *testing.B) {
	chunks := stream.Rechunk(benchBody(), func(int) int { return 4096 })
	b.SetBytes(int64(len(benchBody())))
	b.ReportAllocs()
	for b.Loop() {
		var d stream.Decoder
		for _, c := range chunks {
			if err := d.Feed(c, func(stream.Event) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkSDKDecoder(b *testing.B) {
	body := benchBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if sdkDecode(body) == 0 {
			b.Fatal("no events")
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	events, _ := stream.Decode(benchBody())
	b.SetBytes(int64(len(benchBody())))
	b.ReportAllocs()
	for b.Loop() {
		if len(stream.Bytes(events)) == 0 {
			b.Fatal("nothing was encoded")
		}
	}
}
