package cassette

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"

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
func (i *Interaction) IsStream() bool {
	return isStream(i.Response.Headers, i.Response.Body)
}

// Events decodes a streamed response. Times are those of OffsetsHeader; in a
// recording without it every event has the recorded time of the headers. A
// body that ends inside an event gives the events before it, and a
// *stream.TruncatedError.
func (i *Interaction) Events() ([]stream.Event, error) {
	events, err := stream.Decode([]byte(i.Response.Body))
	if timeErr := i.stamp(events); timeErr != nil {
		return events, timeErr
	}
	return events, err
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

// Scripted makes a cassette whose n-th answer is the n-th of the given event
// streams. It holds no requests, so it is played leniently, by order (see
// Options.Lenient): the way scripted turns stand in for a model.
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
