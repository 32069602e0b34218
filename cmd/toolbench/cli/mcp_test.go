package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
)

// shop is an MCP server over HTTP with tools that work, fail and ask, a resource and a prompt.
func shop(t *testing.T) http.Handler {
	t.Helper()
	type sum struct{ A, B int }
	s := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "Adds two numbers.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint("the sum is ", in.A+in.B)}}}, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "break", Description: "Fails."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("it is broken")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait", Description: "Waits."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		time.Sleep(5 * time.Second)
		return nil, nil, nil
	})
	s.AddResource(&mcp.Resource{URI: "file:///terms", Name: "terms"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who"}}}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

// commanded runs a command line in a folder of its own, which is also its home.
func commanded(t *testing.T, dir string, args ...string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Main(t.Context(), cli.Process{Args: args, Dir: dir, Env: []string{"HOME=" + dir, "COLUMNS=100"}, Stdout: &stdout, Stderr: &stderr}, cli.Scenarios())
	return stdout.String(), stderr.String(), code
}

func TestServersAreListedAndTheirToolsCalled(t *testing.T) {
	server := httptest.NewServer(shop(t))
	defer server.Close()
	out, errs, code := commanded(t, t.TempDir(), "mcp", "list", "--mcp-url", server.URL)
	require.Zero(t, code, errs)
	for _, want := range []string{"mcp__127_0_0_1__add", "safe, read-only", "Adds two numbers.", "file:///terms", "greet(who)", "3 tools, 1 resource, 1 prompt"} {
		assert.Contains(t, out, want)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"by its own name":    {[]string{"add", `{"A":5,"B":3}`}, cli.ExitHeld, "the sum is 8"},
		"by the model's":     {[]string{"mcp__127_0_0_1__add", `{"A":5,"B":3}`}, cli.ExitHeld, "the sum is 8"},
		"a failure":          {[]string{"break"}, cli.ExitFailed, "it is broken"},
		"no answer":          {[]string{"wait", "--timeout", "3s"}, cli.ExitFailed, "mcp__127_0_0_1__wait did not answer within 3s; --timeout gives it longer"},
		"an invalid input":   {[]string{"add", `{"A":"x"}`}, cli.ExitUsage, `The required parameter "B" is missing`},
		"no JSON":            {[]string{"add", `{`}, cli.ExitUsage, "add"},
		"an unknown tool":    {[]string{"ad"}, cli.ExitUsage, "did you mean"},
		"no tool":            {nil, cli.ExitUsage, "name a tool"},
		"an answer in words": {[]string{"add", "{}", "--answer", "yes"}, cli.ExitUsage, "write a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := commanded(t, t.TempDir(), append([]string{"mcp", "call", "--mcp-url", server.URL}, c.args...)...)
			assert.Equal(t, c.code, code)
			assert.Contains(t, out+errs, c.says)
		})
	}
	_, errs, code = commanded(t, t.TempDir(), "mcp", "list")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "name a server with --mcp, --mcp-url or --mcp-config")
	server.Close()
	_, errs, code = commanded(t, t.TempDir(), "mcp", "list", "--mcp-url", server.URL)
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "none of the servers could be reached")
	assert.NotContains(t, errs, "again", "the command ends")
}

