package mcptool

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/message"
	"toolbench/toolsys/schema"
	"toolbench/toolsys/tool"
)

// ErrGone is the error of a server that is not there, or was lost during a call (N4).
var ErrGone = errors.New("the MCP server is gone")

// ErrRefused is the error of a call that a server answered with a protocol error.
var ErrRefused = errors.New("the MCP server refused the call")

// MetaCall is the key of a request's _meta under which a server is sent the id of the
// call, so that its log and ours can be laid side by side.
const MetaCall = "toolbench/call"

// maxRounds bounds how often a server may ask before it answers one call, maxAgain how often it only wants to be called again.
const maxRounds, maxAgain, pause = 10, 3, 250 * time.Millisecond

// call asks the server. An answer that reports a failure of the tool is a failed
// result; that there is no answer is an error with its reason.
func (o listedTool) call(ctx context.Context, in json.RawMessage, c *tool.Context) (tool.Result[[]message.Block], error) {
	var token any
	if o.server.track != nil {
		tracked, done := o.server.track(ctx, c)
		defer done()
		token = tracked
	}
	answer, err := o.converse(ctx, in, token, c)
	if err != nil {
		return tool.Result[[]message.Block]{}, err
	}
	got := tool.Result[[]message.Block]{Data: blocks(answer), Failed: answer.IsError, Meta: meta(answer)}
	if mismatch := o.mismatch(answer); mismatch != "" {
		got.Failed, got.Data = true, append(got.Data, message.Text("[This does not match the output schema of the server's tool: "+mismatch+"]"))
	}
	return got, nil
}

// mismatch is why structured content is none that the tool's output schema allows: clients have to look, says the protocol.
// Where there is none the text is taken, as from servers that only describe what they give.
func (o listedTool) mismatch(answer *mcp.CallToolResult) string {
	structured := written(answer.StructuredContent)
	if o.output == nil || answer.IsError || structured == nil {
		return ""
	}
	return strings.Join(tool.Each(o.output.Validate(structured), func(p schema.Problem) string { return p.Message }), " ")
}

// converse makes the call, and makes it again with what the server asked for first, as
// often as it asks (N5). The token is what the server reports progress with, or nil.
func (o listedTool) converse(ctx context.Context, in json.RawMessage, token any, c *tool.Context) (*mcp.CallToolResult, error) {
	session, err := o.server.Session(ctx)
	if err != nil {
		if !errors.Is(err, ErrGone) {
			err = fmt.Errorf("%w: %w", ErrGone, err)
		}
		return nil, o.worded(ctx, session, err)
	}
	params, again := mcp.CallToolParams{Name: o.tool.Name, Arguments: in}, 0
	for range maxRounds {
		try := params // the library writes into what it sends
		try.Meta = mcp.Meta{MetaCall: c.CallID}
		if token != nil {
			try.SetProgressToken(token)
		}
		answer, err := session.CallTool(ctx, &try)
		refusal, refused := errors.AsType[*jsonrpc.Error](err)
		switch {
		case refused && refusal.Code == mcp.CodeURLElicitationRequired && c.Elicit != nil: // pages are to be visited first
			err = o.visit(ctx, refusal, c)
		case err != nil:
			return nil, o.worded(ctx, session, err)
		case !answer.NeedsInput():
			return answer, nil
		case len(answer.InputRequests) == 0 && answer.RequestState != "" && again < maxAgain && c.Clock.Sleep != nil:
			again++
			params.RequestState, params.InputResponses = answer.RequestState, nil
			err = c.Clock.Sleep(ctx, "tool/"+c.CallID, pause)
		default:
			params.RequestState = answer.RequestState
			params.InputResponses, err = o.fulfil(ctx, answer.InputRequests, c)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: %q asked %d times and did not answer", ErrRefused, o.server.Name, maxRounds)
}

// worded gives the reason, in the model's terms, why there is no answer. It does not
// depend on which of several errors of a broken connection was seen first.
func (o listedTool) worded(ctx context.Context, session *mcp.ClientSession, err error) error {
	var refusal *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &refusal) && refusal.Code != unsent:
		return fmt.Errorf("%w: %q: %s (code %d)", ErrRefused, o.server.Name, refusal.Message, refusal.Code)
	case errors.Is(err, ErrGone):
		return err
	case o.server.broken != nil && o.server.broken(session, err):
		return fmt.Errorf("%w: %q was lost before it answered; whether it acted is not known%s", ErrGone, o.server.Name, o.server.hope)
	case severed(err):
		return fmt.Errorf("%w: %q did not answer (%w)", ErrGone, o.server.Name, err)
	}
	return fmt.Errorf("MCP server %q: %w", o.server.Name, err)
}

// unsent is the code that the library gives for a message that could not be sent. It
// looks like a server's own error and is none.
const unsent = -32005

// severed reports whether an error is one of the connection and not of what was sent.
func severed(err error) bool {
	var network net.Error
	var refusal *jsonrpc.Error
	if errors.As(err, &network) || errors.As(err, &refusal) && refusal.Code == unsent {
		return true
	}
	signs := []error{mcp.ErrConnectionClosed, mcp.ErrSessionMissing, io.EOF, io.ErrClosedPipe, io.ErrUnexpectedEOF}
	return slices.ContainsFunc(signs, func(sign error) bool { return errors.Is(err, sign) })
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

// shown are the image types that a model takes.
var shown = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// blocks turns an answer's content into blocks, in order. Structured content stands
// in where there is no other; what a model cannot be shown becomes a line that
// describes it.
func blocks(answer *mcp.CallToolResult) []message.Block {
	out := tool.Each(answer.Content, block)
	if len(out) == 0 {
		if raw := written(answer.StructuredContent); raw != nil {
			out = append(out, message.Text(string(raw)))
		}
	}
	return out
}

func block(c mcp.Content) message.Block {
	switch c := c.(type) {
	case *mcp.TextContent:
		return message.Text(c.Text)
	case *mcp.ImageContent:
		return binary("image", c.MIMEType, "", c.Data)
	case *mcp.AudioContent:
		return binary("audio", c.MIMEType, "", c.Data)
	case *mcp.ResourceLink:
		return message.Text(pointer(c))
	case *mcp.EmbeddedResource:
		return resource(c.Resource)
	}
	return message.Text(fmt.Sprintf("[content of a kind that cannot be shown: %T]", c))
}

// binary shows what a model can look at and names what it cannot.
func binary(kind, mediaType, uri string, data []byte) message.Block {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	switch mediaType = strings.TrimSpace(mediaType); {
	case shown[mediaType]:
		return message.Image(mediaType, base64.StdEncoding.EncodeToString(data))
	case mediaType == "application/pdf":
		return message.Document(mediaType, base64.StdEncoding.EncodeToString(data))
	}
	if uri != "" {
		uri = " " + uri
	}
	return message.Text(fmt.Sprintf("[%s%s of type %q, %d bytes, which cannot be shown]", kind, uri, mediaType, len(data)))
}

func pointer(l *mcp.ResourceLink) string {
	text := fmt.Sprintf("[resource %s: %s]", l.Name, l.URI)
	if l.Description != "" {
		text += " " + l.Description
	}
	return text
}

func resource(r *mcp.ResourceContents) message.Block {
	switch {
	case r == nil:
		return message.Text("[empty resource]")
	case r.Blob != nil:
		return binary("resource", r.MIMEType, r.URI, r.Blob)
	}
	return message.Text(fmt.Sprintf("[resource %s]\n%s", r.URI, r.Text))
}
