package recording

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// scanDocument reads one JSON document: an HTTP archive, or a recorder's list in
// JSON. It goes through the list's items one by one.
func (s *scanner) scanDocument(r *bufio.Reader) error {
	allowed := &allowance{r: r}
	dec := json.NewDecoder(allowed)
	d := &documentScan{s: s, dec: dec, allowed: allowed, chains: s.chains()}
	d.yaml = &yamlScan{s: s, chains: d.chains}
	d.members.left = s.limits.Part
	d.plain = s.values(dec, allowed)
	if err := s.documentEnds(d.whole(), d.number); err != nil {
		return err
	}
	if err := d.archived(); err != nil {
		return err
	}
	if err := d.plain.end(); err != nil {
		return err
	}
	return d.chains.end()
}

// whole reads an archive, a recorder's list, or what is neither.
func (d *documentScan) whole() error {
	if err := d.object(""); err != nil || d.listed {
		return err
	}
	if err := d.plain.value(d.members.document(), 1); err != nil {
		return err
	}
	return d.plain.rest()
}

// documentEnds makes of how a document ended an error, or a problem of its own.
func (s *scanner) documentEnds(err error, number int) error {
	switch {
	case errors.Is(err, errAllowance):
		return s.fail(ErrTooLarge, "a part of the document is larger than %d bytes", s.limits.Part)
	case isSyntax(err) && !s.known():
		return s.fail(ErrNotRecording, "it is no JSON document: %s", err)
	case isSyntax(err):
		s.problem(Problem{Kind: CutStream, Text: "the document ends too early, or is no JSON: " + err.Error(), Interaction: number})
		return nil
	}
	return err
}

func isSyntax(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errShape)
}

type documentScan struct {
	s       *scanner
	dec     *json.Decoder
	allowed *allowance
	chains  *chains
	yaml    *yamlScan
	number  int
	// plain takes what is neither an archive nor a recorder's list; listed: it is one.
	plain   *valueScan
	members members
	listed  bool
	// entries wait to be put in order; held is their size.
	entries []entry
	held    int64
}

func (d *documentScan) grant() { d.allowed.left = d.s.limits.Part }

// object walks a mapping and stops at the lists that are known.
func (d *documentScan) object(within string) error {
	d.grant()
	if err := d.delim('{'); err != nil {
		return err
	}
	for d.dec.More() {
		d.grant()
		key, err := d.dec.Token()
		if err != nil {
			return err
		}
		switch name, _ := key.(string); {
		case within == "" && name == "log":
			d.known()
			err = d.object("log")
		case within == "log" && name == "entries":
			err = d.list(d.entry)
		case within == "" && (name == "interactions" || name == "http_interactions"):
			d.known()
			d.yaml.list = name
			err = d.list(d.interaction)
		case within == "" && (name == "mappings" || name == "Entries"):
			d.known()
			err = d.list(func(raw json.RawMessage) error {
				return d.plain.value(raw, d.allowed.line(d.dec)-bytes.Count(raw, []byte("\n")))
			})
		default:
			err = d.member(name)
		}
		if err != nil {
			return err
		}
	}
	d.grant()
	return d.delim('}')
}

func (d *documentScan) delim(want json.Delim) error {
	t, err := d.dec.Token()
	if err != nil {
		return err
	}
	if t != want {
		return errShape
	}
	return nil
}

// member keeps a value, as long as the document may be anything.
func (d *documentScan) member(name string) error {
	var v json.RawMessage
	if err := d.dec.Decode(&v); err != nil || d.listed {
		return err
	}
	return d.members.add(name, v)
}

func (d *documentScan) known() {
	d.listed, d.members = true, members{}
}

func (d *documentScan) list(take func(json.RawMessage) error) error {
	if err := d.delim('['); err != nil {
		return err
	}
	for d.dec.More() {
		d.grant()
		var v json.RawMessage
		if err := d.dec.Decode(&v); err != nil {
			return err
		}
		if err := take(v); err != nil {
			return err
		}
	}
	d.grant()
	return d.delim(']')
}

// interaction is one of a recorder that writes JSON, which is YAML as well.
func (d *documentScan) interaction(raw json.RawMessage) error {
	d.yaml.number++
	d.number = d.yaml.number
	node, err := d.s.inNodes(gjson.ParseBytes(raw))
	if err != nil {
		d.s.problem(Problem{Kind: Malformed, Text: worded(err, false), Interaction: d.number})
		return nil
	}
	return d.yaml.interaction(node, 0, false)
}

// entry is an exchange with what decides its place among others.
type entry struct {
	x        *exchange
	order    int64
	messages int
}

