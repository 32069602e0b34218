package recording

import (
	"bytes"
	"cmp"
	_ "embed" // the forms
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// form is where recorders keep the parts of an exchange: paths of its item, separated by
// blanks where recorders differ, of which the first that has something counts.
type form struct {
	// Marks are paths that all have something; Base stands before the address.
	Marks                                               []string
	Base, URL, Status, Sent, Headers, Request, Response string
}

//go:embed recorders.json
var recorderTable []byte

// recorderForms are the forms that are known: Sides has a request and a response, Forms are the others, which their marks tell.
// Who keeps exchanges or traces in another way is one more line of the table. Others are the ends of paths that other APIs, or
// other parts of ours, are known by, and Unread what others write down that is not read, so that a person learns why; Page is what events of a page's stream mean.
// Batches have lists of requests, or of results with their answers, by name; Bodies are where a request has what it asks, with the
// address where that is asked by itself.
type recorderForms struct {
	Sides     form
	Forms     []form
	Observers []observer
	Others    []struct{ What, Ends string }
	Unread    []struct {
		What  string
		Marks []string
	}
	Page    map[string]string
	Batches struct {
		Lists, Names, Answers string
		Bodies                []struct{ At, Address string }
	}
}

var recorders = sync.OnceValue(func() (all *recorderForms) {
	if err := json.Unmarshal(recorderTable, &all); err != nil {
		panic(err) // every test of this package reads it
	}
	return all
})

// formOf recognizes an exchange; nil when it is none.
func formOf(v gjson.Result) *form {
	for i, f := range recorders().Forms {
		if hasAll(v, f.Marks) {
			return &recorders().Forms[i]
		}
	}
	if v.Get("request").IsObject() && v.Get("response").IsObject() {
		return &recorders().Sides
	}
	if strings.HasPrefix(v.Get("request").Str, "{") && strings.HasPrefix(v.Get("response").Str, "{") { // bodies as texts
		return &recorders().Forms[0]
	}
	return nil
}

func hasAll(v gjson.Result, paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool { return !v.Get(path).Exists() })
}

// isExchange reports whether v is an exchange that stands for itself: parts of traces, which may have the members of one, wait
// for the others.
func isExchange(v gjson.Result) bool { return formOf(v) != nil && observerOf(v) == nil }

// plainList marks exchanges that stand in a list without a name, or a line each.
const plainList = "[]"

// exchanges are those of a file.
type exchanges struct {
	s        *scanner
	chains   *chains
	realtime realtime
	number   int
	// list is the name of the list they stand in, version the recorder's, "" unknown.
	list, version string
	// bodies are the latest requests, of which a cassette of ours has the next ones in part.
	bodies cassette.Bodies
}

func (s *scanner) exchanges() *exchanges {
	xs := &exchanges{s: s, chains: s.chains(), list: plainList}
	xs.realtime.xs = xs
	return xs
}

// take reads the next one, which begins at a line. The last one of a file may have been cut.
func (xs *exchanges) take(v gjson.Result, line int, last bool) error {
	switch message := firstOf(v, "data msg"); {
	case message.Exists() && firstOf(v, "direction dir").Exists(), v.Get("kind").String() == "close":
		return xs.realtime.frame(message, line)
	case v.Get(`response.ws_events.#(type=="response.created")`).Exists():
		return xs.realtime.whole(firstOf(v, "request.ws_events request.body").Array(), v.Get("response.ws_events").Array(), line)
	}
	xs.number++
	x, err := xs.read(v, line)
	switch {
	case err == nil:
		if last && (xs.list == "interactions" && x.status == 0 || xs.list == "http_interactions" && !v.Get("recorded_at").Exists()) {
			xs.problem(CutStream, "the last interaction lacks what recorders write at its end: the file was cut", line)
		}
		return xs.chains.take(x)
	case errors.Is(err, errParts) && v.Get("collections_method").Exists(): // of xAI's library
		xs.s.ignore(noModel)
	case errors.Is(err, errParts) && last:
		xs.problem(CutStream, "the last interaction is cut off", line)
	default:
		xs.problem(Malformed, err.Error(), line)
	}
	return nil
}

func (xs *exchanges) problem(kind Kind, text string, line int) {
	xs.s.problem(Problem{Kind: kind, Text: text, Line: line, Interaction: xs.number})
}

