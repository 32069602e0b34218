package mcptool_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

type word struct {
	Text string `json:"text"`
}

func trade(name string, traits tool.Traits[word]) *tool.Tool {
	return tool.Must(tool.Def[word, string]{
		Name: name, Description: "does " + name, Hint: "find " + name + " by this", Traits: traits, Loading: tool.Loading{Always: name == "look"},
		Call: func(_ context.Context, in word, _ *tool.Context) (tool.Result[string], error) {
			return tool.Done(in.Text), nil
		},
	})
}

// offering is a server of two tools whose calls are answered by their names.
func offering(t *testing.T) *httptest.Server {
	t.Helper()
	tools := []*tool.Tool{trade("write", tool.Traits[word]{}), trade("look", tool.Traits[word]{ReadOnly: tool.Always[word], Safe: tool.Always[word]})}
	s, err := mcptool.Provide("trade", "1", tools, func(_ context.Context, name string, input json.RawMessage) (message.Block, error) {
		if name == "write" {
			return message.ToolResult("x", true, message.Text("not allowed")), nil
		}
		return message.ToolResult("x", false, message.Text("seen "+string(input)), message.Image("image/png", "AAAA")), nil
	})
	require.NoError(t, err)
	server := httptest.NewServer(mcptool.Handler(s))
	t.Cleanup(server.Close)
	return server
}

// What is offered is read back by the other side of this package as it was meant.
func TestOwnToolsAreOfferedToOtherClients(t *testing.T) {
	f := fleetOf(t, mcptool.HTTP(offering(t).URL, nil, nil))
	served := f.Served(t.Context()).Tools
	require.Len(t, served, 2)
	look, write := served[0], served[1]
	assert.Equal(t, "mcp__m__look", look.Name)
	assert.Equal(t, "find look by this", look.Hint)
	assert.True(t, look.Loading.Always)
	assert.False(t, write.Loading.Always)
	for _, tt := range served {
		in, problems := tt.Parse(json.RawMessage(`{"text":"it"}`))
		require.Empty(t, problems)
		assert.Equal(t, tt == look, tt.Behaviour.ReadOnly(in))
		_, problems = tt.Parse(json.RawMessage(`{"text":1}`))
		assert.NotEmpty(t, problems, "its schema goes with it")
	}
	in, _ := look.Parse(json.RawMessage(`{"text":"it"}`))
	out, err := look.Call(t.Context(), in, &tool.Context{})
	require.NoError(t, err)
	require.Len(t, out.Blocks, 2)
	assert.Equal(t, `seen {"text":"it"}`, out.Blocks[0].Text)
	assert.Equal(t, message.TypeImage, out.Blocks[1].Type)
	out, err = write.Call(t.Context(), in, &tool.Context{})
	require.NoError(t, err)
	assert.True(t, out.Failed, "a refusal is a result and no error of the protocol")
}

func TestAPageOfAnotherOriginIsRefused(t *testing.T) {
	server := offering(t)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"text":"it"}}}`
	for origin, want := range map[string]int{"": http.StatusOK, server.URL: http.StatusOK, "https://elsewhere.example": http.StatusForbidden} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(call))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		resp, err := server.Client().Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, resp.StatusCode, origin)
	}
}

// A client over HTTP gives a call up by going away.
func TestACallOverHTTPEndsWithItsRequest(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s, err := mcptool.Provide("trade", "1", []*tool.Tool{trade("look", tool.Traits[word]{})}, func(ctx context.Context, _ string, _ json.RawMessage) (message.Block, error) {
		leave()
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
		ended <- ctx.Err()
		return message.Block{}, ctx.Err()
	})
	require.NoError(t, err)
	server := httptest.NewServer(mcptool.Handler(s))
	t.Cleanup(server.Close)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"text":"it"}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(call))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if resp, err := server.Client().Do(req); err == nil {
		text, err := io.ReadAll(resp.Body)
		require.Error(t, err, "%s", text)
		require.NoError(t, resp.Body.Close())
	}
	require.ErrorIs(t, <-ended, context.Canceled)
}
