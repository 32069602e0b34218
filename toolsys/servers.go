package toolsys

import (
	"context"
	"errors"
	"slices"

	"toolbench/toolsys/builtin/resources"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/message"
)

// Serve gives a conversation what fleets of MCP servers offer, for loop.Config.Served
// (N3, N6). Open does it by itself for the fleets of Config.Servers.
func Serve(fleets ...*mcptool.Fleet) func(context.Context) loop.Served {
	return func(ctx context.Context) loop.Served {
		var out loop.Served
		for _, f := range fleets {
			s := f.Served(ctx)
			out.Tools = append(out.Tools, s.Tools...)
			out.Pending = append(out.Pending, s.Pending...)
			out.Resources = out.Resources || s.Resources
		}
		slices.Sort(out.Pending)
		out.Gone = Gone(fleets...)
		return out
	}
}

// Gone says why a tool that one of the fleets served is not any more, for
// loop.Served.Gone (N6).
func Gone(fleets ...*mcptool.Fleet) func(string) string {
	return func(name string) string {
		for _, f := range fleets {
			if why := f.Gone(name); why != "" {
				return why
			}
		}
		return ""
	}
}

// library is what the resource tools read from: all fleets as one (N8).
func library(fleets []*mcptool.Fleet) resources.Deps {
	return resources.Deps{
		List: func(ctx context.Context, server string) ([]resources.Resource, error) {
			var all []resources.Resource
			err := anywhere(fleets, server, func(f *mcptool.Fleet) error {
				found, err := f.Resources(ctx, server)
				for _, r := range found {
					all = append(all, resources.Resource(r))
				}
				return err
			})
			return all, err
		},
		Read: func(ctx context.Context, server, uri string) (blocks []message.Block, err error) {
			err = anywhere(fleets, server, func(f *mcptool.Fleet) error {
				blocks, err = f.ReadResource(ctx, server, uri)
				return err
			})
			return blocks, err
		},
	}
}

// anywhere asks the fleet that has the server; every fleet where none is named, and
// where none has it, so that the error names those that are there.
func anywhere(fleets []*mcptool.Fleet, server string, do func(*mcptool.Fleet) error) error {
	var errs []error
	for _, f := range fleets {
		if server != "" && f.Has(server) {
			return do(f)
		}
	}
	for _, f := range fleets {
		errs = append(errs, do(f))
	}
	if len(fleets) == 0 {
		return mcptool.ErrNoServer
	}
	return errors.Join(errs...)
}
