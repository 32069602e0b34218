package run

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"toolbench/sim/scenario"
	"toolbench/sim/world/mcpserve"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/message"
	"toolbench/toolsys/trace"
)

// behindAddress is the way to a server of a catalogue behind an address, which hands its
// tools on as another toolbench does.
func (r *runner) behindAddress(let scenario.ServerHTTP, s mcpserve.Server, host *mcpserve.Host) (func(context.Context) (mcp.Transport, error), error) {
	tools, _ := mcptool.Tools(mcptool.Listing{Server: mcptool.Server{Name: s.Name, Bare: true}, Tools: s.Tools}) // the client reports what is odd
	server, err := mcptool.Provide(s.Name, "1", tools, func(_ context.Context, tool string, input json.RawMessage) (message.Block, error) {
		return handedOn(host.Answer(s.Name, tool, input))
	})
	if err != nil {
		return nil, err
	}
	web := host.Web(s.Name, mcptool.Handler(server), mcpserve.Admission{Asks: let.By != "", Lasts: let.Lasts.D(), Forgets: let.Forgets})
	client := &http.Client{Transport: web}
	return mcptool.HTTP(mcpserve.Address(s.Name)+"/mcp", client, r.authorization(let, s.Name, client)), nil
}

// handedOn is a result in the blocks of a conversation.
func handedOn(result *mcp.CallToolResult, err error) (message.Block, error) {
	if err != nil {
		return message.Block{}, err
	}
	var blocks []message.Block
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			blocks = append(blocks, message.Text(c.Text))
		case *mcp.EmbeddedResource:
			blocks = append(blocks, message.Document(c.Resource.MIMEType, base64.StdEncoding.EncodeToString(c.Resource.Blob)))
		case *mcp.ImageContent:
			blocks = append(blocks, message.Image(c.MIMEType, base64.StdEncoding.EncodeToString(c.Data)))
		}
	}
	return message.ToolResult("", result.IsError, blocks...), nil
}

// authorization answers a server that asks for OAuth, nil for one that asks for nothing.
// What is granted is noted in the trace.
func (r *runner) authorization(let scenario.ServerHTTP, server string, client *http.Client) *mcptool.Authorization {
	if let.By == "" {
		return nil
	}
	a := &mcptool.Authorization{Redirect: "http://127.0.0.1/callback", HTTP: client}
	a.Keep = func(g mcptool.Grant) error {
		r.trace(trace.Event{At: r.gate.Since(), Data: trace.Notice{Text: "MCP server " + server + ": " + g.Token.AccessToken + " is granted to " + g.Client.ID}})
		return nil
	}
	if let.By == "secret" {
		a.Client = &mcptool.Client{ID: "bench", Secret: "secret"}
	} else {
		a.Visit = func(ctx context.Context, page string) (url.Values, error) { return r.visits(ctx, let, server, page) }
	}
	if let.Granted {
		a.Grant = &mcptool.Grant{
			Client: mcptool.Client{ID: "registered", Secret: "secret"}, TokenURL: mcpserve.Address(server) + "/token", Style: oauth2.AuthStyleInParams,
			Token: &oauth2.Token{AccessToken: "access-0", RefreshToken: "refresh-0", Expiry: r.gate.Now().Add(-time.Hour)},
		}
	}
	return a
}

// visits is the person who visits the page of an authorization server.
func (r *runner) visits(ctx context.Context, let scenario.ServerHTTP, server, page string) (url.Values, error) {
	at, err := url.Parse(page)
	if err != nil {
		return nil, err
	}
	if err := r.gate.Sleep(ctx, "person/visit/"+server, let.After.D()); err != nil {
		return nil, err
	}
	if let.Declines {
		return url.Values{"error": {"access_denied"}, "error_description": {"the person declined"}}, nil
	}
	return url.Values{"code": {"code"}, "state": {at.Query().Get("state")}}, nil
}
