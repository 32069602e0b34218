package mcptool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// Endpoint is a server that a [Fleet] keeps a connection to.
type Endpoint struct {
	// Name is the configured name, unique in the fleet; it is part of the tools' names.
	Name string
	// Bare keeps the tools' own names (N1).
	Bare bool
	// Protocol asks for a version of the protocol; "" for the latest.
	Protocol string
	// Dial gives the way to the server, a new one for each session, over whatever
	// transport (N3). Its context lasts as long as the fleet, not as the attempt.
	Dial func(ctx context.Context) (mcp.Transport, error)
}

// FleetConfig is what a fleet works with. Clock is required; zero values of the others
// stand for the values in their comments.
type FleetConfig struct {
	Clock tool.Clock
	// Prefix begins the names by which the fleet waits at the clock, for several fleets
	// on one clock.
	Prefix string
	// Report receives what a user may want to read, one call at a time per server; nil
	// drops it.
	Report func(Report)
	// ConnectLimit bounds one attempt to connect and list, 30 s; RefreshLimit how long a
	// request waits for a list that is being read anew, 5 s.
	ConnectLimit, RefreshLimit time.Duration
	// Attempts is how often in a row a server may fail before it is given up, 5; with -1 it may not.
	Attempts int
	// Backoff is the wait before the next attempt after so many failures in a row, from
	// 1; nil doubles from 1 s to 30 s.
	Backoff func(failures int) time.Duration
	// Listings is how many servers' lists are kept, the longest unused dropped first (N6),
	// 256.
	Listings int
}

// Errors of a fleet.
var (
	ErrFleet = errors.New("invalid servers")
	// ErrSlow ends an attempt that takes too long.
	ErrSlow = errors.New("it took too long")
	// errClosed is the cause of everything that ends with the fleet.
	errClosed = errors.New("the connections are being closed")
)

// stable is how long a session must have lasted for its server to count as sound: one
// that dies at once, each time, is given up like one that never comes (N4).
const stable = 30 * time.Second

// Fleet keeps the connections to servers: it connects them in the background, notices
// when one is lost, connects it again with growing pauses (N4), and keeps their lists
// of tools (N6). Its goroutines start and wait through the clock alone.
type Fleet struct {
	cfg  FleetConfig
	ctx  context.Context
	stop context.CancelCauseFunc
	// settled ends when each server is there, or has failed once.
	settled context.Context
	settle  context.CancelFunc
	all     sync.WaitGroup
	links   []*link // by name; the slice never changes
	names   *names

	mu        sync.Mutex // guards what follows and the links' own state
	unsettled int
	lists     listings
	version   int // counts changes of what is served
	built     built
	waits     int // numbers who waits for a list
}

// Connect begins to connect the servers and does not wait for them. Close ends it. It
// is an error when a server lacks a name or a way to it, when two share a name and when
// the clock lacks a function.
func Connect(cfg FleetConfig, servers ...Endpoint) (*Fleet, error) {
	if cfg.Clock.Now == nil || cfg.Clock.Sleep == nil || cfg.Clock.Go == nil {
		return nil, fmt.Errorf("%w: the clock lacks a function", ErrFleet)
	}
	servers = slices.SortedFunc(slices.Values(servers), func(a, b Endpoint) int { return strings.Compare(a.Name, b.Name) })
	for i, s := range servers {
		switch {
		case s.Name == "":
			return nil, fmt.Errorf("%w: one has no name", ErrFleet)
		case s.Dial == nil:
			return nil, fmt.Errorf("%w: there is no way to %q", ErrFleet, s.Name)
		case i > 0 && servers[i-1].Name == s.Name:
			return nil, fmt.Errorf("%w: two are named %q", ErrFleet, s.Name)
		}
	}
	cfg = cfg.complete()
	f := &Fleet{cfg: cfg, unsettled: len(servers), lists: listings{size: cfg.Listings}, names: newNames()}
	f.ctx, f.stop = context.WithCancelCause(context.Background())
	f.settled, f.settle = context.WithCancel(context.Background())
	if len(servers) == 0 {
		f.settle()
	}
	f.links = tool.Each(servers, func(s Endpoint) *link { return &link{Endpoint: s, f: f} })
	for _, l := range f.links {
		f.start(l.actor("keep"), l.keep)
	}
	return f, nil
}

func (c FleetConfig) complete() FleetConfig {
	c.ConnectLimit = cmp.Or(max(c.ConnectLimit, 0), 30*time.Second)
	c.RefreshLimit = cmp.Or(max(c.RefreshLimit, 0), 5*time.Second)
	c.Attempts = cmp.Or(c.Attempts, 5)
	c.Listings = cmp.Or(max(c.Listings, 0), 256)
	if c.Backoff == nil {
		c.Backoff = func(failures int) time.Duration { return min(time.Second<<min(failures-1, 10), 30*time.Second) }
	}
	return c
}

