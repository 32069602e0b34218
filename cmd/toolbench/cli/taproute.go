package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolbench/sim/dialect"
)

// provider is whom a request is meant for.
type provider struct {
	// variable may lead elsewhere than to the usual host.
	variable, usual string
	// path and header recognize its requests.
	path   *regexp.Regexp
	header string
	// local: it is on one's own machines, where no key is asked for, and its address may
	// lack the scheme and the port.
	local bool
}

var providers = []provider{
	{"GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com", regexp.MustCompile(`:(generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$|^/v1beta/`), "X-Goog-Api-Key", false},
	{"ANTHROPIC_BASE_URL", "https://api.anthropic.com", regexp.MustCompile(`/v1/(messages|complete)(/|$)`), "Anthropic-Version", false},
	{"OPENAI_BASE_URL", "https://api.openai.com", regexp.MustCompile(`/(chat/completions|completions|responses|embeddings|conversations)(/|$)`), "Openai-Beta", false},
	{"OLLAMA_HOST", ollama, regexp.MustCompile(`^/api/(chat|generate|tags|show|ps|version|embed|embeddings|pull)$`), "", true},
}

const ollama = "http://127.0.0.1:11434"

// beside are requests of these APIs that ask for no answer of a model.
var beside = regexp.MustCompile(`/(count_tokens|input_tokens|embeddings|models)(/[^/]+)?$|:(countTokens|embedContent|batchEmbedContents)$|^/api/(tags|show|ps|version|embed)$`)

// asks reports whether a request wants a model's answer.
func asks(r *http.Request) bool { return r.Method == http.MethodPost && dialect.Asks(r.URL.Path) }

// routes lead requests to where the API is.
type routes struct {
	all    *url.URL // --upstream
	usual  []*url.URL
	recent *atomic.Int64 // the provider that was asked last
}

// newRoutes leads all requests to one address, given by a flag, or each to its provider.
func (a *app) newRoutes(flag, upstream string) (routes, error) {
	r := routes{recent: &atomic.Int64{}}
	r.recent.Store(1)
	if upstream != "" {
		if err := reachableBase(flag, upstream); err != nil {
			return r, err
		}
		var err error
		r.all, err = url.Parse(upstream)
		return r, err
	}
	for _, p := range providers {
		base := p.usual
		switch own := a.env(p.variable); {
		case own == "":
		case p.local:
			base = localBase(own)
		default:
			if err := reachableBase(p.variable, own); err != nil {
				return r, err
			}
			base = own
		}
		u, err := url.Parse(base)
		if err != nil {
			return r, err
		}
		r.usual = append(r.usual, u)
	}
	return r, nil
}

// localBase completes an address as Ollama's clients do.
func localBase(own string) string {
	if strings.Contains(own, "://") {
		return own
	}
	if _, _, err := net.SplitHostPort(own); err != nil {
		own += ":11434"
	}
	return "http://" + own
}

// to gives where a request goes, without the part of the path that both have.
func (r routes) to(req *http.Request) *url.URL {
	base := r.all
	if base == nil {
		base = r.usual[r.provider(req)]
	}
	path, escaped := strings.TrimSuffix(base.Path, "/"), strings.TrimSuffix(base.EscapedPath(), "/")
	if last := path[strings.LastIndexByte(path, '/')+1:]; last != "" && strings.HasPrefix(req.URL.Path, "/"+last+"/") {
		path, escaped = strings.TrimSuffix(path, "/"+last), strings.TrimSuffix(escaped, "/"+last)
	}
	out := *req.URL
	out.Scheme, out.Host, out.Path, out.RawPath = base.Scheme, base.Host, path+req.URL.Path, escaped+req.URL.EscapedPath()
	return &out
}

// provider is whom a request is meant for: by its path, its headers, else as the one before.
func (r routes) provider(req *http.Request) int64 {
	for i, p := range providers {
		if p.path.MatchString(req.URL.Path) {
			r.recent.Store(int64(i))
			return int64(i)
		}
	}
	for i, p := range providers {
		if req.Header.Get(p.header) != "" {
			return int64(i)
		}
	}
	return r.recent.Load()
}

// network is the way to the API; bodies stay packed as they are.
func (t *tapSession) network() http.RoundTripper {
	n := http.DefaultTransport.(*http.Transport).Clone()
	n.DisableCompression, n.MaxIdleConnsPerHost = true, 64
	return n
}

// proxy passes everything on at once, whatever it is.
func (t *tapSession) proxy() http.Handler {
	pass := &httputil.ReverseProxy{
		Transport: t.journal, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), BufferPool: &buffers{},
		Rewrite: func(p *httputil.ProxyRequest) {
			t.notice(p.In)
			p.Out.URL, p.Out.Host = t.routes.to(p.In), ""
			if _, ok := p.In.Header["User-Agent"]; !ok {
				p.Out.Header.Set("User-Agent", "") // else Go's own would be put there
			}
		},
		ErrorHandler: t.failed,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without it the server takes what is left of a request for itself as soon as the
		// answer begins. The transport, which still looks whether the body has ended, would
		// then close the connection in the middle of the answer. HTTP/2 is that way anyway.
		control := http.NewResponseController(w)
		_ = control.EnableFullDuplex()
		pass.ServeHTTP(w, r)
		_ = control.SetReadDeadline(time.Now().Add(partTime))
		_, _ = io.Copy(io.Discard, r.Body) // left to the server, it would be read beside the next request
	})
}

// buffers are what answers are passed on in: an event or a few fit, and a thousand answers
// that arrive slowly each hold one.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if kept, ok := b.pool.Get().(*[8 << 10]byte); ok {
		return kept[:]
	}
	return new([8 << 10]byte)[:]
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(used []byte) { b.pool.Put((*[8 << 10]byte)(used)) }

// notice counts a request.
func (t *tapSession) notice(r *http.Request) {
	what := t.app.blanked(r.Method + " " + r.URL.Path)
	if t.flags.log {
		t.app.logf("%s %s", time.Now().Format("15:04:05.000"), what)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total++
	if !asks(r) && !beside.MatchString(r.URL.Path) {
		const most = 20
		if _, ok := t.strange[what]; !ok && len(t.strange) == most {
			what = "others"
		}
		t.strange[what]++
	}
}

// mostFailures is how many are reported.
const mostFailures = 5

// failed answers in the place of an API that cannot be reached.
func (t *tapSession) failed(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // the agent went away
	}
	text := t.app.blanked(fmt.Sprintf("%s %s: the API cannot be reached: %s", r.Method, t.routes.to(r), err))
	t.mu.Lock()
	if len(t.failures) < mostFailures {
		t.failures = append(t.failures, text)
	}
	t.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]string{"type": "api_error", "message": "toolbench tap: " + text}})
}
