package mcptool

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// Prompts lists the prompts of all servers that are there and have some, by server and
// in its order (N9). Errors: ErrGone, and those of a server.
func (f *Fleet) Prompts(ctx context.Context) ([]tool.ServerPrompt, error) {
	var all []tool.ServerPrompt
	for _, l := range f.links {
		if !l.prompting() {
			continue
		}
		found, err := l.listPrompts(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (l *link) prompting() bool {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.phase == up && l.current.prompts
}

func (l *link) listPrompts(ctx context.Context) ([]tool.ServerPrompt, error) {
	session, err := l.client(ctx)
	if err != nil {
		return nil, err
	}
	return pages("prompts", func(cursor string) ([]tool.ServerPrompt, string, error) {
		page, err := session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", l.unanswered(ctx, session, err)
		}
		var out []tool.ServerPrompt
		for _, p := range page.Prompts {
			one := tool.ServerPrompt{Server: l.Name, Name: p.Name, Description: p.Description}
			for _, a := range p.Arguments {
				one.Arguments = append(one.Arguments, tool.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
			}
			out = append(out, one)
		}
		return out, page.NextCursor, nil
	})
}

// Prompt fills in a server's prompt and gives its messages' content in order, as blocks
// for the model. Errors: ErrNoServer, ErrGone, and those of the server.
func (f *Fleet) Prompt(ctx context.Context, server, name string, args map[string]string) ([]message.Block, error) {
	l := f.find(server)
	if l == nil {
		return nil, f.noServer(server)
	}
	session, err := l.client(ctx)
	if err != nil {
		return nil, err
	}
	filled, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	switch {
	case err != nil:
		return nil, l.unanswered(ctx, session, err)
	case filled.NeedsInput():
		return nil, l.wantsInput("prompt " + name)
	}
	var out []message.Block
	for _, m := range filled.Messages {
		out = append(out, block(m.Content))
	}
	return out, nil
}