// locked puts a login before a server: its authorization server agrees by itself and
// knows one client.
func locked(t *testing.T, behind http.Handler) (server *httptest.Server, revoked *atomic.Bool) {
	t.Helper()
	revoked = &atomic.Bool{}
	mux := http.NewServeMux()
	server = httptest.NewServer(mux)
	t.Cleanup(server.Close)
	answer := func(w http.ResponseWriter, v map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if revoked.Load() || r.Header.Get("Authorization") != "Bearer granted" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+server.URL+`/resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	})
	mux.HandleFunc("/resource", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"resource": server.URL + "/mcp", "authorization_servers": []string{server.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": server.URL, "authorization_endpoint": server.URL + "/agree", "token_endpoint": server.URL + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		})
	})
	mux.HandleFunc("/agree", func(w http.ResponseWriter, r *http.Request) {
		back := url.Values{"code": {"c"}, "state": {r.FormValue("state")}}
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_id") != "known" || r.FormValue("grant_type") == "refresh_token" {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]any{"error": "invalid_grant"})
			return
		}
		answer(w, map[string]any{"access_token": "granted", "token_type": "Bearer", "expires_in": 3600})
	})
	return server, revoked
}

// browser opens each page that the command line names, as a person would.
type browser struct{ bytes.Buffer }

func (b *browser) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if page := strings.TrimSpace(line); strings.HasPrefix(page, "http") {
			go func() {
				if resp, err := http.Get(page); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}()
		}
	}
	return b.Buffer.Write(p)
}

func TestALoginIsKeptForTheNextCommands(t *testing.T) {
	server, revoked := locked(t, shop(t))
	dir := t.TempDir()
	config := fmt.Sprintf(`{"mcpServers":{"shop":{"url":"%s/mcp","oauth":{"clientId":"known","clientSecret":"${SECRET:-s}"}}}}`, server.URL)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(config), 0o600))

	_, errs, code := commanded(t, dir, "mcp", "list", "--mcp-config", ".mcp.json")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "log in with: toolbench mcp login --mcp-url "+server.URL+"/mcp")

	var screen browser
	code = cli.Main(t.Context(), cli.Process{Args: []string{"mcp", "login", "--mcp-config", ".mcp.json"}, Dir: dir, Env: []string{"HOME=" + dir}, Stdout: io.Discard, Stderr: &screen}, cli.Scenarios())
	require.Zero(t, code, screen.String())
	assert.Contains(t, screen.String(), "logged in to "+server.URL+"/mcp: 3 tools")
	kept := filepath.Join(dir, ".config", "toolbench", "grants.json")
	info, err := os.Stat(kept)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "nobody else reads what was granted")

	out, errs, code := commanded(t, dir, "mcp", "call", "--mcp-config", ".mcp.json", "add", `{"A":1,"B":1}`)
	require.Zero(t, code, errs)
	assert.Equal(t, "the sum is 2\n", out)
	out, errs, code = commanded(t, dir, "tokens", "--mcp-config", ".mcp.json")
	require.Zero(t, code, errs)
	assert.Contains(t, out, "mcp__shop__add")

	revoked.Store(true)
	_, errs, code = commanded(t, dir, "mcp", "list", "--mcp-config", ".mcp.json")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "what it granted is over; ")
	assert.Contains(t, errs, "log in with: toolbench mcp login")

	require.NoError(t, os.Chmod(kept, 0o644))
	_, errs, code = commanded(t, dir, "mcp", "list", "--mcp-config", ".mcp.json")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "run chmod 600 on it")
	require.NoError(t, os.WriteFile(kept, []byte("{"), 0o600))
	require.NoError(t, os.Chmod(kept, 0o600))
	_, errs, code = commanded(t, dir, "mcp", "list", "--mcp-config", ".mcp.json")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "log in again")
}

func TestALoginThatCannotBeIsNamed(t *testing.T) {
	open := httptest.NewServer(shop(t))
	defer open.Close()
	_, errs, code := commanded(t, t.TempDir(), "mcp", "login", "--mcp-url", open.URL)
	assert.Zero(t, code)
	assert.Contains(t, errs, "let us in without a login: 3 tools")
	_, errs, code = commanded(t, t.TempDir(), "mcp", "login", "--mcp", "cat")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "name a server with an address")
	server, _ := locked(t, shop(t))
	_, errs, code = commanded(t, t.TempDir(), "mcp", "login", "--mcp-url", server.URL+"/mcp", "--timeout", "1s")
	assert.Equal(t, cli.ExitUsage, code, "it registers nobody, and no client is named")
	assert.Contains(t, errs, "MCP server")
}

// Some servers have the key in their address, or among their program's arguments.
func TestNoKeyOfAServersAddressIsPrinted(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer refusing.Close()
	good := httptest.NewServer(shop(t))
	defer good.Close()
	const key = "4f5b0f2e-11aa-4c63-9d7f-2b3c4d5e6f70"
	for _, server := range [][]string{
		{"--mcp-url", "http://127.0.0.1:1/mcp?profile=a&key=" + key}, {"--mcp-url", refusing.URL + "/mcp?exaApiKey=" + key},
		{"--mcp", "sh -c 'exit 1' --api-key " + key},
	} {
		for _, command := range [][]string{{"mcp", "list"}, {"mcp", "call", "x"}, {"tokens"}, {"tokens", "--mcp-url", good.URL, "--format", "json"}, {"mcp", "login"}} {
			out, errs, _ := commanded(t, t.TempDir(), append(command, server...)...)
			assert.NotContains(t, out+errs, key, append(command, server...))
			assert.NotContains(t, errs, "panic")
		}
	}
}
