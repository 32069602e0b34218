package mcptool

import (
	"context"
	"net/http"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is the way to a server that is a program: each session starts it anew and ends
// it (N3). The command is the caller's to make, with its environment and its standard
// error.
func Stdio(command func() *exec.Cmd) func(context.Context) (mcp.Transport, error) {
	return func(context.Context) (mcp.Transport, error) {
		return &mcp.CommandTransport{Command: command()}, nil
	}
}

// HTTP is the way to a server behind an address, over streamable HTTP (N3). The library
// is told not to try again by itself: the fleet does, and knows when to give up.
func HTTP(endpoint string, client *http.Client) func(context.Context) (mcp.Transport, error) {
	return func(context.Context) (mcp.Transport, error) {
		return &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client, MaxRetries: -1}, nil
	}
}
