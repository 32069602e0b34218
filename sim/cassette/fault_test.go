package cassette_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/sim/cassette"
	"toolbench/sim/stream"
)

// once changes the first try of every answer.
func once(f cassette.Fault) func(cassette.Attempt) cassette.Fault {
	return func(a cassette.Attempt) cassette.Fault {
		if a.Try == 1 {
			return f
		}
		return cassette.Fault{}
	}
}

// faulted plays the standard answer with a fault and returns what arrives, and
// the error that ends it, last.
func faulted(t *testing.T, f cassette.Fault) ([]stream.Event, *cassette.Player, error) {
	p := player(t, recording([]string{hello}, turn("a")), cassette.Options{Fault: once(f)})
	start := time.Now()
	resp := mustAsk(t, p, hello)
	events, err := listen(resp.Body, start)
	return events, p, err
}

func TestACutStreamEndsWhereItIsCutAndCanBeRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, p, err := faulted(t, cassette.Fault{CutAfter: 4})
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, turn("a")[:4], events)
		assert.Len(t, p.Leftover(), 1, "the answer is still there")
		assert.Equal(t, turn("a"), play(t, p, hello))
		assert.Empty(t, p.Leftover())
	})
}

func TestAStallDelaysWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, p, err := faulted(t, cassette.Fault{Stall: &cassette.Stall{After: 4, For: time.Minute}})
		require.NoError(t, err)
		want := turn("a")
		for i := range want[4:] {
			want[4+i].At += time.Minute
		}
		assert.Equal(t, want, events)
		assert.Empty(t, p.Leftover(), "a late answer is an answer")
	})
}

func TestAStallAtTheEndDelaysTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		events, _, err := faulted(t, cassette.Fault{Stall: &cassette.Stall{After: 1000, For: time.Minute}})
		require.NoError(t, err)
		assert.Equal(t, turn("a"), events)
		assert.Equal(t, time.Minute+700*ms, time.Since(start))
	})
}

func TestAnEndlessStallEndsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, recording([]string{hello}, turn("a")), cassette.Options{Fault: once(cassette.Fault{Stall: &cassette.Stall{After: 2}})})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://x/v1/messages", nil)
		require.NoError(t, err)
		req.Method, req.Body = http.MethodPost, io.NopCloser(strings.NewReader(hello))
		start := time.Now()
		resp, err := p.RoundTrip(req)
		require.NoError(t, err)
		events, err := listen(resp.Body, start)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, turn("a")[:2], events)
		assert.Equal(t, time.Hour, time.Since(start))
		assert.Len(t, p.Leftover(), 1)
	})
}

func TestAnErrorEventEndsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		overloaded := &stream.Error{Type: "overloaded_error", Message: "Overloaded", At: 10 * time.Second}
		events, p, err := faulted(t, cassette.Fault{Error: overloaded, ErrorAfter: 3})
		require.NoError(t, err)
		require.Len(t, events, 4)
		assert.Equal(t, "error", events[3].Type)
		assert.Equal(t, 10*time.Second, events[3].At)
		assert.JSONEq(t, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, string(events[3].Data))
		assert.Len(t, p.Leftover(), 1)
	})
}

func TestARefusalHasTheAPIsShape(t *testing.T) {
	for status, kind := range map[int]string{429: "rate_limit_error", 529: "overloaded_error", 500: "api_error"} {
		p := player(t, recording([]string{hello}, turn("a")), cassette.Options{Wait: instantly, Fault: once(cassette.Fault{Status: status})})
		resp := mustAsk(t, p, hello)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, status, resp.StatusCode)
		assert.Contains(t, string(body), kind)
		assert.Len(t, play(t, p, hello), len(turn("a")), "the retry is answered")
	}
}

func TestAPlayedAgainStreamHasAnActorOfItsOwn(t *testing.T) {
	var actors []string
	wait := func(_ context.Context, actor string, _ time.Duration) error {
		actors = append(actors, actor)
		return nil
	}
	p := player(t, recording([]string{hello}, turn("a")), cassette.Options{Wait: wait, Fault: once(cassette.Fault{CutAfter: 1})})
	for range 2 {
		_, _ = io.Copy(io.Discard, mustAsk(t, p, hello).Body)
	}
	assert.Equal(t, []string{"stream/1", "stream/1#2"}, slices.Compact(actors))
}

func TestEventsCanBeRewritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		double := func(events []stream.Event) []stream.Event { return append(events, events[2]) }
		events, _, err := faulted(t, cassette.Fault{Rewrite: double})
		require.NoError(t, err)
		assert.Equal(t, turn("a")[2].Data, events[len(events)-1].Data)
	})
}

func TestChunksChangeNoEvent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 300), 1, 10).Draw(rt, "sizes")
		chunk := func(i int) int { return sizes[i%len(sizes)] }
		synctest.Test(t, func(t *testing.T) {
			events, p, err := faulted(t, cassette.Fault{Chunk: chunk})
			require.NoError(t, err)
			want := turn("a")
			require.Len(t, events, len(want))
			for i := range want {
				assert.Equal(t, string(want[i].Data), string(events[i].Data))
				assert.GreaterOrEqual(t, events[i].At, want[i].At, "no byte comes early")
			}
			assert.Equal(t, 700*ms, events[len(events)-1].At)
			assert.Empty(t, p.Leftover())
		})
	})
}
