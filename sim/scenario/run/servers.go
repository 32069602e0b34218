package run

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/world"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// servers are the run's MCP servers: real ones over the SDK's in-memory transport,
// kept by the system's own fleets, one for each entry of the file.
type servers struct {
	r   *runner
	all []*entry
	// way is that to all of them at once.
	way tool.Servers
	// gone gives the reason why a tool that was served before is not any more.
	gone func(name string) string
	// languages are the language servers.
	languages *file.Languages
}

// entry is one entry of world.mcp.
type entry struct {
	spec  scenario.Server
	host  *world.Host
	fleet *mcptool.Fleet
	// way is that to the entry's servers alone.
	way tool.Servers
	// due are the lists that are still to come, the next one first.
	due []scheduledList
	// named are the names of tools that the entry may have in some turn.
	named []string
	// wrapped are the fleet's tools as the bench runs them, of one version.
	wrapped []*tool.Tool
	version int
}

// patience is how long a run waits for its servers before it begins: those that answer
// take no virtual time.
const patience = time.Millisecond

func (r *runner) connect(ctx context.Context) (*servers, error) {
	s := &servers{r: r, languages: r.languages()}
	for i, spec := range r.sc.World.MCP {
		if err := s.add(i, spec); err != nil {
			s.close()
			return nil, err
		}
	}
	s.join()
	for _, e := range s.all {
		e.fleet.Ready(patience)
		for _, t := range e.fleet.Served(ctx).Tools { // what it reports of its tools comes before the run
			e.named = append(e.named, t.Name)
		}
	}
	s.gone = s.way.Served(ctx).Gone
	return s, nil
}

