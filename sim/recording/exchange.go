package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// exchange is one HTTP request with its response, as a recorder kept it. Bodies may still be packed.
type exchange struct {
	number, line int
	url          string
	status       int
	request      []byte
	response     []byte
	asked        http.Header // of the request
	header       http.Header // of the response
	// made: the request was put together from a log, and never sent as it is.
	made bool
	// sent is when the request left; first and last are when the response began and ended, counted from then.
	sent        time.Time
	first, last Moment
	// follows is set where the recording itself has that the response answers what
	// came of an earlier one: see scanArchive.
	follows *thread
	// ids names the calls of the request, and so those of the answer; model is the one that was asked.
	ids   *dialect.IDs
	model string
}

// reply is a response as the model's events, or none.
type reply struct {
	events []stream.Event
	// wire is the answer as it came, an event each; what was no stream is one.
	wire     []stream.Event
	streamed bool
	pace     Pace
	first    Moment
	// cut is where the body ends too early, malformed why it cannot be read to its end.
	cut, malformed string
	// done: the stream has the mark of its end.
	done bool
	// usage is that of a message that was not streamed.
	usage *Usage
	// api is whose words the answer was in.
	api dialect.API
}

var errNoModel = errors.New("it is no model's answer")

// read turns a body into events. errNoModel: it is something else.
func (x *exchange) read(max int64) (reply, error) {
	b, err := cassette.Decode(x.response, x.header.Get("Content-Encoding"), max)
	if err != nil {
		return reply{}, err
	}
	b = x.plainFrames(bytes.TrimPrefix(b, byteOrderMark))
	text := bytes.TrimSpace(b)
	var r reply
	switch {
	case isFrame(b):
		r, err = x.frames(b, max)
	case sseStart.Match(text):
		r, err = x.stream(b)
	case len(text) > 0 && text[0] == '{':
		r, err = x.document(text)
	case len(text) > 0 && text[0] == '[':
		r, err = x.listed(text)
	default:
		err = errNoModel
	}
	if len(r.wire) == 0 && json.Valid(text) {
		r.wire = []stream.Event{{Data: text}}
	}
	return r, err
}

// listed decodes a stream that is one JSON list, as Gemini's is unless it is asked for
// events, and as recorders of libraries keep any.
func (x *exchange) listed(text []byte) (reply, error) {
	r, pieces, values := reply{streamed: true}, []stream.Event(nil), json.NewDecoder(bytes.NewReader(text))
	_, err := values.Token() // its bracket
	for err == nil && values.More() {
		var v json.RawMessage
		if err = values.Decode(&v); err != nil {
			break
		}
		value := gjson.ParseBytes(v)
		kind := value.Get("type").String()
		if len(pieces) == 0 && dialect.EventAPI(value) == "" && !isEvent(kind, value) {
			return reply{}, errNoModel
		}
		pieces = append(pieces, stream.Event{At: time.Duration(len(pieces)), Type: kind, Data: v})
	}
	if err == nil {
		_, err = values.Token()
	}
	if err != nil {
		r.cut = "the body ends inside its list"
	}
	return x.translated(r, r.paced(pieces, x.stamps(len(pieces))))
}

// lined decodes a stream that is a JSON object a line, as Ollama's is, and as recorders keep others'. Each line of
// Ollama's has when it was written, and the last how long all took, so that every event's time is known.
func (x *exchange) lined(text []byte) (reply, error) {
	r, pieces := reply{streamed: true}, []stream.Event(nil)
	var written []time.Time
	var took time.Duration
	for l := range bytes.Lines(text) {
		if l = bytes.TrimSpace(l); len(l) == 0 || string(l) == "[DONE]" {
			r.done = r.done || len(l) > 0
			continue
		}
		if !json.Valid(l) {
			r.cut = "the body ends inside a line"
			break
		}
		v := gjson.ParseBytes(l)
		if at, err := time.Parse(time.RFC3339Nano, v.Get("created_at").String()); err == nil {
			written = append(written, at)
		}
		took = time.Duration(v.Get("total_duration").Int())
		pieces = append(pieces, stream.Event{At: time.Duration(len(pieces)), Type: v.Get("type").String(), Data: l})
	}
	at := x.stamps(len(pieces))
	if at == nil && len(written) == len(pieces) {
		at = sinceBegin(written, took)
	}
	return x.translated(r, r.paced(pieces, at))
}

