package cassette_test

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/secret"
	"toolbench/sim/stream"
)

// patience is how long a test waits for what another goroutine does.
const patience = 20 * time.Second

// loaded is a cassette as it stands. A system may give a reading that meets a write parts of two moments, so that
// two readings have to agree.
func loaded(t need, file string) *cassette.Cassette {
	text := read(t, file)
	for again := read(t, file); again != text; again = read(t, file) {
		text = again
	}
	c, err := cassette.Load(file, strings.NewReader(text), cassette.Limits{})
	require.NoError(t, err)
	return c
}

func journal(t *testing.T, next http.RoundTripper, known ...secret.Known) (*cassette.Journal, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "session.yaml")
	j, err := cassette.NewJournal(file, next, known)
	require.NoError(t, err)
	return j, file
}

const delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n"

// An earlier recording is whole for whoever reads it until a new one stands in its place.
func TestAJournalReplacesAnEarlierFileAsAWhole(t *testing.T) {
	j, file := journal(t, transport(func(req *http.Request) (*http.Response, error) {
		return &http.Response{Status: "200 OK", StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
	}))
	require.NoError(t, os.WriteFile(file, []byte("earlier"), 0o644))
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	_, err = io.ReadAll(mustAsk(t, j, "{}").Body)
	require.NoError(t, err)
	require.NoError(t, j.Close(t.Context()))
	earlier, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, "earlier", string(earlier))
	assert.Len(t, loaded(t, file).Interactions, 1)
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

// Where nothing can be written from the beginning on, nobody is promised what came before.
func TestAJournalKnowsWhetherItBegan(t *testing.T) {
	next := transport(func(req *http.Request) (*http.Response, error) {
		return &http.Response{Status: "200 OK", StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
	})
	none := filepath.Join(t.TempDir(), "none")
	require.NoError(t, os.WriteFile(none, nil, 0o644))
	for file, begun := range map[string]bool{filepath.Join(none, "session.yaml"): false, filepath.Join(t.TempDir(), "session.yaml"): true} {
		j, err := cassette.NewJournal(file, next, nil)
		require.NoError(t, err)
		_, err = io.ReadAll(mustAsk(t, j, "{}").Body)
		require.NoError(t, err)
		assert.Equal(t, begun, j.Close(t.Context()) == nil)
		assert.Equal(t, begun, j.Begun())
	}
}

// A recording that somebody removes meanwhile, by itself or with its folder, is there again with all that was
// recorded; a file in its place is left alone, and an error.
func TestAJournalOutlivesItsFile(t *testing.T) {
	replaced := func(file string) error {
		return errors.Join(os.Remove(file), os.WriteFile(file, []byte("another"), 0o644))
	}
	for _, again := range []bool{true, false} {
		for name, lose := range map[string]func(string) error{"file": os.Remove, "folder": func(file string) error { return os.RemoveAll(filepath.Dir(file)) }, "replaced": replaced} {
			t.Run(fmt.Sprint(name, again), func(t *testing.T) {
				j, file := journal(t, answer(http.Header{}, "{}"))
				_, err := io.ReadAll(mustAsk(t, j, "{}").Body)
				require.NoError(t, err)
				require.Eventually(t, func() bool { _, err := os.Stat(file); return err == nil }, patience, time.Millisecond)
				require.NoError(t, lose(file))
				if again {
					_, err = io.ReadAll(mustAsk(t, j, "{}").Body)
					require.NoError(t, err)
				}
				err = j.Close(t.Context())
				if name == "replaced" {
					require.ErrorContains(t, err, "another file took its place")
					assert.Equal(t, "another", read(t, file))
					return
				}
				require.NoError(t, err)
				assert.Len(t, loaded(t, file).Interactions, j.Recorded())
			})
		}
	}
}

// What has arrived is in the file before the response is over, up to the last whole event,
// and whoever reads it finds a cassette.
func TestAJournalIsWholeAtAnyTime(t *testing.T) {
	r, w := io.Pipe()
	j, file := journal(t, transport(func(req *http.Request) (*http.Response, error) {
		return &http.Response{Status: "200 OK", StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, Request: req}, nil
	}))
	resp := mustAsk(t, j, "{}")
	go func() { fmt.Fprintf(w, delta+delta+"event: content_block_de", "one", "two") }()
	buf := make([]byte, 1<<10)
	for got := ""; !strings.HasSuffix(got, "_de"); {
		n, err := resp.Body.Read(buf)
		require.NoError(t, err)
		got += string(buf[:n])
	}
	require.Eventually(t, func() bool {
		_, err := os.Stat(file)
		return err == nil && strings.HasSuffix(loaded(t, file).Interactions[0].Response.Body, "two\"}}\n\n")
	}, patience, ms)
	events, err := loaded(t, file).Interactions[0].Events()
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Positive(t, events[0].At)

	w.CloseWithError(io.ErrUnexpectedEOF)
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, j.Close(t.Context()))
	assert.True(t, strings.HasSuffix(loaded(t, file).Interactions[0].Response.Body, "event: content_block_de"))
	assert.Equal(t, 1, j.Recorded())
}

// Many at once, read all the time: there is never half an exchange in the file.
func TestAJournalOfManyAtOnce(t *testing.T) {
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 30 {
			fmt.Fprintf(w, delta, fmt.Sprintf("%s %d %s", r.URL.Path, i, strings.Repeat("x", 200-6*i)))
			w.(http.Flusher).Flush()
		}
	}))
	defer at.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	j, file := journal(t, http.DefaultTransport)
	var asked sync.WaitGroup
	for i := range 12 {
		asked.Go(func() {
			resp, err := (&http.Client{Transport: j}).Post(fmt.Sprintf("%s/%d", at.URL, i), "application/json", strings.NewReader("{}"))
			if !assert.NoError(t, err) {
				return
			}
			_, err = io.Copy(io.Discard, resp.Body)
			assert.NoError(t, err)
			resp.Body.Close()
		})
	}
	over := make(chan struct{})
	go func() { asked.Wait(); close(over) }()
	for reading := true; reading; {
		select {
		case <-over:
			reading = false
		default:
		}
		if _, err := os.Stat(file); err == nil && len(read(t, file)) > 40 {
			for _, i := range loaded(t, file).Interactions {
				_, err := i.Events()
				require.NoError(t, err)
			}
		}
	}
	require.NoError(t, j.Close(t.Context()))
	c := loaded(t, file)
	require.Len(t, c.Interactions, 12)
	for _, i := range c.Interactions {
		events, err := i.Events()
		require.NoError(t, err)
		assert.Len(t, events, 30)
	}
}

