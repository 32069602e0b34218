package mcptool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/world"
	"toolbench/toolsys"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/tool"
)

// wire takes down everything that clients send.
type wire struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// lists counts the lists that were asked for.
func (w *wire) lists() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.text.String(), `"method":"tools/list"`)
}

// reports keeps what a fleet reports.
type reports struct {
	mu    sync.Mutex
	lines []string
}

func (h *reports) report(r mcptool.Report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, r.String())
}

func (h *reports) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "\n")
}

const twoServers = `{"server":"a","name":"one"}
{"server":"a","name":"two"}
{"server":"b","name":"one"}`

// hosted is a host of servers and a fleet over it, in virtual time.
type hosted struct {
	host    *world.Host
	fleet   *mcptool.Fleet
	wire    *wire
	reports *reports
}

func connected(t *testing.T, cfg mcptool.FleetConfig, o world.HostOptions) *hosted {
	t.Helper()
	c, err := world.ParseCatalogue("c.jsonl", []byte(twoServers))
	require.NoError(t, err)
	clock := toolsys.RealClock()
	w := &hosted{wire: &wire{}, reports: &reports{}}
	w.host, err = world.NewHost(c, o, world.HostClock{Now: clock.Now, Sleep: clock.Sleep})
	require.NoError(t, err)
	cfg.Clock, cfg.Report = clock, w.reports.report
	w.fleet, err = mcptool.Connect(cfg, w.endpoint("b"), w.endpoint("a"))
	require.NoError(t, err)
	w.fleet.Ready(time.Second)
	t.Cleanup(func() {
		w.fleet.Close()
		w.host.Close()
	})
	return w
}

func (w *hosted) endpoint(name string) mcptool.Endpoint {
	return mcptool.Endpoint{Name: name, Dial: func(ctx context.Context) (mcp.Transport, error) {
		way, err := w.host.Dial(ctx, name)
		if err != nil {
			return nil, err
		}
		return &mcp.LoggingTransport{Transport: way, Writer: w.wire}, nil
	}}
}

func (w *hosted) names() []string {
	names := []string{}
	for _, t := range w.fleet.Served(context.Background()).Tools {
		names = append(names, t.Name)
	}
	return names
}

func (w *hosted) call(t *testing.T, name, id string) error {
	t.Helper()
	for _, served := range w.fleet.Served(context.Background()).Tools {
		if served.Name != name {
			continue
		}
		in, problems := served.Parse(json.RawMessage(`{}`))
		require.Empty(t, problems)
		c := &tool.Context{}
		c.CallID = id
		_, err := served.Call(t.Context(), in, c)
		return err
	}
	return errors.New("not served")
}

var all = []string{"mcp__a__one", "mcp__a__two", "mcp__b__one"}

func TestAListIsReadOnceAndThenKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{})
		first := w.fleet.Served(context.Background())
		for range 5 {
			assert.Equal(t, all, w.names())
		}
		assert.Equal(t, 2, w.wire.lists(), "one for each server")
		again := w.fleet.Served(context.Background())
		assert.Equal(t, first.Version, again.Version)
		assert.Same(t, first.Tools[0], again.Tools[0], "and the tools are the same ones")
	})
}

func TestAListThatChangedIsReadAnewAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{})
		assert.Equal(t, all, w.names())
		require.NoError(t, w.host.Relist("a", []*mcp.Tool{{Name: "three"}}))
		time.Sleep(time.Second)
		assert.Equal(t, []string{"mcp__a__three", "mcp__b__one"}, w.names())
		assert.Equal(t, 3, w.wire.lists())
		assert.Contains(t, w.fleet.Gone("mcp__a__one"), "does not list it any more")
		assert.Empty(t, w.fleet.Gone("mcp__a__three"))
		assert.Empty(t, w.fleet.Gone("mcp__a__never"))
	})
}

