package loop_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolbench/toolsys/api"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

// many is a turn of n calls, 10 of them safe neighbours at a time.
func many(n int) turn {
	specs := make([]string, n)
	for i := range specs {
		specs[i] = "Look a"
	}
	return calls(specs...)
}

func look() *tool.Tool { return named("Look", nil) }

// silence: nobody listens.
func silence(c *loop.Config) { c.Handlers = pipeline.Handlers{Clock: clock()} }

// BenchmarkConversation is driver, pipeline and loop without the SDK: a message of
// 100 calls, answered, and a closing one.
func BenchmarkConversation(b *testing.B) {
	for _, policy := range []schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming} {
		for name, change := range map[string]func(*loop.Config){"": silence, "/traced": func(*loop.Config) {}} {
			b.Run(policy.String()+name, func(b *testing.B) {
				first, last, tl := many(100), says("done"), look()
				b.ReportAllocs()
				for b.Loop() {
					s := &script{turns: []turn{first, last}}
					r := open(b, s, func(c *loop.Config) { change(c); c.Policy = policy }, tl)
					if out := r.send(b); out.Calls != 100 {
						b.Fatal(out)
					}
				}
				b.ReportMetric(float64(b.N)*100/b.Elapsed().Seconds(), "calls/s")
			})
		}
	}
}

// BenchmarkTurns is a conversation by its number of turns, each of a call and its result:
// what a turn takes is to be the same however many came before it.
func BenchmarkTurns(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			turns, tl := make([]turn, n, n+1), look()
			for i := range turns {
				turns[i] = renamed(calls("Look a"), i)
			}
			turns = append(turns, says("done"))
			b.ReportAllocs()
			for b.Loop() {
				s := &script{turns: turns}
				r := open(b, s, func(c *loop.Config) { silence(c); c.MaxTurns = len(turns) }, tl)
				if out := r.send(b); out.Calls != n {
					b.Fatal(out)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/turn")
		})
	}
}

// BenchmarkCalls is a conversation of one message by its number of calls: what a call takes is
// to be the same however many stand beside it.
func BenchmarkCalls(b *testing.B) {
	for _, policy := range []schedule.Policy{schedule.Streaming, schedule.Effects} {
		for _, n := range []int{100, 1_000, 10_000} {
			b.Run(policy.String()+"/"+strconv.Itoa(n), func(b *testing.B) {
				first, last, tl := many(n), says("done"), look()
				b.ReportAllocs()
				for b.Loop() {
					s := &script{turns: []turn{first, last}}
					r := open(b, s, func(c *loop.Config) { silence(c); c.Policy = policy }, tl)
					if out := r.send(b); out.Calls != n {
						b.Fatal(out)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/call")
			})
		}
	}
}

// renamed gives the calls of a turn ids of their own.
func renamed(t turn, n int) turn {
	out := slices.Clone(t)
	for i, e := range out {
		out[i] = strings.ReplaceAll(e, `"id":"c`, fmt.Sprintf(`"id":"t%dc`, n))
	}
	return out
}

// canned answers requests in turn with streams.
type canned struct {
	bodies []string
	next   int
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	body := c.bodies[c.next%len(c.bodies)]
	c.next++
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func sse(t turn) string {
	var b strings.Builder
	for _, e := range t {
		fmt.Fprintf(&b, "event: e\ndata: %s\n\n", e)
	}
	return b.String()
}

// BenchmarkThroughTheSDK is the full path over an in-process transport: five calls
// a message, as long conversations have them, and one request for each message.
func BenchmarkThroughTheSDK(b *testing.B) {
	tr := &canned{bodies: []string{sse(many(5)), sse(says("done"))}}
	model, tl := api.New(api.Config{Transport: tr}), look()
	b.ReportAllocs()
	for b.Loop() {
		r := open(b, &script{}, func(c *loop.Config) { silence(c); c.Model = model }, tl)
		if out, err := r.Send(context.Background(), message.UserText("go")); err != nil || out.Calls != 5 {
			b.Fatal(out, err)
		}
	}
	b.ReportMetric(float64(b.N)*5/b.Elapsed().Seconds(), "calls/s")
}