// entry reads an exchange of an archive. Archives need not be in order: entries
// wait, as long as they fit, to be sorted by when they began.
func (d *documentScan) entry(raw json.RawMessage) error {
	d.s.format = HAR
	d.number++
	v := gjson.ParseBytes(raw)
	x := &exchange{
		number: d.number, method: v.Get("request.method").String(), url: v.Get("request.url").String(), status: int(v.Get("response.status").Int()),
		request: []byte(v.Get("request.postData.text").String()), header: pairsOf(v.Get("response.headers")), sent: stamp(v.Get("startedDateTime")),
	}
	x.first, x.last = timings(v)
	var err error
	if x.response, err = content(v.Get("response.content")); err != nil {
		d.s.problem(Problem{Kind: Malformed, Text: err.Error(), Interaction: d.number})
		return nil
	}
	d.held += int64(len(raw))
	d.entries = append(d.entries, entry{x: x, order: v.Get("_order").Int(), messages: int(gjson.GetBytes(x.request, "messages.#").Int())})
	if d.held > d.s.limits.Part {
		return d.archived()
	}
	return nil
}

// archived takes the entries in the order in which they were made: by time, and
// where recorders blank the times, by the order they give, and by how much had been
// written.
func (d *documentScan) archived() error {
	slices.SortStableFunc(d.entries, func(a, b entry) int {
		if c := a.x.sent.Compare(b.x.sent); c != 0 {
			return c
		}
		if a.order != b.order {
			return int(a.order - b.order)
		}
		return a.messages - b.messages
	})
	entries := d.entries
	d.entries, d.held = nil, 0
	for _, e := range entries {
		if err := d.chains.take(e.x); err != nil {
			return err
		}
	}
	return nil
}

// timings gives when a response began and ended, as far as the archive has it.
func timings(v gjson.Result) (first, last Moment) {
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

// content is a response's body. Some recorders store what was packed as a list of
// chunks, in base64 or hexadecimal.
func content(c gjson.Result) ([]byte, error) {
	text := c.Get("text").String()
	if strings.HasPrefix(text, `["`) && json.Valid([]byte(text)) {
		var out []byte
		for _, chunk := range gjson.Parse(text).Array() {
			b, err := unpackChunk(chunk.String(), c.Get("encoding").String() == "base64")
			if err != nil {
				return nil, err
			}
			out = append(out, b...)
		}
		return out, nil
	}
	if c.Get("encoding").String() == "base64" {
		return fromBase64(text)
	}
	return []byte(text), nil
}

func unpackChunk(text string, inBase64 bool) ([]byte, error) {
	if b, err := hex.DecodeString(text); err == nil && !inBase64 {
		return b, nil
	}
	if b, err := base64.StdEncoding.DecodeString(text); err == nil {
		return b, nil
	}
	return nil, errors.New("a chunk of the body is neither base64 nor hexadecimal")
}

func pairsOf(list gjson.Result) http.Header {
	out := http.Header{}
	for _, h := range list.Array() {
		if name := h.Get("name").String(); name != "" {
			out.Add(name, h.Get("value").String())
		}
	}
	return out
}

var (
	errShape     = errors.New("it is not built like a recording")
	errAllowance = errors.New("a part is too large")
)

// allowance lets no more be read than was granted since the last grant.
type allowance struct {
	r    io.Reader
	left int64
	// feeds are the line feeds that were read.
	feeds int
}

// maxRead is how much is read at once, so that what waits to be parsed stays small
// even after something large.
const maxRead = 64 << 10

func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errAllowance
	}
	n, err := a.r.Read(p[:min(int64(len(p)), a.left, maxRead)])
	a.left -= int64(n)
	a.feeds += bytes.Count(p[:n], []byte("\n"))
	return n, err
}

// line is where a decoder stands that reads from here.
func (a *allowance) line(dec *json.Decoder) int {
	waiting, err := io.ReadAll(dec.Buffered())
	if err != nil {
		return 0 // a reader of bytes in memory gives none
	}
	return 1 + a.feeds - bytes.Count(waiting, []byte("\n"))
}

// members are those of a document that is none of the known, as it may be something
// else.
type members struct {
	text []byte
	left int64
}

func (m *members) add(name string, value json.RawMessage) error {
	if m.left -= int64(len(value)); m.left < 0 {
		return errAllowance
	}
	m.text = append(append(append(append(m.text, ','), words(name)...), ':'), value...)
	return nil
}

func (m *members) document() json.RawMessage {
	if len(m.text) == 0 {
		return json.RawMessage("{}")
	}
	m.text[0] = '{'
	return append(m.text, '}')
}
