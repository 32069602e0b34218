package economics_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/fixtures"
	"toolbench/sim/cassette"
	"toolbench/sim/economics"
	"toolbench/sim/world"
	"toolbench/toolsys/api"
	"toolbench/toolsys/settings"
)

var update = flag.Bool("update", false, "record the shipped cassette anew")

const shipped = "cassettes/count/orders.yaml"

// scripted stands in for the API: 7 tokens for a prompt, 300 for one with tools, and
// one for each 4 bytes of its text and of the definitions that are not deferred.
type scripted struct {
	refuses string // a text for which a request is refused
	asked   int
	headers http.Header
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked, s.headers = s.asked+1, r.Header
	raw, _ := io.ReadAll(r.Body)
	var body struct {
		Messages []struct{ Content []struct{ Text string } }
		Tools    []json.RawMessage
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.Unmarshal(raw, &body); err != nil || r.URL.Path != "/v1/messages/count_tokens" || s.refuses != "" && strings.Contains(string(raw), s.refuses) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"tools: no such thing"}}`)
		return
	}
	bytes, n := len(body.Messages[0].Content[0].Text), 7
	for _, t := range body.Tools {
		if !strings.Contains(string(t), `"defer_loading":true`) {
			bytes += len(t)
		}
	}
	if len(body.Tools) > 0 {
		n += 300
	}
	answer, _ := json.Marshal(map[string]int{"input_tokens": n + bytes/4})
	_, _ = w.Write(answer)
}

// onLoopback serves s, and gives the way to it under the API's own address.
func onLoopback(t *testing.T, s *scripted) http.RoundTripper {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return diverted{strings.TrimPrefix(server.URL, "http://")}
}

type diverted struct{ host string }

func (d diverted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL = &url.URL{Scheme: "http", Host: d.host, Path: r.URL.Path}
	return http.DefaultTransport.RoundTrip(r)
}

func orders(t *testing.T) (tools []economics.Tool, searcher economics.Tool) {
	t.Helper()
	data, err := fixtures.Files.ReadFile("catalogues/orders.jsonl")
	require.NoError(t, err)
	c, err := world.ParseCatalogue("orders.jsonl", data)
	require.NoError(t, err)
	_, searcher = economics.Builtins(settings.Settings{})
	return economics.Served(c), searcher
}

const measuredModel = "claude-sonnet-4-5"

// asking asks an API over a transport, as the command line does.
func asking(rt http.RoundTripper) economics.AskTokens {
	count := api.CountTokens(api.Config{Key: "sk-ant-a-key-of-a-test", Transport: rt})
	return func(ctx context.Context, text string, definitions []json.RawMessage) (int, error) {
		n, err := count(ctx, measuredModel, text, definitions)
		if refused, ok := errors.AsType[*api.Error](err); ok {
			err = &economics.Refused{Err: refused}
		}
		return n, err
	}
}

func TestFiguresAreDifferencesOfPrompts(t *testing.T) {
	tools, searcher := orders(t)
	s := &scripted{}
	m, err := economics.MeasureTools(t.Context(), measuredModel, asking(onLoopback(t, s)), tools, searcher, 2)
	require.NoError(t, err)
	assert.Equal(t, 6+2, s.asked, "the number of requests is bounded")
	assert.Equal(t, s.asked, m.Requests)
	bytes := 0
	for _, tool := range tools {
		bytes += len(economics.Definition(tool, false))
	}
	assert.InDelta(t, bytes/4, m.Full, 1, "what any prompt with tools has is not in it")
	assert.InDelta(t, 300+len(economics.Definition(searcher, false))/4, m.Search, 5, "but in ToolSearch's own; the client writes < as an escape")
	list, _ := economics.Listing(tools, false)
	assert.InDelta(t, len(list)/4, m.Names, 1)
	assert.Greater(t, m.Hints, m.Names)
	assert.Zero(t, m.API, "deferred definitions are not in the prompt")
	require.Len(t, m.Tools, 2)
	for name, n := range m.Tools {
		assert.Positive(t, n, name)
	}
}

// Nothing but what was given goes out: no key, address or header of the environment.
func TestNothingIsReadFromTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "sk-users-own", "ANTHROPIC_AUTH_TOKEN": "users-own-token",
		"ANTHROPIC_BASE_URL": "https://elsewhere.example", "ANTHROPIC_CUSTOM_HEADERS": "X-Own: users-own",
	} {
		t.Setenv(name, value)
	}
	tools, searcher := orders(t)
	s := &scripted{}
	_, err := economics.MeasureTools(t.Context(), measuredModel, asking(onLoopback(t, s)), tools, searcher, 0)
	require.NoError(t, err)
	assert.Equal(t, "sk-ant-a-key-of-a-test", s.headers.Get("X-Api-Key"))
	for name, values := range s.headers {
		assert.NotContains(t, strings.Join(values, " "), "own", name)
	}
}

func TestAnAPIThatTakesNoDeferLoadingStillGivesTheOtherFigures(t *testing.T) {
	tools, searcher := orders(t)
	m, err := economics.MeasureTools(t.Context(), measuredModel, asking(onLoopback(t, &scripted{refuses: "defer_loading"})), tools, searcher, 1)
	require.NoError(t, err)
	assert.Contains(t, m.APIRefused, "no such thing")
	assert.Positive(t, m.Full)
	assert.Len(t, m.Tools, 1)
}

func TestARefusalIsTheAPIsOwnWords(t *testing.T) {
	tools, searcher := orders(t)
	s := &scripted{refuses: "x"}
	_, err := economics.MeasureTools(t.Context(), measuredModel, asking(onLoopback(t, s)), tools, searcher, 3)
	var refused *api.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, 400, refused.Status)
	assert.Equal(t, "tools: no such thing", refused.Text)
	assert.Equal(t, 1, s.asked, "after an error nothing more is asked")
}

// The shipped cassette is what recording the scripted counter gives, without the key,
// and it answers every question again.
func TestTheShippedCassetteIsRecordedFromTheScriptedCounter(t *testing.T) {
	tools, searcher := orders(t)
	path := filepath.Join(t.TempDir(), "orders.yaml")
	recorder, err := cassette.Record(path, onLoopback(t, &scripted{}), "sk-ant-a-key-of-a-test")
	require.NoError(t, err)
	live, err := economics.MeasureTools(t.Context(), measuredModel, asking(recorder), tools, searcher, 2)
	require.NoError(t, err)
	require.NoError(t, recorder.Stop())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "sk-ant-a-key")
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("..", "..", "..", "fixtures", filepath.FromSlash(shipped)), raw, 0o644))
		return
	}
	c, err := cassette.LoadFile(fixtures.Files, shipped, cassette.Limits{})
	require.NoError(t, err)
	player, err := cassette.NewPlayer(c, cassette.Options{})
	require.NoError(t, err)
	played, err := economics.MeasureTools(t.Context(), measuredModel, asking(player), tools, searcher, 2)
	require.NoError(t, err, "record again with -update")
	assert.Equal(t, live, played)
	assert.Empty(t, player.Leftover())
}

// What is not measured is shared out, and the parts add up to what was measured.
func TestMeasuredFiguresAndApportionedOnesAddUp(t *testing.T) {
	tools, searcher := orders(t)
	m, err := economics.MeasureTools(t.Context(), measuredModel, asking(onLoopback(t, &scripted{})), tools, searcher, 2)
	require.NoError(t, err)
	r := economics.MeasuredCosts(tools, economics.CountOptions{Model: m.Model}, m)
	assert.Equal(t, m.Full, r.Total.Full)
	sum, measured := 0, 0
	for _, row := range r.Worst {
		sum += row.Full
		if row.Basis == economics.BasisMeasured {
			measured++
			assert.Equal(t, m.Tools[row.Name], row.Full)
		}
	}
	assert.Equal(t, 2, measured)
	assert.InDelta(t, m.Full, sum, float64(len(tools)))
	names := 0
	for _, row := range r.Worst {
		names += row.Modes.Names.Tokens
	}
	assert.InDelta(t, m.Names, names, float64(len(tools)), "names too")
	assert.Equal(t, "apportioned", r.Counter.Basis)
	assert.Equal(t, m.Search, r.Search)
	full, named := 0, 0
	for _, row := range r.Servers {
		full, named = full+row.Full, named+row.Modes.Names.Tokens
	}
	assert.Equal(t, []int{sum, names}, []int{full, named}, "servers are the sum of their tools")
	assert.Equal(t, m.API, r.Total.Modes.API.Tokens)
	assert.Equal(t, economics.BasisMeasured, r.Total.Modes.API.Basis)
	m.APIRefused = "no"
	refused := economics.MeasuredCosts(tools, economics.CountOptions{Model: m.Model}, m)
	assert.NotEqual(t, economics.BasisMeasured, refused.Total.Modes.API.Basis, "what was refused was not measured")
}

// What stays whole is not shared out, and each share is the nearest whole number to its part.
func TestSharesAreTheNearestToTheirPart(t *testing.T) {
	tools := served(t, `{"name":"a","description":"1234567890","_meta":{"anthropic/alwaysLoad":true}} {"name":"b","description":"12345678901234567890"} {"name":"c","description":"1234567890123"}`)
	m := economics.Measurement{Model: measuredModel, Full: 1000, Names: 700, Hints: 900, API: 400, Tools: map[string]int{"mcp__pets__a": 300}}
	r := economics.MeasuredCosts(tools, economics.CountOptions{Model: m.Model}, m)
	rows := map[string]economics.ToolCost{}
	bytes, names, hints := 0, 0, 0
	for _, row := range r.Worst {
		rows[row.Name] = row
	}
	for _, tool := range tools[1:] {
		bytes, names, hints = bytes+len(economics.Definition(tool, false)), names+len(tool.Name)+1, hints+len(tool.Name)+2+len(tool.Description)+1
	}
	assert.Equal(t, 300, rows["mcp__pets__a"].Modes.Names.Tokens, "it is always loaded")
	for _, tool := range tools[1:] {
		row := rows[tool.Name]
		assert.InDelta(t, 700*float64(len(economics.Definition(tool, false)))/float64(bytes), row.Full, 2, row.Name)
		assert.InDelta(t, 400*float64(len(tool.Name)+1)/float64(names), row.Modes.Names.Tokens, 4, row.Name)
		assert.InDelta(t, 600*float64(len(tool.Name)+3+len(tool.Description))/float64(hints), row.Modes.Hints.Tokens, 4, row.Name)
	}
	assert.InDelta(t, 1000, rows["mcp__pets__a"].Full+rows["mcp__pets__b"].Full+rows["mcp__pets__c"].Full, 1)
}

// Without tools there is nothing to share, whatever was measured.
func TestNothingIsSharedAmongNoTools(t *testing.T) {
	r := economics.MeasuredCosts(nil, economics.CountOptions{Model: measuredModel}, economics.Measurement{Model: measuredModel, Full: 10})
	assert.Equal(t, 10, r.Total.Full)
	assert.Empty(t, r.Worst)
}