// A list that is read anew leaves the tools that it has as they were, and those of other
// servers, so that nothing that was made of them is made again.
func TestAListThatChangedLeavesTheOtherTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{})
		served := func() []*tool.Tool { return w.fleet.Served(context.Background()).Tools }
		listed := func(described string) []*mcp.Tool {
			schema := map[string]any{"type": "object"}
			return []*mcp.Tool{{Name: "one", InputSchema: schema}, {Name: "two", Description: described, InputSchema: schema}}
		}
		require.NoError(t, w.host.Relist("a", listed("")))
		time.Sleep(time.Second)
		before := served()
		require.NoError(t, w.host.Relist("a", listed("described")))
		time.Sleep(time.Second)
		after := served()
		require.Len(t, after, len(all))
		assert.Same(t, before[0], after[0], "listed as it was")
		assert.Equal(t, "described", after[1].Description)
		assert.Same(t, before[2], after[2], "of the other server")
	})
}

// restless is a server whose list changes whenever it is read.
func restless(ctx context.Context, t *testing.T, listed *atomic.Int32) (mcp.Transport, error) {
	s := mcp.NewServer(&mcp.Implementation{Name: "restless", Version: "1"}, nil)
	add := func(n int32) {
		s.AddTool(&mcp.Tool{Name: fmt.Sprintf("t%d", n), InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("nobody calls it")
		})
	}
	add(0)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				add(listed.Add(1))
			}
			return next(ctx, method, req)
		}
	})
	mine, theirs := mcp.NewInMemoryTransports()
	session, err := s.Connect(ctx, theirs, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return mine, err
}

// A server that announces a change each time it is listed is listed a few times for a request, and
// not for ever.
func TestAListThatChangesWheneverItIsReadIsReadAFewTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var listed atomic.Int32
		fleet, err := mcptool.Connect(mcptool.FleetConfig{Clock: toolsys.RealClock()}, mcptool.Endpoint{Name: "r", Dial: func(ctx context.Context) (mcp.Transport, error) {
			return restless(ctx, t, &listed)
		}})
		require.NoError(t, err)
		defer fleet.Close()
		fleet.Ready(time.Second)
		time.Sleep(time.Minute)
		before := listed.Load()
		assert.Less(t, before, int32(8))
		tools := fleet.Served(t.Context()).Tools
		time.Sleep(time.Minute)
		assert.Less(t, listed.Load(), before+8)
		assert.Greater(t, listed.Load(), before, "a request has it read anew")
		assert.NotEmpty(t, tools)
	})
}

// A list that made room for another and cannot be read anew takes no tools away.
func TestAListThatMadeRoomAndFailsTakesNoToolsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{Listings: 1}, world.HostOptions{})
		assert.Equal(t, all, w.names())
		w.host.Unlist("a", world.ServerFault{ListFails: true})
		w.host.Unlist("b", world.ServerFault{ListFails: true})
		assert.Equal(t, all, w.names(), "what was served stands")
		w.host.Unlist("a", world.ServerFault{})
		w.host.Unlist("b", world.ServerFault{})
		assert.Equal(t, all, w.names())
	})
}

// With room for one list only, the other is read anew each time; what is served is the
// same.
func TestTheLeastUsedListMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{Listings: 1}, world.HostOptions{})
		for range 3 {
			assert.Equal(t, all, w.names())
		}
		assert.Greater(t, w.wire.lists(), 2)
	})
}

// Of the lists that are kept the one that was not asked for longest makes room, and not the one that
// was read first.
func TestTheListThatWasNotAskedForLongestMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := world.ParseCatalogue("c.jsonl", []byte(twoServers+"\n"+`{"server":"c","name":"one"}`))
		require.NoError(t, err)
		clock := toolsys.RealClock()
		host, err := world.NewHost(c, world.HostOptions{}, world.HostClock{Now: clock.Now, Sleep: clock.Sleep})
		require.NoError(t, err)
		defer host.Close()
		wires := map[string]*wire{}
		server := func(name string, late time.Duration) mcptool.Endpoint {
			w := &hosted{host: host, wire: &wire{}}
			wires[name] = w.wire
			e := w.endpoint(name)
			dial := e.Dial
			e.Dial = func(ctx context.Context) (mcp.Transport, error) {
				if err := clock.Sleep(ctx, name, late); err != nil {
					return nil, err
				}
				return dial(ctx)
			}
			return e
		}
		fleet, err := mcptool.Connect(mcptool.FleetConfig{Clock: clock, Listings: 2}, server("c", time.Second), server("b", 2*time.Second), server("a", 3*time.Second))
		require.NoError(t, err)
		defer fleet.Close()
		fleet.Ready(time.Minute)
		require.Len(t, fleet.Served(t.Context()).Tools, 4) // c's list made room for a's; it is read anew, behind a's and b's being asked for
		require.Equal(t, []int{1, 1, 2}, []int{wires["a"].lists(), wires["b"].lists(), wires["c"].lists()})
		require.Len(t, fleet.Served(t.Context()).Tools, 4)
		assert.Equal(t, 2, wires["a"].lists(), "a's list was asked for before b's, so it made room for c's")
	})
}

