// Package api reaches the model through the official SDK: its client gives
// authentication, headers, errors and retries; the bytes of the request are ours
// (D3), and so is what is read from the stream, because the SDK's own accumulation
// takes a call cut at `{"a":` for `{}` and an early end for a good one.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
)

// Config is where the model is reached, and how.
type Config struct {
	// BaseURL is the API's address; "" means the official one.
	BaseURL string
	// Key is the API key. It is never read from the environment: whoever wires the
	// system decides where a key may go.
	Key string
	// Transport carries the requests: the network, or a cassette. nil means
	// http.DefaultTransport, which takes the machine's proxy settings into account.
	Transport http.RoundTripper
	// Retries of requests that fail before a stream begins. In virtual time it
	// must be 0: the SDK's waits are random.
	Retries int
}

// DefaultBaseURL is the API's official address.
const DefaultBaseURL = "https://api.anthropic.com/"

// New gives a loop.Model over the official SDK's client. Its errors are *Error for
// an answer that is no stream, those of the transport, and those of the loop.
func New(cfg Config) loop.Model {
	c := client(cfg)
	return func(ctx context.Context, req message.Request, on func(data []byte) error) error {
		return cfg.hidden(stream(ctx, c, req, on))
	}
}

// client is a literal one, not NewClient's: that reads keys and addresses from the
// environment and would send a user's own token to a test server.
func client(cfg Config) *anthropic.Client {
	// The key goes to the address that was named, and nowhere else.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &anthropic.Client{Options: []option.RequestOption{
		option.WithBaseURL(cmp.Or(cfg.BaseURL, DefaultBaseURL)), option.WithAPIKey(cfg.Key),
		option.WithMaxRetries(cfg.Retries), option.WithHTTPClient(&http.Client{Transport: cfg.Transport, CheckRedirect: stay}),
	}}
}

// hidden takes the key out of an error, which an API may repeat.
func (cfg Config) hidden(err error) error {
	if refused, ok := errors.AsType[*Error](err); ok && len(cfg.Key) > leastKey {
		refused.Text = strings.ReplaceAll(refused.Text, cfg.Key, "[redacted]")
	}
	return err
}

// leastKey is how long a key is at least that is one, and no word that stands for none.
const leastKey = 8

func stream(ctx context.Context, client *anthropic.Client, req message.Request, on func(data []byte) error) (err error) {
	body, err := req.Body()
	if err != nil {
		return err
	}
	opts := []option.RequestOption{
		option.WithHeader("Accept", "text/event-stream"), option.WithHeader("Content-Type", "application/json"),
		// Each attempt gets the body in its parts; the SDK would join them.
		option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			req.Body, req.ContentLength = body.Reader(), int64(body.Len())
			req.GetBody = func() (io.ReadCloser, error) { return body.Reader(), nil }
			return next(req)
		}),
	}
	if betas := req.Header(); len(betas) > 0 {
		opts = append(opts, option.WithHeader("anthropic-beta", strings.Join(betas, ",")))
	}
	var resp *http.Response
	if err := client.Post(ctx, "v1/messages", nil, &resp, opts...); err != nil {
		return describe(err)
	}
	if err := noStream(resp); err != nil {
		return errors.Join(err, resp.Body.Close())
	}
	decoder := ssestream.NewDecoder(resp)
	defer func() { err = errors.Join(err, decoder.Close()) }()
	for decoder.Next() {
		data := bytes.TrimSpace(decoder.Event().Data)
		if len(data) == 0 || bytes.Equal(data, []byte("[DONE]")) {
			continue
		}
		if err := on(data); err != nil {
			return err
		}
	}
	return decoder.Err()
}

// noStream is the error of a good answer that is something else than a stream: a redirection, or a page.
func noStream(resp *http.Response) error {
	kind := resp.Header.Get("Content-Type")
	if resp.StatusCode < http.StatusMultipleChoices && !strings.HasPrefix(kind, "text/html") && !strings.HasPrefix(kind, "application/json") {
		return nil
	}
	if at := resp.Header.Get("Location"); at != "" {
		return &Error{Status: resp.StatusCode, Text: "it sends on to " + at + "; give that address"}
	}
	head, _ := io.ReadAll(io.LimitReader(resp.Body, briefChars)) // as much as there is
	return &Error{Status: resp.StatusCode, Text: message.Line(string(head), briefChars) + "; is the address an API's?"}
}

// describe keeps the API's own words of an error and drops the rest of the
// response.
func describe(err error) error {
	apiErr, is := errors.AsType[*anthropic.Error](err)
	if !is {
		return err
	}
	var body struct {
		Error struct{ Type, Message string }
	}
	if json.Unmarshal([]byte(apiErr.RawJSON()), &body) != nil || body.Error.Message == "" {
		return &Error{Status: apiErr.StatusCode, Text: message.Line(apiErr.RawJSON(), briefChars)}
	}
	return &Error{Status: apiErr.StatusCode, Kind: body.Error.Type, Text: body.Error.Message}
}

// Error is an answer of the API that is no stream, and no count.
type Error struct {
	// Status is the HTTP status code.
	Status int
	// Kind is the API's name for it, such as overloaded_error; "" when the answer
	// does not come from the API itself.
	Kind string
	// Text is the API's message, or the beginning of what was answered instead.
	Text string
}

func (e *Error) Error() string {
	if e.Kind == "" {
		return fmt.Sprintf("the API answered %d: %s", e.Status, e.Text)
	}
	return fmt.Sprintf("the API answered %d %s: %s", e.Status, e.Kind, e.Text)
}

// briefChars is how much is shown of an answer that cannot be read, such as a proxy's
// page.
const briefChars = 201

// CountTokens gives a function that asks the API how many tokens a prompt has: one
// message of a user and the definitions of tools, as they stand. Its errors are *Error
// for an answer that is no count, and those of the transport.
func CountTokens(cfg Config) func(ctx context.Context, model, text string, definitions []json.RawMessage) (int, error) {
	c := client(cfg)
	return func(ctx context.Context, model, text string, definitions []json.RawMessage) (int, error) {
		content := []any{map[string]string{"type": "text", "text": text}}
		body := map[string]any{"model": model, "messages": []any{map[string]any{"role": "user", "content": content}}}
		if len(definitions) > 0 {
			body["tools"] = definitions
		}
		var answer struct {
			InputTokens *int `json:"input_tokens"`
		}
		if err := c.Post(ctx, "v1/messages/count_tokens", body, &answer); err != nil {
			return 0, cfg.hidden(describe(err))
		}
		if answer.InputTokens == nil {
			return 0, &Error{Status: http.StatusOK, Text: "the answer has no input_tokens; is the address an API's?"}
		}
		return *answer.InputTokens, nil
	}
}