// sinceBegin are times as counted from the beginning of what took so long and ended with the last
// of them; nil where they cannot be.
func sinceBegin(times []time.Time, took time.Duration) []time.Duration {
	if len(times) == 0 || took <= 0 || !slices.IsSortedFunc(times, time.Time.Compare) {
		return nil
	}
	began := times[len(times)-1].Add(-took)
	if times[0].Before(began) {
		return nil
	}
	return mapped(times, func(t time.Time) time.Duration { return t.Sub(began).Truncate(stream.Tick) })
}

// stamps are the times that were recorded of a stream's pieces; nil where there are not so many.
func (x *exchange) stamps(pieces int) []time.Duration {
	if at := cassette.Offsets(x.header); len(at) == pieces && pieces > 1 {
		return at
	}
	return nil
}

// paced gives each piece, whose At is its place, the time of that place, if those are known.
func (r *reply) paced(pieces []stream.Event, at []time.Duration) []stream.Event {
	for i := range pieces {
		place := pieces[i].At
		if pieces[i].At = 0; at != nil {
			pieces[i].At, r.pace = at[place], Exact
		}
	}
	return pieces
}

// translated is a stream in the words of the Messages API, unless it has neither a message nor an error.
func (x *exchange) translated(r reply, pieces []stream.Event) (reply, error) {
	r.wire = pieces
	d := dialect.Stream{Origin: x.origin(), Emit: func(e stream.Event) error {
		r.events = append(r.events, e)
		return nil
	}}
	for _, e := range pieces {
		if err := d.Add(e); err != nil {
			return r, err
		}
	}
	end := d.End
	if r.done {
		end = d.Done
	}
	if err := end(); err != nil {
		return r, err
	}
	r.api = d.API()
	broken := len(r.events) == 0 && (r.cut != "" || r.malformed != "")
	if broken || slices.ContainsFunc(r.events, func(e stream.Event) bool { return e.Type == messageStart || e.Type == errorEvent }) {
		return x.timed(r), nil
	}
	return r, errNoModel
}

// plainFrames decodes frames that some recorders keep as hexadecimal digits or base64 without marking it.
func (x *exchange) plainFrames(b []byte) []byte {
	if frames, err := hex.DecodeString(string(b)); err == nil && isFrame(frames) {
		return frames
	}
	if !strings.Contains(x.header.Get("Content-Type"), "eventstream") || isFrame(b) {
		return b
	}
	if frames, err := fromBase64(string(b)); err == nil && isFrame(frames) {
		return frames
	}
	return b
}

func (x *exchange) frames(b []byte, max int64) (reply, error) {
	r, pieces := reply{streamed: true}, []stream.Event(nil)
	n, err := framed(bufio.NewReader(bytes.NewReader(b)), max, func(n int, e stream.Event) error {
		e.At = time.Duration(n - 1)
		pieces = append(pieces, e)
		return nil
	})
	if errors.Is(err, errFrameCut) {
		r.cut = err.Error()
	} else if err != nil {
		r.malformed = err.Error()
	}
	return x.translated(r, r.paced(pieces, x.stamps(n)))
}

// origin is what the answer may lack.
func (x *exchange) origin() dialect.Origin {
	return dialect.Origin{ID: x.header.Get("X-Amzn-Requestid"), Model: cmp.Or(x.model, dialect.Model(x.url)), IDs: x.ids}
}

// doneMark ends streams of Chat Completions; the decoder drops it.
var doneMark = []byte("data: [DONE]")

// stream decodes server-sent events. Those of another API are no model's answer.
func (x *exchange) stream(b []byte) (reply, error) {
	r := reply{streamed: true, done: bytes.HasSuffix(bytes.TrimSpace(b), doneMark)}
	i := cassette.Interaction{Number: x.number}
	i.Response.Body, i.Response.Headers, i.Response.Duration = string(b), x.header, x.first.At
	events, err := i.Events()
	cut, isCut := errors.AsType[*stream.TruncatedError](err)
	if isCut && len(apart(cut.Event)) > 1 {
		events, err, isCut = append(events, cut.Event), nil, false
	}
	pieces := slices.Concat(mapped(events, apart)...)
	if isCut {
		r.cut = "the body ends inside an event, at byte " + fmt.Sprint(cut.Offset)
	} else if err != nil {
		r.malformed = err.Error()
	}
	if x.header.Get(cassette.OffsetsHeader) != "" && err == nil {
		r.pace = Exact
	}
	return x.translated(r, pieces)
}

