package mcptool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/tool"
)

// The variables by which the conformance suite names its scenario, and what a client
// needs to know for it, to the client that it starts.
const (
	conformanceScenario = "MCP_CONFORMANCE_SCENARIO"
	conformanceContext  = "MCP_CONFORMANCE_CONTEXT"
)

// suiteAt is where the suite's package and its lock file are.
var suiteAt = filepath.Join("testdata", "conformance")

// suite gives the command that starts the suite, or skips: it needs Node.js 22, which
// its own package brings. Where TOOLBENCH_NODE asks for it, its lack is a failure.
func suite(t *testing.T) []string {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join(suiteAt, "node_modules", ".bin"))
	require.NoError(t, err)
	command := []string{filepath.Join(bin, "node"), filepath.Join(bin, "conformance")}
	for _, file := range command {
		if _, err := os.Stat(file); err != nil {
			if os.Getenv("TOOLBENCH_NODE") != "" {
				t.Fatalf("TOOLBENCH_NODE asks for the conformance suite: %s", err)
			}
			t.Skip("before `npm ci` in toolsys/mcptool/testdata/conformance")
		}
	}
	return command
}

// The official suite finds nothing wrong with the client in what a revision of the
// protocol requires, and nothing in its extensions but what is listed with a reason.
func TestTheClientPassesTheProtocolsOwnConformanceSuite(t *testing.T) {
	command := suite(t)
	self, err := os.Executable()
	require.NoError(t, err)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			args := append(command[1:], "client", "--command", self, "--requirements", revision,
				"--expected-failures", filepath.Join(suiteAt, "expected-failures.yml"), "--timeout", "120000")
			out, err := exec.CommandContext(ctx, command[0], args...).CombinedOutput()
			_, summary, _ := strings.Cut(string(out), "=== SUITE SUMMARY ===")
			assert.NoError(t, err, string(out))
			assert.Contains(t, summary, "Total: ", "the suite ran")
			t.Log(summary)
		})
	}
}

// The scenarios for servers that need no tools of the suite's own pass as well.
func TestTheServerPassesWhatConformanceAsksOfAnyServer(t *testing.T) {
	command := suite(t)
	server := offering(t)
	for revision, scenarios := range map[string][]string{
		"2025-11-25": {"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"},
		"2026-07-28": {"tools-list", "server-sse-multiple-streams", "caching", "http-header-validation", "sep-2164-resource-not-found"},
	} {
		for _, scenario := range scenarios {
			t.Run(revision+"/"+scenario, func(t *testing.T) {
				args := append(command[1:], "server", "--url", server.URL, "--scenario", scenario, "--spec-version", revision)
				out, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput()
				assert.NoError(t, err, string(out))
				assert.Contains(t, string(out), "Passed: ")
			})
		}
	}
}

// conform is the client that the suite starts: a fleet of one server, of which it uses
// all there is. It gives the exit code.
func conform(scenario, address string) int {
	var given conformanceGiven
	_ = json.Unmarshal([]byte(os.Getenv(conformanceContext)), &given) // most scenarios give nothing
	f, err := mcptool.Connect(mcptool.FleetConfig{
		Clock: toolsys.RealClock(), Attempts: 1,
		Report: func(r mcptool.Report) { fmt.Fprintln(os.Stderr, r) },
	}, mcptool.Endpoint{Name: "suite", Bare: true, Dial: mcptool.HTTP(address, http.DefaultClient, given.authorization(scenario))})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer f.Close()
	f.Ready(20 * time.Second)
	served := f.Served(context.Background())
	if len(served.Pending) > 0 {
		return 1
	}
	return given.use(f, served, scenario)
}

// conformanceGiven is what the suite gives to a scenario's client.
type conformanceGiven struct {
	ID        string `json:"client_id"`
	Secret    string `json:"client_secret"`
	ToolCalls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

func (g conformanceGiven) authorization(scenario string) *mcptool.Authorization {
	a := &mcptool.Authorization{Document: "https://conformance-test.local/client-metadata.json"}
	if g.ID != "" {
		a.Client = &mcptool.Client{ID: g.ID, Secret: g.Secret}
	}
	if !strings.HasPrefix(scenario, "auth/client-credentials") {
		a.Redirect, a.Visit = "http://localhost:3000/callback", visitAtOnce
	}
	return a
}

// visitAtOnce is the person of the suite, whose authorization server agrees by itself.
func visitAtOnce(ctx context.Context, page string) (url.Values, error) {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	back, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	return back.Query(), nil
}

// use calls each tool, reads the first resource and asks for the first prompt. What a
// server refuses is its own matter: the suite judges what it was sent.
func (g conformanceGiven) use(f *mcptool.Fleet, served tool.Served, scenario string) int {
	ctx := context.Background()
	schemas := map[string]json.RawMessage{}
	for _, t := range served.Tools {
		schemas[t.Name], _ = t.Input.Raw() // it was read when the tool was built
	}
	for _, t := range served.Tools {
		for _, in := range g.inputs(t.Name, scenario, schemas) {
			// The suite's inputs are sent as they are: one of them is null where the schema has it
			// otherwise.
			parsed, problems := t.Decode(in)
			if len(problems) > 0 {
				fmt.Fprintln(os.Stderr, t.Name, problems)
				continue
			}
			if _, err := t.Call(ctx, parsed, &tool.Context{Extensions: tool.Extensions{Elicit: agree}}); err != nil {
				fmt.Fprintln(os.Stderr, t.Name, err)
			}
		}
	}
	servers := mcptool.Join(f)
	if found, err := servers.Resources(ctx, ""); err == nil && len(found) > 0 {
		_, _ = servers.ReadResource(ctx, found[0].Server, found[0].URI)
	}
	if found, err := servers.Prompts(ctx); err == nil && len(found) > 0 {
		_, _ = servers.Prompt(ctx, found[0].Server, found[0].Name, nil)
	}
	return 0
}

// agree accepts each question, and leaves the form to its defaults where it can.
func agree(_ context.Context, _ string, params []byte) ([]byte, error) {
	if strings.Contains(string(params), "confirmed") {
		return []byte(`{"action":"accept","content":{"confirmed":true}}`), nil
	}
	return []byte(`{"action":"accept","content":{}}`), nil
}

func (g conformanceGiven) inputs(name, scenario string, schemas map[string]json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	for _, c := range g.ToolCalls {
		if c.Name == name {
			out = append(out, c.Arguments)
		}
	}
	switch {
	case out != nil:
	case name == "add_numbers":
		out = []json.RawMessage{[]byte(`{"a":5,"b":3}`)}
	case name == "json_schema_echo":
		out = []json.RawMessage{[]byte(`{"schema":` + string(schemas["json_schema_2020_12_tool"]) + `}`)}
	case scenario == "http-invalid-tool-headers":
		out = []json.RawMessage{[]byte(`{"region":"us-west1"}`)}
	default:
		out = []json.RawMessage{[]byte(`{}`)}
	}
	return out
}
