package mcptool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/tool"
)

// built is the last answer of Served, and the reports that were made of it.
type built struct {
	version  int
	tools    []*tool.Tool
	made     map[ref]adaptedTool // each of them
	reported map[Report]bool
	// origin is which server each tool's name was last seen with.
	origin map[string]string
}

// fetch is one reading of a list, shared by all who wait for it.
type fetch struct {
	// tools are valid once it is over. Waiting are woken then.
	over    bool
	tools   []*mcp.Tool
	waiting []context.CancelFunc
}

// Served gives the tools of the servers that are there, and of those that were lost and
// are still being connected again: their definitions stay, so that a short loss costs
// no prompt cache. Lists that are being read anew are waited for, no longer than the
// RefreshLimit in all and not beyond the context; after that the lists as they were before
// stand (N6).
func (f *Fleet) Served(ctx context.Context) tool.Served {
	listed, version := f.listings(ctx)
	out, fresh := f.assemble(listed, version)
	if f.cfg.Report != nil {
		for _, r := range fresh {
			f.cfg.Report(r)
		}
	}
	return out
}

// assemble gives what is served, and the reports that were not made before.
func (f *Fleet) assemble(listed []Listing, version int) (tool.Served, []Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var fresh []Report
	if f.built.tools == nil || f.built.version != version {
		fresh = f.build(listed, version)
	}
	out := tool.Served{Tools: f.built.tools, Version: version, Gone: f.Gone}
	for _, l := range f.links {
		switch {
		case l.phase == connecting, l.phase == lost, l.phase == up && l.current.ctx.Err() != nil: // as calls are told
			out.Pending = append(out.Pending, l.Name)
		case l.phase == up:
			out.Resources = out.Resources || l.current.resources
		}
	}
	return out, fresh
}

// build makes the tools that are not as they were; the fleet's lock is held.
func (f *Fleet) build(listed []Listing, version int) (fresh []Report) {
	tools, reports, all := f.names.tools(f, listed, f.built.made)
	f.built.made = all
	if f.built.reported == nil {
		f.built.reported, f.built.origin = map[Report]bool{}, map[string]string{}
	}
	for _, r := range reports {
		if !f.built.reported[r] {
			fresh = append(fresh, r)
		}
		f.built.reported[r] = true
	}
	for _, t := range tools {
		f.built.origin[t.Name] = t.Origin.Server
	}
	f.built.tools, f.built.version = slices.Clip(tools), version
	return fresh
}

// Gone gives the reason why a tool of that name, which was once served, is not any more;
// "" for one that never was.
func (f *Fleet) Gone(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	server, was := f.built.origin[name]
	if !was || slices.ContainsFunc(f.built.tools, func(t *tool.Tool) bool { return t.Name == name }) {
		return ""
	}
	if l := f.find(server); l != nil && l.phase == down {
		return fmt.Sprintf("The MCP server %q, which had it, is gone and did not come back.", server)
	}
	return fmt.Sprintf("The MCP server %q had it and does not list it any more.", server)
}

