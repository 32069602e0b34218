package stream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/sim/stream"
)

// lines renders events as "type|data" for tables.
func lines(events []stream.Event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, e.Type+"|"+string(e.Data))
	}
	return out
}

// feed decodes the chunks one by one and clones what is emitted.
func feed(d *stream.Decoder, chunks [][]byte) ([]stream.Event, error) {
	var events []stream.Event
	for _, c := range chunks {
		c = bytes.Clone(c)
		err := d.Feed(c, func(e stream.Event) error {
			events = append(events, e.Clone())
			return nil
		})
		if err != nil {
			return events, err
		}
		clear(c) // whoever still points into the chunk is found out
	}
	return events, d.Close()
}

func TestDecodeReadsEveryDialect(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"the API's own":                   {"event: ping\ndata: {\"type\":\"ping\"}\n\n", []string{`ping|{"type":"ping"}`}},
		"carriage returns and line feeds": {"event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n", []string{"a|1", "b|2"}},
		"bare carriage returns":           {"event: a\rdata: 1\r\revent: b\rdata: 2\r\r", []string{"a|1", "b|2"}},
		"mixed line ends":                 {"event: a\r\ndata: 1\n\revent: b\ndata: 2\r\n\n", []string{"a|1", "b|2"}},
		"comments":                        {": hello\n\n:\nevent: a\n: inside\ndata: 1\n\n", []string{"a|1"}},
		"no event line":                   {"data: {\"index\":0,\"type\":\"ping\"}\n\n", []string{`ping|{"index":0,"type":"ping"}`}},
		"no event line, a nested type":    {"data: {\"delta\":{\"type\":\"x\"}}\n\n", []string{`|{"delta":{"type":"x"}}`}},
		"no space behind the colon":       {"event:a\ndata:1\n\n", []string{"a|1"}},
		"data over several lines":         {"event: a\ndata: {\ndata: \"x\":1}\n\n", []string{"a|{\n\"x\":1}"}},
		"one blank is the field's":        {"event: a\ndata: 1\ndata:   2\n\n", []string{"a|1\n  2"}},
		"trailing spaces":                 {"event: a  \ndata: {\"x\":1}   \n\n", []string{`a|{"x":1}`}},
		"byte order mark":                 {"\xef\xbb\xbfevent: a\ndata: 1\n\n", []string{"a|1"}},
		"done":                            {"event: a\ndata: 1\n\ndata: [DONE]\n\n", []string{"a|1"}},
		"done without a blank line":       {"event: a\ndata: 1\n\ndata: [DONE]", []string{"a|1"}},
		"id, retry, unknown fields":       {"id: 7\nretry: 10\nfoo: bar\nevent: a\ndata: 1\n\n", []string{"a|1"}},
		"an event without data":           {"event: a\n\nevent: b\ndata:\n\ndata: 1\n\n", []string{"|1"}},
		"many blank lines":                {"\n\n\nevent: a\ndata: 1\n\n\n\n", []string{"a|1"}},
		"nothing":                         {"", []string{}},
		"the last blank line missing":     {"event: a\ndata: 1\n", []string{"a|1"}},
		"the last line end missing":       {"event: a\ndata: {}", []string{"a|{}"}},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := stream.Decode([]byte(c.in))
			require.NoError(t, err)
			assert.Equal(t, c.want, lines(events))
		})
	}
}

func TestDecodeReportsAStreamCutInsideAnEvent(t *testing.T) {
	events, err := stream.Decode([]byte("event: a\ndata: 1\n\nevent: b\ndata: {\"x\":"))
	cut, ok := errors.AsType[*stream.TruncatedError](err)
	require.True(t, ok, "got %v", err)
	assert.Equal(t, []string{"a|1"}, lines(events))
	assert.Equal(t, "b", cut.Event.Type)
	assert.Equal(t, `{"x":`, string(cut.Event.Data))
	assert.EqualValues(t, 18, cut.Offset)
	assert.False(t, cut.Whole)
}

func TestDecodeRefusesAnEventOverTheLimit(t *testing.T) {
	body := "event: a\ndata: 1\n\nevent: b\ndata: " + strings.Repeat("x", 100) + "\n\n"
	for _, size := range []int{1, 7, 1000} {
		d := stream.Decoder{MaxEvent: 64}
		events, err := feed(&d, stream.Rechunk([]byte(body), func(int) int { return size }))
		big, ok := errors.AsType[*stream.TooLargeError](err)
		require.True(t, ok, "got %v", err)
		assert.Equal(t, &stream.TooLargeError{Limit: 64, Offset: 18}, big)
		assert.Equal(t, []string{"a|1"}, lines(events))
		assert.Equal(t, err, d.Feed([]byte("\n\n"), nil), "an error stays")
	}
}

func TestTheLimitItselfIsAllowed(t *testing.T) {
	for _, size := range []int{1, 3, 100} {
		for n, fails := range map[int]bool{32: false, 33: true} {
			d := stream.Decoder{MaxEvent: 32}
			_, err := feed(&d, stream.Rechunk(bytes.Repeat([]byte("x"), n), func(int) int { return size }))
			assert.Equal(t, fails, err != nil, "%d bytes without a line end", n)
			d = stream.Decoder{MaxEvent: 32}
			_, err = feed(&d, stream.Rechunk(append([]byte("id: 56789012345\n"), bytes.Repeat([]byte("x"), n-16)...), func(int) int { return size }))
			assert.Equal(t, fails, err != nil, "%d bytes in two lines", n)
			d = stream.Decoder{MaxEvent: 32}
			_, err = feed(&d, stream.Rechunk(append(bytes.Repeat([]byte("x"), n), '\n'), func(int) int { return size }))
			assert.Equal(t, fails, err != nil, "%d bytes and a line end", n)
		}
	}
}

