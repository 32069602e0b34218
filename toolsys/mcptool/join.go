package mcptool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

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
	var all []tool.Resource
	err := j.ask(server, func(f *Fleet) error {
		found, err := f.Resources(ctx, server)
		all = append(all, found...)
		return err
	})
	slices.SortStableFunc(all, func(a, b tool.Resource) int { return strings.Compare(a.Server, b.Server) })
	return all, err
}

func (j joined) readResource(ctx context.Context, server, uri string) (blocks []message.Block, err error) {
	err = j.ask(server, func(f *Fleet) error {
		blocks, err = f.ReadResource(ctx, server, uri)
		return err
	})
	return blocks, err
}

func (j joined) prompts(ctx context.Context) ([]tool.ServerPrompt, error) {
	var all []tool.ServerPrompt
	err := j.ask("", func(f *Fleet) error {
		found, err := f.Prompts(ctx)
		all = append(all, found...)
		return err
	})
	return all, err
}

func (j joined) prompt(ctx context.Context, server, name string, args map[string]string) (blocks []message.Block, err error) {
	err = j.ask(server, func(f *Fleet) error {
		blocks, err = f.Prompt(ctx, server, name, args)
		return err
	})
	return blocks, err
}

// ask asks the fleet that has the server, and every fleet where none is named. What that gives
// depends on the servers, and not on the order in which they were configured (D3).
func (j joined) ask(server string, do func(*Fleet) error) error {
	var errs []error
	for _, f := range j {
		if server != "" && f.Has(server) {
			return do(f)
		}
	}
	if server != "" || len(j) == 0 {
		return j.noServer(server)
	}
	for _, f := range j {
		errs = append(errs, do(f))
	}
	return errors.Join(errs...)
}
