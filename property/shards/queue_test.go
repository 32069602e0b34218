package shards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/clock"
)

var whole = Range{0, 200}

// served gives a queue on a server of its own, with short times.
func served(t *testing.T) (url string, q *Queue) {
	s, err := Serve("127.0.0.1", -1, t.TempDir(), "secret")
	require.NoError(t, err)
	t.Cleanup(s.Close)
	q, err = Open(t.Context(), connected(t, s.URL()), "run", []byte(`{"seed": 7}`), Options{Silence: time.Second})
	require.NoError(t, err)
	return s.URL(), q
}

func connected(t *testing.T, url string) *nats.Conn {
	nc, err := Connect(url, "secret")
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// sum is what a part comes to: a pure function of its cases.
func sum(_ context.Context, r Range) ([]byte, error) {
	var total uint64
	for n := r.From; n < r.To; n++ {
		total += n * n
	}
	return json.Marshal(total)
}

// totals adds up what was gathered, and how many cases it holds.
func totals(t *testing.T, g *Gathered) (total, cases uint64) {
	at := g.Parts[0].From
	for i, data := range g.Results {
		var n uint64
		require.NoError(t, json.Unmarshal(data, &n))
		total += n
		cases += g.Parts[i].Len()
		assert.GreaterOrEqual(t, g.Parts[i].From, at)
		at = g.Parts[i].To
	}
	return total, cases
}

func alone(t *testing.T) uint64 {
	data, err := sum(t.Context(), whole)
	require.NoError(t, err)
	var n uint64
	require.NoError(t, json.Unmarshal(data, &n))
	return n
}

// works has a worker with a connection of its own, which dies with the context that is given.
func works(die context.Context, t *testing.T, all *sync.WaitGroup, url string, play Play) {
	all.Go(func() {
		nc, err := Connect(url, "secret")
		if !assert.NoError(t, err) {
			return
		}
		defer nc.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		context.AfterFunc(die, func() { nc.Close(); cancel() }) // without a word, as a process that is killed
		q, err := Join(ctx, nc, "run")
		if err != nil {
			return // it died before
		}
		_ = q.Work(ctx, play)
	})
}

func nothing(Progress) {}

func TestPartsOfManyWorkersComeToTheSame(t *testing.T) {
	url, q := served(t)
	var all sync.WaitGroup
	for range 4 {
		works(t.Context(), t, &all, url, sum)
	}
	var last Progress
	g, err := q.Gather(t.Context(), whole, 7, func(p Progress) { last = p })
	require.NoError(t, err)
	total, cases := totals(t, g)
	assert.Equal(t, alone(t), total)
	assert.Equal(t, whole.Len(), cases)
	assert.Len(t, g.Parts, 29)
	assert.Equal(t, whole.Len(), last.Of)
	require.NoError(t, q.Close(t.Context()))
	all.Wait() // the workers see that the queue is closed
}

// away is a store that is away for the first reads of results.
type away struct {
	jetstream.KeyValue
	reads atomic.Int32
}

func (a *away) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if a.reads.Add(1) <= 2 {
		return nil, nats.ErrNoResponders
	}
	return a.KeyValue.Get(ctx, key)
}

// A store that is away when all is done and only the results have to be read is waited for, as at
// any other time; a result that cannot be read ends the run.
func TestResultsAreReadAgainAfterAMoment(t *testing.T) {
	url, q := served(t)
	var all sync.WaitGroup
	works(t.Context(), t, &all, url, sum)
	q.store = &away{KeyValue: q.store}
	g, err := q.Gather(t.Context(), whole, 50, nothing)
	require.NoError(t, err)
	total, cases := totals(t, g)
	assert.Equal(t, alone(t), total)
	assert.Equal(t, whole.Len(), cases)

	_, err = q.store.Put(t.Context(), doneKey+Range{0, 50}.key(), []byte("no gzip"))
	require.NoError(t, err)
	_, err = q.Gather(t.Context(), whole, 50, nothing)
	require.ErrorIs(t, err, errDamaged)
	require.NoError(t, q.Close(t.Context()))
	all.Wait()
}

// A worker that was thought dead, and has played its part when the queue is closed, ends.
// full is a store whose disk has no space for a while.
type full struct {
	jetstream.KeyValue
	tries int
}

func (f *full) Put(ctx context.Context, key string, value []byte) (uint64, error) {
	if f.tries--; f.tries >= 0 {
		return 0, errors.New("no space")
	}
	return f.KeyValue.Put(ctx, key, value)
}