// A list stands until the time is over that its server gave it, and not at that instant.
func TestAListStandsForExactlyItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{TTL: time.Minute})
		require.Zero(t, time.Since(began))
		time.Sleep(time.Minute - time.Nanosecond)
		assert.Equal(t, all, w.names())
		assert.Equal(t, 2, w.wire.lists())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, all, w.names())
		assert.Equal(t, 4, w.wire.lists())
	})
}

// A list of several pages stands for as long as the one of them that stands shortest, and a page
// without a time does not count.
func TestAListStandsForAsLongAsItsShortestPage(t *testing.T) {
	for name, ttls := range map[string][]int{
		"the last": {60_000, 30_000, 10_000}, "the first": {10_000, 30_000, 60_000}, "one between": {60_000, 10_000, 0}, "the only one": {0, 10_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var listed atomic.Int32
				clock := toolsys.RealClock()
				fleet, err := mcptool.Connect(mcptool.FleetConfig{Clock: clock}, mcptool.Endpoint{Name: "p", Dial: func(ctx context.Context) (mcp.Transport, error) {
					return inPages(ctx, t, ttls, 0, &listed)
				}})
				require.NoError(t, err)
				defer fleet.Close()
				fleet.Ready(time.Second)
				pages, over := int32(len(ttls)), int32(0)
				for _, ms := range ttls {
					if ms <= 10_000 { // the library keeps the other pages
						over++
					}
				}
				time.Sleep(9 * time.Second)
				require.Len(t, fleet.Served(t.Context()).Tools, len(ttls))
				assert.Equal(t, pages, listed.Load())
				time.Sleep(time.Second)
				require.Len(t, fleet.Served(t.Context()).Tools, len(ttls))
				assert.Equal(t, pages+over, listed.Load())
			})
		})
	}
}

// The time of a page counts from when that page came, however long the others took, and whichever of them were asked for since.
func TestAPageStandsFromWhenItCame(t *testing.T) {
	for name, c := range map[string]struct {
		ttls    []int
		delay   time.Duration   // of each page
		renewed []time.Duration // when some of the pages are over
	}{
		"slow pages":        {[]int{10_000, 60_000}, 2 * time.Second, []time.Duration{10 * time.Second}},
		"pages of the past": {[]int{50_000, 30_000}, 0, []time.Duration{30 * time.Second, 50 * time.Second, 60 * time.Second}},
		"over when read":    {[]int{1_000, 60_000}, 2 * time.Second, []time.Duration{2*time.Second + 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var listed atomic.Int32
				began := time.Now()
				fleet, err := mcptool.Connect(mcptool.FleetConfig{Clock: toolsys.RealClock()}, mcptool.Endpoint{Name: "p", Dial: func(ctx context.Context) (mcp.Transport, error) {
					return inPages(ctx, t, c.ttls, c.delay, &listed)
				}})
				require.NoError(t, err)
				defer fleet.Close()
				fleet.Ready(time.Minute)
				for i, at := range c.renewed {
					before := listed.Load()
					if over := began.Add(c.delay + at - 1); over.After(time.Now()) { // what is over before it is read is not there before
						time.Sleep(time.Until(over))
						fleet.Served(t.Context())
						assert.Equal(t, before, listed.Load(), "just before %d", i)
					}
					time.Sleep(time.Until(began.Add(c.delay + at)))
					require.Len(t, fleet.Served(t.Context()).Tools, len(c.ttls))
					assert.Equal(t, before+1, listed.Load(), "renewal %d", i)
				}
			})
		})
	}
}

