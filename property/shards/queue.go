package shards

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolbench/sim/clock"
)

// Options are how a queue treats its parts.
type Options struct {
	// Replicas is on how many servers of a cluster everything is stored; 0: one.
	Replicas int
	// Silence is how long a worker that took a part may be silent before the part is given
	// to another; 0: DefaultSilence.
	Silence time.Duration
	// Tries is how often a part is given out before it is halved, and a single case set
	// aside; 0: DefaultTries.
	Tries int
}

// Defaults of Options.
const (
	DefaultSilence = 30 * time.Second
	DefaultTries   = 3
)

// maxResult bounds what a part's result unpacks to.
const maxResult = 256 << 20

// Queue are the parts of one run of many machines, and what came of them.
type Queue struct {
	js      jetstream.JetStream
	name    string
	largest int
	o       Options
	work    jetstream.Consumer
	store   jetstream.KeyValue
	// Spec is what is to be played, in its owner's form.
	Spec []byte
	// Refused is called where a server that is there does not store a value, as on a disk that is full; it is tried
	// again until it is stored. It may be nil.
	Refused func(error)
}

// ErrOther means that the name is taken by a run of something else.
var ErrOther = errors.New("another run has this name")

// stored is what a queue's store holds of the queue itself.
type stored struct {
	Spec    json.RawMessage `json:"spec"`
	Silence time.Duration   `json:"silence"`
	Tries   int             `json:"tries"`
}

const (
	specKey  = "spec"
	doneKey  = "done."  // and the part: its result
	asideKey = "aside." // and the part: why nobody could play it
)

// Open makes a queue, or finds the one of that name, whose spec must be the same: what was done
// of it stays done. The spec is a JSON value.
func Open(ctx context.Context, nc *nats.Conn, name string, spec []byte, o Options) (*Queue, error) {
	o.Replicas = max(1, o.Replicas)
	o.Silence = cmp.Or(o.Silence, DefaultSilence)
	o.Tries = cmp.Or(o.Tries, DefaultTries)
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	if _, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: streamName(name), Subjects: []string{subject(name)}, Retention: jetstream.WorkQueuePolicy,
		Storage: jetstream.FileStorage, Replicas: o.Replicas,
	}); err != nil {
		return nil, fmt.Errorf("the queue: %w", err)
	}
	if _, err := js.CreateOrUpdateConsumer(ctx, streamName(name), jetstream.ConsumerConfig{
		Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: o.Silence, MaxAckPending: -1,
	}); err != nil {
		return nil, fmt.Errorf("the queue: %w", err)
	}
	store, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: streamName(name), Storage: jetstream.FileStorage, Replicas: o.Replicas})
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	head, err := json.Marshal(stored{Spec: spec, Silence: o.Silence, Tries: o.Tries})
	if err != nil {
		return nil, err
	}
	if _, err := store.Create(ctx, specKey, head); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, fmt.Errorf("the store: %w", err)
	}
	q, err := Join(ctx, nc, name)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, spec); err != nil {
		return nil, err
	}
	if !bytes.Equal(q.Spec, compact.Bytes()) {
		return nil, ErrOther
	}
	q.o.Replicas = o.Replicas
	return q, nil
}

// Join finds a queue that was opened before.
func Join(ctx context.Context, nc *nats.Conn, name string) (*Queue, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	q := &Queue{js: js, name: name, largest: int(nc.MaxPayload()) - 4<<10} // less its headers
	if q.store, err = js.KeyValue(ctx, streamName(name)); err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	entry, err := q.store.Get(ctx, specKey)
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	var head stored
	if err := json.Unmarshal(entry.Value(), &head); err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	q.Spec, q.o = head.Spec, Options{Silence: head.Silence, Tries: head.Tries}
	if q.work, err = js.Consumer(ctx, streamName(name), "workers"); err != nil {
		return nil, fmt.Errorf("the queue: %w", err)
	}
	return q, nil
}

func streamName(name string) string { return "toolbench-" + name }

func subject(name string) string { return "toolbench." + name + ".parts" }

// publish puts parts into the queue. A part may stand there twice, or be done already: it is
// played once more then, which changes nothing.
func (q *Queue) publish(ctx context.Context, parts ...Range) error {
	for _, r := range parts {
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := q.js.Publish(ctx, subject(q.name), data, jetstream.WithRetryAttempts(20), jetstream.WithRetryWait(250*time.Millisecond)); err != nil {
			return fmt.Errorf("the queue: %w", err)
		}
	}
	return nil
}

// errClosed means that the queue was closed while a part was played: all is in the store, and
// gathered.
var errClosed = errors.New("the queue is closed")

// put stores a value, for as long as the store may have a server again. A worker that was thought
// dead, whose part another has played, may come when all is over.
func (q *Queue) put(ctx context.Context, key string, value []byte) error {
	for away := time.Duration(0); ; away += awayWait {
		_, err := q.store.Put(ctx, key, value)
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrConnectionClosed):
			return err
		case q.closed(ctx):
			return errClosed
		case q.js.Conn().IsConnected(): // to a cluster that elects a leader, or to a disk that is full
			if away == 0 && q.Refused != nil {
				q.Refused(err)
			}
			away = 0
		case away > 2*q.o.Silence:
			return ErrAway
		}
		if err := clock.Pause(ctx, awayWait); err != nil {
			return err
		}
	}
}