var errParts = errors.New("the interaction has no request and response")

// read finds the parts of an exchange, whichever recorder wrote it.
func (xs *exchanges) read(v gjson.Result, line int) (*exchange, error) {
	f := formOf(v)
	if f == nil {
		v = ofGrok(v)
		f = formOf(v)
	}
	if f == nil {
		return nil, errParts
	}
	xs.s.format = xs.recorder(v, f)
	x := &exchange{number: xs.number, line: line, asked: headersIn(v.Get(f.Sent)), header: headersIn(dialect.Either(v, strings.Fields(f.Headers)...)), sent: stamp(v.Get("startedDateTime"))}
	x.url = v.Get(f.Base).String() + textIn(v, f.URL)
	if f.URL == "" { // the bodies alone
		x.url = "/v1/messages"
	}
	code, _, _ := strings.Cut(textIn(v, f.Status), " ")
	x.status, _ = strconv.Atoi(code) // 0: it is unknown
	x.first, x.last = timings(v)
	stampChunks(x.header, v.Get("response"))
	var err error
	x.request, err = bodyIn(v, f.Request)
	if errors.Is(err, errOutside) { // the answer is of use by itself
		xs.problem(Malformed, err.Error(), line)
		err = nil
	}
	if err == nil {
		x.response, err = bodyIn(v, f.Response)
	}
	if err == nil && (v.Get("response.encodedBody").Bool() || v.Get("snapshot").Exists()) { // of Hoverfly and undici
		x.response, err = fromBase64(string(x.response))
	}
	if name := v.Get("response.bodyFileName").String(); name != "" && len(x.response) == 0 && err == nil { // of WireMock
		err = fmt.Errorf("%w: %s", errOutside, name)
	}
	if xs.s.format == GoVCR1 && err == nil { // a cassette of ours may have only a part
		whole, shared := xs.bodies.Restore(x.asked, string(x.request))
		if x.request = []byte(whole); shared != nil {
			err = fmt.Errorf("the body of the request %w", shared)
		}
	}
	return x, err
}

func (xs *exchanges) recorder(v gjson.Result, f *form) Format {
	switch {
	case v.Get("then").Exists():
		return HTTPMock
	case f != &recorders().Sides || xs.list == plainList:
		return Exchanges
	case xs.list == "entries":
		return HAR
	case xs.list == "http_interactions":
		return RubyVCR
	case v.Get("request.uri").Exists():
		return VCRPy
	case xs.version != "" && xs.version != "1":
		return GoVCR2
	}
	return GoVCR1
}

// textIn is the first text or number at one of the paths.
func textIn(v gjson.Result, paths string) string {
	for path := range strings.FieldsSeq(paths) {
		if at := v.Get(path); at.Type != gjson.JSON && at.String() != "" {
			return at.String()
		}
	}
	return ""
}

// bodyIn is the first body at one of the paths: a text, bytes, what it means, or a mapping around one of these.
func bodyIn(v gjson.Result, paths string) ([]byte, error) {
	for path := range strings.FieldsSeq(paths) {
		b := v.Get(path)
		if b.Type == gjson.Null || b.Type == gjson.String && b.Str == "" || b.IsObject() && strings.HasSuffix(path, ".text") {
			continue // bodies of Responses have a mapping of that name themselves
		}
		switch name := path[strings.LastIndex(path, ".")+1:]; {
		case strings.Contains(strings.ToLower(name), "base64"):
			return fromBase64(b.String())
		case name == "content" && b.IsObject():
			return contentOf(b)
		case (strings.HasSuffix(name, "chunks") || strings.HasSuffix(b.Get("0").Str, "\n")) && b.IsArray(): // whole lines are pieces too
			return []byte(texts(b, "")), nil
		case name == "response" && b.IsArray():
			if all, err := joined(b, false); err == nil {
				return all, nil
			}
		case b.Get("string").Exists():
			b = b.Get("string")
		case b.Get("kind").Type == gjson.String && path != "request" && path != "response":
			return kindOf(b)
		}
		if packed := b.Get(base64Member); packed.Exists() {
			return fromBase64(packed.String())
		}
		return meant(b), nil
	}
	return nil, nil
}

