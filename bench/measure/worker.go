package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// Described is what a program says of one of its peers.
type Described struct {
	Name    string `json:"name"`
	Module  string `json:"module,omitempty"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
	Ours    bool   `json:"ours,omitempty"`
}

// Costs are the two inputs of the no-op case.
type Costs struct {
	Five Cost `json:"five"`
	One  Cost `json:"one"`
}

// Cases are the names a worker knows: "cost", "span" and those of Troubles.
func Cases() []string { return append([]string{"cost", "span"}, Troubles()...) }

// Work is the worker's side: `list`, or `PEER CASE BUDGET`; the answer is one JSON
// value. It is an error when there is no such peer or case, and when the peer does
// not do what it is asked to.
func Work(peers []Peer, args []string, out io.Writer) error {
	if len(args) == 1 && args[0] == "list" {
		return json.NewEncoder(out).Encode(describe(peers))
	}
	if len(args) != 3 {
		return fmt.Errorf("a worker takes `list`, or a peer, a case and a budget; got %q", args)
	}
	budget, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	for _, p := range peers {
		if p.Name == args[0] {
			value, err := sample(p, args[1], budget)
			if err != nil {
				return err
			}
			return json.NewEncoder(out).Encode(value)
		}
	}
	return fmt.Errorf("there is no peer %q", args[0])
}

func sample(p Peer, name string, budget time.Duration) (any, error) {
	switch name {
	case "cost":
		five, err := CostOf(p, false, budget)
		if err != nil {
			return nil, err
		}
		one, err := CostOf(p, true, budget)
		return Costs{Five: five, One: one}, err
	case "span":
		return SpanOf(p)
	}
	if _, known := troubles[name]; !known {
		return nil, fmt.Errorf("there is no case %q; there are %q", name, Cases())
	}
	return TroubleOf(p, name)
}

func describe(peers []Peer) []Described {
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			versions[d.Path] = d.Version
		}
	}
	out := make([]Described, len(peers))
	for i, p := range peers {
		out[i] = Described{Name: p.Name, Module: p.Module, Version: versions[p.Module], Path: p.Path, Ours: p.Ours}
	}
	return out
}
