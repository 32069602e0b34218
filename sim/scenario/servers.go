package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toolbench/sim/world/mcpserve"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/tool"
)

// servers are the run's MCP servers: real ones over the SDK's in-memory transport.
type servers struct {
	r     *runner
	ends  []func()
	tools []servedTool
}

// servedTool is a server's tool and the turns it is there in.
type servedTool struct {
	tool        *tool.Tool
	server      string
	from, until int
}

func (r *runner) connect(ctx context.Context) (*servers, error) {
	s := &servers{r: r}
	for i, spec := range r.sc.World.MCP {
		if err := s.add(ctx, i, spec); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *servers) add(ctx context.Context, i int, spec Server) error {
	key := fmt.Sprintf("world.mcp.%d", i)
	data, err := s.r.sc.open(key, spec.Catalogue)
	if err != nil {
		return err
	}
	catalogue, err := mcpserve.Parse(spec.Catalogue, data)
	if err != nil {
		return s.r.sc.errorAt(key, err.Error(), "")
	}
	catalogue = spec.narrow(catalogue)
	answers := map[string]mcpserve.Answer{}
	for name, text := range spec.Answers {
		answers[name] = mcpserve.Text(text)
	}
	sessions, end, err := mcpserve.Connect(ctx, catalogue, mcpserve.Options{Answers: answers})
	if err != nil {
		return s.r.sc.errorAt(key, err.Error(), "")
	}
	s.ends = append(s.ends, end)
	var connected []mcptool.Server
	for _, c := range sessions {
		connected = append(connected, mcptool.Server{Name: c.Name, Bare: spec.Bare, Session: mcptool.Fixed(c.Client)})
	}
	tools, reports := mcptool.Load(ctx, connected...)
	for _, report := range reports {
		s.r.notes = append(s.r.notes, report.String())
	}
	if spec.Reverse {
		slices.Reverse(tools)
	}
	for _, t := range tools {
		s.tools = append(s.tools, servedTool{s.r.simulate(t), t.Origin.Server, spec.FromTurn, spec.UntilTurn})
	}
	return nil
}

// narrow keeps the servers that are asked for, in the order that is asked for.
func (spec Server) narrow(c mcpserve.Catalogue) mcpserve.Catalogue {
	if len(spec.Only) > 0 {
		c = slices.DeleteFunc(slices.Clone(c), func(s mcpserve.Server) bool { return !slices.Contains(spec.Only, s.Name) })
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
// are said to be pending.
func (s *servers) served() loop.Served {
	s.r.mu.Lock()
	turn := max(s.r.turn, 1)
	s.r.mu.Unlock()
	var out loop.Served
	pending := map[string]bool{}
	for _, t := range s.tools {
		switch {
		case turn < t.from:
			pending[t.server] = true
		case t.until == 0 || turn <= t.until:
			out.Tools = append(out.Tools, t.tool)
		}
	}
	out.Pending = slices.Sorted(maps.Keys(pending))
	return out
}

func (s *servers) close() {
	if s == nil {
		return
	}
	for _, end := range slices.Backward(s.ends) {
		end()
	}
}
