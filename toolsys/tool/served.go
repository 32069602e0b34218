package tool

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"toolbench/toolsys/message"
)

// Servers is the way to connected MCP servers, as functions, so that a program
// without servers does not link their protocol. The zero value has none.
type Servers struct {
	// Served gives what the servers offer at this moment. Its context ends when the
	// conversation is stopped or the user sends a message: then nobody waits for servers.
	Served func(context.Context) Served
	// Resources lists what a server offers to be read, or all servers where none is
	// named; ReadResource gives the content of one (N8).
	Resources    func(ctx context.Context, server string) ([]Resource, error)
	ReadResource func(ctx context.Context, server, uri string) ([]message.Block, error)
	// Prompts lists the prompts of all servers, by server and in its order; Prompt fills
	// one in, as the messages it begins a turn with (N9).
	Prompts func(ctx context.Context) ([]ServerPrompt, error)
	Prompt  func(ctx context.Context, server, name string, args map[string]string) ([]message.Block, error)
}

// ServerPrompt is a text of a server's that a person asks for by name, like a command.
type ServerPrompt struct {
	Server, Name, Description string
	Arguments                 []PromptArgument
}

// Fill gives the arguments that words stand for, in order; the last takes the words that are
// left. It is an error when one that is required has none.
func (p ServerPrompt) Fill(words string) (map[string]string, error) {
	given := map[string]string{}
	rest := strings.TrimSpace(words)
	for i, a := range p.Arguments {
		value, more := rest, ""
		if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 && i < len(p.Arguments)-1 {
			value, more = rest[:end], strings.TrimSpace(rest[end:])
		}
		rest = more
		switch {
		case value != "":
			given[a.Name] = value
		case a.Required:
			return nil, fmt.Errorf("it needs %s: %s", a.Name, a.Description)
		}
	}
	return given, nil
}

// PromptArgument is what a prompt is filled in with.
type PromptArgument struct {
	Name, Description string
	Required          bool
}

// Served is what connected servers offer at one moment.
type Served struct {
	// Tools are sorted by name. Version changes whenever they may have.
	Tools   []*Tool
	Version int
	// Pending are the servers that are being connected, for the first time or again.
	// Resources is true where a connected server has resources (C3, N8).
	Pending   []string
	Resources bool
	// Gone gives the reason why a tool that was served before is not any more, "" for one
	// that never was (N6); nil where nothing is recorded of it.
	Gone func(name string) string
}

// Resource is one thing that a server offers to be read (N8).
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"mimeType,omitempty"`
}
