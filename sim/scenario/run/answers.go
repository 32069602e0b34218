package run

import (
	"context"

	"toolbench/sim/cassette"
	"toolbench/sim/clock"
	"toolbench/sim/scenario"
	"toolbench/sim/stream"
)

// RecordAnswers makes a scenario's cassette from streams that somebody else recorded,
// and writes it to path: as Record does it from a script, the n-th request has the
// n-th answer. The scenario runs against them first, which shows what the system
// sends; so the cassette holds its own requests and can be matched strictly (O3). It
// gives how many answers were asked for, which may be fewer than there are, and the
// error that ended the conversation, if one did.
func RecordAnswers(ctx context.Context, sc *scenario.Scenario, path string, answers [][]stream.Event) (asked int, ended, err error) {
	model := cassette.Scripted(path, answers...)
	rec, err := guarded(ctx, sc, Options{Seed: 1, answers: model, nested: true})
	if err != nil {
		return 0, nil, err
	}
	asked = len(rec.sent)
	if asked > len(answers) {
		return asked, rec.Err, nil
	}
	var failed error
	err = clock.Bubble(func() error {
		failed = recordRequests(sc, rec.sent, path, model)
		return nil
	})
	if err == nil {
		err = failed
	}
	return asked, rec.Err, err
}

// lenient puts given answers in place of the model, be the requests what they may.
func (r *runner) lenient(faults func(cassette.Attempt) cassette.Fault) error {
	p, err := cassette.NewPlayer(r.o.answers, cassette.Options{Wait: r.gate.Sleep, Now: r.gate.Now, Lenient: true, Fault: faults})
	if err != nil {
		return err
	}
	r.wire = &wire{next: p}
	return nil
}
