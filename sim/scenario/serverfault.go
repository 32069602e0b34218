package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/sim/world/mcpserve"
)

// ServerList is another list of a server's tools, from one request on (N6).
type ServerList struct {
	// Turn is the request before which the list changes, counted from 1. The server's
	// word of it takes 10 ms, which the request waits for.
	Turn int `yaml:"turn"`
	// Catalogue holds the new list; not given, the list at hand. Without leaves these
	// tools out of it.
	Catalogue string   `yaml:"catalogue"`
	Without   []string `yaml:"without"`
	// List is what becomes of the list when it is asked for: fails or hangs.
	List string `yaml:"list"`
}

// ServerFault is one thing that goes wrong with a server (O7). Call or Tool (the server's
// own name for it) names the calls it befalls, Connect the connection, counted from 1;
// Server is for catalogues of several.
type ServerFault struct {
	Server  string `yaml:"server"`
	Call    string `yaml:"call"`
	Tool    string `yaml:"tool"`
	Connect int    `yaml:"connect"`

	// Gone takes the server away when the call reaches it; Back is when it can be
	// connected again, never if not given.
	Gone bool     `yaml:"gone"`
	Back Duration `yaml:"back"`
	// Duplicate answers the call twice; Unknown first answers a request nobody made;
	// Rubbish is sent in place of the answer.
	Duplicate bool   `yaml:"duplicate"`
	Unknown   bool   `yaml:"unknown"`
	Rubbish   string `yaml:"rubbish"`
	// Slow is how long the server takes for the answer.
	Slow Duration `yaml:"slow"`
	// Refused turns the connection down. List is what becomes of the list asked for
	// when it is connected: fails or hangs.
	Refused bool   `yaml:"refused"`
	List    string `yaml:"list"`
}

// ServerAsk is a question that a tool of a server puts to the person before it works
// (N5): a form, or, with a URL, a page to visit.
type ServerAsk struct {
	Message string         `yaml:"message"`
	Schema  map[string]any `yaml:"schema"`
	URL     string         `yaml:"url"`
}

// serverFaults are those that the scenario names by their calls, for all servers.
func (sc *Scenario) serverFaults() []ServerFault {
	var all []ServerFault
	for _, f := range sc.Faults {
		if f.server != nil {
			all = append(all, *f.server)
		}
	}
	return all
}

// options are how the servers of an entry behave; more is what befalls calls beside.
func (spec Server) options(more []ServerFault) mcpserve.Options {
	o := mcpserve.Options{Answers: map[string]mcpserve.Answer{}, Asks: map[string]mcpserve.Ask{}, Resources: spec.Resources}
	for name, text := range spec.Answers {
		o.Answers[name] = mcpserve.Text(text)
	}
	for name, a := range spec.Asks {
		ask := mcpserve.Ask{Message: a.Message, URL: a.URL}
		if raw, err := json.Marshal(a.Schema); err == nil && a.Schema != nil {
			ask.Schema = raw
		}
		o.Asks[name] = ask
	}
	for _, f := range slices.Concat(spec.Faults, more) {
		o.Faults = append(o.Faults, mcpserve.Fault{
			Server: f.Server, Call: f.Call, Tool: f.Tool, Connect: f.Connect,
			Gone: f.Gone, Back: f.Back.D(), Twice: f.Duplicate, Stray: f.Unknown, Rubbish: f.Rubbish, Slow: f.Slow.D(),
			Refused: f.Refused, ListFails: f.List == "fails", ListHangs: f.List == "hangs",
		})
	}
	return o
}

// checkServers looks at what the format cannot say of servers.
func (sc *Scenario) checkServers() error {
	for i, a := range sc.User.Elicits {
		if !slices.Contains([]string{"accept", "decline", "cancel"}, a.Action) {
			return sc.errorAt(fmt.Sprintf("user.elicits.%d", i), fmt.Sprintf("%q is no answer to a server", a.Action), "write `action: accept`, decline or cancel")
		}
	}
	for i, spec := range sc.World.MCP {
		for j, f := range spec.Faults {
			key := fmt.Sprintf("world.mcp.%d.faults.%d", i, j)
			switch {
			case (f.Call == "" && f.Tool == "") == (f.Connect < 1):
				return sc.errorAt(key, "the fault befalls nothing, or two things", "write call, tool or connect (from 1)")
			case f.List != "" && f.List != "fails" && f.List != "hangs":
				return sc.errorAt(key+".list", fmt.Sprintf("%q is nothing that becomes of a list", f.List), "write fails or hangs")
			case f.Connect > 0 && !f.Refused && f.List == "":
				return sc.errorAt(key, "the fault does nothing to the connection", "write refused: true, or list: fails or hangs")
			}
		}
		for j, l := range spec.Lists {
			if l.List != "" && l.List != "fails" && l.List != "hangs" {
				return sc.errorAt(fmt.Sprintf("world.mcp.%d.lists.%d.list", i, j), fmt.Sprintf("%q is nothing that becomes of a list", l.List), "write fails or hangs")
			}
			if l.Turn < 2 {
				return sc.errorAt(fmt.Sprintf("world.mcp.%d.lists.%d", i, j), "a list changes before the second request or later", "write `turn: 2` or more")
			}
		}
	}
	return nil
}

// dueList is what a list changes to.
type dueList struct {
	turn    int
	servers mcpserve.Catalogue
	without []string
	spoiled mcpserve.Fault
}

// told is more than the library takes to tell clients of another list.
const told = 11 * time.Millisecond

// lists reads the lists an entry changes to, by turn.
func (sc *Scenario) lists(key string, spec Server) ([]dueList, error) {
	var all []dueList
	for i, l := range spec.Lists {
		file := l.Catalogue
		if file == "" {
			file = spec.Catalogue
		}
		c, err := sc.catalogue(fmt.Sprintf("%s.lists.%d", key, i), file)
		if err != nil {
			return nil, err
		}
		all = append(all, dueList{l.Turn, spec.narrow(c), l.Without, mcpserve.Fault{ListFails: l.List == "fails", ListHangs: l.List == "hangs"}})
	}
	slices.SortStableFunc(all, func(a, b dueList) int { return a.turn - b.turn })
	return all, nil
}

// relist changes the lists that are due and waits until clients know.
func (e *entry) relist(r *runner, turn int) {
	r.mu.Lock()
	var due []dueList
	for len(e.due) > 0 && e.due[0].turn <= turn {
		due, e.due = append(due, e.due[0]), e.due[1:]
	}
	r.mu.Unlock()
	for _, d := range due {
		for _, s := range d.servers {
			tools := slices.DeleteFunc(slices.Clone(s.Tools), func(t *mcp.Tool) bool { return slices.Contains(d.without, t.Name) })
			e.host.Unlist(s.Name, d.spoiled)
			if err := e.host.Relist(s.Name, tools); err != nil {
				r.notes = append(r.notes, strings.TrimSpace(err.Error()))
			}
		}
		_ = r.gate.Sleep(context.Background(), "world/lists/"+e.spec.Catalogue, told)
	}
}
