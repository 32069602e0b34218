package cassette_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime/quotedprintable"
	"net/http"
	"net/url"
	"strings"
)

// form is a way in which a secret is written somewhere.
type form struct {
	name  string
	write func(secret string) string
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// inside is a text's JSON without the quotes.
func inside(s string) string { q := quoted(s); return q[1 : len(q)-1] }

func each(s string, write func(r rune) string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString(write(r))
	}
	return b.String()
}

func lines(s, sep string, width int) string {
	var out []string
	for len(s) > width {
		out, s = append(out, s[:width]), s[width:]
	}
	return strings.Join(append(out, s), sep)
}

func mail(s string) string {
	var b bytes.Buffer
	w := quotedprintable.NewWriter(&b)
	if _, err := io.WriteString(w, "Subject: = "+strings.Repeat("pad ", 15)+s+" end"); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func std(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// forms are what texts go through on their way.
var forms = []form{
	{"plain", func(s string) string { return s }},
	{"upper case", strings.ToUpper},
	{"lower case", strings.ToLower},
	{"in a sentence", func(s string) string { return "use " + s + ", please." }},
	{"glued to a word", func(s string) string { return "prefix" + s + "suffix" }},
	{"glued to a name", func(s string) string { return "KEY_" + s }},
	{"JSON", inside},
	{"JSON in JSON", func(s string) string { return inside(quoted(s)) }},
	{"JSON in JSON in JSON", func(s string) string { return inside(quoted(quoted(s))) }},
	{"a JSON member", func(s string) string { return `{"api_key":` + quoted(s) + `}` }},
	{"a JSON member in JSON", func(s string) string { return inside(`{"api_key":` + quoted(s) + `}`) }},
	{"unicode escapes", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf(`\u%04x`, r) }) }},
	{"unicode escapes, capital", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf(`\u%04X`, r) }) }},
	{"unicode escapes in JSON", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf(`\\u%04x`, r) }) }},
	{"some unicode escapes", func(s string) string {
		return each(s, func(r rune) string {
			if r%2 == 0 {
				return fmt.Sprintf(`\u%04x`, r)
			}
			return inside(string(r))
		})
	}},
	{"hexadecimal escapes", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf(`\x%02x`, r) }) }},
	{"query", url.QueryEscape},
	{"path", url.PathEscape},
	{"percent", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf("%%%02X", r) }) }},
	{"percent, small", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf("%%%02x", r) }) }},
	{"percent twice", func(s string) string { return url.QueryEscape(url.QueryEscape(s)) }},
	{"a URL's parameter", func(s string) string { return "https://x.example/a?b=1&key=" + url.QueryEscape(s) + "&c=2" }},
	{"a URL's user", func(s string) string { return "https://me:" + url.PathEscape(s) + "@x.example/a" }},
	{"a URL's path", func(s string) string { return "https://x.example/" + url.PathEscape(s) + "/a" }},
	{"a URL's fragment", func(s string) string { return "https://x.example/#token=" + url.QueryEscape(s) }},
	{"a form", func(s string) string { return url.Values{"a": {"1"}, "password": {s}}.Encode() }},
	{"HTML", html.EscapeString},
	{"HTML, decimal", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf("&#%d;", r) }) }},
	{"HTML, hexadecimal", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf("&#x%X;", r) }) }},
	{"HTML in JSON", func(s string) string { return inside("<b>" + html.EscapeString(s) + "</b>") }},
	{"base64", std},
	{"base64, raw", func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }},
	{"base64, URL", func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }},
	{"base64, raw URL", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }},
	{"base64, one before", func(s string) string { return std("a" + s + "z") }},
	{"base64, two before", func(s string) string { return std("ab" + s + "yz") }},
	{"base64 of a sentence", func(s string) string { return std("The key is " + s + " and nobody else's.") }},
	{"base64 of JSON", func(s string) string { return std(`{"token":` + quoted(s) + `}`) }},
	{"base64 of a query", func(s string) string { return std("token=" + url.QueryEscape(s)) }},
	{"base64 of base64", func(s string) string { return std(std("key " + s)) }},
	{"base64, 76 columns", func(s string) string { return lines(std(strings.Repeat("mail text ", 12)+s), "\r\n", 76) }},
	{"base64, 76 columns in JSON", func(s string) string { return inside(lines(std(strings.Repeat("mail text ", 12)+s), "\n", 76)) }},
	{"base64 in a URL", func(s string) string { return url.QueryEscape(std("x" + s)) }},
	{"a data URL", func(s string) string { return "data:text/plain;base64," + std(s) }},
	{"Basic", func(s string) string { return "Authorization: Basic " + std("user:"+s) }},
	{"Basic, long user", func(s string) string { return "authorization: basic " + std("somebody:"+s) }},
	{"Bearer", func(s string) string { return "Authorization: Bearer " + s }},
	{"hexadecimal", func(s string) string { return hex.EncodeToString([]byte(s)) }},
	{"hexadecimal, capital", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
	{"hexadecimal within more", func(s string) string { return hex.EncodeToString([]byte("k=" + s + ";")) }},
	{"quoted-printable", mail},
	{"quoted-printable, all", func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf("=%02X", r) }) }},
	{"broken lines", func(s string) string { return lines(s, "\n", 7) }},
	{"broken lines, indented", func(s string) string { return "key: >\n    " + lines(s, "\n    ", 9) }},
	{"broken lines in JSON", func(s string) string { return inside(lines(s, "\r\n", 11)) }},
	{"shell", func(s string) string { return "export API_KEY='" + s + "'" }},
	{"shell, continued", func(s string) string { return "export API_KEY=" + lines(s, "\\\n", 10) }},
	{"YAML", func(s string) string { return "key: " + quoted(s) + "\nother: 1\n" }},
	{"a dotenv file", func(s string) string { return "A=1\nSECRET=" + s + "\n" }},
	{"a cookie", func(s string) string { return "Set-Cookie: sid=" + s + "; Path=/" }},
	{"a header", func(s string) string { return "X-Api-Key: " + s + "\r\n" }},
	{"multipart", func(s string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\n" + s + "\r\n--b--\r\n"
	}},
	{"a private key", func(s string) string {
		return "-----BEGIN PRIVATE KEY-----\n" + lines(std(s+strings.Repeat(s, 3)), "\n", 64) + "\n-----END PRIVATE KEY-----\n"
	}},
}

