package serve

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// wire is the form in which a client asks and is answered: an API, and what its address
// shows of it. The zero value is the Messages API's own.
type wire struct {
	api     dialect.API
	address string
	// byPath: the path decides whether the answer is a stream, and not the body.
	byPath, stream bool
	// framed: a stream is AWS's frames; listed: it is one JSON list; lined: it is a line an event.
	framed, listed, lined bool
	// usage: a stream of Chat Completions ends with what was counted.
	usage bool
	// bedrock has errors of its own.
	bedrock bool
}

// ways are the ends of paths.
var ways = []struct {
	end  string
	wire wire
}{
	{"/messages", wire{api: dialect.Messages}},
	{"/chat/completions", wire{api: dialect.Chat}},
	{"/responses", wire{api: dialect.Responses}},
	{":generateContent", wire{api: dialect.Gemini, byPath: true}},
	{":streamGenerateContent", wire{api: dialect.Gemini, byPath: true, stream: true}},
	{"/api/chat", wire{api: dialect.Ollama, lined: true}},
	{"/invoke", wire{api: dialect.Messages, byPath: true, bedrock: true}},
	{"/invoke-with-response-stream", wire{api: dialect.Messages, byPath: true, stream: true, framed: true, bedrock: true}},
	{"/converse", wire{api: dialect.Converse, byPath: true, bedrock: true}},
	{"/converse-stream", wire{api: dialect.Converse, byPath: true, stream: true, framed: true, bedrock: true}},
	{":rawPredict", wire{api: dialect.Messages}},
	{":streamRawPredict", wire{api: dialect.Messages}},
}

// wireOf recognizes an API by its path; ok is false where a request is for no model's turn.
func wireOf(r *http.Request) (w wire, ok bool) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	for _, way := range ways {
		if strings.HasSuffix(path, way.end) {
			w := way.wire
			w.address = r.URL.Path
			w.listed = w.api == dialect.Gemini && w.stream && r.URL.Query().Get("alt") != "sse"
			return w, r.Method == http.MethodPost
		}
	}
	return wire{api: shapeOf(path), address: path}, false
}

// shapeOf is the API whose errors a path's client can read.
func shapeOf(path string) dialect.API {
	switch {
	case strings.Contains(path, "/v1beta/"), strings.Contains(path, ":"):
		return dialect.Gemini
	case strings.HasPrefix(path, "/api/"):
		return dialect.Ollama
	case strings.Contains(path, "/completions"), strings.Contains(path, "/responses"), strings.Contains(path, "/embeddings"):
		return dialect.Chat
	}
	return dialect.Messages
}

// read gives a request in the Messages API's form. Its errors are worded for the client.
func (w *wire) read(body []byte) (*request, error) {
	as := body
	if w.api != dialect.Messages {
		if !json.Valid(body) {
			return nil, errors.New("the body is no JSON object")
		}
		api, v, ok := dialect.Request(w.address, body, &dialect.IDs{})
		if !ok || api != w.api {
			return nil, fmt.Errorf("the body is no request of %s", w.api)
		}
		as, w.usage = []byte(v.Raw), gjson.GetBytes(body, "stream_options.include_usage").Bool()
	}
	r, err := parse(as)
	if err != nil {
		return nil, err
	}
	r.api, r.model = w.api, cmp.Or(r.model, dialect.Model(w.address))
	switch {
	case w.api != dialect.Messages:
		r.body, r.stream = body, r.stream || w.stream
	case w.byPath:
		r.stream = w.stream
	}
	return r, nil
}

// fail answers with an error as the API words one.
func (w wire) fail(to http.ResponseWriter, status int, kind, text string) {
	status, body := w.refusal(to.Header(), status, kind, text)
	to.WriteHeader(status)
	_, _ = to.Write(body) // an error means that the client went away
}

func (w wire) refusal(head http.Header, status int, kind, text string) (int, []byte) {
	api := w.api
	if w.bedrock {
		api = dialect.Converse
	}
	status, body := dialect.Refusal(api, status, kind, text)
	if w.bedrock {
		head.Set("X-Amzn-Errortype", dialect.Exception(status))
	}
	if status == http.StatusTooManyRequests { // in seconds; some clients ask again only where it is there
		head.Set("Retry-After", "1")
	}
	head.Set("Content-Type", "application/json")
	return status, append(body, '\n')
}

// ErrorOf is an error, of the Messages API's type, as the API words it that a request is
// for: a status, and a body with its header.
func ErrorOf(r *http.Request, status int, kind, text string) (int, http.Header, []byte) {
	w, _ := wireOf(r)
	head := http.Header{}
	status, body := w.refusal(head, status, kind, text)
	return status, head, body
}

// LastWords is an error within a stream, as that API words it.
func LastWords(r *http.Request, e stream.Error) []byte {
	w, _ := wireOf(r)
	o := eventWriter{wire: w, encoder: dialect.Encoder{API: w.api}, wrote: true}
	return append(o.add(stream.Append(nil, stream.Event{Type: "error", Data: e.JSON()})), o.end()...)
}

// kind is the content type of a stream.
func (w wire) kind() string {
	switch {
	case w.framed:
		return "application/vnd.amazon.eventstream"
	case w.listed:
		return "application/json"
	case w.lined:
		return "application/x-ndjson"
	}
	return "text/event-stream; charset=utf-8"
}