// document is a response that was no stream: a message, an error, or events a line.
func (x *exchange) document(text []byte) (reply, error) {
	v := gjson.ParseBytes(text)
	if api, m, ok := dialect.Reply(v, x.origin()); ok && json.Valid(text) {
		x.measured(v)
		return x.timed(reply{events: written(m), usage: usageIn(m), api: api}), nil
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	first := gjson.ParseBytes(line)
	kind := first.Get("type").String()
	if dialect.EventAPI(first) == "" && !isEvent(kind, first) || json.Valid(text) && kind == errorEvent {
		return reply{}, errNoModel
	}
	return x.lined(text)
}

// measured takes what Converse's service, or Ollama, measured of an answer.
func (x *exchange) measured(v gjson.Result) {
	took := v.Get("metrics.latencyMs").Num * float64(time.Millisecond)
	if took == 0 && dialect.EventAPI(v) == dialect.Ollama {
		took = v.Get("total_duration").Num
	}
	if took > 0 && took < 1e15 && !x.last.Known {
		x.last = Moment{time.Duration(took).Truncate(stream.Tick), true}
	}
}

// timed gives the events what times there are.
func (x *exchange) timed(r reply) reply {
	r.first = x.first
	if r.pace == Exact || !x.last.Known {
		return r
	}
	r.pace = Bounded
	if !r.streamed {
		for i := range r.events {
			r.events[i].At = x.last.At
		}
		return r
	}
	r.events = between(r.events, x.first.At, x.last.At)
	return r
}

// between spreads events over a span by the amount of output.
func between(events []stream.Event, first, last time.Duration) []stream.Event {
	paced := stream.Pace{TokensPerSecond: 1}.Apply(events)
	if len(paced) == 0 {
		return paced
	}
	total := paced[len(paced)-1].At
	for i := range paced {
		share := 0.0
		if total > 0 {
			share = float64(paced[i].At) / float64(total)
		}
		paced[i].At = (first + time.Duration(share*float64(max(0, last-first)))).Truncate(stream.Tick)
	}
	return paced
}

// written makes the events of a message that was not streamed.
func written(v gjson.Result) []stream.Event {
	return stream.Script(stream.Turn{
		ID: v.Get("id").String(), Model: v.Get("model").String(), Stop: v.Get("stop_reason").String(), StopSequence: v.Get("stop_sequence").String(),
		Blocks: contentBlocks(v.Get("content")),
	})
}

// noModel counts requests of which nothing else is known.
const noModel = "requests that ask no model"

// other names what a request is that is not read.
func other(address string) string {
	path := address
	if u, err := url.Parse(address); err == nil {
		path = u.Path
	}
	path = strings.TrimSuffix(path, "/")
	if before, _, ok := strings.Cut(path, "/batches/"); ok {
		path = before + "/batches" // what is done with one of them
	}
	for _, api := range recorders().Others {
		for end := range strings.FieldsSeq(api.Ends) {
			if strings.HasSuffix(path, end) || strings.HasSuffix(end, "/") && strings.Contains(path, end) {
				return api.What
			}
		}
	}
	return noModel
}

// most is how many kinds of what was not read an error names.
const most = 3

// instead words what a file holds that is no turn, the most frequent first, and last what explains little.
func (s *scanner) instead() string {
	weight := func(kind string) int {
		if kind == noModel {
			return 0
		}
		return s.ignored[kind]
	}
	kinds := slices.SortedFunc(maps.Keys(s.ignored), func(a, b string) int { return cmp.Or(weight(b)-weight(a), strings.Compare(a, b)) })
	more := ""
	if len(kinds) > most {
		kinds, more = kinds[:most], " and more"
	}
	counted := func(kind string) string { return fmt.Sprintf("%s (%d)", kind, s.ignored[kind]) }
	return strings.Join(mapped(kinds, counted), ", ") + more
}

// failure words an answer that is an error, as those who give them word it; "" when neither
// its status nor its body has one.
func (x *exchange) failure(max int64) string {
	body, err := cassette.Decode(x.response, x.header.Get("Content-Encoding"), max)
	if err != nil {
		body = nil // the status is enough
	}
	v := gjson.ParseBytes(body)
	if v.IsArray() {
		v = v.Get("0")
	}
	if failed := v.Get("error"); x.status < 400 && !failed.IsObject() && failed.Type != gjson.String {
		return ""
	}
	kind, _, _ := strings.Cut(x.header.Get("X-Amzn-Errortype"), ":")
	for _, path := range []string{"error_type", "error.code", "error.status", "error.type"} {
		if word := v.Get(path); word.Type == gjson.String && word.Str != "" {
			kind = word.Str
		}
	}
	status := fmt.Sprintf("the request was answered with status %d", x.status)
	text := textIn(v, "error.message message Message error detail")
	return strings.Join(slices.DeleteFunc([]string{status, kind, text}, func(part string) bool { return part == "" }), ": ")
}
