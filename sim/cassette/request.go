package cassette

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// request is what of an HTTP request decides its answer, with secrets blanked
// and the many ways of writing the same thing made one.
type request struct {
	method string
	// target is the path for a Messages request, path and query for other JSON
	// (hosts differ between recording and replay), else the full URL.
	target   string
	messages bool
	body     any    // decoded JSON, or the text
	key      string // equal for equal requests
}

// normalizer makes requests comparable.
type normalizer struct{ redact redactor }

func (n normalizer) request(method, rawURL, body string) request {
	r := request{method: strings.ToUpper(method), target: n.redact.url(rawURL, "")}
	body = n.redact.body(body, "")
	r.body = body
	if v, ok := decodeJSON(body); ok {
		r.body = plainly(v)
		r.messages = isMessages(r.target, v)
		r.target = local(r.target, r.messages)
	}
	r.key = r.method + " " + r.target + "\n" + encode(r.body, "")
	return r
}

// live reads the request that is to be answered and closes its body.
func live(req *http.Request) (raw, error) {
	var body bytes.Buffer
	if req.Body != nil {
		body.Grow(int(min(max(0, req.ContentLength), 1<<20)) + bytes.MinRead)
		_, err := body.ReadFrom(req.Body)
		if err = cmp.Or(err, req.Body.Close()); err != nil {
			return raw{}, err
		}
	}
	return raw{strings.ToUpper(req.Method), req.URL.String(), body.String()}, nil
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

// local drops the host, and for Messages requests the query ("?beta=true" stands for a header).
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
	_, err := dec.Token()
	return v, err == io.EOF
}

// plainly drops what does not count and writes shorthands out: a plain string for
// system or content is one text block.
func plainly(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return numbers(v)
	}
	delete(m, "metadata") // names the user, and does not count
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
	b, wrong := json.Marshal(f)
	if err != nil || wrong != nil {
		return n
	}
	return json.Number(b)
}

// encode is the value as JSON with sorted members.
func encode(v any, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return strconv.Quote(err.Error()) // cannot be: v was decoded from JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// wrapAt is the width in runes at which long texts are broken for reading.
const wrapAt = 100

// pretty renders a request for people to compare: method and target, then the body with a member a line, sorted, and
// texts broken at their own line breaks so that a difference shows the words around it and not all of the prompt.
func (r request) pretty() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.method, r.target)
	if s, ok := r.body.(string); ok {
		wrap(&b, "", s)
		return b.String()
	}
	for line := range strings.SplitSeq(encode(r.body, "  "), "\n") {
		lead, long, ok := longText(line)
		if !ok {
			b.WriteString(line + "\n")
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		b.WriteString(lead + `"""` + "\n")
		wrap(&b, indent+"  ", long)
		b.WriteString(indent + `"""` + line[len(strings.TrimSuffix(line, ",")):] + "\n")
	}
	return b.String()
}

// longText is the text that a line of indented JSON ends in, and what stands before it, if
// the text has several lines or is too long for one.
func longText(line string) (lead, text string, ok bool) {
	if len(line) <= wrapAt && !strings.Contains(line, `\n`) {
		return "", "", false
	}
	value := strings.TrimSuffix(strings.TrimLeft(line, " "), ",")
	dec := json.NewDecoder(strings.NewReader(value))
	var name string
	if dec.Decode(&name) != nil {
		return "", "", false
	}
	if after, named := strings.CutPrefix(value[dec.InputOffset():], ": "); named {
		value = after
	}
	if json.Unmarshal([]byte(value), &text) != nil {
		return "", "", false
	}
	lead = strings.TrimSuffix(strings.TrimSuffix(line, ","), value)
	return lead, text, strings.Contains(text, "\n") || utf8.RuneCountInString(text) > wrapAt
}

// wrap prints a text line by line. Control characters are escaped: the text is
// a stranger's and ends up on a terminal.
func wrap(b *strings.Builder, indent, s string) {
	for line := range strings.SplitSeq(s, "\n") {
		for len(line) > 0 {
			n := wrapPoint(line)
			b.WriteString(indent + Printable(line[:n]) + "\n")
			line = line[n:]
		}
	}
}

// wrapPoint is how much of the line fits, broken behind a blank if it can be.
func wrapPoint(line string) int {
	n := 0
	for i := range line {
		if n == wrapAt {
			if blank := strings.LastIndexByte(line[:i], ' '); blank > i/2 {
				return blank + 1
			}
			return i
		}
		n++
	}
	return len(line)
}

// Printable spells out control characters: they would break a line, or reach a terminal.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return strings.Trim(strconv.Quote(s), `"`)
}
