package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"toolbench/sim/cassette"
	"toolbench/sim/clock"
	"toolbench/sim/scenario"
	"toolbench/sim/stream"
)

// Record makes a scenario's cassette anew, and writes it to path: from its scripted turns,
// or from answers that somebody else recorded, of which the n-th request has the n-th. It
// is done in two steps, both in virtual time. First the scenario runs against them, which
// shows what the system sends; so the cassette holds its own requests and can be matched
// strictly (O3). Then the same requests go, one after the other, through go-vcr's recorder
// to the same model: the recorder hands a body on only when it is complete, so tools could
// not start in the middle of a stream while it records. The bytes are the same each time.
// It gives how many answers were asked for, which may be fewer than there are, and the
// error that ended the conversation, if one did.
func Record(ctx context.Context, sc *scenario.Scenario, path string, answers ...[]stream.Event) (asked int, ended, err error) {
	o := Options{Seed: 1, Scripted: true, nested: true}
	if len(answers) > 0 {
		o.answers = cassette.Scripted(path, answers...)
	}
	rec, err := guarded(ctx, sc, o)
	if err != nil {
		return 0, nil, err
	}
	pages := unrecorded(sc.World.Web)
	requests := slices.DeleteFunc(rec.sent, func(s sent) bool { _, known := knows(pages, s.method, s.url); return known })
	switch {
	case o.answers == nil:
		requests = once(sc, requests)
	case len(requests) > len(answers):
		return len(requests), rec.Err, nil
	}
	err = clock.Bubble(func() error { return recordRequests(sc, requests, path, o.answers) })
	return len(requests), rec.Err, err
}

// recordRequests sends requests through the recorder to the script, or to answers.
func recordRequests(sc *scenario.Scenario, requests []sent, path string, answers *cassette.Cassette) error {
	gate := clock.Open(1)
	defer gate.Close()
	var model http.RoundTripper
	var err error
	if answers == nil {
		model, err = newScript(sc, playOptions{wait: gate.Sleep, now: gate.Now, seed: 1})
	} else {
		model, err = cassette.NewPlayer(answers, cassette.Options{Wait: gate.Sleep, Now: gate.Now, Lenient: true})
	}
	if err != nil {
		return err
	}
	recorder, err := cassette.Record(path, model)
	if err != nil {
		return err
	}
	for i, s := range requests {
		if err := send(recorder, s); err != nil {
			return fmt.Errorf("record request %d: %w", i+1, err)
		}
	}
	return recorder.Stop()
}

// once drops what was sent to the model again because of a fault in its answer: such a
// request is found in the cassette again when it is retried. One that was given up before
// it reached anybody has no answer either. An answer that is scripted event by event may be
// one that no client takes: it is recorded, and what is sent again after it has the next.
func once(sc *scenario.Scenario, requests []sent) []sent {
	var out []sent
	own := slices.ContainsFunc(sc.Stream.Turns, func(t scenario.Turn) bool { return len(t.Sent) > 0 })
	faults, reached := sc.StreamFaults(), 0
	for i, s := range requests {
		if s.dropped {
			continue
		}
		fault := faults(reached)
		if isModel(s.url) {
			reached++
		}
		again := i > 0 && isModel(s.url) && s.url == requests[i-1].url && bytes.Equal(s.body.Bytes(), requests[i-1].body.Bytes())
		if !again || own && fault.Rewrite == nil && !fault.Breaks(nil) {
			out = append(out, s)
		}
	}
	return out
}

func send(rt http.RoundTripper, s sent) error {
	req, err := http.NewRequest(s.method, s.url, bytes.NewReader(s.body.Bytes()))
	if err != nil {
		return err
	}
	req.Header = s.header
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	return resp.Body.Close()
}
