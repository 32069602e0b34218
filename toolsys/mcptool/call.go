package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// ErrGone says that a server is not there, or was lost during a call (N4).
var ErrGone = errors.New("the MCP server is gone")

// ErrRefused says that a server answered a call with a protocol error.
var ErrRefused = errors.New("the MCP server refused the call")

// call asks the server. An answer that reports a failure of the tool is a failed
// result; that there is no answer is an error, which says why.
func (o offer) call(ctx context.Context, in json.RawMessage, c *tool.Context) (tool.Result[[]message.Block], error) {
	answer, err := o.send(ctx, in)
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) && refusal.Code == mcp.CodeURLElicitationRequired && c.Elicit != nil {
		if err := o.elicit(ctx, refusal, c); err != nil {
			return tool.Result[[]message.Block]{}, err
		}
		answer, err = o.send(ctx, in)
	}
	if err != nil {
		return tool.Result[[]message.Block]{}, o.worded(ctx, err)
	}
	return tool.Result[[]message.Block]{Data: blocks(answer), Failed: answer.IsError, Meta: meta(answer)}, nil
}

func (o offer) send(ctx context.Context, in json.RawMessage) (*mcp.CallToolResult, error) {
	session, err := o.server.Session(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mcp.ErrConnectionClosed, err)
	}
	return session.CallTool(ctx, &mcp.CallToolParams{Name: o.tool.Name, Arguments: in})
}

// worded says in the model's terms why there is no answer.
func (o offer) worded(ctx context.Context, err error) error {
	var refusal *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, mcp.ErrConnectionClosed), errors.Is(err, mcp.ErrSessionMissing), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrClosedPipe), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %q did not answer (%w)", ErrGone, o.server.Name, err)
	case errors.As(err, &refusal):
		return fmt.Errorf("%w: %q: %s (code %d)", ErrRefused, o.server.Name, refusal.Message, refusal.Code)
	}
	return fmt.Errorf("MCP server %q: %w", o.server.Name, err)
}

// elicit puts the questions that a server wants answered first (N5), in its order;
// the call goes on only when each was accepted.
func (o offer) elicit(ctx context.Context, refusal *jsonrpc.Error, c *tool.Context) error {
	var wanted struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if err := json.Unmarshal(refusal.Data, &wanted); err != nil || len(wanted.Elicitations) == 0 {
		return fmt.Errorf("%w: %q wants something answered first but does not say what", ErrRefused, o.server.Name)
	}
	for _, question := range wanted.Elicitations {
		raw, err := c.Elicit(ctx, o.server.Name, question)
		if err != nil {
			return err
		}
		var answer mcp.ElicitResult
		if err := json.Unmarshal(raw, &answer); err != nil {
			return fmt.Errorf("the answer to %q cannot be read: %w", o.server.Name, err)
		}
		if answer.Action != "accept" {
			return fmt.Errorf("%w: %q wanted something answered first, and the answer was %q", ErrRefused, o.server.Name, answer.Action)
		}
	}
	return nil
}

// meta is what came beside the content; nil when nothing did.
func meta(answer *mcp.CallToolResult) *tool.Meta {
	if len(answer.Meta) == 0 && answer.StructuredContent == nil {
		return nil
	}
	return &tool.Meta{Meta: written(answer.Meta), Structured: written(answer.StructuredContent)}
}

// written is v as JSON with its members sorted, nil for nothing. v came out of JSON,
// so it can be written.
func written(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "null" {
		return nil
	}
	return raw
}
