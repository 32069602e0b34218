package cassette

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"
)

// Redacted stands wherever a secret stood.
const Redacted = "[redacted]"

// keptHeaders are the only headers a cassette keeps: what replay needs to see.
// All others are noise (platform, agent, dates, limits) or may be secret.
var keptHeaders = []string{"Accept", "Anthropic-Beta", "Anthropic-Version", "Content-Encoding", "Content-Type", "Location", "Retry-After", OffsetsHeader}

// secretHeaders are kept by name, so that one sees they were sent, and blanked.
var secretHeaders = []string{"Api-Key", "Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie", "X-Api-Key", "X-Goog-Api-Key"}

// secretNames are URL parameters and form fields whose values are secret.
var secretNames = regexp.MustCompile(`(?i)^(.*[-_])?(key|apikey|token|secret|password|passwd|signature|sig|credential|code|session)$`)

// secretTexts match secrets by their looks, wherever they stand.
var secretTexts = []*regexp.Regexp{
	regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{8,}`),
	regexp.MustCompile(`\bsk-(?:proj-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{20,})`),
	regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`),
	regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{20,}`),
	regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{20,}`),
	regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`\bxox[abeprs]-[A-Za-z0-9-]{10,}`),
	regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*`),
	regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^"{}]*?-----END [A-Z ]*PRIVATE KEY-----`),
}

// labelledTexts match secrets by what stands before them, which is kept.
var labelledTexts = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}`),
	regexp.MustCompile(`("(?:organization|org|workspace|account)_(?:id|uuid)"\s*:\s*)"[^"\\]+"`),
}

// redactor blanks secrets; literals are values known to be secret.
type redactor struct{ literals []string }

func newRedactor(secrets []string) redactor {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return strings.TrimSpace(s) == "" })
	for _, s := range secrets {
		if inJSON := strconv.Quote(s); inJSON != `"`+s+`"` {
			secrets = append(secrets, inJSON[1:len(inJSON)-1])
		}
	}
	// Longest first: one secret may be the beginning of another.
	slices.SortStableFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return redactor{secrets}
}

// text blanks secrets in a body. What it puts in is valid inside a JSON string.
func (r redactor) text(s string) string {
	for _, secret := range r.literals {
		s = strings.ReplaceAll(s, secret, Redacted)
	}
	for _, re := range secretTexts {
		s = re.ReplaceAllLiteralString(s, Redacted)
	}
	s = labelledTexts[0].ReplaceAllString(s, "${1}"+Redacted)
	return labelledTexts[1].ReplaceAllString(s, `${1}"`+Redacted+`"`)
}

// url blanks credentials and secret parameters.
func (r redactor) url(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return r.text(raw)
	}
	u.User = nil
	if u.RawQuery != "" {
		q := u.Query()
		r.values(q)
		u.RawQuery = strings.ReplaceAll(q.Encode(), url.QueryEscape(Redacted), Redacted)
	}
	return r.text(u.String())
}

// values blanks secret fields in place.
func (r redactor) values(vs url.Values) {
	for name, list := range vs {
		for i, v := range list {
			if secretNames.MatchString(name) {
				list[i] = Redacted
			} else {
				list[i] = r.text(v)
			}
		}
	}
}

// header returns what a cassette keeps of the headers.
func (r redactor) header(h http.Header) http.Header {
	kept := http.Header{}
	for _, name := range keptHeaders {
		for _, v := range h.Values(name) {
			kept.Add(name, r.text(v))
		}
	}
	for _, name := range secretHeaders {
		if h.Get(name) != "" {
			kept.Set(name, Redacted)
		}
	}
	return kept
}

// interaction is the filter that go-vcr applies before it saves. Maps are
// replaced, not changed: the caller's request and response share them.
func (r redactor) interaction(i *vcr.Interaction) error {
	i.Request.URL = r.url(i.Request.URL)
	i.Request.Body = r.text(i.Request.Body)
	i.Request.Headers = r.header(i.Request.Headers)
	r.values(i.Request.Form)
	i.Response.Body = r.text(i.Response.Body)
	i.Response.Headers = r.header(i.Response.Headers)
	return nil
}