func TestAResultThatIsNotStoredIsNamedOnceAndTriedAgain(t *testing.T) {
	_, q := served(t)
	q.store = &full{q.store, 3}
	var named []string
	q.Refused = func(err error) { named = append(named, err.Error()) }
	require.NoError(t, q.put(t.Context(), doneKey+Range{0, 1}.key(), []byte("x")))
	assert.Equal(t, []string{"no space"}, named)
}

func TestAWorkerThatComesTooLateEnds(t *testing.T) {
	url, q := served(t)
	require.NoError(t, q.publish(t.Context(), Range{0, 10}))
	late, err := Join(t.Context(), connected(t, url), "run")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, late.Work(ctx, func(ctx context.Context, r Range) ([]byte, error) {
		assert.NoError(t, q.Close(ctx))
		return sum(ctx, r)
	}))
	assert.NoError(t, ctx.Err(), "it went on trying to store what nobody wants any more")
}

// Workers that die in the middle of a part, again and again, lose nothing.
func TestWhatADeadWorkerHeldIsPlayedByAnother(t *testing.T) {
	url, q := served(t)
	var all sync.WaitGroup
	var deaths atomic.Int32
	for range 3 {
		all.Go(func() {
			for deaths.Load() < 6 && t.Context().Err() == nil {
				die, kill := context.WithCancel(t.Context())
				var once sync.WaitGroup
				works(die, t, &once, url, func(ctx context.Context, r Range) ([]byte, error) {
					if deaths.Add(1) <= 6 {
						kill()
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return sum(ctx, r)
				})
				once.Wait()
				kill()
			}
		})
	}
	go func() {
		for deaths.Load() < 6 {
			_ = clock.Pause(t.Context(), 50*time.Millisecond)
		}
		works(t.Context(), t, &all, url, sum)
	}()
	g, err := q.Gather(t.Context(), whole, 20, nothing)
	require.NoError(t, err)
	total, cases := totals(t, g)
	assert.Equal(t, alone(t), total)
	assert.Equal(t, whole.Len(), cases)
	assert.GreaterOrEqual(t, deaths.Load(), int32(6))
	require.NoError(t, q.Close(t.Context()))
	all.Wait()
}

// A part that takes long stays with its worker for as long as that is there.
func TestALongPartStaysWithItsWorker(t *testing.T) {
	url, q := served(t)
	var all sync.WaitGroup
	var played atomic.Int32
	for range 2 {
		works(t.Context(), t, &all, url, func(ctx context.Context, r Range) ([]byte, error) {
			played.Add(1)
			_ = clock.Pause(ctx, 2500*time.Millisecond)
			return sum(ctx, r)
		})
	}
	_, err := q.Gather(t.Context(), whole, whole.Len(), nothing)
	require.NoError(t, err)
	assert.EqualValues(t, 1, played.Load())
	require.NoError(t, q.Close(t.Context()))
	all.Wait()
}

// A case that no worker gets through is found by halving, set aside after its tries, and
// reported; each other is played.
func TestACaseThatNobodyGetsThroughIsSetAside(t *testing.T) {
	const poisoned = 77
	url, q := served(t)
	var all sync.WaitGroup
	var tries sync.Map
	for range 2 {
		works(t.Context(), t, &all, url, func(ctx context.Context, r Range) ([]byte, error) {
			if r.From <= poisoned && poisoned < r.To {
				n, _ := tries.LoadOrStore(r, new(atomic.Int32))
				n.(*atomic.Int32).Add(1)
				return nil, errors.New("out of memory")
			}
			return sum(ctx, r)
		})
	}
	g, err := q.Gather(t.Context(), whole, 50, nothing)
	require.NoError(t, err)
	assert.Equal(t, []SkippedCase{{Case: poisoned, Why: "out of memory"}}, g.Aside)
	total, cases := totals(t, g)
	assert.Equal(t, alone(t)-poisoned*poisoned, total)
	assert.Equal(t, whole.Len()-1, cases)
	n, _ := tries.Load(Range{poisoned, poisoned + 1})
	assert.EqualValues(t, DefaultTries, n.(*atomic.Int32).Load())
	require.NoError(t, q.Close(t.Context()))
	all.Wait()
}

// What is not in the store was not done, whatever was acknowledged; what is there is not
// played again, by whoever opens the queue anew.
func TestOnlyWhatIsStoredCountsAsDone(t *testing.T) {
	url, q := served(t)
	require.NoError(t, q.publish(t.Context(), Range{0, 50}))
	msg, err := q.work.Next()
	require.NoError(t, err)
	require.NoError(t, msg.DoubleAck(t.Context()), "and no result was stored")
	packed, err := pack([]byte("1"))
	require.NoError(t, err)
	require.NoError(t, q.put(t.Context(), doneKey+Range{50, 100}.key(), packed))

	again, err := Open(t.Context(), connected(t, url), "run", []byte(`{"seed":7}`), Options{})
	require.NoError(t, err)
	var all sync.WaitGroup
	var played sync.Map
	works(t.Context(), t, &all, url, func(ctx context.Context, r Range) ([]byte, error) {
		played.Store(r, true)
		return sum(ctx, r)
	})
	g, err := again.Gather(t.Context(), whole, 50, nothing)
	require.NoError(t, err)
	assert.Equal(t, []Range{{0, 50}, {50, 100}, {100, 150}, {150, 200}}, g.Parts)
	assert.Equal(t, "1", string(g.Results[1]))
	_, lost := played.Load(Range{0, 50})
	assert.True(t, lost)
	_, stored := played.Load(Range{50, 100})
	assert.False(t, stored)

	_, err = Open(t.Context(), connected(t, url), "run", []byte(`{"seed":8}`), Options{})
	require.ErrorIs(t, err, ErrOther)
	require.NoError(t, again.Close(t.Context()))
	all.Wait()
}

// cluster starts three servers that know each other.
func cluster(t *testing.T) (servers []*Server, urls string) {
	var routes []*url.URL
	var held []net.Listener
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		held = append(held, l)
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
	}
	for i, l := range held {
		require.NoError(t, l.Close())
		o := &server.Options{ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), Authorization: "secret", Routes: routes}
		o.Cluster = server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port}
		s, err := start(o)
		require.NoError(t, err)
		t.Cleanup(s.Close)
		servers = append(servers, s)
	}
	var all []string
	for _, s := range servers {
		require.NoError(t, s.ready())
		all = append(all, s.URL())
	}
	return servers, strings.Join(all, ",")
}