// join gives the system its way to all servers. Entries that are never there in the same
// turn stand for one server that changed, so that each has its names to itself.
func (s *servers) join() {
	for _, e := range s.all {
		e.way = mcptool.Join(e.fleet)
	}
	s.way = mcptool.Join(s.fleets()...)
	var groups [][]*entry
	for _, e := range s.all {
		i := slices.IndexFunc(groups, func(g []*entry) bool { return slices.ContainsFunc(g, e.meets) })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	for _, g := range groups {
		mcptool.Join((&servers{all: g}).fleets()...)
	}
}

// meets reports whether there is a turn in which both entries are there.
func (e *entry) meets(o *entry) bool {
	return (e.spec.UntilTurn == 0 || o.spec.FromTurn <= e.spec.UntilTurn) &&
		(o.spec.UntilTurn == 0 || e.spec.FromTurn <= o.spec.UntilTurn)
}

func (s *servers) add(i int, spec scenario.Server) error {
	key := fmt.Sprintf("world.mcp.%d", i)
	list, err := catalogue(s.r.sc, key, spec.Catalogue)
	if err != nil {
		return err
	}
	e := &entry{spec: spec, version: -1}
	if e.due, err = laterLists(s.r.sc, key, spec); err != nil {
		return err
	}
	list = narrow(spec, list)
	for _, due := range append([]scheduledList{{servers: list}}, e.due...) {
		for _, s := range due.servers {
			for _, t := range s.Tools {
				// Rules name a tool by its server, also where its own name is bare.
				e.named = append(e.named, mcptool.Name(s.Name, t.Name, spec.Bare), mcptool.Name(s.Name, t.Name, false))
			}
		}
	}
	e.host, err = world.NewHost(list, serverOptions(spec, serverFaults(s.r.sc)), world.HostClock{Now: s.r.gate.Now, Sleep: s.r.gate.Sleep})
	if err != nil {
		return s.r.sc.ErrorAt(key, err.Error(), "")
	}
	var ends []mcptool.Endpoint
	if ends, err = s.r.endpoints(spec, list, e.host); err == nil {
		e.fleet, err = mcptool.Connect(mcptool.FleetConfig{Clock: s.r.clock(), Prefix: fmt.Sprintf("%d/", i), Report: s.r.reported}, ends...)
	}
	if err != nil {
		e.host.Close()
		return s.r.sc.ErrorAt(key, err.Error(), "")
	}
	s.all = append(s.all, e)
	return nil
}

func catalogue(sc *scenario.Scenario, key, file string) (world.Catalogue, error) {
	data, err := sc.Open(key, file)
	if err != nil {
		return nil, err
	}
	c, err := world.ParseCatalogue(file, data)
	if err != nil {
		return nil, sc.ErrorAt(key, err.Error(), "")
	}
	return c, nil
}

func (r *runner) endpoints(spec scenario.Server, c world.Catalogue, host *world.Host) ([]mcptool.Endpoint, error) {
	var all []mcptool.Endpoint
	for _, s := range c {
		dial := func(ctx context.Context) (mcp.Transport, error) { return host.Dial(ctx, s.Name) }
		if spec.HTTP != nil {
			var err error
			if dial, err = r.behindAddress(*spec.HTTP, s, host); err != nil {
				return nil, err
			}
		}
		all = append(all, mcptool.Endpoint{Name: s.Name, Bare: spec.Bare, Protocol: spec.Protocol, Dial: dial})
	}
	return all, nil
}

// reported records a fleet's report: on a server in the trace, on a tool in
// the notes.
func (r *runner) reported(report mcptool.Report) {
	if report.Tool == "" {
		r.trace(trace.Event{At: r.gate.Since(), Data: trace.Notice{Text: report.String()}})
		return
	}
	r.notes = append(r.notes, report.String())
}

// narrow keeps the servers that are asked for, in the order that is asked for.
func narrow(spec scenario.Server, c world.Catalogue) world.Catalogue {
	if len(spec.Only) > 0 {
		c = slices.DeleteFunc(slices.Clone(c), func(s world.Server) bool { return !slices.Contains(spec.Only, s.Name) })
	}
	if spec.Reverse {
		c = slices.Clone(c)
		slices.Reverse(c)
		for i, s := range c {
			c[i].Tools = slices.Clone(s.Tools)
			slices.Reverse(c[i].Tools)
		}
	}
	return c
}

// served are the tools that are there in the turn at hand; servers that come later
// are pending.
func (s *servers) served(ctx context.Context) tool.Served {
	s.r.mu.Lock()
	turn := max(s.r.turn, 1)
	s.r.mu.Unlock()
	out := tool.Served{Gone: s.gone}
	for _, e := range s.all {
		e.relist(s.r, turn)
		now := e.way.Served(ctx)
		switch {
		case turn < e.spec.FromTurn:
			out.Pending = append(out.Pending, tool.Each(now.Tools, func(t *tool.Tool) string { return t.Origin.Server })...)
		case e.spec.UntilTurn == 0 || turn <= e.spec.UntilTurn:
			out.Tools = append(out.Tools, s.simulated(e, now)...)
			out.Pending = append(out.Pending, now.Pending...)
			out.Resources = out.Resources || now.Resources
		}
	}
	slices.Sort(out.Pending)
	out.Pending = slices.Compact(out.Pending)
	return out
}

// simulated are the tools as the bench runs them, made once for each version.
func (s *servers) simulated(e *entry, now tool.Served) []*tool.Tool {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if e.version != now.Version {
		e.version, e.wrapped = now.Version, nil
		for _, t := range now.Tools {
			e.wrapped = append(e.wrapped, s.r.simulate(t))
		}
		if e.spec.Reverse {
			slices.Reverse(e.wrapped)
		}
	}
	return e.wrapped
}

func (s *servers) fleets() []*mcptool.Fleet {
	return tool.Each(s.all, func(e *entry) *mcptool.Fleet { return e.fleet })
}

// close ends the connections, so that no server's end is taken for a loss, and then the
// servers. What is still to be reported is reported before it returns.
func (s *servers) close() {
	if s == nil {
		return
	}
	for _, e := range slices.Backward(s.all) {
		e.fleet.Close()
		e.host.Close()
	}
	_ = s.languages.Close() // it never fails
}

// received is what reached each server; entries of one name stand for one that changed.
func (s *servers) received() map[string]check.Received {
	all := map[string]check.Received{}
	for _, e := range s.all {
		for name, r := range e.host.Received() {
			sum := all[name]
			all[name] = check.Received{
				Called: append(sum.Called, r.Called...), Cancelled: append(sum.Cancelled, r.Cancelled...),
				Opened: sum.Opened + r.Opened, Closed: sum.Closed + r.Closed,
			}
		}
	}
	return all
}

// serverFaults are those that the scenario names by their calls, for all servers.
func serverFaults(sc *scenario.Scenario) []scenario.ServerFault {
	var all []scenario.ServerFault
	for _, f := range sc.Faults {
		if f.Server != nil {
			all = append(all, *f.Server)
		}
	}
	return all
}

// serverOptions are how the servers of an entry behave; more are faults of calls.
func serverOptions(spec scenario.Server, more []scenario.ServerFault) world.HostOptions {
	o := world.HostOptions{Answers: spec.Answers, Asks: map[string]world.ServerAsk{}, Resources: spec.Resources, Prompts: spec.Prompts, TTL: spec.TTL.D(), Results: map[string]json.RawMessage{}}
	for name, result := range spec.Results {
		o.Results[name], _ = json.Marshal(result) // it came out of a file, so it can be written
	}
	for name, a := range spec.Asks {
		ask := world.ServerAsk{Message: a.Message, URL: a.URL, Forgets: a.Forgets}
		if raw, err := json.Marshal(a.Schema); err == nil && a.Schema != nil {
			ask.Schema = raw
		}
		o.Asks[name] = ask
	}
	for _, f := range slices.Concat(spec.Faults, more) {
		o.Faults = append(o.Faults, world.ServerFault{
			Server: f.Server, Call: f.Call, Tool: f.Tool, Connect: f.Connect,
			Gone: f.Gone, Back: f.Back.D(), Twice: f.Duplicate, Stray: f.Unknown, Rubbish: f.Rubbish, Unsubscribed: f.Unsubscribed, Slow: f.Slow.D(), Progress: f.Progress.D(),
			Refused: f.Refused, ListFails: f.List == "fails", ListHangs: f.List == "hangs", ListCareless: f.List == "careless",
		})
	}
	return o
}

// scheduledList is what a server's list changes to, and when.
type scheduledList struct {
	turn    int
	servers world.Catalogue
	without []string
	fault   world.ServerFault
}

// listNotice is more than the library takes to notify clients of another list.
const listNotice = 11 * time.Millisecond

// laterLists reads the lists an entry changes to, by turn.
func laterLists(sc *scenario.Scenario, key string, spec scenario.Server) ([]scheduledList, error) {
	var all []scheduledList
	for i, l := range spec.Lists {
		file := cmp.Or(l.Catalogue, spec.Catalogue)
		c, err := catalogue(sc, fmt.Sprintf("%s.lists.%d", key, i), file)
		if err != nil {
			return nil, err
		}
		all = append(all, scheduledList{l.Turn, narrow(spec, c), l.Without, world.ServerFault{ListFails: l.List == "fails", ListHangs: l.List == "hangs", ListCareless: l.List == "careless"}})
	}
	slices.SortStableFunc(all, func(a, b scheduledList) int { return a.turn - b.turn })
	return all, nil
}

// relist changes the lists that are due and waits until clients are notified.
func (e *entry) relist(r *runner, turn int) {
	r.mu.Lock()
	var due []scheduledList
	for len(e.due) > 0 && e.due[0].turn <= turn {
		due, e.due = append(due, e.due[0]), e.due[1:]
	}
	r.mu.Unlock()
	for _, d := range due {
		for _, s := range d.servers {
			tools := slices.DeleteFunc(slices.Clone(s.Tools), func(t *mcp.Tool) bool { return slices.Contains(d.without, t.Name) })
			e.host.Unlist(s.Name, d.fault)
			if err := e.host.Relist(s.Name, tools); err != nil {
				r.notes = append(r.notes, strings.TrimSpace(err.Error()))
			}
		}
		_ = r.gate.Sleep(context.Background(), "world/lists/"+e.spec.Catalogue, listNotice)
	}
}

// behindAddress is the way to a server of a catalogue behind an address, which hands its
// tools on as another toolbench does.
func (r *runner) behindAddress(let scenario.ServerHTTP, s world.Server, host *world.Host) (func(context.Context) (mcp.Transport, error), error) {
	tools, _ := mcptool.Tools(mcptool.Listing{Server: mcptool.Server{Name: s.Name, Bare: true}, Tools: s.Tools}) // the client reports what is odd
	server, err := mcptool.Provide(s.Name, "1", tools, func(_ context.Context, tool string, input json.RawMessage) (message.Block, error) {
		return handedOn(host.Answer(s.Name, tool, input))
	})
	if err != nil {
		return nil, err
	}
	web := host.Web(s.Name, mcptool.Handler(server), world.Admission{Asks: let.By != "", Lasts: let.Lasts.D(), Forgets: let.Forgets})
	client := &http.Client{Transport: web}
	return mcptool.HTTP(world.Address(s.Name)+"/mcp", client, r.authorization(let, s.Name, client)), nil
}

// handedOn is a result in the blocks of a conversation.
func handedOn(result *mcp.CallToolResult, err error) (message.Block, error) {
	if err != nil {
		return message.Block{}, err
	}
	var blocks []message.Block
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			blocks = append(blocks, message.Text(c.Text))
		case *mcp.EmbeddedResource:
			blocks = append(blocks, message.Document(c.Resource.MIMEType, base64.StdEncoding.EncodeToString(c.Resource.Blob)))
		case *mcp.ImageContent:
			blocks = append(blocks, message.Image(c.MIMEType, base64.StdEncoding.EncodeToString(c.Data)))
		}
	}
	return message.ToolResult("", result.IsError, blocks...), nil
}

