package cassette

import (
	"cmp"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"
	"gopkg.in/yaml.v3"

	"toolbench/sim/stream"
)

// Cassette is a recording: requests and their responses, in the order in which
// they were completed (O2). It is read only once a Player uses it.
type Cassette struct {
	Name         string // the file it was read from, for messages
	Version      int    // go-vcr's format: 1 or 2
	Interactions []Interaction
}

// Interaction is one request and its response, as go-vcr's types hold them.
type Interaction struct {
	Number   int // place in the cassette, from 1
	Line     int // where it begins in the file; 0 if it came from no file
	Request  vcr.Request
	Response vcr.Response
}

// IsStream reports whether the response is a stream of server-sent events: by
// its content type, or, where none was recorded, by its first line.
func (i *Interaction) IsStream() bool { return isStream(i.Response.Headers, i.Response.Body) }

// Events decodes a streamed response. Times are those of OffsetsHeader; in a
// recording without it every event has the recorded time of the headers. A
// body that ends inside an event gives the events before it, and a
// *stream.TruncatedError.
func (i *Interaction) Events() ([]stream.Event, error) {
	events, err := stream.Decode([]byte(i.Response.Body))
	return events, cmp.Or(i.stamp(events), err)
}

// stamp gives the events their recorded times.
func (i *Interaction) stamp(events []stream.Event) error {
	first := i.Response.Duration.Truncate(stream.Tick)
	text := i.Response.Headers.Get(OffsetsHeader)
	if text == "" {
		for k := range events {
			events[k].At = first
		}
		return nil
	}
	at, err := parseOffsets(text)
	if err != nil {
		return fmt.Errorf("interaction %d: %w", i.Number, err)
	}
	if len(at) != len(events) {
		return fmt.Errorf("interaction %d: %s has %d times, the body %d events: record it again, or remove the header to play without times",
			i.Number, OffsetsHeader, len(at), len(events))
	}
	for k := range events {
		events[k].At = at[k]
	}
	return nil
}

func isStream(h http.Header, body string) bool {
	if ct := h.Get("Content-Type"); ct != "" {
		kind, _, err := mime.ParseMediaType(ct)
		return err == nil && kind == "text/event-stream"
	}
	body = strings.TrimLeft(strings.TrimPrefix(body, "\ufeff"), "\r\n")
	return strings.HasPrefix(body, "event:") || strings.HasPrefix(body, "data:")
}

// Scripted makes a cassette whose n-th answer is the n-th of the given event streams. It holds no requests, so it is
// played leniently, by order (see Options.Lenient): the way scripted turns stand in for a model.
func Scripted(name string, answers ...[]stream.Event) *Cassette {
	c := &Cassette{Name: name, Version: 1}
	for n, events := range answers {
		c.Interactions = append(c.Interactions, Interaction{
			Number:  n + 1,
			Request: vcr.Request{Method: http.MethodPost, URL: "/v1/messages"},
			Response: vcr.Response{
				Status: "200 OK", Code: http.StatusOK, Body: string(stream.Bytes(events)),
				Headers: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}, OffsetsHeader: {formatOffsets(times(events))}},
			},
		})
	}
	return c
}

// OffsetsHeader is the response header that carries the times of a body's events: microseconds, separated by commas;
// the first counts from the moment the request was sent, each other from the event before it. So "400000,0,12500" are
// events at 400 ms, 400 ms and 412.5 ms. AWS's frames, JSON values on lines, and those of a list have their times as
// events have. A response that is no stream has one number: when its body was complete.
const OffsetsHeader = "X-Toolbench-Event-Offsets"

// Offsets are the times in OffsetsHeader; nil where there are none that can be read.
func Offsets(h http.Header) []time.Duration {
	at, _ := parseOffsets(h.Get(OffsetsHeader))
	return at
}

func times(events []stream.Event) []time.Duration {
	at := make([]time.Duration, len(events))
	for i, e := range events {
		at[i] = e.At
	}
	return at
}

// formatOffsets rounds each time down to a tick, not each difference, so that rounding does not add up.
func formatOffsets(at []time.Duration) string {
	var b []byte
	var last int64
	for i, d := range at {
		if i > 0 {
			b = append(b, ',')
		}
		us := d.Microseconds()
		b = strconv.AppendInt(b, us-last, 10)
		last = us
	}
	return string(b)
}

func parseOffsets(text string) ([]time.Duration, error) {
	parts := strings.Split(text, ",")
	at := make([]time.Duration, len(parts))
	var sum int64
	for i, p := range parts {
		us, err := strconv.ParseInt(strings.TrimSpace(p), 10, 64)
		if err != nil || us < 0 || us > math.MaxInt64/1000-sum {
			return nil, fmt.Errorf("%s: number %d, %q, is no count of microseconds", OffsetsHeader, i+1, p)
		}
		sum += us
		at[i] = time.Duration(sum) * time.Microsecond
	}
	return at, nil
}

// FormatVersion is the version of go-vcr's format that this program writes.
const FormatVersion = 1

// YAML writes the cassette in the form that this program writes: go-vcr's, with a
// duration and event times for every response (see OffsetsHeader), and of a large request
// what is new in it (see SharedHeader). Loaded, it gives the same interactions.
func (c *Cassette) YAML() ([]byte, error) { return c.yaml(&Bodies{}) }

// yaml is YAML with large requests written by the others, or in full without them.
func (c *Cassette) yaml(bodies *Bodies) ([]byte, error) {
	out := struct {
		Version      int                `yaml:"version"`
		Interactions []*vcr.Interaction `yaml:"interactions"`
	}{Version: FormatVersion}
	for k := range c.Interactions {
		i, err := c.Interactions[k].stamped()
		if err != nil {
			return nil, err
		}
		if bodies != nil {
			i.Request.Body = bodies.Shorten(i.Request.Headers, i.Request.Body)
		}
		out.Interactions = append(out.Interactions, i)
	}
	text, err := yaml.Marshal(out)
	return append([]byte("---\n"), text...), err
}

// stamped is the interaction with what the recorder writes and others leave out.
func (i *Interaction) stamped() (*vcr.Interaction, error) {
	out := &vcr.Interaction{Request: i.Request, Response: i.Response}
	if out.Request.Form == nil {
		out.Request.Form = map[string][]string{}
	}
	for _, h := range []*http.Header{&out.Request.Headers, &out.Response.Headers} {
		if *h = h.Clone(); *h == nil {
			*h = http.Header{}
		}
	}
	text, err := i.offsets()
	if err == nil && text != "" {
		out.Response.Headers.Set(OffsetsHeader, text)
	}
	return out, err
}

// offsets are the event times as recorded or, where none were, all that of the headers.
func (i *Interaction) offsets() (string, error) {
	if text := i.Response.Headers.Get(OffsetsHeader); text != "" {
		return text, nil
	}
	if !i.IsStream() {
		return formatOffsets([]time.Duration{i.Response.Duration}), nil
	}
	events, err := i.begun()
	if err != nil {
		return "", fmt.Errorf("interaction %d: %w", i.Number, err)
	}
	return formatOffsets(times(events)), nil
}

// Untimed reports whether the response has no event times although it could.
func (i *Interaction) Untimed() bool {
	text, err := i.offsets()
	return err == nil && text != "" && i.Response.Headers.Get(OffsetsHeader) == ""
}
