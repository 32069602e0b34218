package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// vectorsRecorded holds the answers of an endpoint for the queries of this test.
const vectorsRecorded = "../../../sim/economics/testdata/embeddings.yaml"

const vectorQueries = `{"query":"refunding orders that were cancelled","relevant":["orders::createRefund"]}
{"query":"customers coupons","relevant":["orders::sendCoupon"]}
{"query":"天气预报","relevant":["orders::queryOrder"]}
`

func TestEmbeddingsStandBesideTheOtherRankersFromACassetteAlone(t *testing.T) {
	args := []string{"search", "--catalog", ordersCatalogue, "--queries", written(t, "q.jsonl", vectorQueries), "--embeddings-cassette", vectorsRecorded}
	fits(t, output(t, "search", "--schema"), output(t, append(args, "--format", "json")...))
	table := string(output(t, args...))
	assert.Contains(t, table, "embeddings")
	assert.Contains(t, table, "lexicon")
	without := string(output(t, args[:5]...))
	assert.NotContains(t, without, "embeddings", "nobody is asked unless a flag says so")
}

func TestEmbeddingsSayWhatIsMissing(t *testing.T) {
	base := []string{"search", "--catalog", ordersCatalogue, "refund"}
	for why, more := range map[string][]string{
		"--embeddings-model":     {"--embeddings", "http://127.0.0.1:9/v1"},
		"begins with http":       {"--embeddings", "ftp://x", "--embeddings-model", "m"},
		"--embeddings-cassette":  {"--embeddings-record"},
		"--embeddings https":     {"--embeddings-record", "--embeddings-cassette", "x.yaml"},
		"there is no such":       {"--embeddings-cassette", "gone.yaml"},
		"--embeddings-record as": {"--embeddings-cassette", vectorsRecorded},
	} {
		code, errs := refused(t, append(base, more...)...)
		assert.Equal(t, 2, code, why)
		assert.Contains(t, errs, why)
	}
}