// inPages is a server that lists one tool a page, each of which comes after a time and stands for its own.
func inPages(ctx context.Context, t *testing.T, ttls []int, delay time.Duration, listed *atomic.Int32) (mcp.Transport, error) {
	var cursors []string // of the pages, in the order in which they were asked for
	s := mcp.NewServer(&mcp.Implementation{Name: "pages", Version: "1"}, &mcp.ServerOptions{
		PageSize: 1, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
			if p, list := req.GetParams().(*mcp.ListToolsParams); list {
				listed.Add(1)
				time.Sleep(delay)
				if !slices.Contains(cursors, p.Cursor) {
					cursors = append(cursors, p.Cursor)
				}
				c.TTLMs = ttls[slices.Index(cursors, p.Cursor)]
			}
		},
	})
	for n := range ttls {
		s.AddTool(&mcp.Tool{Name: fmt.Sprintf("t%d", n), InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("nobody calls it")
		})
	}
	mine, theirs := mcp.NewInMemoryTransports()
	session, err := s.Connect(ctx, theirs, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return mine, err
}

// What is reported of a server that cannot be had names each failure with what follows from it, and
// how many there were only where there was more than one.
func TestEachFailureOfAServerIsReportedWithWhatFollows(t *testing.T) {
	const refused = `MCP server "a": it cannot be reached: connection refused`
	for attempts, want := range map[int][]string{
		-1: {refused},
		2: {
			refused + "; it is connected again in 1s", refused + "; it is connected again in 2s",
			refused + "; it is given up after 3 failures in a row, and its tools are gone",
		},
	} {
		t.Run(fmt.Sprint(attempts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &reports{}
				fleet, err := mcptool.Connect(mcptool.FleetConfig{Clock: toolsys.RealClock(), Report: w.report, Attempts: attempts}, mcptool.Endpoint{
					Name: "a", Dial: func(context.Context) (mcp.Transport, error) { return nil, world.ErrDown },
				})
				require.NoError(t, err)
				defer fleet.Close()
				time.Sleep(time.Minute)
				assert.Equal(t, want, strings.Split(w.all(), "\n"))
			})
		})
	}
}

func TestALostServerIsConnectedAgainWithItsListAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{Faults: []world.ServerFault{{Call: "last", Gone: true, Back: 2 * time.Second}}})
		require.ErrorIs(t, w.call(t, "mcp__a__one", "last"), mcptool.ErrGone)
		require.ErrorContains(t, w.call(t, "mcp__a__one", "again"), "being connected again; try later")
		require.NoError(t, w.call(t, "mcp__b__one", "other"), "the other server is none the worse")
		assert.Equal(t, []string{"a"}, w.fleet.Served(context.Background()).Pending)
		assert.Equal(t, all, w.names(), "what it served stands meanwhile")
		require.NoError(t, w.host.Relist("a", []*mcp.Tool{{Name: "two"}}))
		time.Sleep(4 * time.Second)
		assert.Equal(t, all[1:], w.names(), "it came back with another list")
		assert.NoError(t, w.call(t, "mcp__a__two", "back"))
		assert.Empty(t, w.fleet.Served(context.Background()).Pending)
	})
}

// A list that was about to be read anew when its server was lost stands as it was.
func TestALossWhileAListIsReadKeepsTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{Faults: []world.ServerFault{{Call: "last", Gone: true}}})
		assert.Equal(t, all, w.names())
		served := w.fleet.Served(context.Background()).Tools[0]
		w.host.Unlist("a", world.ServerFault{ListHangs: true})
		require.NoError(t, w.host.Relist("a", []*mcp.Tool{{Name: "two"}}))
		time.Sleep(time.Second)
		c := &tool.Context{}
		c.CallID = "last"
		in, problems := served.Parse(json.RawMessage(`{}`))
		require.Empty(t, problems)
		_, err := served.Call(t.Context(), in, c)
		require.ErrorIs(t, err, mcptool.ErrGone)
		synctest.Wait()
		assert.Equal(t, all, w.names())
		assert.Contains(t, w.reports.all(), "so the old one stands")
	})
}

