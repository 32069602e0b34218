package economics_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/fixtures"
	"toolbench/sim/cassette"
	"toolbench/sim/economics"
	"toolbench/sim/world"
	"toolbench/toolsys/search"
)

var updateVectors = flag.Bool("update-vectors", false, "record testdata/embeddings.yaml anew")

const vectorsCassette = "testdata/embeddings.yaml"

// hashed stands in for a model: a text's vector counts its runs of three letters by
// their hash. It depends on how words are spelled and not on what they mean.
func hashed(text string) []float64 {
	v := make([]float64, 96)
	letters := []rune(" " + strings.ToLower(text) + " ")
	for i := 0; i+3 <= len(letters); i++ {
		h := fnv.New32a()
		_, _ = h.Write([]byte(string(letters[i : i+3])))
		v[h.Sum32()%uint32(len(v))]++
	}
	return v
}

// endpoint serves hashed vectors; answer, where given, answers instead.
type endpoint struct {
	answer string
	status int
	asked  int
	key    string
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.asked, e.key = e.asked+1, r.Header.Get("Authorization")
	var body struct{ Input []string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	w.Header().Set("Content-Type", "application/json")
	if e.status != 0 {
		w.WriteHeader(e.status)
	}
	if e.answer != "" {
		_, _ = w.Write([]byte(e.answer))
		return
	}
	var data []map[string]any
	for i, text := range slices.Backward(body.Input) { // the index counts, not the order
		data = append(data, map[string]any{"index": i, "embedding": hashed(text)})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

// served is the way to an endpoint on the loopback under another name.
func embedderAt(t *testing.T, e *endpoint) economics.Embedder {
	t.Helper()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return economics.Embedder{URL: "https://embeddings.example/v1", Model: "hashed-trigrams", Key: "a-key-of-this-test", Transport: diverted{strings.TrimPrefix(server.URL, "http://")}}
}

// direct asks a handler without a network between.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

func shop(t *testing.T) economics.SearchPool {
	t.Helper()
	data, err := fixtures.Files.ReadFile("catalogues/orders.jsonl")
	require.NoError(t, err)
	c, err := world.ParseCatalogue("orders.jsonl", data)
	require.NoError(t, err)
	return economics.NewSearchPool(c)
}

// asked are queries of which the last shares no letters with the tool it means.
var askedQueries = []economics.Query{
	{Text: "refunding orders that were cancelled", Relevant: []string{"orders::createRefund"}, Lang: "en"},
	{Text: "customers coupons", Relevant: []string{"orders::sendCoupon"}, Lang: "en"},
	{Text: "天气预报", Relevant: []string{"orders::queryOrder"}, Lang: "zh"},
}

func TestTheRecordedVectorsRankAsTheLiveOnes(t *testing.T) {
	e := embedderAt(t, &endpoint{})
	path := filepath.Join(t.TempDir(), "embeddings.yaml")
	recorder, err := cassette.Record(path, e.Transport, e.Key)
	require.NoError(t, err)
	e.Transport = recorder
	live, err := economics.NewVectors(t.Context(), e, shop(t), economics.QueryTexts(askedQueries))
	require.NoError(t, err)
	require.NoError(t, recorder.Stop())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), e.Key)
	if *updateVectors {
		require.NoError(t, os.WriteFile(vectorsCassette, raw, 0o644))
		return
	}
	c, err := cassette.LoadFile(os.DirFS("."), vectorsCassette, cassette.Limits{})
	require.NoError(t, err)
	e.Transport, err = cassette.NewPlayer(c, cassette.Options{})
	require.NoError(t, err)
	played, err := economics.NewVectors(t.Context(), e, shop(t), economics.QueryTexts(askedQueries))
	require.NoError(t, err, "record again with -update-vectors")
	want, got := live.Measure(askedQueries, []int{1}), played.Measure(askedQueries, []int{1})
	assert.Equal(t, want.All.MRR(), got.All.MRR())
	english := got.Langs[0]
	assert.Equal(t, "en", english.Name)
	assert.Equal(t, 1.0, english.Hit(0), "word forms are near by their letters")
}

func TestRulesThatComeBeforeAnyRankerHoldForVectorsToo(t *testing.T) {
	v, err := economics.NewVectors(t.Context(), embedderAt(t, &endpoint{}), shop(t), []string{"money back +coupon"})
	require.NoError(t, err)
	names := func(text string) (out []string) {
		q, err := search.ParseQuery(text)
		require.NoError(t, err)
		for _, m := range v.Search(text, q, 10).Matches {
			out = append(out, m.Name)
		}
		return out
	}
	assert.Equal(t, []string{"mcp__orders__sendCoupon", "mcp__orders__queryOrder"}, names("select:mcp__orders__sendCoupon,mcp__orders__queryOrder"))
	assert.Equal(t, []string{"mcp__orders__queryOrder"}, names("mcp__orders__queryOrder"))
	assert.Len(t, names("mcp__orders"), 3, "a server's tools")
	assert.Equal(t, []string{"mcp__orders__sendCoupon"}, names("money back +coupon"))
}

func TestWhatIsNoVectorIsRefusedWithTheReason(t *testing.T) {
	for answer, why := range map[string]string{
		`{"data":[{"index":0,"embedding":[1]}]}`:                             "text 1 of 4",
		`{"data":[{"index":9,"embedding":[1]}]}`:                             "text 9 of 4",
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`: "or two",
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]},{"index":2,"embedding":[1]},{"index":3,"embedding":[]}]}`: "2 dimensions",
		`<html>`: "cannot be read",
	} {
		_, err := economics.NewVectors(t.Context(), embedderAt(t, &endpoint{answer: answer}), shop(t), []string{"x"})
		require.ErrorIs(t, err, economics.ErrEmbeddings, answer)
		assert.ErrorContains(t, err, why)
	}
	_, err := economics.NewVectors(t.Context(), embedderAt(t, &endpoint{status: 401, answer: `{"error":{"message":"bad key"}}`}), shop(t), nil)
	assert.ErrorContains(t, err, "401: bad key")
}

func TestTextsGoOutInBatchesAndKeepTheirOrder(t *testing.T) {
	e := &endpoint{}
	var texts []string
	for i := range 150 {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	all, err := embedderAt(t, e).Embed(t.Context(), texts)
	require.NoError(t, err)
	assert.Equal(t, 3, e.asked)
	assert.Equal(t, "Bearer a-key-of-this-test", e.key)
	for i, v := range all {
		assert.Equal(t, hashed(texts[i]), v)
	}
}

// A tool's own words find it first, whatever the pool; and a cosine is a cosine.
func TestATextIsNearestToItself(t *testing.T) {
	e := economics.Embedder{URL: "https://embeddings.example/v1", Model: "hashed-trigrams", Transport: direct{&endpoint{}}}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "tools")
		pool := economics.SearchPool{}
		for i := range n {
			pool.Entries = append(pool.Entries, search.Entry{Name: fmt.Sprintf("tool_%d", i), Description: rapid.StringMatching(`[a-z]{3,9} [a-z]{3,9} [a-z]{3,9}`).Draw(rt, "description")})
		}
		i := rapid.IntRange(0, n-1).Draw(rt, "asked")
		text := fmt.Sprintf("tool %d. %s", i, pool.Entries[i].Description)
		v, err := economics.NewVectors(t.Context(), e, pool, []string{text})
		require.NoError(rt, err)
		q, err := search.ParseQuery(text)
		require.NoError(rt, err)
		found := v.Search(text, q, n).Matches
		require.Len(rt, found, n)
		assert.InDelta(rt, 1, found[0].Score, 1e-9)
		for _, m := range found {
			assert.LessOrEqual(rt, math.Abs(m.Score), 1+1e-9)
		}
	})
}
