package retrieval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Embedder reaches an endpoint for embeddings that implements OpenAI's /v1/embeddings, as
// many servers do (SPEC E9). Nothing of it is read from the environment.
type Embedder struct {
	// URL is the endpoint's, with or without /embeddings at its end.
	URL, Model string
	// Key goes out as a bearer token; "" sends none.
	Key       string
	Transport http.RoundTripper
}

// ErrEmbeddings is wrapped by answers of the endpoint that are no vectors.
var ErrEmbeddings = errors.New("no embeddings")

// Limits of one request and of its answer.
const (
	batch         = 64
	maxAnswer     = 64 << 20
	maxDimensions = 16384
)

// Embed gives each text its vector, in order. Errors wrap ErrEmbeddings, or are the
// transport's.
func (e Embedder) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	var all [][]float64
	for len(texts) > 0 {
		n := min(batch, len(texts))
		some, err := e.some(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && len(all[0]) != len(some[0]) {
			return nil, fmt.Errorf("%w: one answer has %d dimensions, another %d", ErrEmbeddings, len(all[0]), len(some[0]))
		}
		all, texts = append(all, some...), texts[n:]
	}
	return all, nil
}

// Address is where requests go.
func (e Embedder) Address() string {
	url := strings.TrimRight(e.URL, "/")
	if !strings.HasSuffix(url, "/embeddings") {
		url += "/embeddings"
	}
	return url
}

// some asks for a batch.
func (e Embedder) some(ctx context.Context, texts []string) ([][]float64, error) {
	body, err := json.Marshal(map[string]any{"model": e.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Address(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	resp, err := e.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("%w: the answer has more than %d MB", ErrEmbeddings, maxAnswer>>20)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: the endpoint answered %d: %s", ErrEmbeddings, resp.StatusCode, beginning(data))
	}
	return vectors(data, len(texts))
}

// beginning is the beginning of an answer nobody expected.
func beginning(data []byte) string {
	var body struct{ Error struct{ Message string } }
	if json.Unmarshal(data, &body) == nil && body.Error.Message != "" {
		data = []byte(body.Error.Message)
	}
	text := []rune(strings.Join(strings.Fields(string(data)), " "))
	return string(text[:min(200, len(text))])
}

// vectors reads an answer: one vector a text, of one length, by their index.
func vectors(data []byte, n int) ([][]float64, error) {
	var body struct {
		Data []struct {
			Index     int
			Embedding []float64
		}
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("%w: the answer cannot be read: %w", ErrEmbeddings, err)
	}
	out := make([][]float64, n)
	for _, d := range body.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("%w: the answer has a vector for text %d of %d, or two", ErrEmbeddings, d.Index, n)
		}
		out[d.Index] = d.Embedding
	}
	for i, v := range out {
		if len(v) == 0 || len(v) > maxDimensions || len(v) != len(out[0]) {
			return nil, fmt.Errorf("%w: text %d of %d has a vector of %d dimensions", ErrEmbeddings, i, n, len(v))
		}
	}
	return out, nil
}