func TestFeedStopsAtTheReceiversError(t *testing.T) {
	var d stream.Decoder
	stop := errors.New("enough")
	n := 0
	err := d.Feed([]byte("data: 1\n\ndata: 2\n\n"), func(stream.Event) error { n++; return stop })
	assert.ErrorIs(t, err, stop)
	assert.ErrorIs(t, d.Close(), stop)
	assert.Equal(t, 1, n)
}

func TestOffsetIsWhereEachEventEnds(t *testing.T) {
	body := []byte("event: a\ndata: 1\n\n: c\ndata: 2\n\n\ndata: 3\n\n")
	var d stream.Decoder
	var ends []int64
	require.NoError(t, d.Feed(body, func(stream.Event) error { ends = append(ends, d.Offset()); return nil }))
	assert.Equal(t, []int64{18, 31, 41}, ends)

	// A line feed that comes in the chunk behind its carriage return counts to what comes next.
	d, ends = stream.Decoder{}, nil
	for _, chunk := range []string{"data: 1\r\n\r", "\ndata: 2\r\n\r\n"} {
		require.NoError(t, d.Feed([]byte(chunk), func(stream.Event) error { ends = append(ends, d.Offset()); return nil }))
	}
	assert.Equal(t, []int64{10, 21}, ends)
}

// anyBody draws streams in every dialect, complete or cut anywhere.
func anyBody(t *rapid.T) []byte {
	piece := rapid.SampledFrom([]string{"event: a", "event: b ", "data: {\"type\":\"x\"}", "data: 1", "data:", "data: [DONE]",
		": comment", "id: 1", "data: \xe4\xbd\xa0", "\xef\xbb\xbf", "", "", "", "junk"})
	end := rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r"})
	var b strings.Builder
	for range rapid.IntRange(0, 30).Draw(t, "lines") {
		b.WriteString(piece.Draw(t, "line") + end.Draw(t, "end"))
	}
	return []byte(b.String()[:rapid.IntRange(0, b.Len()).Draw(t, "cut")])
}

func TestAnySplitGivesTheSameEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := anyBody(t)
		limit := rapid.SampledFrom([]int{0, 20}).Draw(t, "limit")
		whole := stream.Decoder{MaxEvent: limit}
		want, wantErr := feed(&whole, [][]byte{body})
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 40).Draw(t, "sizes")
		split := stream.Decoder{MaxEvent: limit}
		got, err := feed(&split, stream.Rechunk(body, func(i int) int { return sizes[i%len(sizes)] }))
		assert.Equal(t, want, got)
		assert.Equal(t, wantErr, err)
	})
}

func TestEncodedEventsDecodeToThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOf(rapid.Custom(func(t *rapid.T) stream.Event {
			data, err := json.Marshal(map[string]any{"type": "x", "v": rapid.String().Draw(t, "v")})
			require.NoError(t, err)
			return stream.Event{Type: rapid.StringMatching(`[a-z_]{1,12}`).Draw(t, "type"), Data: data}
		})).Draw(t, "events")
		got, err := stream.Decode(stream.Bytes(events))
		require.NoError(t, err)
		assert.Equal(t, lines(events), lines(got))
	})
}

func TestChunksHaveTheSizesThatAreAskedFor(t *testing.T) {
	assert.Equal(t, [][]byte{[]byte("a"), []byte("b"), []byte("cd"), []byte("ef")}, stream.Rechunk([]byte("abcdef"), func(i int) int { return i }))
}

func TestManyBareCarriageReturnsStayLinear(t *testing.T) {
	body := bytes.Repeat([]byte("data: 1\r\r"), 200_000)
	events, err := stream.Decode(body)
	require.NoError(t, err)
	assert.Len(t, events, 200_000)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("event: ping\ndata: {\"type\":\"ping\"}\n\n"), uint8(3))
	f.Add([]byte("\xef\xbb\xbfdata: 1\r\n\rdata: [DONE]\r\r"), uint8(1))
	f.Add([]byte("event: a\ndata: {\ndata: }\n\nevent: b\ndata: {\"x\":"), uint8(5))
	f.Fuzz(func(t *testing.T, body []byte, size uint8) {
		var whole, split stream.Decoder
		want, wantErr := feed(&whole, [][]byte{body})
		got, err := feed(&split, stream.Rechunk(body, func(int) int { return int(size) }))
		assert.Equal(t, want, got)
		assert.Equal(t, wantErr, err)
		if whole.Offset() > int64(len(body)) {
			t.Fatalf("offset %d beyond %d bytes", whole.Offset(), len(body))
		}
	})
}

func ExampleDecode() {
	events, _ := stream.Decode([]byte("event: ping\ndata: {\"type\": \"ping\"}\n\n"))
	fmt.Println(events[0].Type, string(events[0].Data))
	// Output: ping {"type": "ping"}
}