// Who waits for a list that is being read goes when its context ends, with the old one (N6).
func TestAWaitForAListEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{})
		assert.Equal(t, all, w.names())
		w.host.Unlist("a", world.ServerFault{ListHangs: true})
		require.NoError(t, w.host.Relist("a", []*mcp.Tool{{Name: "two"}}))
		time.Sleep(time.Second)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		assert.Len(t, w.fleet.Served(ctx).Tools, len(all))
		assert.Equal(t, 300*time.Millisecond, time.Since(began))
	})
}

// A server that can be connected and dies at once is given up like one that cannot.
func TestAServerThatDiesEachTimeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{Attempts: 3}, world.HostOptions{Faults: []world.ServerFault{{Tool: "one", Server: "a", Gone: true, Back: time.Millisecond}}})
		for n := range 4 {
			assert.ErrorIs(t, w.call(t, "mcp__a__one", fmt.Sprint(n)), mcptool.ErrGone)
			time.Sleep(10 * time.Second)
		}
		assert.Contains(t, w.reports.all(), "given up after 4 failures in a row")
		assert.Equal(t, all[2:], w.names())
		assert.Contains(t, w.fleet.Gone("mcp__a__one"), "did not come back")
	})
}

// One that ran well for long begins with a clean sheet.
func TestAServerThatRanWellMayFailAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{Attempts: 1}, world.HostOptions{Faults: []world.ServerFault{{Tool: "one", Server: "a", Gone: true, Back: time.Millisecond}}})
		for n := range 4 {
			time.Sleep(time.Minute)
			assert.ErrorIs(t, w.call(t, "mcp__a__one", fmt.Sprint(n)), mcptool.ErrGone)
		}
		assert.NotContains(t, w.reports.all(), "given up")
	})
}

func TestAServerThatHangsIsPendingAndHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{Faults: []world.ServerFault{{Server: "a", Connect: 1, ListHangs: true}}})
		assert.Equal(t, all[2:], w.names())
		assert.Equal(t, []string{"a"}, w.fleet.Served(context.Background()).Pending)
		assert.Equal(t, time.Second, time.Since(began), "no longer than the limit of Ready")
		time.Sleep(40 * time.Second)
		assert.Equal(t, all, w.names())
	})
}

func TestOddAnswersAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connected(t, mcptool.FleetConfig{}, world.HostOptions{Faults: []world.ServerFault{{Call: "twice", Twice: true}, {Call: "stray", Stray: true}}})
		require.NoError(t, w.call(t, "mcp__a__one", "twice"))
		require.NoError(t, w.call(t, "mcp__a__one", "stray"))
		synctest.Wait()
		assert.Contains(t, w.reports.all(), `MCP server "a": it answered request 4 a second time`)
		assert.Contains(t, w.reports.all(), "which nobody made")
	})
}

func TestAFleetThatCannotBeIsRefused(t *testing.T) {
	clock := toolsys.RealClock()
	dial := func(context.Context) (mcp.Transport, error) { return nil, errors.New("no way") }
	for name, c := range map[string]struct {
		clock     tool.Clock
		endpoints []mcptool.Endpoint
	}{
		"the clock lacks a function": {tool.Clock{}, nil},
		"one has no name":            {clock, []mcptool.Endpoint{{Dial: dial}}},
		`no way to "a"`:              {clock, []mcptool.Endpoint{{Name: "a"}}},
		`two are named "a"`:          {clock, []mcptool.Endpoint{{Name: "a", Dial: dial}, {Name: "b", Dial: dial}, {Name: "a", Dial: dial}}},
	} {
		_, err := mcptool.Connect(mcptool.FleetConfig{Clock: c.clock}, c.endpoints...)
		require.ErrorIs(t, err, mcptool.ErrFleet)
		assert.ErrorContains(t, err, name)
	}
}

