package mcptool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// ErrNoServer is the error of a name that no connected server has.
var ErrNoServer = errors.New("there is no such MCP server")

// Resources lists what a server offers to be read, or all servers that are there where
// none is named, by server and in its order (N8). Errors: ErrNoServer, ErrGone, and
// those of the server.
func (f *Fleet) Resources(ctx context.Context, server string) ([]tool.Resource, error) {
	if server != "" && f.find(server) == nil {
		return nil, joined{f}.noServer(server)
	}
	wanted := func(l *link) bool { return l.Name == server || server == "" && l.readable() }
	return listed(ctx, f, "resources", wanted, func(l *link, from *mcp.ClientSession, cursor string) ([]tool.Resource, string, error) {
		page, err := from.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return tool.Each(page.Resources, func(r *mcp.Resource) tool.Resource {
			return tool.Resource{Server: l.Name, URI: r.URI, Name: r.Name, Description: r.Description, MediaType: r.MIMEType}
		}), page.NextCursor, nil
	})
}

// listed gives, page after page, what the servers list of which wanted is true.
func listed[T any](ctx context.Context, f *Fleet, what string, wanted func(*link) bool, page func(l *link, from *mcp.ClientSession, cursor string) ([]T, string, error)) ([]T, error) {
	var all []T
	for _, l := range f.links {
		if !wanted(l) {
			continue
		}
		session, err := l.client(ctx)
		if err != nil {
			return nil, err
		}
		found, err := pages(what, func(cursor string) ([]T, string, error) {
			found, next, err := page(l, session, cursor)
			if err != nil {
				err = l.unanswered(ctx, session, err)
			}
			return found, next, err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// given asks a server for one thing. One that asks something before it gives what is no call
// is refused: only calls have a person to be asked.
func given[R interface{ NeedsInput() bool }](ctx context.Context, f *Fleet, server, what string, ask func(*mcp.ClientSession) (R, error)) (got R, err error) {
	l := f.find(server)
	if l == nil {
		return got, joined{f}.noServer(server)
	}
	session, err := l.client(ctx)
	if err != nil {
		return got, err
	}
	got, err = ask(session)
	switch {
	case err != nil:
		return got, l.unanswered(ctx, session, err)
	case got.NeedsInput():
		return got, fmt.Errorf("%w: %q wants something answered before it gives the %s", ErrRefused, l.Name, what)
	}
	return got, nil
}

// noServer is the error of a name that no server of the fleets has.
func (j joined) noServer(name string) error {
	var names []string
	for _, f := range j {
		for _, l := range f.links {
			if l.readable() {
				names = append(names, l.Name)
			}
		}
	}
	slices.Sort(names)
	return fmt.Errorf("%w: %q; those with resources are: %s", ErrNoServer, name, strings.Join(names, ", "))
}

// Up reports whether a server of that name is connected.
func (f *Fleet) Up(server string) bool {
	l := f.find(server)
	f.mu.Lock()
	defer f.mu.Unlock()
	return l != nil && l.phase == up
}

func (l *link) readable() bool  { return l.has(func(v *session) bool { return v.resources }) }
func (l *link) prompting() bool { return l.has(func(v *session) bool { return v.prompts }) }

// has reports whether the server is there and its session has something.
func (l *link) has(what func(*session) bool) bool {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.phase == up && what(l.current)
}

// ReadResource reads one resource of a server, as blocks for the model (N8). Errors:
// ErrNoServer, ErrGone, and those of the server.
func (f *Fleet) ReadResource(ctx context.Context, server, uri string) ([]message.Block, error) {
	read, err := given(ctx, f, server, "resource "+uri, func(from *mcp.ClientSession) (*mcp.ReadResourceResult, error) {
		return from.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	})
	if err != nil {
		return nil, err
	}
	return tool.Each(read.Contents, resource), nil
}

func (l *link) unanswered(ctx context.Context, session *mcp.ClientSession, err error) error {
	return listedTool{server: l.server()}.worded(ctx, session, err)
}

// Prompts lists the prompts of all servers that are there and have some, by server and
// in its order (N9). Errors: ErrGone, and those of a server.
func (f *Fleet) Prompts(ctx context.Context) ([]tool.ServerPrompt, error) {
	return listed(ctx, f, "prompts", (*link).prompting, func(l *link, from *mcp.ClientSession, cursor string) ([]tool.ServerPrompt, string, error) {
		page, err := from.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return tool.Each(page.Prompts, func(p *mcp.Prompt) tool.ServerPrompt {
			arguments := tool.Each(p.Arguments, func(a *mcp.PromptArgument) tool.PromptArgument {
				return tool.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required}
			})
			return tool.ServerPrompt{Server: l.Name, Name: p.Name, Description: p.Description, Arguments: arguments}
		}), page.NextCursor, nil
	})
}

// Prompt fills in a server's prompt and gives its messages' content in order, as blocks
// for the model. Errors: ErrNoServer, ErrGone, and those of the server.
func (f *Fleet) Prompt(ctx context.Context, server, name string, args map[string]string) ([]message.Block, error) {
	filled, err := given(ctx, f, server, "prompt "+name, func(from *mcp.ClientSession) (*mcp.GetPromptResult, error) {
		return from.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	})
	if err != nil {
		return nil, err
	}
	return tool.Each(filled.Messages, func(m *mcp.PromptMessage) message.Block { return block(m.Content) }), nil
}
