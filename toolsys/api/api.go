package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

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

// version is the revision of the API that requests are written for.
const version = "2023-06-01"

// New gives a loop.Model over HTTP. Its errors are *Error for an answer that is no
// stream, those of the transport, and those of the loop.
func New(cfg Config) loop.Model {
	return func(ctx context.Context, req message.Request, on func(data []byte) error) error {
		return stream(ctx, cfg, req, on)
	}
}

func stream(ctx context.Context, cfg Config, req message.Request, on func(data []byte) error) (err error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	if len(req.Betas) > 0 {
		header.Set("Anthropic-Beta", strings.Join(req.Betas, ","))
	}
	resp, err := Post(ctx, cfg, "v1/messages", header, req)
	if err != nil {
		return err
	}
	decoder := ssestream.NewDecoder(resp)
	if decoder == nil {
		return errors.New("the API answered without a body")
	}
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

// Post sends a value as JSON to a path of the API and returns an answer of success,
// whose body is the caller's to close. What the API refuses is an *Error. A request
// is sent again, at most cfg.Retries times, where it failed before an answer came or
// the answer asks for it.
func Post(ctx context.Context, cfg Config, path string, header http.Header, value any) (*http.Response, error) {
	body, err := encode(value)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		resp, err := post(ctx, cfg, path, header, body)
		if err == nil && resp.StatusCode < 400 {
			return resp, nil
		}
		if try == cfg.Retries || ctx.Err() != nil || !mayRetry(resp) {
			if err != nil {
				return nil, err
			}
			return nil, describe(resp)
		}
		wait := delay(resp, try)
		if resp != nil {
			_ = resp.Body.Close()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// encode writes a value as it is sent: without escapes for HTML, which would change
// the bytes that a cache compares.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// post sends one request.
func post(ctx context.Context, cfg Config, path string, header http.Header, body []byte) (*http.Response, error) {
	base := cfg.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(base, "/")+"/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", version)
	req.Header.Set("X-Api-Key", cfg.Key)
	return (&http.Client{Transport: cfg.Transport}).Do(req)
}

// mayRetry reports whether a request may be sent again: the answer's own word first,
// then by its status; without an answer, always.
func mayRetry(resp *http.Response) bool {
	if resp == nil {
		return true
	}
	switch resp.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	return resp.StatusCode == http.StatusRequestTimeout || resp.StatusCode == http.StatusConflict ||
		resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
}

// delay is how long to wait before the next try: as long as the answer asks for, else
// half a second, doubled with each try up to eight, less a random part so that many
// clients do not come back at once.
func delay(resp *http.Response, try int) time.Duration {
	if resp != nil {
		if ms, err := strconv.ParseFloat(resp.Header.Get("Retry-After-Ms"), 64); err == nil {
			return time.Duration(max(0, ms) * float64(time.Millisecond))
		}
		after := resp.Header.Get("Retry-After")
		if s, err := strconv.ParseFloat(after, 64); err == nil {
			return time.Duration(max(0, s) * float64(time.Second))
		}
		if at, err := http.ParseTime(after); err == nil {
			return max(0, time.Until(at))
		}
	}
	d := min(500*time.Millisecond<<min(try, 5), 8*time.Second)
	return d - rand.N(d/4)
}

// maxError bounds how much of a refusal is read.
const maxError = 1 << 20

// describe keeps the API's own words of an error and drops the rest of the
// response.
func describe(resp *http.Response) error {
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil {
		return err
	}
	var body struct {
		Error struct{ Type, Message string }
	}
	if json.Unmarshal(raw, &body) != nil || body.Error.Message == "" {
		return &Error{Status: resp.StatusCode, Text: message.Line(string(raw), briefChars)}
	}
	return &Error{Status: resp.StatusCode, Kind: body.Error.Type, Text: body.Error.Message}
}

// Error is an answer of the API that is no stream.
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
