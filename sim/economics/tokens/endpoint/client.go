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

	"toolbench/toolsys/message"
)

// Config says whom to ask. Nothing of it is read from the environment.
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
		// As it stands: a typed schema would lose what the types do not know.
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
