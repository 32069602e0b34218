package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"toolbench/sim/economics/tokens"
	"toolbench/toolsys/message"
)

// Config is whom to ask. Nothing of it is read from the environment.
type Config struct {
	// BaseURL is the API's address, Key the API key.
	BaseURL, Key string
	// Model is whose tokens are counted.
	Model string
	// Transport carries the requests.
	Transport http.RoundTripper
	// Retries of a request that fails; 0 for a cassette.
	Retries int
}

// Refused is an answer of the API that is no count.
type Refused struct {
	// Status is the HTTP status; Text is the API's own message.
	Status int
	Text   string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("count_tokens answered %d: %s", e.Status, e.Text)
}

// client asks the endpoint, and counts how often.
type client struct {
	api      anthropic.Client
	model    string
	requests int
}

func newClient(c Config) *client {
	// A literal Client, not NewClient: that one reads keys and addresses from the
	// environment and would send a user's own token to a test server.
	opts := []option.RequestOption{
		option.WithBaseURL(c.BaseURL), option.WithAPIKey(c.Key), option.WithMaxRetries(c.Retries),
		option.WithHTTPClient(&http.Client{Transport: c.Transport}),
	}
	return &client{api: anthropic.Client{Options: opts, Messages: anthropic.NewMessageService(opts...)}, model: c.Model}
}

// count asks for the tokens of one message and some definitions. An answer that is
// no count is a *Refused; other errors are the transport's.
func (c *client) count(ctx context.Context, text string, definitions []json.RawMessage) (int, error) {
	params := anthropic.MessageCountTokensParams{
		Model:    anthropic.Model(c.model),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
	for _, raw := range definitions {
		// As it stands: a typed schema would lose what the types do not have.
		tool := param.Override[anthropic.ToolParam](raw)
		params.Tools = append(params.Tools, anthropic.MessageCountTokensToolUnionParam{OfTool: &tool})
	}
	c.requests++
	answer, err := c.api.Messages.CountTokens(ctx, params)
	if err != nil {
		return 0, refusal(err)
	}
	if !answer.JSON.InputTokens.Valid() {
		return 0, &Refused{Status: http.StatusOK, Text: "the answer has no input_tokens; is the address an API's?"}
	}
	return int(answer.InputTokens), nil
}

// refusal keeps the API's own words of an error.
func refusal(err error) error {
	var answered *anthropic.Error
	if !errors.As(err, &answered) {
		return err
	}
	var body struct {
		Error struct{ Message string }
	}
	text := strings.Join(strings.Fields(answered.RawJSON()), " ")
	if json.Unmarshal([]byte(answered.RawJSON()), &body) == nil && body.Error.Message != "" {
		text = body.Error.Message
	}
	return &Refused{Status: answered.StatusCode, Text: message.Excerpt(text, 301)}
}

// Measure asks for the figures of a set of tools, and of the worst dearest ones by
// themselves: 6 requests and one for each of them (E8). A way of deferring that the
// API refuses is noted, not an error; errors are *Refused and the transport's.
func Measure(ctx context.Context, c Config, tools []tokens.Tool, searcher tokens.Tool, worst int) (tokens.Measurement, error) {
	m := &measuring{client: newClient(c), ctx: ctx, searcher: tokens.Definition(searcher, false)}
	m.out = tokens.Measurement{Model: c.Model, Tools: map[string]int{}}
	m.totals(tools)
	for _, t := range tokens.Dearest(tools, worst) {
		m.out.Tools[t.Name] = m.whole - m.ask(short, m.all(tools, t.Name))
	}
	m.out.Requests = m.requests
	return m.out, m.err
}

// short is the message that stands in each request, which the API demands.
const short = "x"

// measuring is a measurement on its way; after the first error it asks no more.
type measuring struct {
	*client
	ctx      context.Context
	searcher json.RawMessage
	out      tokens.Measurement
	// whole is what the request with all definitions has.
	whole int
	err   error
}

func (m *measuring) ask(text string, definitions []json.RawMessage) int {
	if m.err != nil {
		return 0
	}
	n, err := m.count(m.ctx, text, definitions)
	m.err = err
	return n
}

// all are the definitions of the tools without one, ToolSearch in front.
func (m *measuring) all(tools []tokens.Tool, without string) []json.RawMessage {
	out := []json.RawMessage{m.searcher}
	for _, t := range tools {
		if t.Name != without {
			out = append(out, tokens.Definition(t, false))
		}
	}
	return out
}

// totals asks for the set as a whole, in every mode.
func (m *measuring) totals(tools []tokens.Tool) {
	bare := m.ask(short, nil)
	base := m.ask(short, []json.RawMessage{m.searcher})
	m.whole = m.ask(short, m.all(tools, ""))
	names, fixed := tokens.Listing(tools, false)
	hints, _ := tokens.Listing(tools, true)
	kept := append([]json.RawMessage{m.searcher}, fixed...)
	byNames := m.ask(names+short, kept)
	byHints := m.ask(hints+short, kept)
	m.out.Search, m.out.Full, m.out.Names, m.out.Hints = base-bare, m.whole-base, byNames-base, byHints-base
	m.deferred(tools, base)
}

// deferred asks for the definitions marked defer_loading, which not every API takes.
func (m *measuring) deferred(tools []tokens.Tool, base int) {
	marked := []json.RawMessage{m.searcher}
	for _, t := range tools {
		marked = append(marked, tokens.Definition(t, !t.Whole))
	}
	if m.err != nil {
		return // of an earlier request
	}
	n := m.ask(short, marked)
	var refused *Refused
	if errors.As(m.err, &refused) {
		m.out.APIRefused, m.err = refused.Error(), nil
		return
	}
	m.out.API = n - base
}
