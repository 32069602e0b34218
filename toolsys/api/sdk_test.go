package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/api"
	"toolbench/toolsys/message"
)

// official sends a request with the official SDK's client.
func official(tr http.RoundTripper, cfg api.Config, req message.Request) error {
	client := anthropic.Client{Options: []option.RequestOption{
		option.WithBaseURL(cfg.BaseURL), option.WithAPIKey(cfg.Key), option.WithMaxRetries(cfg.Retries), option.WithHTTPClient(&http.Client{Transport: tr}),
	}}
	opts := []option.RequestOption{option.WithHeader("Accept", "text/event-stream")}
	if len(req.Betas) > 0 {
		opts = append(opts, option.WithHeader("anthropic-beta", strings.Join(req.Betas, ",")))
	}
	var resp *http.Response
	err := client.Post(context.Background(), "v1/messages", req, &resp, opts...)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return err
}

// ours sends a request with this package's client.
func ours(tr http.RoundTripper, cfg api.Config, req message.Request) error {
	cfg.Transport = tr
	return api.New(cfg)(context.Background(), req, func([]byte) error { return nil })
}

// The request is the official client's, byte for byte, but for the headers in which
// the SDK describes itself.
func TestRequestsAreTheOfficialClients(t *testing.T) {
	for name, req := range map[string]message.Request{
		"plain": {Model: "m", MaxTokens: 7, Messages: []message.Message{message.UserText("a < b & c > d \u2028")}},
		"betas": {Model: "m", MaxTokens: 7, Messages: []message.Message{message.UserText("")}, Betas: []string{"one", "two"}},
	} {
		for _, base := range []string{"https://api.anthropic.com/", "http://localhost:9/proxy", "http://localhost:9/proxy/"} {
			t.Run(name+" "+base, func(t *testing.T) {
				cfg := api.Config{BaseURL: base, Key: "sk-test"}
				theirs, own := &transport{answers: []answer{stream()}}, &transport{answers: []answer{stream()}}
				require.NoError(t, official(theirs, cfg, req))
				require.NoError(t, ours(own, cfg, req))
				assert.Equal(t, theirs.bodies, own.bodies)
				assert.Equal(t, theirs.asked[0].Method, own.asked[0].Method)
				assert.Equal(t, theirs.asked[0].URL.String(), own.asked[0].URL.String())
				assert.Equal(t, theirs.asked[0].ContentLength, own.asked[0].ContentLength)
				assert.Equal(t, described(theirs.asked[0].Header), own.asked[0].Header)
			})
		}
	}
}

// described leaves out the headers in which the SDK describes itself.
func described(h http.Header) http.Header {
	h = h.Clone()
	for name := range h {
		if strings.HasPrefix(name, "X-Stainless-") || name == "User-Agent" {
			h.Del(name)
		}
	}
	return h
}

// refusing answers every request with a status, and counts them.
type refusing struct {
	status int
	retry  string
	n      int
}

func (r *refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	r.n++
	if r.status == 0 {
		return nil, errors.New("the line is dead")
	}
	header := http.Header{"Content-Type": {"application/json"}, "Retry-After-Ms": {"0"}}
	if r.retry != "" {
		header.Set("X-Should-Retry", r.retry)
	}
	return &http.Response{StatusCode: r.status, Header: header, Body: io.NopCloser(strings.NewReader(`{}`)), Request: req}, nil
}

// What is tried again, and how often, is what the official client does.
func TestRetriesAreTheOfficialClients(t *testing.T) {
	for _, status := range []int{400, 401, 404, 408, 409, 413, 429, 500, 503, 529} {
		for _, retry := range []string{"", "true", "false", "perhaps"} {
			t.Run(fmt.Sprint(status, retry), func(t *testing.T) {
				theirs, own := &refusing{status: status, retry: retry}, &refusing{status: status, retry: retry}
				cfg := api.Config{BaseURL: "https://api.anthropic.com/", Retries: 2}
				require.Error(t, official(theirs, cfg, message.Request{}))
				require.Error(t, ours(own, cfg, message.Request{}))
				assert.Equal(t, theirs.n, own.n)
			})
		}
	}
}
