package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/sim/scenario"
	"toolbench/sim/world/mcpserve"
)

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

// options are how the servers of an entry behave; more is what befalls calls beside.
func serverOptions(spec scenario.Server, more []scenario.ServerFault) mcpserve.Options {
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
func laterLists(sc *scenario.Scenario, key string, spec scenario.Server) ([]dueList, error) {
	var all []dueList
	for i, l := range spec.Lists {
		file := l.Catalogue
		if file == "" {
			file = spec.Catalogue
		}
		c, err := catalogue(sc, fmt.Sprintf("%s.lists.%d", key, i), file)
		if err != nil {
			return nil, err
		}
		all = append(all, dueList{l.Turn, narrow(spec, c), l.Without, mcpserve.Fault{ListFails: l.List == "fails", ListHangs: l.List == "hangs"}})
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