// listings are the lists of all servers that have one, by server, and the version they
// belong to.
func (f *Fleet) listings(ctx context.Context) ([]Listing, int) {
	until := f.cfg.Clock.Now().Add(f.cfg.RefreshLimit)
	var listed []Listing
	pending := make([]*fetch, len(f.links))
	kept := make([][]*mcp.Tool, len(f.links))
	for i, l := range f.links {
		kept[i], pending[i] = l.renew()
	}
	for i, l := range f.links {
		if tools, there := l.listing(ctx, kept[i], pending[i], until); there {
			listed = append(listed, Listing{l.server(), tools})
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return listed, f.version
}

// renew gives the list that is kept. One that is not there, or not to stand any more, it
// begins to read, and it gives the reading under way, or nil.
func (l *link) renew() ([]*mcp.Tool, *fetch) {
	f := l.f
	f.mu.Lock()
	l.readings = 0
	tools, fresh := f.lists.get(l.Name, f.cfg.Clock.Now())
	begin := l.phase == up && !fresh && l.prepareFetch(tools)
	running := l.fetch
	f.mu.Unlock()
	if begin {
		f.start(l.actor("list"), l.refetch)
	}
	return tools, running
}

// listing waits for the reading, if there is one, and gives the list; false for a
// server that has none to offer.
func (l *link) listing(ctx context.Context, tools []*mcp.Tool, running *fetch, until time.Time) ([]*mcp.Tool, bool) {
	f := l.f
	if running != nil {
		l.await(ctx, running, until)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.phase == connecting || l.phase == down:
		return nil, false
	case running == nil:
		return tools, true
	case running.over:
		return running.tools, true
	}
	return l.held, true
}

// await waits until a reading is over, the time is up, or the context has ended.
func (l *link) await(ctx context.Context, running *fetch, until time.Time) {
	f := l.f
	wait, end := context.WithCancel(ctx)
	defer end()
	f.mu.Lock()
	over := running.over
	running.waiting = append(running.waiting, end)
	f.waits++
	actor := l.actor(fmt.Sprintf("wait/%d", f.waits))
	f.mu.Unlock()
	if !over {
		_ = f.cfg.Clock.Sleep(wait, actor, max(0, until.Sub(f.cfg.Clock.Now()))) // any end is fine
	}
}

// changed handles the server's notice that its list changed: what was kept is dropped
// and read anew at once, so that the next request need not wait for it (N6).
func (l *link) changed(v *session) {
	f := l.f
	f.mu.Lock()
	l.again = true
	var begin bool
	if l.phase == up && l.current == v {
		old, _ := f.lists.get(l.Name, f.cfg.Clock.Now())
		f.lists.drop(l.Name)
		if l.readings < maxReadings || l.fetch != nil {
			begin = l.prepareFetch(old)
		} else if old != nil {
			l.keepList(old) // the next request has it read anew
		}
	}
	f.mu.Unlock()
	if begin {
		f.start(l.actor("list"), l.refetch)
	}
}

// unsubscribed handles the end of the stream on which the server announced changes. No
// announcement arrives after that, so the list is read anew now and before each request until
// the server is connected again (N9). The session itself and its calls go on.
func (l *link) unsubscribed(v *session) {
	l.f.mu.Lock()
	v.unsubscribed = true
	l.f.mu.Unlock()
	l.remark("it ended the stream on which it announces changes; its tools are listed anew before each request")
	l.changed(v)
}

// prepareFetch notes that the list is about to be read; false when it already is. The
// fleet's lock is held.
func (l *link) prepareFetch(old []*mcp.Tool) bool {
	if old != nil {
		l.held = old
	}
	if l.fetch != nil {
		return false
	}
	l.fetch = &fetch{}
	return true
}

// maxReadings is how often a list is read from one request to the next: a server may announce a
// change at each reading.
const maxReadings = 4

// refetch reads the list until it was read to its end without a change meanwhile, or often enough. A
// list that cannot be read leaves the old one in place, with a report.
func (l *link) refetch() {
	f := l.f
	for {
		f.mu.Lock()
		l.again = false
		l.readings++
		v := l.current
		f.mu.Unlock()
		tools, err := l.relist(v)
		if err != nil && f.ctx.Err() == nil {
			l.remark("its list of tools cannot be read anew, so the old one stands: " + err.Error())
		}
		if l.conclude(v, tools, err) {
			return
		}
	}
}

func (l *link) relist(v *session) ([]*mcp.Tool, error) {
	if v == nil {
		return nil, fmt.Errorf("%w: it was lost meanwhile", ErrGone)
	}
	ctx, done := l.f.within(l.actor("relist"), l.f.cfg.ConnectLimit)
	defer done()
	return l.read(ctx, v)
}

// read reads the list, and notes for how long the server has it stand: until the first of its pages is over, of which each
// counts from when it came. The library gives a page again for as long as that stands.
func (l *link) read(ctx context.Context, v *session) ([]*mcp.Tool, error) {
	var until time.Time
	ends := map[*mcp.ListToolsResult]time.Time{}
	tools, err := allTools(ctx, v.client, func(page *mcp.ListToolsResult) {
		if ends[page] = v.ends[page]; ends[page].IsZero() {
			ends[page] = l.f.cfg.Clock.Now().Add(time.Duration(page.TTLMs) * time.Millisecond)
		}
		if page.TTLMs > 0 && (until.IsZero() || ends[page].Before(until)) {
			until = ends[page]
		}
	})
	if err != nil {
		return nil, why(ctx, v.ctx, err)
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if v.ends, l.ttl = ends, 0; !until.IsZero() {
		l.ttl = max(1, until.Sub(l.f.cfg.Clock.Now()))
	}
	return tools, nil
}

// keepList keeps a list for as long as the server has it stand; the fleet's lock is held.
func (l *link) keepList(tools []*mcp.Tool) {
	var until time.Time
	switch {
	case l.current != nil && l.current.unsubscribed, l.again:
		until = l.f.cfg.Clock.Now()
	case l.ttl > 0:
		until = l.f.cfg.Clock.Now().Add(l.ttl)
	}
	l.f.lists.put(l.Name, tools, until)
}

// conclude ends the reading, unless the list changed again and may be read once more. What could
// not be read and is not held either is not kept: that is no list without tools.
func (l *link) conclude(v *session, tools []*mcp.Tool, err error) bool {
	f := l.f
	f.mu.Lock()
	defer f.mu.Unlock()
	current := l.current == v && l.phase == up
	switch {
	case err == nil && l.again && current && l.readings < maxReadings:
		return false
	case err != nil:
		tools = l.held
	}
	if (current || l.phase == lost) && (err == nil || tools != nil) {
		l.keepList(tools)
		f.version++
	}
	done := l.fetch
	l.fetch, l.held, done.tools, done.over = nil, nil, tools, true
	for _, wake := range done.waiting {
		wake()
	}
	return true
}
