package economics

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"toolbench/toolsys/search"
)

// Vectors ranks a pool's tools by the cosine of their embeddings with a query's, in
// memory (SPEC E9). It decides the order and no more: select:, whole names and
// required words are taken as other rankers take them, by an index beside it.
type Vectors struct {
	embedder Embedder
	pool     SearchPool
	names    *search.Index
	tools    [][]float64
	queries  map[string][]float64
}

// NewVectors embeds the pool's tools, name and description, and the queries that will
// be asked. Errors are the embedder's.
func NewVectors(ctx context.Context, e Embedder, p SearchPool, queries []string) (*Vectors, error) {
	v := &Vectors{embedder: e, pool: p, names: search.NewIndex(search.Seed(), p.Entries, nil), queries: map[string][]float64{}}
	texts := each(p.Entries, embeddedText)
	asked := slices.Compact(slices.Sorted(slices.Values(queries)))
	all, err := e.Embed(ctx, slices.Concat(texts, asked))
	if err != nil {
		return nil, err
	}
	for _, vector := range all {
		normalize(vector)
	}
	v.tools = all[:len(texts)]
	for i, text := range asked {
		v.queries[text] = all[len(texts)+i]
	}
	return v, nil
}

// embeddedText is what of a tool is embedded.
func embeddedText(e search.Entry) string {
	text := strings.NewReplacer("__", " ", "_", " ", "-", " ").Replace(strings.TrimPrefix(e.Name, "mcp__"))
	for _, more := range []string{e.Hint, e.Description} {
		if more != "" {
			text += ". " + more
		}
	}
	return text
}

// normalize makes a vector's length 1, so that a product is a cosine.
func normalize(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	if length := math.Sqrt(sum); length > 0 {
		for i := range v {
			v[i] /= length
		}
	}
}

// Label is how reports call this ranker. It cannot build an index.
func (v *Vectors) Label() search.Ranker {
	return search.Ranker{Name: "embeddings", About: fmt.Sprintf("cosine of vectors by %s over name and description, in memory", v.embedder.Model)}
}

// Search finds the tools nearest to a query that was embedded before, at most so many.
// Every tool is somehow near, so that a query always finds something.
func (v *Vectors) Search(text string, q search.Query, most int) search.Result {
	if len(q.Select) > 0 || len(q.Required) == 0 && v.named(q.Text) {
		return v.names.Search(q, most)
	}
	result := search.Result{TotalDeferred: len(v.tools)}
	asked := v.queries[text]
	for i, entry := range v.pool.Entries {
		if !required(entry.Name, q.Required) {
			continue
		}
		score := 0.0
		for at := range min(len(asked), len(v.tools[i])) { // one length, or none
			score += asked[at] * v.tools[i][at]
		}
		result.Matches = append(result.Matches, search.Match{Name: entry.Name, Score: score, Why: "cosine"})
	}
	slices.SortStableFunc(result.Matches, func(a, b search.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Name, b.Name))
	})
	result.Matches = result.Matches[:min(most, len(result.Matches))]
	return result
}

// named reports whether a query is a name or a part of one, which comes before any ranker.
func (v *Vectors) named(text string) bool {
	part := text
	if strings.HasPrefix(text, "mcp__") { // mcp__server* is a server
		part = strings.TrimRight(text, "*_")
	}
	return part != "" && slices.ContainsFunc(v.pool.Entries, func(e search.Entry) bool { return strings.Contains(strings.ToLower(e.Name), part) })
}

func required(name string, words []string) bool {
	lower := strings.ToLower(name)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lower, w) })
}

// Measure asks labelled queries as MeasureRanker does.
func (v *Vectors) Measure(queries []Query, ks []int) RankerStanding {
	return measureBy(v.pool, queries, v.Label(), ks, func(text string) []string {
		return found(text, func(q search.Query, most int) search.Result { return v.Search(text, q, most) })
	})
}

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
	body, _ := json.Marshal(map[string]any{"model": e.Model, "input": texts, "encoding_format": "float"}) // texts have a form
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