// eventWriter writes an answer's events in the form of a wire.
type eventWriter struct {
	wire
	encoder dialect.Encoder
	decoder stream.Decoder
	wrote   bool
	// asked is the request's body, complete; over: the end of the answer was taken in.
	asked []byte
	over  bool
}

// add takes in bytes of the answer as the Messages API has it, and gives those to send.
func (o *eventWriter) add(p []byte) (out []byte) {
	// What cannot be decoded ends the answer where it is.
	_ = o.decoder.Feed(p, func(e stream.Event) error {
		o.over = o.over || e.Type == "message_stop"
		for _, e := range o.encoder.Add(e) {
			out = o.append(out, e)
		}
		return nil
	})
	return out
}

func (o *eventWriter) append(out []byte, e stream.Event) []byte {
	switch {
	case o.framed && e.Type == "error":
		status := dialect.StatusOf(gjson.GetBytes(e.Data, "error.type").Str)
		status, body := dialect.Refusal(dialect.Converse, status, "", gjson.GetBytes(e.Data, "error.message").Str)
		name := dialect.Exception(status)
		return stream.AppendFrame(out, stream.FrameHead(":exception-type", strings.ToLower(name[:1])+name[1:], ":content-type", "application/json", ":message-type", "exception"), body)
	case o.framed && o.api == dialect.Converse:
		head := stream.FrameHead(":event-type", cmp.Or(e.Type, "contentBlockDelta"), ":content-type", "application/json", ":message-type", "event")
		return stream.AppendFrame(out, head, e.Data)
	case o.framed:
		payload := dialect.JSON(map[string]string{"bytes": base64.StdEncoding.EncodeToString(e.Data)})
		return stream.AppendFrame(out, stream.FrameHead(":event-type", "chunk", ":content-type", "application/json", ":message-type", "event"), payload)
	case o.listed:
		lead := ",\r\n"
		if !o.wrote {
			lead, o.wrote = "[", true
		}
		return append(append(out, lead...), e.Data...)
	case o.lined:
		return append(append(out, e.Data...), '\n')
	}
	return stream.Append(out, e)
}

// end is what closes a stream.
func (o *eventWriter) end() []byte {
	if o.listed {
		return []byte("]")
	}
	return nil
}

// storedConversation is what Responses keeps of a conversation for its client, which may refer to it.
type storedConversation struct {
	items     map[string]json.RawMessage
	responses map[string][]json.RawMessage
}

// complete puts what a request refers to in its place, and gives the id of a response that is not kept.
func (k *storedConversation) complete(body []byte) (whole []byte, missing string) {
	v := gjson.ParseBytes(body)
	before := v.Get("previous_response_id")
	if !before.Exists() && !strings.Contains(v.Get("input").Raw, "item_reference") {
		return body, ""
	}
	if _, known := k.responses[before.Str]; before.Str != "" && !known {
		return nil, before.Str
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return body, "" // it is refused for that
	}
	members["input"] = dialect.JSON(k.input(v))
	delete(members, "previous_response_id")
	return dialect.JSON(members), ""
}

// input is a request's whole input.
func (k *storedConversation) input(v gjson.Result) []json.RawMessage {
	items := append([]json.RawMessage(nil), k.responses[v.Get("previous_response_id").Str]...)
	in := v.Get("input")
	if in.Type == gjson.String {
		return append(items, dialect.JSON(map[string]any{"type": "message", "role": "user", "content": in.Str}))
	}
	for _, item := range in.Array() {
		if own, ok := k.items[item.Get("id").Str]; ok && item.Get("type").Str == "item_reference" {
			items = append(items, own)
			continue
		}
		items = append(items, json.RawMessage(item.Raw))
	}
	return items
}

// keep takes a response that was given.
func (k *storedConversation) keep(input []json.RawMessage, document json.RawMessage) {
	v := gjson.ParseBytes(document)
	for _, item := range v.Get("output").Array() {
		k.items[item.Get("id").Str] = json.RawMessage(item.Raw)
		input = append(input, json.RawMessage(item.Raw))
	}
	k.responses[v.Get("id").Str] = input
}

// forbidden is why a request is not answered, or "". A page in a browser on this machine can make requests to a
// server on loopback: directly, and then its Origin is another's, or by a name of its own that it has made point here
// (DNS rebinding), and then the Host is. Both must be a name of loopback, the address the connection came to, or one
// of the names that were allowed.
func (s *Server) forbidden(r *http.Request) string {
	if host := bareHost(r.Host); !s.own(host, r) {
		return refuseName("host", host, host)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return ""
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || !s.own(bareHost(u.Host), r) {
		name := origin
		if err == nil && u.Host != "" {
			name = bareHost(u.Host)
		}
		return refuseName("origin", origin, name)
	}
	return ""
}

func refuseName(what, value, name string) string {
	return fmt.Sprintf("the %s %q is not this server's: use 127.0.0.1 or localhost, or start it with --allow-host %s", what, value, name)
}

// own reports whether a name is the server's.
func (s *Server) own(host string, r *http.Request) bool {
	if host == "localhost" || slices.ContainsFunc(s.o.Hosts, func(h string) bool { return host != "" && bareHost(h) == host }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || local != nil && local.AddrPort().Addr().Unmap() == ip.Unmap()
}

// bareHost is a host in small letters, without its port, brackets and last dot.
func bareHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}