// kindOf is a body whose kind names how it is kept.
func kindOf(b gjson.Result) ([]byte, error) {
	switch b.Get("kind").Str {
	case "base64":
		return fromBase64(b.Get("value").String())
	case "sse":
		return []byte(texts(b.Get("chunks"), "\n\n")), nil
	case "binary":
		return nil, fmt.Errorf("%w: %s", errOutside, b.Get("path").String())
	case "empty":
		return nil, nil
	}
	return meant(dialect.Either(b, "value", "@this")), nil
}

var errOutside = errors.New("a body stands in a file of its own, which is not read with this one")

// base64Member marks a text that is bytes in base64.
const base64Member = "base64_string"

// texts are those of a list, one after the other, each with an end.
func texts(list gjson.Result, end string) string {
	var all strings.Builder
	for _, t := range list.Array() {
		all.WriteString(t.String() + end)
	}
	return all.String()
}

// dataMember is where recorders of a library's objects have what an object holds, beside the name of its type.
const dataMember = "__data__"

// meant is a body that stands as a text, or as the JSON that it is; or as a list of these, as
// recorders of a library's streams have them. Some mark what is not plain text.
func meant(v gjson.Result) []byte {
	switch first := v.Get("0"); {
	case v.Type == gjson.String:
		if packed, ok := strings.CutPrefix(v.Str, "base64:"); ok {
			if b, err := fromBase64(packed); err == nil {
				return b
			}
		}
		return []byte(v.Str)
	case v.IsObject() && v.Get(dataMember).Exists():
		return meant(v.Get(dataMember))
	case v.IsArray() && (first.Type == gjson.String || first.Get(dataMember).Exists()):
		mark, sep, end := "", "\n", ""  // of a stream's lines
		if first.Type != gjson.String { // of what a library made of its events
			mark, sep, end = "[", ",", "]"
		}
		return []byte(mark + string(bytes.Join(mapped(v.Array(), meant), []byte(sep))) + end)
	}
	return []byte(v.Raw)
}

// contentOf is the body of an archive's response. Some recorders store what was packed as a list of chunks.
func contentOf(c gjson.Result) ([]byte, error) {
	text, packed := c.Get("text").String(), c.Get("encoding").String() == "base64"
	switch {
	case strings.HasPrefix(text, `["`) && json.Valid([]byte(text)):
		return joined(gjson.Parse(text), packed)
	case packed:
		return fromBase64(text)
	}
	return []byte(text), nil
}

// joined puts chunks in base64 or hexadecimal together.
func joined(chunks gjson.Result, inBase64 bool) ([]byte, error) {
	var out []byte
	for _, chunk := range chunks.Array() {
		b, err := hex.DecodeString(chunk.String())
		if err != nil || inBase64 {
			b, err = base64.StdEncoding.DecodeString(chunk.String())
		}
		if err != nil {
			return nil, errors.New("a chunk of the body is neither base64 nor hexadecimal")
		}
		out = append(out, b...)
	}
	return out, nil
}

// headersIn reads headers: members with a text or a list of them, names and values in a
// list of pairs, whatever these are, or in turn.
func headersIn(v gjson.Result) http.Header {
	out := http.Header{}
	add := func(name string, value gjson.Result) {
		for _, one := range value.Array() {
			if name != "" {
				out.Add(name, one.String())
			}
		}
	}
	list := v.Array()
	if len(list) > 0 && list[0].IsArray() {
		list = v.Get("@flatten").Array()
	}
	switch {
	case v.IsObject():
		v.ForEach(func(name, value gjson.Result) bool {
			add(name.Str, value)
			return true
		})
	case len(list) > 0 && list[0].IsObject():
		for _, pair := range list {
			add(pair.Get("name").String(), pair.Get("value"))
		}
	default:
		for i := 0; i+1 < len(list); i += 2 {
			add(list[i].String(), list[i+1])
		}
	}
	return out
}

