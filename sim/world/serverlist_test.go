package world_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/world"
)

// serving makes this test's own binary a server over stdio.
const serving = "LIVE_TEST_SERVES"

func TestMain(m *testing.M) {
	switch os.Getenv(serving) {
	case "tools":
		if err := server().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case "nothing":
		fmt.Fprintln(os.Stderr, "the database is not there")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "post", Version: "1"}, nil)
	type in struct {
		To string `json:"to"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "send", Description: "Sends a letter."}, func(context.Context, *mcp.CallToolRequest, in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	return s
}

func over(t *testing.T) string {
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if r.Header.Get("X-Key") != "sesame" {
			return nil
		}
		return server()
	}, nil))
	t.Cleanup(h.Close)
	return h.URL
}

func TestOfThreeServersTheBrokenOneIsNamedAndTwoAreListed(t *testing.T) {
	config := fmt.Sprintf(`{"mcpServers": {
		"by-process": {"command": %q, "env": {%q: "tools"}},
		"gone": {"command": %q, "env": {%q: "nothing"}},
		"over-http": {"type": "http", "url": "${ADDRESS}", "headers": {"X-Key": "${KEY:-sesame}"}}}}`,
		os.Args[0], serving, os.Args[0], serving)
	address := over(t)
	specs, broken, err := world.ParseServers(".mcp.json", []byte(config), func(key string) (string, bool) { return address, key == "ADDRESS" })
	require.NoError(t, err)
	require.Empty(t, broken)
	listed, failures := world.ListServers(t.Context(), specs, world.Processes{}, 20*time.Second)
	require.Len(t, listed, 2)
	for _, s := range listed {
		require.Len(t, s.Tools, 1)
		assert.Equal(t, "send", s.Tools[0].Name)
	}
	assert.Equal(t, []string{"by-process", "over-http"}, []string{listed[0].Name, listed[1].Name})
	require.Len(t, failures, 1)
	assert.Equal(t, "gone", failures[0].Server)
	assert.ErrorContains(t, failures[0].Err, "the database is not there")
}

func TestAServerWithoutANameHasTheOneItGivesItself(t *testing.T) {
	listed, failures := world.ListServers(t.Context(), []world.ServerConfig{{Kind: "stdio", Command: os.Args[0], Env: []string{serving + "=tools"}}}, world.Processes{}, 20*time.Second)
	require.Empty(t, failures)
	assert.Equal(t, "post", listed[0].Name)
}

func TestAServerThatNeverAnswersIsGivenUp(t *testing.T) {
	_, failures := world.ListServers(t.Context(), []world.ServerConfig{{Name: "mute", Kind: "stdio", Command: "sleep", Args: []string{"20"}}}, world.Processes{Env: os.Environ()}, 200*time.Millisecond)
	require.Len(t, failures, 1)
	assert.ErrorContains(t, failures[0].Err, "no answer within 200ms")
}

func TestWhatIsWrongWithAConfiguration(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for name, c := range map[string]struct{ config, whole, one string }{
		"not JSON":       {config: "{\n\"mcpServers\": }", whole: ".mcp.json:2:15: "},
		"a broken line":  {config: "\uFEFF{\n\"mcpServers\": {\"a\": {\"command\": \"x\n\"}}}", whole: ".mcp.json:2:35: invalid character '\\n'"},
		"no list":        {config: "{\n\n\"mcpServers\": 7}", whole: ".mcp.json:3:16: mcpServers has the wrong type, number"},
		"no server":      {config: `{"mcpServers":{"a":[]}}`, one: `server "a": it has the wrong type, array`},
		"no servers":     {config: `{}`, whole: "it names no server"},
		"neither way":    {config: `{"mcpServers":{"a":{}}}`, one: "no command and no url"},
		"unknown type":   {config: `{"mcpServers":{"a":{"type":"pigeon"}}}`, one: `unknown type "pigeon"`},
		"variable unset": {config: `{"mcpServers":{"a":{"command":"${X}"}}}`, one: "the variable X is not set"},
		"wrong member":   {config: `{"mcpServers":{"a":{"command":1}}}`, one: `server "a": command has the wrong type, number`},
	} {
		t.Run(name, func(t *testing.T) {
			_, broken, err := world.ParseServers(".mcp.json", []byte(c.config), none)
			if c.whole != "" {
				require.ErrorIs(t, err, world.ErrConfig)
				assert.ErrorContains(t, err, c.whole)
				return
			}
			require.NoError(t, err)
			require.Len(t, broken, 1)
			assert.ErrorContains(t, broken[0].Err, c.one)
		})
	}
}

func TestARedirectCarriesNoKeyElsewhere(t *testing.T) {
	seen := make(chan string, 8)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("X-Key")
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	_, failures := world.ListServers(t.Context(), []world.ServerConfig{{Name: "a", Kind: "http", URL: first.URL, Headers: map[string]string{"X-Key": "secret"}}}, world.Processes{}, 5*time.Second)
	require.Len(t, failures, 1)
	select {
	case key := <-seen:
		assert.Empty(t, key)
	default: // the redirect was not followed at all
	}
}
