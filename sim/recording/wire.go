package recording

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// Exchange is one request that asks a model, with its answer: both as they went over the
// wire, and in the words of the Messages API.
type Exchange struct {
	// Number is its place among the exchanges of the file, from 1.
	Number int
	URL    string
	// Sent are the headers of the request. Recorders keep them or not, and blank what is secret.
	Sent http.Header
	// Body is the request as it was sent; Request is what it means.
	Body    []byte
	Request string
	API     dialect.API
	// Status is 0 where the recorder did not keep it.
	Status int
	// Wire is the answer as it came, an event each; what was no stream is one event.
	Wire []stream.Event
	// Events is what the answer means; none where no model answered.
	Events   []stream.Event
	Streamed bool
	// Trouble is why the answer is not whole; "" where it is.
	Trouble string
}

// Answered reads what an API answered to a request, in the way recordings are read; URL,
// Sent and Body of the exchange are the request's.
func (e Exchange) Answered(status int, header http.Header, body []byte, limits Limits) Exchange {
	x := &exchange{number: e.Number, url: e.URL, asked: e.Sent, status: status, header: header, request: e.Body, response: body}
	req, ok := parseRequest(e.URL, e.Body)
	if !ok {
		req = &request{ids: &dialect.IDs{}}
	}
	x.ids, x.model = req.ids, req.model
	r, err := x.read(limits.complete().Part)
	return x.whole(e.Body, req, r, err)
}

// whole is the exchange for others, after its answer was read.
func (x *exchange) whole(body []byte, req *request, r reply, failed error) Exchange {
	e := Exchange{
		Number: x.number, URL: x.url, Sent: x.asked, Body: bytes.Clone(body), Request: strings.Clone(req.raw), API: req.api,
		Status: x.status, Wire: r.wire, Events: r.events, Streamed: r.streamed, Trouble: cmp.Or(r.cut, r.malformed),
	}
	if n := len(r.events); n > 0 && e.Trouble == "" {
		switch r.events[n-1].Type {
		case "message_stop":
		case errorEvent:
			e.Trouble = "it ends with an error"
		default:
			e.Trouble = "it ends before message_stop"
		}
	}
	if failed != nil {
		e.Events, e.Trouble = nil, failed.Error()
	}
	return e
}
