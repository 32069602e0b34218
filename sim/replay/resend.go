package replay

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
)

// Request is a recorded request as it is sent again, without its key.
type Request struct {
	recording.Exchange
	// Model is the one that it asks.
	Model string
}

// passing are the statuses of an API that had no time.
var passing = []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, dialect.StatusOverloaded}

// Passing reports whether a status is that of an API that had no time.
func Passing(status int) bool { return slices.Contains(passing, status) }

// LeftOut is why there is nothing to compare a new answer with; "" where there is.
func LeftOut(e recording.Exchange) string {
	switch {
	case !e.API.Marks() && gjson.Get(e.Request, "previous_response_id").String() != "":
		return "it goes on from an answer that only its API had"
	case Passing(e.Status):
		return fmt.Sprintf("the recorded answer is an error that passes: status %d", e.Status)
	case e.Status < 400 && e.Trouble != "":
		return "the recorded answer is not whole: " + e.Trouble
	}
	return ""
}

// asked are the headers of a request that shape its answer; all others are left out, so that no recorded key is sent.
var asked = []string{"Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "Accept", "Content-Type"}

// Again is the request to send. With a model it asks that one in place of its own.
func Again(e recording.Exchange, model string) Request {
	r := Request{Exchange: e, Model: dialect.Model(e.URL)}
	named := gjson.GetBytes(e.Body, "model")
	if named.Type == gjson.String {
		r.Model = named.Str
	}
	u := address(e)
	if model != "" && model != r.Model {
		if at := named.Index; named.Type == gjson.String && at > 0 {
			r.Body = slices.Concat(e.Body[:at], dialect.JSON(model), e.Body[at+len(named.Raw):])
		}
		askModel(u, model)
		r.Model = model
	}
	r.URL = u.String()
	r.Sent = http.Header{}
	for _, name := range asked {
		for _, value := range e.Sent.Values(name) {
			r.Sent.Add(name, value)
		}
	}
	r.Sent.Set("Content-Type", "application/json")
	if e.API == dialect.Messages && r.Sent.Get("Anthropic-Version") == "" {
		r.Sent.Set("Anthropic-Version", "2023-06-01")
	}
	return r
}

// askModel puts a model in the place of the one that an address names, as dialect.Model finds it: it
// is a part of the path by itself, be it the beginning of another, or one with escapes.
func askModel(u *url.URL, model string) {
	path := u.EscapedPath()
	before, after, found := strings.Cut(path, "/model/")
	mark, end := "/model/", strings.IndexByte(after, '/')
	if !found {
		before, after, found = strings.Cut(path, "/models/")
		mark, end = "/models/", strings.IndexAny(after, ":/")
	}
	if !found {
		return
	}
	if end < 0 {
		end = len(after)
	}
	u.Path, u.RawPath = before+mark+model+after[end:], before+mark+url.PathEscape(model)+after[end:]
	if plain, err := url.PathUnescape(u.RawPath); err == nil {
		u.Path = plain
	}
}

// usual are the paths of requests whose address the recorder did not keep.
var usual = map[dialect.API]string{dialect.Messages: "/v1/messages", dialect.Chat: "/v1/chat/completions", dialect.Responses: "/v1/responses", dialect.Ollama: "/api/chat", dialect.Cohere: "/v2/chat", dialect.Interactions: "/v1beta/interactions"}

// address is the path of a request, with what of its query decides about the answer.
func address(e recording.Exchange) *url.URL {
	u, err := url.Parse(e.URL)
	if err != nil || !dialect.Asks(e.URL) || e.URL == usual[dialect.Messages] { // which stands for any, too
		u = &url.URL{Path: usual[e.API]}
	}
	query := url.Values{}
	for _, name := range []string{"alt", "api-version", "beta"} {
		if value := u.Query().Get(name); value != "" {
			query.Set(name, value)
		}
	}
	return &url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: query.Encode()}
}

// KeyVariable is the variable that usually holds the key of an API.
func KeyVariable(api dialect.API) string {
	return cmp.Or(map[dialect.API]string{dialect.Chat: "OPENAI_API_KEY", dialect.Responses: "OPENAI_API_KEY", dialect.Gemini: "GEMINI_API_KEY",
		dialect.Converse: "AWS_BEARER_TOKEN_BEDROCK", dialect.Ollama: "OLLAMA_API_KEY", dialect.Cohere: "CO_API_KEY", dialect.Interactions: "GEMINI_API_KEY"}[api], "ANTHROPIC_API_KEY")
}

// Authorize gives the request its key, in the header where its API looks for it. What
// other clouds serve of the Messages API takes a token.
func (r Request) Authorize(key string) {
	path, _, _ := strings.Cut(r.URL, "?")
	switch {
	case key == "":
	case r.API == dialect.Gemini, r.API == dialect.Interactions:
		r.Sent.Set("X-Goog-Api-Key", key)
	case r.API == dialect.Messages && strings.HasSuffix(path, "/messages"):
		r.Sent.Set("X-Api-Key", key)
	default:
		r.Sent.Set("Authorization", "Bearer "+key)
	}
}
