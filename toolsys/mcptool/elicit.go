package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/schema"
	"toolbench/toolsys/tool"
)

// accept is the action of an answer that lets the call go on.
const accept = "accept"

// visit puts the questions that a server wants answered first (N5), in its order;
// the call goes on only when each was accepted.
func (o listedTool) visit(ctx context.Context, refusal *jsonrpc.Error, c *tool.Context) error {
	var wanted struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if err := json.Unmarshal(refusal.Data, &wanted); err != nil || len(wanted.Elicitations) == 0 {
		return fmt.Errorf("%w: %q wants something answered first but does not name it", ErrRefused, o.server.Name)
	}
	for _, question := range wanted.Elicitations {
		answer, err := put(ctx, o.server.Name, question, c)
		switch {
		case err != nil:
			return err
		case answer.Action != accept:
			return fmt.Errorf("%w: %q wanted something answered first, and the answer was %q", ErrRefused, o.server.Name, answer.Action)
		}
	}
	return nil
}

// fulfil answers what a server needs to go on, one question after the other by their
// names, so that the person is asked in the same order each time.
func (o listedTool) fulfil(ctx context.Context, wanted mcp.InputRequestMap, c *tool.Context) (mcp.InputResponseMap, error) {
	if len(wanted) == 0 {
		return nil, fmt.Errorf("%w: %q is busy; try later", ErrRefused, o.server.Name)
	}
	answers := mcp.InputResponseMap{}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		question, ok := wanted[name].(*mcp.ElicitParams)
		if !ok {
			return nil, fmt.Errorf("%w: %q asks for something that is not given here (%T)", ErrRefused, o.server.Name, wanted[name])
		}
		answer, err := ask(ctx, o.server.Name, question, c)
		if err != nil {
			return nil, err
		}
		answers[name] = answer
	}
	return answers, nil
}

// elicited answers a question that a server of the older protocol puts by itself. It
// does not name the call, so the one it has worked on for longest counts; without
// any, the question is declined.
func (l *link) elicited(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	l.f.mu.Lock()
	var call *openCall
	if len(l.calls) > 0 {
		call = l.calls[0]
	}
	l.f.mu.Unlock()
	if call == nil {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	both, end := context.WithCancelCause(call.ctx)
	defer end(nil)
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	return ask(both, l.Name, req.Params, call.c)
}

// ask puts one question; an answer that does not fit the form is an error.
func ask(ctx context.Context, server string, question *mcp.ElicitParams, c *tool.Context) (*mcp.ElicitResult, error) {
	answer, err := put(ctx, server, written(question), c)
	if err != nil {
		return nil, err
	}
	if answer.Action != accept || question.Mode == "url" {
		answer.Content = nil
		return answer, nil
	}
	return answer, fits(server, question, answer)
}

// fits holds a form's answer to the form.
func fits(server string, question *mcp.ElicitParams, answer *mcp.ElicitResult) error {
	if question.RequestedSchema == nil {
		return nil
	}
	compiled, err := schema.Compile(written(question.RequestedSchema))
	if err != nil {
		return fmt.Errorf("the form of %q cannot be read: %w", server, err)
	}
	content := answer.Content
	if content == nil {
		content = map[string]any{}
	}
	if problems := compiled.Validate(written(content)); len(problems) > 0 {
		return fmt.Errorf("the answer to %q does not fit its form: %s", server, problems)
	}
	return nil
}

// put hands a question on as it came; where nobody can be asked it is declined.
func put(ctx context.Context, server string, question json.RawMessage, c *tool.Context) (*mcp.ElicitResult, error) {
	if c.Elicit == nil {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	raw, err := c.Elicit(ctx, server, question)
	if err != nil {
		return nil, err
	}
	var answer mcp.ElicitResult
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("the answer to %q cannot be read: %w", server, err)
	}
	return &answer, nil
}
