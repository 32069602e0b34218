package shards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolbench/sim/clock"
)

// Play plays the cases of a part and gives the result. It must not depend on anything but the
// part and the spec of the queue.
type Play func(ctx context.Context, r Range) ([]byte, error)

// ErrAway means that the server was away for longer than a worker may be silent, twice.
var ErrAway = errors.New("the NATS server is away")

// Work takes parts and plays them until the context ends, or the queue is closed. An error of a
// part does not end Work: the queue gives the part out again, to any worker.
func (q *Queue) Work(ctx context.Context, play Play) error {
	var away time.Duration
	for ctx.Err() == nil {
		msg, err := q.next(ctx)
		switch {
		case err == nil:
			away = 0
			q.part(ctx, msg, play)
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, jetstream.ErrNoMessages), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			if q.js.Conn().IsConnected() {
				away = 0
			} else {
				away += nextWait
			}
		case errors.Is(err, jetstream.ErrConsumerDeleted), errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
			return nil
		default: // a cluster that elects a leader, or a server that is gone
			if q.closed(ctx) {
				return nil // between two parts
			}
			away += awayWait
			_ = clock.Pause(ctx, awayWait)
		}
		if closed := q.js.Conn().IsClosed(); closed || away > 2*q.o.Silence {
			return ErrAway
		}
	}
	return nil
}

// next waits for a part, for as long as the context lets it.
func (q *Queue) next(ctx context.Context) (jetstream.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, nextWait)
	defer cancel()
	return q.work.Next(jetstream.FetchContext(ctx))
}

// nextWait is how long a worker waits for a part, awayWait for a server.
const (
	nextWait = time.Second
	awayWait = 200 * time.Millisecond
)

// part plays one part, stores its result, and only then takes it off the queue.
func (q *Queue) part(ctx context.Context, msg jetstream.Msg, play Play) {
	var r Range
	meta, err := msg.Metadata()
	if err != nil || json.Unmarshal(msg.Data(), &r) != nil || r.From >= r.To {
		_ = msg.Term() // nobody can play it
		return
	}
	done := q.alive(ctx, msg)
	defer done()
	tries := int(min(meta.NumDelivered, 1<<20))
	if tries > q.o.Tries { // each time before, its worker was gone
		q.giveUp(ctx, msg, r, fmt.Sprintf("%d workers ended while they played it", tries-1))
		return
	}
	data, err := play(ctx, r)
	if err == nil {
		err = q.finish(ctx, msg, r, data)
	}
	switch {
	case err == nil, errors.Is(err, errClosed):
	case ctx.Err() != nil:
		_ = msg.Nak() // another goes on at once
	case tries == q.o.Tries:
		q.giveUp(ctx, msg, r, err.Error())
	default:
		_ = msg.NakWithDelay(time.Duration(tries) * 100 * time.Millisecond)
	}
}

// alive tells the server that the part is being worked on, until done is called.
func (q *Queue) alive(ctx context.Context, msg jetstream.Msg) (done func()) {
	ctx, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for clock.Pause(ctx, q.o.Silence/3) == nil {
			_ = msg.InProgress() // where that is lost, another plays the part as well
		}
	}()
	return func() { stop(); <-over }
}

func (q *Queue) finish(ctx context.Context, msg jetstream.Msg, r Range, data []byte) error {
	packed, err := pack(data)
	if err != nil {
		return err
	}
	if len(packed) > q.largest {
		return fmt.Errorf("its result has %d bytes, and a message of this server may have %d", len(packed), q.largest)
	}
	if err := q.put(ctx, doneKey+r.key(), packed); err != nil {
		return err
	}
	_ = msg.DoubleAck(ctx) // a part that stays in the queue is played again
	return nil
}

// giveUp halves a part that nobody could play, so that all others of its cases are played, and
// sets a single case aside.
func (q *Queue) giveUp(ctx context.Context, msg jetstream.Msg, r Range, why string) {
	var err error
	if r.Len() > 1 {
		two := halves(r)
		err = q.publish(ctx, two[:]...)
	} else {
		err = q.put(ctx, asideKey+r.key(), []byte(why))
	}
	if err != nil {
		_ = msg.Nak()
		return
	}
	_ = msg.Term()
}