// place is where a form is put: the exchange that holds it.
type place struct {
	name string
	put  func(x *exchange, written string)
}

// exchange is one request and what answers it.
type exchange struct {
	url, body, answer string
	sent, got         http.Header
}

func ordinary() *exchange {
	return &exchange{url: "https://api.example.com/v1/messages", body: `{"model":"m","messages":[]}`, answer: "{}",
		sent: http.Header{"Content-Type": {"application/json"}}, got: http.Header{"Content-Type": {"application/json"}}}
}

// saying is an exchange in JSON with a text in it.
func saying(text string) string {
	return `{"model":"m","messages":[{"role":"user","content":` + quoted(text) + `}]}`
}

// spelled is a stream whose deltas of a kind spell a text, a few bytes each.
func spelled(kind, member, text string, step int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "event: message_start\ndata: {\"type\":\"message_start\"}\n\n")
	for text != "" {
		n := min(step, len(text))
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":%q,%q:%s}}\n\n", kind, member, quoted(text[:n]))
		text = text[n:]
	}
	return b.String() + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
}

func streaming(kind, member string, step int) func(*exchange, string) {
	return func(x *exchange, s string) {
		x.answer = spelled(kind, member, s, step)
		x.got.Set("Content-Type", "text/event-stream")
	}
}

var places = []place{
	{"a message", func(x *exchange, s string) { x.body = saying(s) }},
	{"a result in JSON", func(x *exchange, s string) { x.body = saying(`{"stdout":` + quoted(s) + `}`) }},
	{"an answer", func(x *exchange, s string) { x.answer = saying(s) }},
	{"a plain answer", func(x *exchange, s string) { x.answer = s; x.got.Set("Content-Type", "text/plain") }},
	{"a packed answer", func(x *exchange, s string) {
		x.answer = packed(s)
		x.got.Set("Content-Encoding", "gzip")
	}},
	{"a packed request", func(x *exchange, s string) {
		x.body = packed(saying(s))
		x.sent.Set("Content-Encoding", "gzip")
	}},
	{"text deltas", streaming("text_delta", "text", 5)},
	{"input deltas", streaming("input_json_delta", "partial_json", 3)},
	{"thinking deltas", streaming("thinking_delta", "thinking", 1)},
	{"one delta", streaming("text_delta", "text", 1<<20)},
	{"the URL's query", func(x *exchange, s string) { x.url += "?note=" + url.QueryEscape(s) }},
	{"the URL's path", func(x *exchange, s string) { x.url += "/" + url.PathEscape(s) }},
	{"a kept header", func(x *exchange, s string) {
		x.got.Set("Location", strings.NewReplacer("\r", " ", "\n", "").Replace(s))
	}},
	{"the key's header", func(x *exchange, s string) {
		x.sent.Set("X-Api-Key", strings.NewReplacer("\r", " ", "\n", "").Replace(s))
	}},
	{"a form's field", func(x *exchange, s string) {
		x.body = url.Values{"note": {s}}.Encode()
		x.sent.Set("Content-Type", "application/x-www-form-urlencoded")
	}},
}

func packed(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}
