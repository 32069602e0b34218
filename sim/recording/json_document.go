package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// documentScan reads JSON that is not a value a line: an HTTP archive or a recorder's
// list, a list of values, or values one after the other, as they are when somebody has
// formatted them. It goes through a list's items one by one.
type documentScan struct {
	*lineScan
	dec     *json.Decoder
	allowed *allowance
	// members are kept as long as the document may be anything; listed: it is a recorder's list.
	members members
	listed  bool
	// entries wait to be put in order; held is their size.
	entries []entry
	held    int64
}

// scanDocument reads such a file; list: it begins with a list.
func (s *scanner) scanDocument(r *bufio.Reader, list bool) error {
	allowed := &allowance{r: r}
	d := &documentScan{lineScan: s.lineScan(), dec: json.NewDecoder(allowed), allowed: allowed}
	d.what = "values"
	d.members.left = s.limits.Part
	read := d.whole
	if list {
		read = d.lists
	}
	if err := s.documentEnds(read(), d.exchanges.number); err != nil {
		return err
	}
	return cmp.Or(d.archived(), d.end())
}

// whole reads an archive, a recorder's list, or what is neither.
func (d *documentScan) whole() error {
	if err := d.object(""); err != nil {
		return err
	}
	if d.listed {
		if d.grant(); d.dec.More() { // another recording, behind the first
			return d.whole()
		}
		return nil
	}
	err := d.value(d.members.document(), 1)
	for err == nil { // values until the file ends
		var v json.RawMessage
		if v, err = d.next(); err == nil {
			err = d.value(v, d.line(v))
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// lists reads the values of a list, and those of the lists behind it: each is messages of its own.
func (d *documentScan) lists() error {
	for {
		if err := d.list(d.value); err != nil {
			return err
		}
		if d.grant(); !d.dec.More() {
			return nil
		}
		d.group++
	}
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

func (d *documentScan) grant() { d.allowed.left = d.s.limits.Part }

// next decodes a value.
func (d *documentScan) next() (v json.RawMessage, err error) {
	d.grant()
	return v, d.dec.Decode(&v)
}

// line is where the value begins that was decoded last.
func (d *documentScan) line(v json.RawMessage) int {
	waiting, _ := io.ReadAll(d.dec.Buffered()) // a reader of bytes in memory gives no error
	return 1 + d.allowed.feeds - bytes.Count(waiting, []byte("\n")) - bytes.Count(v, []byte("\n"))
}

// object walks a mapping and stops at the lists that are known.
func (d *documentScan) object(within string) error {
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
		case within == "" && name == "log" && d.opens('{'):
			d.known()
			err = d.object("log")
		case within == "log" && name == "entries" && d.opens('['):
			d.exchanges.list = name
			err = d.list(d.entry)
		case within == "" && (name == "interactions" || name == "http_interactions") && d.opens('['):
			d.known()
			d.exchanges.list = name
			err = d.list(func(v json.RawMessage, line int) error { return d.exchanges.take(gjson.ParseBytes(v), line, false) })
		case within == "" && (name == "mappings" || name == "recordings" || name == "Entries") && d.opens('['):
			d.known()
			err = d.list(d.value)
		case within == "" && d.runs(name) && d.opens('['):
			d.logs.model = strings.Clone(gjson.GetBytes(d.members.document(), agentModel).String())
			d.known()
			err = d.list(d.value)
		default:
			err = d.member(name)
		}
		if err != nil {
			return err
		}
	}
	return d.delim('}')
}

// opens reports whether the member whose name was read has a value that begins so: others have
// members of a recorder's names, with values of their own.
func (d *documentScan) opens(with byte) bool {
	waiting, _ := io.ReadAll(d.dec.Buffered()) // a reader of bytes in memory gives no error
	more, _ := d.allowed.r.Peek(maxBlanks)     // an error comes again when it is read
	value := bytes.TrimLeft(append(waiting, more...), " \t\r\n:")
	return len(value) > 0 && value[0] == with
}

// maxBlanks is how much may stand between a member's name and its value.
const maxBlanks = 256

// runs reports whether a member is the list of an evaluation's runs, which may be larger than any
// part: what stands before it shows that.
func (d *documentScan) runs(name string) bool {
	return name == "samples" && bytes.Contains(d.members.text, []byte(`,"eval":`)) || name == "simulations" && bytes.Contains(d.members.text, []byte(`,"info":`))
}

func (d *documentScan) delim(want json.Delim) error {
	d.grant()
	t, err := d.dec.Token()
	if err == nil && t != want {
		err = errShape
	}
	return err
}

// member keeps a value, as long as the document may be anything.
func (d *documentScan) member(name string) error {
	v, err := d.next()
	if err != nil || d.listed {
		return err
	}
	return d.members.add(name, v)
}

func (d *documentScan) known() { d.listed, d.members = true, members{} }

func (d *documentScan) list(take func(v json.RawMessage, line int) error) error {
	if err := d.delim('['); err != nil {
		return err
	}
	for d.dec.More() {
		v, err := d.next()
		if err != nil {
			return err
		}
		if err := take(v, d.line(v)); err != nil {
			return err
		}
	}
	return d.delim(']')
}

// value takes what a line would be, which begins at a line.
func (d *documentScan) value(raw json.RawMessage, line int) error {
	d.at = line
	raw = []byte(compact(string(raw))) // how a file is formatted is no content
	if !gjson.ParseBytes(raw).IsObject() {
		d.s.ignore("values that are no objects")
		return nil
	}
	return d.take(raw)
}

// entry is an exchange with what decides its place among others.
type entry struct {
	x        *exchange
	order    int64
	messages int
}

// entry reads an exchange of an archive. Archives need not be in order: entries
// wait, as long as they fit, to be sorted by when they began.
func (d *documentScan) entry(raw json.RawMessage, line int) error {
	d.exchanges.number++
	v := gjson.ParseBytes(raw)
	x, err := d.exchanges.read(v, line)
	if err != nil {
		d.exchanges.problem(Malformed, err.Error(), line)
		return nil
	}
	for _, m := range v.Get("_webSocketMessages").Array() {
		known, err := d.live(parsed(m.Get("data")))
		if !known {
			err = d.exchanges.realtime.frame(m.Get("data"), line)
		}
		if err != nil {
			return err
		}
	}
	d.held += int64(len(raw))
	d.entries = append(d.entries, entry{x: x, order: v.Get("_order").Int(), messages: int(gjson.GetBytes(x.request, "messages.#").Int())})
	if d.held > d.s.limits.Part {
		return d.archived()
	}
	return nil
}

// archived takes the entries in the order in which they were made: by time, and where recorders blank the times, by
// the order they give, and by how much had been written.
func (d *documentScan) archived() error {
	slices.SortStableFunc(d.entries, func(a, b entry) int {
		return cmp.Or(a.x.sent.Compare(b.x.sent), cmp.Compare(a.order, b.order), a.messages-b.messages)
	})
	entries := d.entries
	d.entries, d.held = nil, 0
	for _, e := range entries {
		if err := d.exchanges.chains.take(e.x); err != nil {
			return err
		}
	}
	return nil
}

var (
	errShape     = errors.New("it is not built like a recording")
	errAllowance = errors.New("a part is too large")
)

// allowance lets no more be read than was granted since the last grant.
type allowance struct {
	r    *bufio.Reader
	left int64
	// feeds are the line feeds that were read.
	feeds int
}

// maxRead is how much is read at once, so that what waits to be parsed stays small even after something large.
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

// members are those of a document that is none of the known, as it may be something else.
type members struct {
	text []byte
	left int64
}

func (m *members) add(name string, value json.RawMessage) error {
	if m.left -= int64(len(value)); m.left < 0 {
		return errAllowance
	}
	m.text = append(append(append(append(m.text, ','), dialect.JSON(name)...), ':'), value...)
	return nil
}

func (m *members) document() json.RawMessage {
	if len(m.text) == 0 {
		return json.RawMessage("{}")
	}
	m.text[0] = '{'
	return append(m.text, '}')
}