// closed reports whether a server knows that the queue is no more.
func (q *Queue) closed(ctx context.Context) bool {
	_, err := q.js.Stream(ctx, streamName(q.name))
	return errors.Is(err, jetstream.ErrStreamNotFound)
}

// state is what the store has.
type state struct{ done, aside []Range }

func (q *Queue) state(ctx context.Context) (s state, err error) {
	keys, err := q.store.Keys(ctx)
	if err != nil {
		return s, fmt.Errorf("the store: %w", err)
	}
	for _, key := range keys {
		prefix, rest, _ := strings.Cut(key, ".")
		switch r, ok := rangeOf(rest); {
		case ok && prefix+"." == doneKey:
			s.done = append(s.done, r)
		case ok && prefix+"." == asideKey:
			s.aside = append(s.aside, r)
		}
	}
	return s, nil
}

// idle reports whether no part waits and none is with a worker.
func (q *Queue) idle(ctx context.Context) (bool, error) {
	info, err := q.work.Info(ctx)
	if err != nil {
		return false, fmt.Errorf("the queue: %w", err)
	}
	return info.NumPending == 0 && info.NumAckPending == 0, nil
}

// result gives what a part came to.
func (q *Queue) result(ctx context.Context, r Range) ([]byte, error) {
	entry, err := q.store.Get(ctx, doneKey+r.key())
	if err != nil {
		return nil, fmt.Errorf("the store: %s: %w", r, err)
	}
	data, err := unpack(entry.Value())
	if err != nil {
		return nil, fmt.Errorf("the store: %s: %w", r, err)
	}
	return data, nil
}

// Close removes the queue with all that is stored of it.
func (q *Queue) Close(ctx context.Context) error {
	err := q.js.DeleteObjectStore(ctx, streamName(q.name))
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = nil // nothing was sent
	}
	return errors.Join(err, q.js.DeleteStream(ctx, streamName(q.name)), q.js.DeleteKeyValue(ctx, streamName(q.name)))
}

// errDamaged means that a result was stored which cannot be read: to wait changes nothing.
var errDamaged = errors.New("what is stored cannot be read")

func pack(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	err = errors.Join(err, w.Close()) // which writes the rest
	return out.Bytes(), err
}

func unpack(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxResult+1))
	if err == nil && len(out) > maxResult {
		err = fmt.Errorf("it has more than %d bytes", maxResult)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return out, nil
}

// SkippedCase is a case that nobody could play.
type SkippedCase struct {
	Case uint64 `json:"case"`
	Why  string `json:"why"`
}

// Progress is how far a run is.
type Progress struct {
	// Done and Aside count cases, Parts how many results these stand in.
	Done, Aside, Of uint64
	Parts           int
}

// Gathered is what came of a range: a result for each of the parts, which are in order and do
// not overlap, and the cases that were set aside.
type Gathered struct {
	Parts   []Range
	Results [][]byte
	Aside   []SkippedCase
}

// Gather puts into the queue what is not done of a range, in parts of a size, and waits until
// each case is done or set aside. What got lost on the way is put there again.
func (q *Queue) Gather(ctx context.Context, all Range, size uint64, show func(Progress)) (*Gathered, error) {
	for {
		idle, err := q.idle(ctx)
		if err != nil && !q.passing(ctx, err) {
			return nil, err
		}
		s, err2 := q.state(ctx) // after the queue was looked at: what left it is here
		if err2 != nil && !q.passing(ctx, err2) {
			return nil, err2
		}
		if err == nil && err2 == nil {
			chosen, missing := cover(all, slices.Concat(s.done, s.aside))
			if len(missing) == 0 {
				g, err := q.collect(ctx, chosen, s)
				if err == nil || errors.Is(err, errDamaged) || !q.passing(ctx, err) {
					return g, err
				}
			}
			show(progress(all, chosen, s))
			if idle {
				for _, r := range missing {
					if err := q.publish(ctx, split(r, size)...); err != nil && !q.passing(ctx, err) {
						return nil, err
					}
				}
			}
		}
		if err := clock.Pause(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// passing reports whether an error may be over soon: a server that is away, or a cluster that
// elects another.
func (q *Queue) passing(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.Is(err, nats.ErrConnectionClosed)
}

func progress(all Range, chosen []Range, s state) Progress {
	p := Progress{Of: all.Len()}
	for _, r := range chosen {
		if slices.Contains(s.aside, r) {
			p.Aside += r.Len()
		} else {
			p.Done += r.Len()
			p.Parts++
		}
	}
	return p
}

// collect reads the results.
func (q *Queue) collect(ctx context.Context, chosen []Range, s state) (*Gathered, error) {
	g := &Gathered{}
	for _, r := range chosen {
		if slices.Contains(s.done, r) {
			data, err := q.result(ctx, r)
			if err != nil {
				return nil, err
			}
			g.Parts, g.Results = append(g.Parts, r), append(g.Results, data)
			continue
		}
		entry, err := q.store.Get(ctx, asideKey+r.key())
		if err != nil {
			return nil, fmt.Errorf("the store: %s: %w", r, err)
		}
		g.Aside = append(g.Aside, SkippedCase{Case: r.From, Why: string(entry.Value())})
	}
	return g, nil
}
