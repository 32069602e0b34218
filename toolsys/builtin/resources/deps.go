package resources

import (
	"context"
	"errors"

	"toolbench/toolsys/message"
)

// Resource is one thing a server offers to be read.
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"mimeType,omitempty"`
}

// Deps is the way to the servers. Without one, both tools fail and say so.
type Deps struct {
	// List gives the resources of a server, or of all where none is named, in the
	// servers' order.
	List func(ctx context.Context, server string) ([]Resource, error)
	// Read gives one resource's content.
	Read func(ctx context.Context, server, uri string) ([]message.Block, error)
}

// ErrNone says that no server can be reached.
var ErrNone = errors.New("no MCP server is connected")