// stampChunks keeps when each piece of a response came after the one before, in
// milliseconds, as recorders of streams in pieces have it.
func stampChunks(header http.Header, response gjson.Result) {
	pauses := response.Get("chunkTimings").Array()
	var pieces []string
	var at []time.Duration
	var now time.Duration
	for i, chunk := range response.Get("chunks").Array() {
		if i == len(pauses) || pauses[i].Num < 0 || pauses[i].Num > 1e9 {
			return
		}
		now += time.Duration(pauses[i].Num * float64(time.Millisecond))
		pieces, at = append(pieces, chunk.String()), append(at, now)
	}
	if len(pieces) > 0 {
		cassette.StampPieces(header, pieces, at)
	}
}

// timings gives when a response began and ended, as far as the recorder kept it: go-vcr
// has when its headers were there, an archive the parts of the time.
func timings(v gjson.Result) (first, last Moment) {
	if d, err := time.ParseDuration(v.Get("response.duration").String()); err == nil && d > 0 {
		return Moment{d, true}, Moment{}
	}
	ms := func(n float64) time.Duration {
		return time.Duration(n * float64(time.Millisecond)).Truncate(stream.Tick)
	}
	t := v.Get("timings")
	if wait := t.Get("wait"); wait.Type == gjson.Number && wait.Num > 0 && wait.Num < 1e9 {
		sum := 0.0
		for _, part := range []string{"blocked", "dns", "connect", "send", "wait"} {
			sum += max(0, t.Get(part).Num) // -1 stands for: did not happen
		}
		first = Moment{ms(sum), true}
		if got := t.Get("receive"); got.Type == gjson.Number && got.Num >= 0 && got.Num < 1e9 {
			last = Moment{ms(sum + got.Num), true}
		}
	}
	return first, last
}

// xAI's library calls its models by gRPC. Recorders write its messages in JSON, in words that are nearly those of
// Chat Completions.

// ofGrok makes such a request with its answer, whole or in pieces, an exchange in the words of Chat Completions; v where it is none.
func ofGrok(v gjson.Result) gjson.Result {
	request := firstOf(v, "request_sample.json request_stream.json")
	if !request.Exists() {
		return v
	}
	var messages []any
	for _, m := range request.Get("messages").Array() {
		messages = append(messages, fields{"role": grokWord(m.Get("role").String()), "content": plainText(m.Get("content")),
			"tool_call_id": m.Get("tool_call_id").Value(), "tool_calls": grokCalls(m)})
	}
	pieces := append([]gjson.Result{v.Get("response_sample.json")}, v.Get("response_stream.chunks_json.#.chunk").Array()...)
	reply := pieces[len(pieces)-1]
	var said strings.Builder
	stop, calls := "", []any(nil)
	for _, piece := range pieces {
		for _, output := range piece.Get("outputs").Array() {
			stop = cmp.Or(output.Get("finish_reason").String(), stop)
			m := firstOf(output, "message delta")
			if m.Get("role").String() != "ROLE_TOOL" { // what a tool of the provider's gave
				said.WriteString(m.Get("content").String())
				calls = append(calls, grokCalls(m)...)
			}
		}
	}
	u := reply.Get("usage")
	return gjson.ParseBytes(dialect.JSON(fields{
		"request": fields{"url": "/v1/chat/completions", "body": fields{"model": request.Get("model").String(), "messages": messages, "tools": request.Get("tools.#(function)#").Value()}},
		"response": fields{"status": 200, "body": fields{
			"id": reply.Get("id").String(), "object": "chat.completion", "model": reply.Get("model").String(),
			"choices": []any{fields{"message": fields{"role": "assistant", "content": said.String(), "tool_calls": calls}, "finish_reason": grokWord(stop)}},
			"usage": fields{"prompt_tokens": u.Get("prompt_tokens").Int(), "completion_tokens": u.Get("completion_tokens").Int(),
				"prompt_tokens_details": fields{"cached_tokens": u.Get("cached_prompt_text_tokens").Int()}},
		}},
	}))
}

// grokWord is a value of an enumeration without what it begins with, as in ROLE_USER or REASON_STOP.
func grokWord(s string) string {
	_, word, _ := strings.Cut(s, "_")
	return strings.ToLower(word)
}

// grokCalls are the calls of a message that the client runs.
func grokCalls(m gjson.Result) (out []any) {
	for _, c := range m.Get("tool_calls").Array() {
		if kind := c.Get("type").String(); kind == "" || kind == "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL" {
			out = append(out, looseCall(c))
		}
	}
	return out
}