// authorization answers a server that asks for OAuth, nil for one that asks for nothing.
// What is granted is noted in the trace.
func (r *runner) authorization(let scenario.ServerHTTP, server string, client *http.Client) *mcptool.Authorization {
	if let.By == "" {
		return nil
	}
	a := &mcptool.Authorization{Redirect: "http://127.0.0.1/callback", HTTP: client}
	a.Keep = func(g mcptool.Grant) error {
		r.trace(trace.Event{At: r.gate.Since(), Data: trace.Notice{Text: "MCP server " + server + ": " + g.Token.AccessToken + " is granted to " + g.Client.ID}})
		return nil
	}
	if let.By == "secret" {
		a.Client = &mcptool.Client{ID: "bench", Secret: "secret"}
	} else {
		a.Visit = func(ctx context.Context, page string) (url.Values, error) { return r.visits(ctx, let, server, page) }
	}
	if let.Granted {
		a.Grant = &mcptool.Grant{
			Client: mcptool.Client{ID: "registered", Secret: "secret"}, TokenURL: world.Address(server) + "/token", Style: oauth2.AuthStyleInParams,
			Token: &oauth2.Token{AccessToken: "access-0", RefreshToken: "refresh-0", Expiry: r.gate.Now().Add(-time.Hour)},
		}
	}
	return a
}

// visits is the person who visits the page of an authorization server.
func (r *runner) visits(ctx context.Context, let scenario.ServerHTTP, server, page string) (url.Values, error) {
	at, err := url.Parse(page)
	if err != nil {
		return nil, err
	}
	if err := r.gate.Sleep(ctx, "person/visit/"+server, let.After.D()); err != nil {
		return nil, err
	}
	if let.Declines {
		return url.Values{"error": {"access_denied"}, "error_description": {"the person declined"}}, nil
	}
	return url.Values{"code": {"code"}, "state": {at.Query().Get("state")}}, nil
}
