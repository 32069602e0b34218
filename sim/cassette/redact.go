package cassette

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/tidwall/gjson"

	"toolbench/sim/secret"
	"toolbench/sim/stream"
)

// Redacted stands wherever a secret stood.
const Redacted = secret.Blanked

// keptHeaders are the only headers a cassette keeps: what replay needs to see.
// All others are noise (platform, agent, dates, limits) or may be secret.
var keptHeaders = []string{"Accept", "Anthropic-Beta", "Anthropic-Version", "Content-Encoding", "Content-Type", "Location", "Retry-After", OffsetsHeader}

// secretHeaders are kept by name, so that one sees they were sent, and blanked.
var secretHeaders = []string{"Api-Key", "Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie", "X-Api-Key", "X-Goog-Api-Key"}

// secretNames are URL parameters and form fields whose values are secret.
var secretNames = regexp.MustCompile(`(?i)^(.*[-_])?(key|apikey|token|secret|password|passwd|signature|sig|credential|code|session)$`)

// redactor blanks secrets in requests and responses, and counts them.
type redactor struct {
	finder *secret.Memory
	tally  *secret.Tally
}

// nameless are secrets of which only the values are given.
func nameless(values []string) []secret.Known {
	var known []secret.Known
	for _, v := range values {
		known = append(known, secret.Known{Name: "the session", Value: v})
	}
	return known
}

// text blanks secrets in a text; where is what a report calls its place.
func (r redactor) text(s, where string) string { return r.finder.Text(s, r.tally.At(where)) }

// body does so in a request's body.
func (r redactor) body(s, where string) string { return r.finder.Body(s, r.tally.At(where)) }

// url blanks credentials and secret parameters. Parameters keep their order.
func (r redactor) url(raw, where string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return r.text(raw, where)
	}
	if u.User != nil {
		u.User = nil
		r.tally.At(where)("credentials in a URL")
	}
	if u.RawQuery != "" {
		q := u.Query()
		r.values(q, where)
		u.RawQuery = strings.ReplaceAll(q.Encode(), url.QueryEscape(Redacted), Redacted)
	}
	return r.text(strings.ReplaceAll(u.String(), url.PathEscape(Redacted), Redacted), where)
}

// values blanks secret fields in place.
func (r redactor) values(vs url.Values, where string) {
	for name, list := range vs {
		for i, v := range list {
			switch {
			case !secretNames.MatchString(name):
				list[i] = r.text(v, where)
			case v != Redacted && v != "":
				list[i] = Redacted
				r.tally.At(where)("value of a telling name")
			}
		}
	}
}

// header returns what a cassette keeps of the headers.
func (r redactor) header(h http.Header, where string) http.Header {
	kept := http.Header{}
	for _, name := range keptHeaders {
		for _, v := range h.Values(name) {
			if name != OffsetsHeader { // numbers of ours
				v = r.text(v, where)
			}
			kept.Add(name, v)
		}
	}
	for _, name := range secretHeaders {
		if v := h.Get(name); v != "" {
			kept.Set(name, Redacted)
			if v != Redacted {
				r.tally.At(where)(name)
			}
		}
	}
	return kept
}

// Redact blanks the secrets that another program's recording holds, and counts them by
// kind and place. Headers without a secret stay, unlike those of a recording of ours.
func (c *Cassette) Redact(finder *secret.Finder) []secret.Count {
	tally := &secret.Tally{}
	r := redactor{finder.Remember(), tally}
	for k := range c.Interactions {
		i := &c.Interactions[k]
		at := fmt.Sprintf("interaction %d (line %d), ", i.Number, i.Line)
		was, before := *i, len(tally.Counts())
		i.Request.URL = r.url(i.Request.URL, at+"request URL")
		i.Request.Body = r.body(i.Request.Body, at+"request body")
		i.Request.Headers = r.foreign(i.Request.Headers, at+"request headers")
		r.values(i.Request.Form, at+"request form")
		i.Response.Headers, i.Response.Body = plain(i.Response.Headers, i.Response.Body)
		i.Response.Body = r.text(i.Response.Body, at+"response body")
		i.Response.Headers = r.foreign(i.Response.Headers, at+"response headers")
		if len(tally.Counts()) == before {
			*i = was // neither unpacked nor spelled anew
		}
	}
	return tally.Counts()
}

// foreign blanks the secrets among all headers of another program's recording.
func (r redactor) foreign(h http.Header, where string) http.Header {
	out := h.Clone()
	for name, list := range out {
		for k, v := range list {
			switch {
			case name == OffsetsHeader:
			case !slices.Contains(secretHeaders, http.CanonicalHeaderKey(name)):
				list[k] = r.text(v, where)
			case v != Redacted && v != "":
				list[k] = Redacted
				r.tally.At(where)(http.CanonicalHeaderKey(name))
			}
		}
	}
	return out
}

// request blanks what is to be saved. Maps of headers are replaced, not changed: the caller's request
// and response share them.
func (r redactor) request(q *vcr.Request) {
	q.Headers, q.Body = plain(q.Headers, q.Body)
	q.URL = r.url(q.URL, "request URL")
	q.Body = r.body(q.Body, "request body")
	q.Headers = r.header(q.Headers, "request headers")
	r.values(q.Form, "request form")
}

func (r redactor) response(a *vcr.Response) {
	a.Headers, a.Body = plain(a.Headers, a.Body)
	if _, _, _, framed := stream.NextFrame([]byte(a.Body)); framed {
		a.Body = r.frames(a.Body, "response body")
	} else {
		a.Body = r.text(a.Body, "response body")
	}
	a.Headers = r.header(a.Headers, "response headers")
}

// frames blanks the secrets in an AWS event stream, whose events are in base64 and have
// checksums: as the server-sent events that they would be, and writes the frames anew. What
// is no whole frame at its end is left out, since nobody can know what is in it.
func (r redactor) frames(body, where string) string {
	const data = "data: "
	type frame struct {
		head   []byte
		packed bool
	}
	var list []frame
	var lines strings.Builder
	for b := []byte(body); ; {
		head, payload, size, ok := stream.NextFrame(b)
		if !ok {
			break
		}
		event, err := base64.StdEncoding.DecodeString(gjson.GetBytes(payload, "bytes").Str)
		packed := err == nil && len(event) > 0 && !bytes.ContainsAny(event, "\r\n")
		if packed {
			payload = event
		}
		list, b = append(list, frame{head, packed}), b[size:]
		lines.WriteString(data + strings.NewReplacer("\r", " ", "\n", " ").Replace(string(payload)) + "\n\n")
	}
	var out []byte
	for i, line := range strings.SplitN(r.text(lines.String(), where), "\n\n", len(list)+1) {
		if i == len(list) {
			break
		}
		payload := []byte(strings.TrimPrefix(line, data))
		if list[i].packed {
			payload = []byte(`{"bytes":"` + base64.StdEncoding.EncodeToString(payload) + `"}`)
		}
		out = stream.AppendFrame(out, list[i].head, payload)
	}
	return string(out)
}

// Blank returns the text with secrets replaced by Redacted: keys, tokens and organization ids by their looks, and the
// given values wherever they stand (O5). Reports on other people's recordings pass their texts through it; who blanks
// many makes a secret.Finder once.
func Blank(text string, secrets ...string) string {
	return secret.New(nameless(secrets)...).Text(text, nil)
}
