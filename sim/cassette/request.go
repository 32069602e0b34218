package cassette

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// request is what of an HTTP request decides its answer, with secrets blanked
// and the many ways of writing the same thing made one.
type request struct {
	method string
	// target is the path for a Messages request, path and query for other JSON
	// (hosts differ between recording and replay), else the whole URL.
	target   string
	messages bool
	body     any    // decoded JSON, or the text
	key      string // equal for equal requests
}

// normalizer makes requests comparable.
type normalizer struct {
	redact redactor
	ignore []string // top-level members of JSON bodies that do not count
}

func (n normalizer) request(method, rawURL, body string) request {
	r := request{method: strings.ToUpper(method), target: n.redact.url(rawURL, "")}
	body = n.redact.text(body, "")
	r.body = body
	if v, ok := decodeJSON(body); ok {
		r.body = n.json(v)
		r.messages = isMessages(r.target, v)
		r.target = local(r.target, r.messages)
	}
	r.key = r.method + " " + r.target + "\n" + canonical(r.body)
	return r
}

// live reads the request that is to be answered and closes its body.
func live(req *http.Request) (raw, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		if closeErr := req.Body.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return raw{}, err
		}
	}
	return raw{strings.ToUpper(req.Method), req.URL.String(), string(body)}, nil
}

// isMessages reports whether this is a request for a model's turn: by its path
// or, through the front ends of other clouds, by what it holds.
func isMessages(target string, body any) bool {
	u, err := url.Parse(target)
	if err == nil && strings.HasSuffix(u.Path, "/count_tokens") {
		return false
	}
	if err == nil && strings.HasSuffix(u.Path, "/messages") {
		return true
	}
	m, ok := body.(map[string]any)
	_, list := m["messages"].([]any)
	return ok && list
}

// local drops the host, and for Messages requests the query ("?beta=true"
// stands for a header).
func local(target string, messages bool) string {
	u, err := url.Parse(target)
	if err != nil {
		return target
	}
	if messages || u.RawQuery == "" {
		return u.Path
	}
	return u.Path + "?" + u.RawQuery
}

// decodeJSON decodes an object or array, keeping numbers as written.
func decodeJSON(body string) (any, bool) {
	trimmed := strings.TrimSpace(body)
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return nil, false
	}
	dec := json.NewDecoder(strings.NewReader(trimmed))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, false
	}
	return v, true
}

// json drops what does not count and writes shorthands out: a plain string for
// system or content is one text block.
func (n normalizer) json(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return numbers(v)
	}
	for _, name := range n.ignore {
		delete(m, name)
	}
	if list, ok := m["messages"].([]any); ok {
		expand(m, "system")
		for _, msg := range list {
			if msg, ok := msg.(map[string]any); ok {
				expandContent(msg)
			}
		}
	}
	return numbers(m)
}

// expandContent expands a message's content and that of its tool results.
func expandContent(msg map[string]any) {
	expand(msg, "content")
	blocks, _ := msg["content"].([]any)
	for _, b := range blocks {
		if b, ok := b.(map[string]any); ok && b["type"] == "tool_result" {
			expand(b, "content")
		}
	}
}

func expand(m map[string]any, key string) {
	if s, ok := m[key].(string); ok {
		m[key] = []any{map[string]any{"type": "text", "text": s}}
	}
}

// numbers gives numbers that are equal one spelling: 1.0 and 1e0 become 1.
// Those with more digits than a float holds are left alone.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case json.Number:
		return number(v)
	}
	return v
}

func number(n json.Number) json.Number {
	if len(n) > 15 || !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	b, err := json.Marshal(f)
	if err != nil {
		return n
	}
	return json.Number(b)
}

// canonical is the value as compact JSON with sorted members.
func canonical(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return strconv.Quote(err.Error()) // cannot be: v was decoded from JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}
