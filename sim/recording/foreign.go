package recording

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// otherAPIs are the ends of paths that other APIs, or other parts of ours, are known
// by, so that who wonders why nothing was read is told.
var otherAPIs = []struct{ end, what string }{
	{"/chat/completions", "requests to OpenAI's chat completions"},
	{"/responses", "requests to OpenAI's responses"},
	{"/completions", "requests to OpenAI's completions"},
	{":generateContent", "requests to Gemini's generateContent"},
	{":streamGenerateContent", "requests to Gemini's generateContent"},
	{"/api/chat", "requests to Ollama's chat"},
	{"/api/generate", "requests to Ollama's chat"},
	{"/v1/complete", "requests for text completions, which have no tools"},
	{"/count_tokens", "requests that count tokens"},
	{"/count-tokens", "requests that count tokens"},
	{":countTokens", "requests that count tokens"},
	{"/input_tokens", "requests that count tokens"},
	{"/messages/batches", batched},
	{"/embeddings", embedded},
	{":predict", embedded},
	{":embedContent", embedded},
	{":batchEmbedContents", embedded},
	{"/invoke", otherWords},
	{"/invoke-with-response-stream", otherWords},
	{":rawPredict", otherWords},
	{":streamRawPredict", otherWords},
}

const (
	batched    = "requests of message batches"
	embedded   = "requests for embeddings"
	otherWords = "requests in another model's words, or for embeddings"
	noModel    = "requests that ask no model"
)

// other names what a request is that is not read.
func other(address string) string {
	path := address
	if u, err := url.Parse(address); err == nil {
		path = u.Path
	}
	path = strings.TrimSuffix(path, "/")
	for _, api := range otherAPIs {
		if strings.HasSuffix(path, api.end) {
			return api.what
		}
	}
	if strings.Contains(path, "/messages/batches/") {
		return batched
	}
	return noModel
}

func least(kind string) int {
	if kind == noModel {
		return 1
	}
	return 0
}

// most is how many kinds of what was not read an error names.
const most = 3

// instead words what a file holds that is no turn, the most frequent first, and
// last what says least.
func (s *scanner) instead() string {
	kinds := make([]string, 0, len(s.ignored))
	for kind := range s.ignored {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		return cmp.Or(cmp.Compare(least(a), least(b)), s.ignored[b]-s.ignored[a], strings.Compare(a, b))
	})
	more := ""
	if len(kinds) > most {
		kinds, more = kinds[:most], " and more"
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s (%d)", kind, s.ignored[kind])
	}
	return strings.Join(kinds, ", ") + more
}