// What a request pays for its servers' tools when nothing changed.
func BenchmarkServed(b *testing.B) {
	clock := toolsys.RealClock()
	var lines strings.Builder
	for s := range 28 {
		for n := range 20 {
			fmt.Fprintf(&lines, `{"server":"s%d","name":"tool%d","inputSchema":{"type":"object"}}`+"\n", s, n)
		}
	}
	c, err := world.ParseCatalogue("c.jsonl", []byte(lines.String()))
	require.NoError(b, err)
	host, err := world.NewHost(c, world.HostOptions{}, world.HostClock{Now: clock.Now, Sleep: clock.Sleep})
	require.NoError(b, err)
	defer host.Close()
	var endpoints []mcptool.Endpoint
	for _, s := range c {
		endpoints = append(endpoints, mcptool.Endpoint{Name: s.Name, Dial: func(ctx context.Context) (mcp.Transport, error) { return host.Dial(ctx, s.Name) }})
	}
	fleet, err := mcptool.Connect(mcptool.FleetConfig{Clock: clock}, endpoints...)
	require.NoError(b, err)
	defer fleet.Close()
	fleet.Ready(time.Minute)
	require.Len(b, fleet.Served(context.Background()).Tools, 560)
	b.ReportAllocs()
	for b.Loop() {
		fleet.Served(context.Background())
	}
}

// A server that comes late never answers calls that are meant for another, not even
// where the name is its own to the letter.
func TestALateServerLeavesTheNamesInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const odd = `{"server":"a b","name":"one"}` + "\n" + `{"server":"a_b","name":"one"}`
		c, err := world.ParseCatalogue("c.jsonl", []byte(odd))
		require.NoError(t, err)
		clock := toolsys.RealClock()
		w := &hosted{wire: &wire{}, reports: &reports{}}
		w.host, err = world.NewHost(c, world.HostOptions{}, world.HostClock{Now: clock.Now, Sleep: clock.Sleep})
		require.NoError(t, err)
		late := w.endpoint("a_b")
		dial := late.Dial
		late.Dial = func(ctx context.Context) (mcp.Transport, error) {
			if err := clock.Sleep(ctx, "late", 10*time.Second); err != nil {
				return nil, err
			}
			return dial(ctx)
		}
		w.fleet, err = mcptool.Connect(mcptool.FleetConfig{Clock: clock, Report: w.reports.report}, w.endpoint("a b"), late)
		require.NoError(t, err)
		defer w.host.Close()
		defer w.fleet.Close()
		w.fleet.Ready(time.Second)
		assert.Equal(t, map[string]tool.Origin{"mcp__a_b__one": {Server: "a b", Tool: "one"}}, origins(w.fleet.Served(t.Context()).Tools))
		time.Sleep(20 * time.Second)
		both := origins(w.fleet.Served(t.Context()).Tools)
		require.Len(t, both, 2)
		assert.Equal(t, "a b", both["mcp__a_b__one"].Server)
		assert.Contains(t, w.reports.all(), `mcp__a_b__one is the name of tool "one" of server "a b" already`)
	})
}

// Fleets that are joined name their tools together: two servers of one name, in two
// fleets, get different names, with a report.
func TestJoinedFleetsShareTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, other := connected(t, mcptool.FleetConfig{Prefix: "1/"}, world.HostOptions{}), connected(t, mcptool.FleetConfig{Prefix: "2/"}, world.HostOptions{})
		servers := mcptool.Join(w.fleet, other.fleet)
		served := servers.Served(t.Context())
		assert.Len(t, origins(served.Tools), 2*len(all))
		assert.Equal(t, all, w.names())
		assert.NotContains(t, w.reports.all(), "already")
		for _, name := range all {
			assert.Contains(t, other.reports.all(), name+" is the name of tool")
		}
		assert.Empty(t, served.Gone("mcp__a__one"))
		_, err := servers.ReadResource(t.Context(), "nowhere", "u://1")
		assert.ErrorIs(t, err, mcptool.ErrNoServer)
	})
}
