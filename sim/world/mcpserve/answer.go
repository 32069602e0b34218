package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Answer is what a tool does with a call's arguments, a JSON object. An error is a
// protocol error, as a broken server gives; a tool that fails gives [Fail].
type Answer func(ctx context.Context, args json.RawMessage) (*mcp.CallToolResult, error)

// Text always answers text.
func Text(text string) Answer {
	return func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// Fail always answers that the tool failed, and how.
func Fail(text string) Answer {
	return func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// Echo answers with the arguments: compact, members sorted, numbers as they came, so
// that equal arguments give equal bytes. It is the answer of a tool without another.
func Echo(_ context.Context, args json.RawMessage) (*mcp.CallToolResult, error) {
	text, err := canonical(args)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

func canonical(args json.RawMessage) (string, error) {
	if len(args) == 0 {
		return "{}", nil
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}