// A cluster of three goes on when it loses one of its servers.
func TestAClusterMayLoseAServer(t *testing.T) {
	servers, urls := cluster(t)
	nc := connected(t, urls)
	var q *Queue
	require.Eventually(t, func() bool { // until they have a leader
		var err error
		q, err = Open(t.Context(), nc, "run", []byte(`{}`), Options{Replicas: 3, Silence: 2 * time.Second})
		return err == nil
	}, time.Minute, 200*time.Millisecond)
	var all sync.WaitGroup
	var played atomic.Int32
	for range 3 {
		works(t.Context(), t, &all, urls, func(ctx context.Context, r Range) ([]byte, error) {
			if played.Add(1) == 10 {
				servers[0].Close()
			}
			return sum(ctx, r)
		})
	}
	g, err := q.Gather(t.Context(), whole, 5, nothing)
	require.NoError(t, err)
	total, cases := totals(t, g)
	assert.Equal(t, alone(t), total)
	assert.Equal(t, whole.Len(), cases)
	assert.GreaterOrEqual(t, played.Load(), int32(40))
	require.Eventually(t, func() bool { return q.Close(t.Context()) == nil }, time.Minute, 200*time.Millisecond)
	all.Wait()
}

func TestAnAddressThatIsTakenIsRefused(t *testing.T) {
	s, err := Serve("127.0.0.1", -1, t.TempDir(), "")
	require.NoError(t, err)
	defer s.Close()
	u, err := url.Parse(s.URL())
	require.NoError(t, err)
	var port int
	_, err = fmt.Sscan(u.Port(), &port)
	require.NoError(t, err)
	_, err = Serve("127.0.0.1", port, t.TempDir(), "")
	require.ErrorIs(t, err, ErrServer)
}

// A worker that sees nothing of a queue's end goes when it asks for the next part.
func TestAWorkerOfAClosedQueueGoes(t *testing.T) {
	url, q := served(t)
	late, err := Join(t.Context(), connected(t, url), "run")
	require.NoError(t, err)
	require.NoError(t, q.Close(t.Context()))
	require.NoError(t, late.Work(t.Context(), sum))
}
