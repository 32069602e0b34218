package mcptool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/mcptool"
)

// guarded is a server with one tool and one prompt that lets nobody in without a token, and
// its own authorization server.
type guarded struct {
	*httptest.Server
	mu sync.Mutex
	// valid are the access tokens that are let in, asked the ways in which they were got.
	valid  []string
	asked  []string
	issued int
}

func guard(t *testing.T) *guarded {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	s.AddTool(listed("live", nil), answers(&mcp.CallToolResult{}, nil))
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "greets", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello " + req.Params.Arguments["who"]}}}}, nil
		})
	behind := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	g := &guarded{}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if !g.lets(r.Header.Get("Authorization")) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	})
	mux.HandleFunc("/resource", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/agree", "token_endpoint": g.URL + "/token",
			"registration_endpoint": g.URL + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		writeJSON(w, map[string]any{"client_id": "registered", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post"})
	})
	mux.HandleFunc("/token", g.token)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (g *guarded) lets(header string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.valid, header)
}

// token gives a new token for a code, for the last one's refresh token, or for the secret
// of a client.
func (g *guarded) token(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	way := r.FormValue("grant_type")
	g.asked = append(g.asked, way)
	if way == "refresh_token" && r.FormValue("refresh_token") != fmt.Sprintf("refresh-%d", g.issued) {
		w.WriteHeader(http.StatusBadRequest)
		writeJSON(w, map[string]any{"error": "invalid_grant"})
		return
	}
	g.issued++
	access := fmt.Sprintf("access-%d", g.issued)
	g.valid = []string{"Bearer " + access}
	writeJSON(w, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": fmt.Sprintf("refresh-%d", g.issued)})
}

func (g *guarded) ways() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked)
}

// agreeing is a person who agrees at once.
func agreeing(_ context.Context, page string) (url.Values, error) {
	at, err := url.Parse(page)
	if err != nil {
		return nil, err
	}
	return url.Values{"code": {"c"}, "state": {at.Query().Get("state")}}, nil
}

// enter connects to the server and gives the fleet with what it reported.
func (g *guarded) enter(t *testing.T, a *mcptool.Authorization) (f *mcptool.Fleet, reports func() string) {
	t.Helper()
	var mu sync.Mutex
	var all string
	f, err := mcptool.Connect(mcptool.FleetConfig{
		Clock: toolsys.RealClock(), Attempts: 1,
		Report: func(r mcptool.Report) { mu.Lock(); defer mu.Unlock(); all += r.String() + "\n" },
	}, mcptool.Endpoint{Name: "m", Dial: mcptool.HTTP(g.URL+"/mcp", g.Client(), a)})
	require.NoError(t, err)
	t.Cleanup(f.Close)
	f.Ready(time.Minute)
	return f, func() string { mu.Lock(); defer mu.Unlock(); return all }
}

func TestWhatWasGrantedOnceIsUsedAgainAndRefreshed(t *testing.T) {
	g := guard(t)
	var kept []mcptool.Grant
	keep := func(grant mcptool.Grant) error { kept = append(kept, grant); return nil }
	const redirect = "http://127.0.0.1:1/callback"

	f, _ := g.enter(t, &mcptool.Authorization{Visit: agreeing, Redirect: redirect, Keep: keep})
	require.NoError(t, ringUp(t, f, "mcp__m__live"))
	require.Len(t, kept, 1)
	assert.Equal(t, mcptool.Client{ID: "registered", Secret: "s"}, kept[0].Client)
	f.Close()

	nobody := func(context.Context, string) (url.Values, error) { return nil, assert.AnError }
	f, _ = g.enter(t, &mcptool.Authorization{Visit: nobody, Redirect: redirect, Keep: keep, Grant: &kept[0]})
	require.NoError(t, ringUp(t, f, "mcp__m__live"), "nobody is asked again")
	assert.Len(t, kept, 1, "nothing new was granted")
	f.Close()

	stale := kept[0]
	token := *stale.Token
	token.Expiry = time.Now().Add(-time.Hour)
	stale.Token = &token
	f, _ = g.enter(t, &mcptool.Authorization{Visit: nobody, Redirect: redirect, Keep: keep, Grant: &stale})
	require.NoError(t, ringUp(t, f, "mcp__m__live"), "a token that is over is refreshed")
	require.Len(t, kept, 2)
	assert.Equal(t, "refresh-2", kept[1].Token.RefreshToken)
	f.Close()

	f, _ = g.enter(t, &mcptool.Authorization{Visit: agreeing, Redirect: redirect, Keep: keep, Grant: &stale})
	require.NoError(t, ringUp(t, f, "mcp__m__live"), "one that cannot be refreshed any more is asked for anew")
	assert.Equal(t, []string{"authorization_code", "refresh_token", "refresh_token", "authorization_code"}, g.ways())
}

func TestAServerThatIsNotAgreedToStaysOutside(t *testing.T) {
	g := guard(t)
	refuses := func(context.Context, string) (url.Values, error) {
		return url.Values{"error": {"access_denied"}, "error_description": {"no, thank you"}}, nil
	}
	for name, c := range map[string]struct {
		a    *mcptool.Authorization
		says string
	}{
		"refused":          {&mcptool.Authorization{Visit: refuses, Redirect: "http://127.0.0.1:1/callback"}, "access_denied no, thank you"},
		"nothing is given": {&mcptool.Authorization{}, "a way to visit a page, or a client with its secret"},
		"none":             {nil, "Unauthorized"},
		"no place to keep": {&mcptool.Authorization{Visit: agreeing, Redirect: "http://127.0.0.1:1/callback", Keep: func(mcptool.Grant) error { return assert.AnError }}, "cannot be kept"},
	} {
		t.Run(name, func(t *testing.T) {
			f, reports := g.enter(t, c.a)
			assert.Empty(t, f.Served(t.Context()).Tools)
			assert.Contains(t, reports(), c.says)
		})
	}
}

func TestAClientWithASecretIsLetInForItself(t *testing.T) {
	g := guard(t)
	f, _ := g.enter(t, &mcptool.Authorization{Client: &mcptool.Client{ID: "robot", Secret: "s"}})
	require.NoError(t, ringUp(t, f, "mcp__m__live"))
	assert.Equal(t, []string{"client_credentials"}, g.ways())
}

func TestAServersPromptsAreListedAndFilledIn(t *testing.T) {
	g := guard(t)
	f, _ := g.enter(t, &mcptool.Authorization{Client: &mcptool.Client{ID: "robot", Secret: "s"}})
	servers := mcptool.Join(f)
	prompts, err := servers.Prompts(t.Context())
	require.NoError(t, err)
	require.Len(t, prompts, 1)
	assert.Equal(t, "greet", prompts[0].Name)
	assert.True(t, prompts[0].Arguments[0].Required)
	blocks, err := servers.Prompt(t.Context(), "m", "greet", map[string]string{"who": "world"})
	require.NoError(t, err)
	require.Len(t, blocks, 1)
	assert.Equal(t, "Hello world", blocks[0].Text)
	_, err = servers.Prompt(t.Context(), "nobody", "greet", nil)
	assert.ErrorIs(t, err, mcptool.ErrNoServer)
	_, err = servers.Prompt(t.Context(), "m", "unknown", nil)
	assert.ErrorIs(t, err, mcptool.ErrRefused)
}