// start runs g beside the caller, through the clock; Close waits for it.
func (f *Fleet) start(actor string, g func()) {
	f.all.Add(1)
	f.cfg.Clock.Go(actor, func() {
		defer f.all.Done()
		g()
	})
}

// Ready waits until each server is there or has failed once, but no longer than limit.
func (f *Fleet) Ready(limit time.Duration) {
	_ = f.cfg.Clock.Sleep(f.settled, f.cfg.Prefix+"mcp/ready", limit) // either end is fine
}

// Close ends all sessions, each by the rules of its transport, and returns when nothing
// of the fleet runs any more.
func (f *Fleet) Close() {
	f.stop(errClosed)
	f.settle()
	f.all.Wait()
}

// within gives a context that ends with the fleet, with the function it gives, or with
// ErrSlow after d.
func (f *Fleet) within(actor string, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(f.ctx)
	f.start(actor, func() {
		if f.cfg.Clock.Sleep(ctx, actor, d) == nil {
			end(fmt.Errorf("%w: no answer within %s", ErrSlow, d))
		}
	})
	return ctx, func() { end(nil) }
}

func (f *Fleet) find(server string) *link {
	if i := slices.IndexFunc(f.links, func(l *link) bool { return l.Name == server }); i >= 0 {
		return f.links[i]
	}
	return nil
}

// Join gives a system the servers of fleets, for toolsys.Config.Servers (N3, N6, N8).
// The fleets share one set of names from then on, so that two of their tools never have
// the same one: a tool whose name is in use already gets another, with a report. Join
// is called once, before any of the fleets is asked for its tools. The fleets remain
// their owner's to close.
func Join(fleets ...*Fleet) tool.Servers {
	shared := newNames()
	for _, f := range fleets {
		f.mu.Lock()
		f.names = shared
		f.mu.Unlock()
	}
	j := joined(slices.Clone(fleets))
	return tool.Servers{
		Served: j.served, Resources: j.resources, ReadResource: j.readResource,
		Prompts: j.prompts, Prompt: j.prompt,
	}
}

type joined []*Fleet

func (j joined) served(ctx context.Context) tool.Served {
	out := tool.Served{Gone: j.gone}
	for _, f := range j {
		s := f.Served(ctx)
		out.Tools = append(out.Tools, s.Tools...)
		out.Version += s.Version
		out.Pending = append(out.Pending, s.Pending...)
		out.Resources = out.Resources || s.Resources
	}
	slices.SortFunc(out.Tools, byName)
	slices.Sort(out.Pending)
	return out
}

func (j joined) gone(name string) string {
	for _, f := range j {
		if why := f.Gone(name); why != "" {
			return why
		}
	}
	return ""
}

func (j joined) resources(ctx context.Context, server string) ([]tool.Resource, error) {
	all, err := asked(j, server, func(f *Fleet) ([]tool.Resource, error) { return f.Resources(ctx, server) })
	slices.SortStableFunc(all, func(a, b tool.Resource) int { return strings.Compare(a.Server, b.Server) })
	return all, err
}

func (j joined) readResource(ctx context.Context, server, uri string) ([]message.Block, error) {
	return asked(j, server, func(f *Fleet) ([]message.Block, error) { return f.ReadResource(ctx, server, uri) })
}

func (j joined) prompts(ctx context.Context) ([]tool.ServerPrompt, error) {
	return asked(j, "", func(f *Fleet) ([]tool.ServerPrompt, error) { return f.Prompts(ctx) })
}

func (j joined) prompt(ctx context.Context, server, name string, args map[string]string) ([]message.Block, error) {
	return asked(j, server, func(f *Fleet) ([]message.Block, error) { return f.Prompt(ctx, server, name, args) })
}

// asked asks the fleet that has the server, and every fleet where none is named. What that gives
// depends on the servers, and not on the order in which they were configured (D3).
func asked[T any](j joined, server string, do func(*Fleet) ([]T, error)) (all []T, err error) {
	for _, f := range j {
		if server != "" && f.find(server) != nil {
			return do(f)
		}
	}
	if server != "" || len(j) == 0 {
		return nil, j.noServer(server)
	}
	var errs []error
	for _, f := range j {
		found, err := do(f)
		all, errs = append(all, found...), append(errs, err)
	}
	return all, errors.Join(errs...)
}
