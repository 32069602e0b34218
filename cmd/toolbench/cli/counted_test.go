package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
)

const (
	ordersCatalogue = "../../../fixtures/catalogues/orders.jsonl"
	ordersCounted   = "../../../fixtures/cassettes/count/orders.yaml"
)

// The example of the documentation works without a network and without a key.
func TestCountTokensIsAnsweredByTheShippedCassette(t *testing.T) {
	args := []string{"tokens", "--catalog", ordersCatalogue, "--counter", "count_tokens", "--model", "claude-sonnet-4-5", "--cassette", ordersCounted, "--measure", "2"}
	report := output(t, append(args, "--format", "json")...)
	fits(t, output(t, "tokens", "--schema"), report)
	var r struct {
		Counter   string
		FullBasis string `json:"full_basis"`
		Worst     []struct {
			FullBasis string `json:"full_basis"`
		}
	}
	require.NoError(t, json.Unmarshal(report, &r))
	assert.Equal(t, "count_tokens", r.Counter)
	assert.Equal(t, "measured", r.FullBasis)
	bases := map[string]int{}
	for _, w := range r.Worst {
		bases[w.FullBasis]++
	}
	assert.Equal(t, map[string]int{"measured": 2, "apportioned": 1}, bases)
	assert.Contains(t, string(output(t, args...)), "* measured")
}

func TestCountTokensSaysWhatIsMissing(t *testing.T) {
	base := []string{"tokens", "--catalog", ordersCatalogue, "--counter", "count_tokens"}
	for why, more := range map[string][]string{
		"--model":             {},
		"set NOBODYS_KEY":     {"--model", "m", "--key-env", "NOBODYS_KEY"},
		"--cassette FILE":     {"--model", "m", "--record"},
		"there is no such":    {"--model", "m", "--cassette", filepath.Join(t.TempDir(), "gone.yaml")},
		"has no answer":       {"--model", "another", "--cassette", ordersCounted},
		"--record asks again": {"--model", "claude-sonnet-4-5", "--cassette", ordersCounted, "--measure", "3"},
		"asks nobody":         {"--counter", "bytes4", "--cassette", ordersCounted},
	} {
		code, errs := refused(t, append(base, more...)...)
		assert.Equal(t, 2, code, why)
		assert.Contains(t, errs, why)
	}
}

// A recording holds the answers and no key, and answers the same question again.
func TestCountTokensIsRecordedWithoutItsKey(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]int{"input_tokens": len(raw) / 4})
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "new.yaml")
	args := []string{"tokens", "--catalog", ordersCatalogue, "--counter", "count_tokens", "--model", "m", "--base-url", server.URL, "--key-env", "A_KEY", "--cassette", file}
	run := func(env []string, more ...string) string {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cli.Process{Args: append(args, more...), Env: env, Stdout: &out, Stderr: &errs}, cli.Scenarios())
		require.Equal(t, cli.ExitHeld, code, errs.String())
		return out.String()
	}
	first := run([]string{"A_KEY=not-to-be-seen-anywhere"}, "--record")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "not-to-be-seen")
	assert.Equal(t, first, run(nil), "replay needs no key")
}