func read(t need, file string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// Each piece of a stream has its time, whatever the stream is made of; what is no stream has the
// time at which it was whole.
func TestStreamsOfEveryKindHaveTheirTimes(t *testing.T) {
	frame := func(text string) string { return string(stream.AppendFrame(nil, nil, []byte(text))) }
	for name, c := range map[string]struct {
		kind string
		body []string // arrives a millisecond apart
		want string
	}{
		"events":                   {"text/event-stream", []string{"data: 1\n\n", "data: 2\n", "\n"}, "0,2000"},
		"frames":                   {"application/vnd.amazon.eventstream", []string{frame("one")[:9], frame("one")[9:] + frame("two"), frame("three")}, "1000,0,1000"},
		"lines":                    {"application/x-ndjson", []string{"{}\n{", "}\n", "{}"}, "0,1000,1000"},
		"a list":                   {"application/json", []string{`[{"a":"}\`, `""}`, `,{"b":{}},`, `{}`, "]"}, "1000,1000,1000"},
		"a list that came at once": {"application/json", []string{`[{"a":1},{"b":2}]`}, "0"},
		"a document":               {"application/json; charset=utf-8", []string{`{"a":[{}`, `,{}]`, `}`}, "2000"},
		"a list of other things":   {"application/json", []string{`["{}"`, `,{}]`}, "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{"Content-Type": {c.kind}}
			var at []time.Duration
			for i := range c.body {
				at = append(at, time.Duration(i)*time.Millisecond)
			}
			cassette.StampPieces(h, c.body, at)
			assert.Equal(t, c.want, h.Get(cassette.OffsetsHeader))
		})
	}
}

// Credentials are blanked wherever they stand: in headers, addresses and bodies, in events
// of any provider, and cut over chunks and deltas.
func TestNoSecretIsInAJournal(t *testing.T) {
	const header, query, env, split = "wd-7Kq29xLm41pZt", "gk_83hJq27vTnb5", "envval-55-xyzzy", "sk-ant-api03-Zk39dLqPw82mXv71RtYb"
	bodies := map[string]string{
		"anthropic": fmt.Sprintf(delta+delta, split[:15], split[15:]+" "+header) + fmt.Sprintf(delta, env),
		"openai": `data: {"choices":[{"index":0,"delta":{"content":"` + split[:15] + "\"}}]}\n\n" +
			`data: {"choices":[{"index":0,"delta":{"content":"` + split[15:] + " " + query + "\"}}]}\n\ndata: [DONE]\n\n",
		"responses": `data: {"type":"response.output_text.delta","item_id":"m","delta":"` + split[:15] + "\"}\n\n" +
			`data: {"type":"response.output_text.delta","item_id":"m","delta":"` + split[15:] + "\"}\n\n",
		"gemini": `data: {"candidates":[{"content":{"parts":[{"text":"` + split[:15] + "\"}]}}]}\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"` + split[15:] + "\"}]}}]}\n\n",
	}
	for _, text := range []string{split[:15], split[15:], env} {
		event := fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, text)
		bodies["bedrock"] += string(stream.AppendFrame(nil, stream.FrameHead(":event-type", "chunk"), []byte(`{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(event))+`"}`)))
	}
	j, file := journal(t, transport(func(req *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, req.Body)
		r, w := io.Pipe()
		go func() {
			for _, c := range stream.Rechunk([]byte(bodies[req.URL.Path[1:]]), func(int) int { return 7 }) {
				_, _ = w.Write(c)
			}
			w.Close()
		}()
		h := http.Header{"Content-Type": {map[bool]string{true: "application/vnd.amazon.eventstream", false: "text/event-stream"}[req.URL.Path == "/bedrock"]}, "Set-Cookie": {"session=" + header}}
		return &http.Response{Status: "200 OK", StatusCode: 200, Header: h, Body: r, Request: req}, err
	}), secret.Known{Name: "SOME_TOKEN", Value: env})
	for name := range bodies {
		req, err := http.NewRequest(http.MethodPost, "https://api.example.com/"+name+"?key="+query, strings.NewReader(`{"text":"`+env+` and `+header+`"}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+header)
		resp, err := j.RoundTrip(req)
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, bodies[name], string(got), "what is passed on is not changed")
		require.NoError(t, resp.Body.Close())
	}
	require.NoError(t, j.Close(t.Context()))
	text := read(t, file)
	for _, s := range []string{header, query, env, split, split[:15], split[15:]} {
		assert.NotContains(t, text, s)
	}
	assert.NotEmpty(t, j.Blanked())
	for _, i := range loaded(t, file).Interactions {
		for b := []byte(i.Response.Body); strings.Contains(i.Request.URL, "bedrock") && len(b) > 0; {
			_, payload, size, ok := stream.NextFrame(b)
			require.True(t, ok)
			event, err := base64.StdEncoding.DecodeString(gjson.GetBytes(payload, "bytes").Str)
			require.NoError(t, err)
			for _, s := range []string{env, split[:15], split[15:]} {
				assert.NotContains(t, string(event), s)
			}
			b = b[size:]
		}
	}
	assert.Len(t, loaded(t, file).Interactions, len(bodies))
}

// A packed body is passed on as it is, and recorded unpacked, with times.
func TestAJournalUnpacks(t *testing.T) {
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	fmt.Fprintf(z, delta+delta, "one", "two")
	require.NoError(t, z.Close())
	j, file := journal(t, answer(http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"gzip"}}, packed.String()))
	resp := mustAsk(t, j, "{}")
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, packed.String(), string(got))
	assert.Equal(t, "gzip", resp.Header.Get("Content-Encoding"))
	require.NoError(t, j.Close(t.Context()))
	events, err := loaded(t, file).Interactions[0].Events()
	require.NoError(t, err)
	assert.Len(t, events, 2)
}

// What is packed without a word of it is found by its first bytes, with the secrets in it.
func TestAJournalUnpacksWhatDoesNotSaySo(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	j, file := journal(t, answer(http.Header{}, string(z.EncodeAll([]byte("the key is sk-ant-api03-Zk39dLqPw82mXv71RtYb"), nil))))
	_, err = io.ReadAll(mustAsk(t, j, "{}").Body)
	require.NoError(t, err)
	require.NoError(t, j.Close(t.Context()))
	assert.Equal(t, "the key is "+cassette.Redacted, loaded(t, file).Interactions[0].Response.Body)
}

// Without an answer there is no file, and an earlier one stays.
func TestAJournalOfNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(file, []byte("earlier"), 0o600))
	j, err := cassette.NewJournal(file, transport(func(*http.Request) (*http.Response, error) { return nil, io.ErrClosedPipe }), nil)
	require.NoError(t, err)
	_, err = ask(t, j, "{}")
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.ErrorIs(t, j.Close(context.Background()), cassette.ErrNothingRecorded)
	assert.Equal(t, "earlier", read(t, file))
}

// What is on its way, however large, and what cannot be written hold no other request up.
func TestAJournalHoldsNobodyUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.Mkdir(file, 0o700)) // nothing can be written there
	large := strings.Repeat("x", 17<<20)
	j, err := cassette.NewJournal(file, answer(http.Header{"Content-Type": {"text/plain"}}, large), nil)
	require.NoError(t, err)
	asked := func() *http.Response {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com/", nil)
		require.NoError(t, err)
		resp, err := j.RoundTrip(req)
		require.NoError(t, err)
		return resp
	}
	open := asked()
	_, err = io.ReadFull(open.Body, make([]byte, len(large)))
	require.NoError(t, err)
	require.NoError(t, asked().Body.Close())
	require.NoError(t, open.Body.Close())
	require.NoError(t, asked().Body.Close())
	require.Error(t, j.Close(t.Context()))
}

// On the way things go wrong where it is asked for, and the others pass untouched.
func TestDisturbed(t *testing.T) {
	body := fmt.Sprintf(delta+delta+delta, "one", "two", "three")
	for name, c := range map[string]struct {
		fault  cassette.Transit
		status int
		want   string
		err    error
	}{
		"nothing":   {status: 200, want: body},
		"status":    {fault: cassette.Transit{Refused: &cassette.Refused{Status: 529, Header: http.Header{"Content-Type": {"application/json"}}, Body: "{}"}}, status: 529, want: "{}"},
		"cut":       {fault: cassette.Transit{CutAfter: 2}, status: 200, want: fmt.Sprintf(delta+delta, "one", "two"), err: io.ErrUnexpectedEOF},
		"say":       {fault: cassette.Transit{CutAfter: 1, LastWords: "data: sorry\n\n"}, status: 200, want: fmt.Sprintf(delta, "one") + "data: sorry\n\n"},
		"twice":     {fault: cassette.Transit{Twice: 2}, status: 200, want: fmt.Sprintf(delta+delta+delta+delta, "one", "two", "two", "three")},
		"late":      {fault: cassette.Transit{Late: 1, LateFor: 300 * ms}, status: 200, want: fmt.Sprintf(delta+delta+delta, "two", "three", "one")},
		"stall":     {fault: cassette.Transit{StallAfter: 1, Stall: ms}, status: 200, want: body},
		"malformed": {fault: cassette.Transit{Malformed: 3}, status: 200, want: fmt.Sprintf(delta+delta, "one", "two") + "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"d\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := cassette.Disturbed{Next: answer(http.Header{"Content-Type": {"text/event-stream"}}, body), Fault: func(*http.Request) cassette.Transit { return c.fault }}
			resp := mustAsk(t, d, "{}")
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			assert.ErrorIs(t, err, c.err)
			assert.Equal(t, c.status, resp.StatusCode)
			assert.Equal(t, c.want, string(got))
		})
	}
}

// Streams of other APIs go wrong as well: AWS's frames and the values of Gemini's list.
func TestDisturbedInPieces(t *testing.T) {
	frame := func(text string) string {
		return string(stream.AppendFrame(nil, stream.FrameHead(":message-type", "event"), []byte(text)))
	}
	one, two, three := frame(`{"a":"one"}`), frame(`{"a":"two"}`), frame(`{"a":"three"}`)
	for name, c := range map[string]struct {
		kind  string
		fault cassette.Transit
		body  string
		want  string
		err   error
	}{
		"frames cut":                          {"application/vnd.amazon.eventstream", cassette.Transit{CutAfter: 2}, one + two + three, one + two, io.ErrUnexpectedEOF},
		"frames stalled":                      {"application/vnd.amazon.eventstream", cassette.Transit{StallAfter: 1, Stall: ms}, one + two, one + two, nil},
		"a frame twice":                       {"application/vnd.amazon.eventstream", cassette.Transit{Twice: 2}, one + two + three, one + two + two + three, nil},
		"a frame malformed":                   {"application/vnd.amazon.eventstream", cassette.Transit{Malformed: 1}, one + two, one[:len(one)-5] + string([]byte{one[len(one)-5] ^ 0xff}) + one[len(one)-4:] + two, nil},
		"a list cut":                          {"application/json", cassette.Transit{CutAfter: 1}, "[{\"a\":\"}{\\\"\"}\n,\n{\"b\":[{}]}\n]", "[{\"a\":\"}{\\\"\"}", io.ErrUnexpectedEOF},
		"a list stalled":                      {"application/json", cassette.Transit{StallAfter: 1, Stall: ms}, `[{"a":1},{"b":2}]`, `[{"a":1},{"b":2}]`, nil},
		"a value twice":                       {"application/json", cassette.Transit{Twice: 2}, `[{"a":1},{"b":2}]`, `[{"a":1},{"b":2},{"b":2}]`, nil},
		"a value malformed":                   {"application/json", cassette.Transit{Malformed: 2}, `[{"a":1}, {"b":2}]`, `[{"a":1}, {"b]`, nil},
		"a value after much space, malformed": {"application/json", cassette.Transit{Malformed: 2}, `[{},` + strings.Repeat(" ", 60) + `{}]`, `[{},` + strings.Repeat(" ", 60) + `{]`, nil},
		"a line cut":                          {"application/x-ndjson", cassette.Transit{CutAfter: 1}, "{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\n", io.ErrUnexpectedEOF},
		"a line twice":                        {"application/x-ndjson", cassette.Transit{Twice: 2}, "{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":2}\n{\"b\":2}\n", nil},
		"a line malformed":                    {"application/x-ndjson; charset=utf-8", cassette.Transit{Malformed: 1}, "{\"a\":1}\n{\"b\":2}\n", "{\"a\"\n{\"b\":2}\n", nil},
		"a document is whole":                 {"application/json", cassette.Transit{CutAfter: 1}, `{"a":[{"b":1}]}`, `{"a":[{"b":1}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := cassette.Disturbed{Next: answer(http.Header{"Content-Type": {c.kind}}, c.body), Fault: func(*http.Request) cassette.Transit { return c.fault }}
			resp := mustAsk(t, d, "{}")
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			assert.ErrorIs(t, err, c.err)
			assert.Equal(t, c.want, string(got))
		})
	}
}
