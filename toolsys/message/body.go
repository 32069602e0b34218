package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/jsonscan"
)

// Body is the bytes of a request in parts: what stands before the messages, each message
// with the comma before it, and the end. Requests of one conversation share the parts
// that they have in common, so that a turn costs what it adds and not what came before.
// A Body is not changed.
type Body struct {
	head     []byte
	messages [][]byte
	tail     []byte
	size     int // of the messages, in bytes
}

// tail ends the requests that are rendered here.
var tail = []byte(`],"stream":true}`)

// ReadBody takes the body of a request apart. It is an error if the body is no JSON object
// with a list of messages; then all of it is the head.
func ReadBody(data []byte) (Body, error) {
	b, err := readBody(data)
	if err != nil {
		return Body{head: data}, fmt.Errorf("request body: %w", err)
	}
	return b, nil
}

func readBody(data []byte) (b Body, err error) {
	if !json.Valid(data) {
		return b, errors.New("it is no JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return b, errors.New("it is no object")
	}
	var skipped json.RawMessage
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return b, err
		}
		if key == "messages" {
			return b, b.split(data, dec)
		}
		if err := dec.Decode(&skipped); err != nil {
			return b, err
		}
	}
	return b, errors.New("it has no messages")
}

// split takes the list of messages apart, which comes next.
func (b *Body) split(data []byte, dec *json.Decoder) error {
	if first, err := dec.Token(); err != nil || first != json.Delim('[') {
		return errors.New("its messages are no list")
	}
	at := int(dec.InputOffset())
	b.head = data[:at:at]
	var m json.RawMessage
	for dec.More() {
		if err := dec.Decode(&m); err != nil {
			return err
		}
		end := int(dec.InputOffset())
		b.messages = append(b.messages, data[at:end:end])
		at = end
	}
	b.tail, b.size = data[at:], at-len(b.head)
	return nil
}

// Whole reports whether the body could be taken apart.
func (b Body) Whole() bool { return b.tail != nil }

// Len is the number of bytes.
func (b Body) Len() int { return len(b.head) + b.size + len(b.tail) }

// Bytes joins the parts.
func (b Body) Bytes() []byte {
	all := append(make([]byte, 0, b.Len()), b.head...)
	for _, m := range b.messages {
		all = append(all, m...)
	}
	return append(all, b.tail...)
}

// Frame is the body without its messages: model, system and tools.
func (b Body) Frame() []byte { return slices.Concat(b.head, b.tail) }

// SameFrame reports whether o has the same bytes without its messages.
func (b Body) SameFrame(o Body) bool {
	return bytes.Equal(b.head, o.head) && bytes.Equal(b.tail, o.tail)
}

// Messages is the number of messages.
func (b Body) Messages() int { return len(b.messages) }

// Message is the JSON of message i, counted from 0.
func (b Body) Message(i int) []byte { return bytes.TrimLeft(b.messages[i], ", \t\r\n") }

// Continues reports whether b is sure to begin with the messages of o, since both are
// beginnings of one list.
func (b Body) Continues(o Body) bool {
	n := len(o.messages)
	return n > 0 && len(b.messages) >= n && &b.messages[0] == &o.messages[0]
}

// Shared is the number of messages at the front whose bytes are those of o.
func (b Body) Shared(o Body) int {
	n := min(len(b.messages), len(o.messages))
	if b.Continues(o) || o.Continues(b) {
		return n
	}
	for i := range n {
		if !bytes.Equal(b.messages[i], o.messages[i]) {
			return i
		}
	}
	return n
}

// Reader reads the body as a request's, and has it whole for those who know.
func (b Body) Reader() *BodyReader { return &BodyReader{body: b, left: b.head} }

// BodyReader is an io.ReadCloser over a Body.
type BodyReader struct {
	body Body
	left []byte // of the part that is being read
	next int    // the message that comes then; the tail is behind the last
}

// Body is what is read, from its beginning.
func (r *BodyReader) Body() Body { return r.body }

// Read implements io.Reader.
func (r *BodyReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.left) == 0 && !r.forward() {
			break
		}
		k := copy(p[n:], r.left)
		n, r.left = n+k, r.left[k:]
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// forward goes on to the next part, if there is one.
func (r *BodyReader) forward() bool {
	switch i := r.next; {
	case i < len(r.body.messages):
		r.left = r.body.messages[i]
	case i == len(r.body.messages):
		r.left = r.body.tail
	default:
		return false
	}
	r.next++
	return true
}

// Close implements io.Closer.
func (r *BodyReader) Close() error { return nil }

// Body renders the request.
func (r Request) Body() (Body, error) { return cmp.Or(r.Renderer, &Renderer{}).render(r) }

// Renderer renders the requests of one conversation, one after another, and each message
// once. A list that was only added to is taken to hold what it held, and a message whose
// content is the same slice to be the same: neither is changed in place. The zero value is
// ready.
type Renderer struct {
	from []Message
	last Body
}

func (r *Renderer) render(req Request) (Body, error) {
	head, err := req.appendHead(make([]byte, 0, len(r.last.head)+64))
	if err != nil {
		return Body{}, err
	}
	if bytes.Equal(head, r.last.head) {
		head = r.last.head
	}
	if err := r.take(req.Messages); err != nil {
		return Body{}, err
	}
	r.last.head, r.last.tail = head, tail
	return r.last, nil
}

// take makes messages the last ones. What was sent keeps its own list: one that is longer,
// or differs, is not written to.
func (r *Renderer) take(messages []Message) error {
	list, size := r.last.messages, r.last.size
	cut := func(n int) {
		for _, part := range list[n:] {
			size -= len(part)
		}
		list = slices.Clip(list[:n])
	}
	for i := unchanged(r.from, messages); i < len(messages); i++ {
		part, err := r.part(messages, i)
		switch {
		case err != nil:
			return err
		case i < len(list) && &part[0] == &list[i][0]:
			continue
		case i < len(list):
			cut(i)
		}
		list, size = append(list, part), size+len(part)
	}
	if len(messages) < len(list) {
		cut(len(messages))
	}
	r.from, r.last.messages, r.last.size = messages, list, size
	return nil
}

// unchanged is how many messages at the front of now are those of before. A list that was
// added to in its place is not looked at.
func unchanged(before, now []Message) int {
	most := min(len(before), len(now))
	if most > 0 && &before[0] == &now[0] {
		return most
	}
	for i := range most {
		if !same(before[i], now[i]) {
			return i
		}
	}
	return most
}

// part gives the bytes of message i: those it had before, if they are the same.
func (r *Renderer) part(messages []Message, i int) ([]byte, error) {
	if i < len(r.from) && same(messages[i], r.from[i]) {
		return r.last.messages[i], nil
	}
	part, err := appendPart(nil, messages, i)
	if i < len(r.last.messages) && bytes.Equal(part, r.last.messages[i]) {
		part = r.last.messages[i]
	}
	return part, err
}

// same reports whether two messages share their content.
func same(a, b Message) bool {
	return a.Role == b.Role && len(a.Content) == len(b.Content) && (len(a.Content) == 0 || &a.Content[0] == &b.Content[0])
}

func appendPart(buf []byte, messages []Message, i int) ([]byte, error) {
	if i > 0 {
		buf = append(buf, ',')
	}
	m := messages[i]
	m.Content = sendable(m.Content)
	return appendMessage(buf, m)
}

// nothing stands where an API wants a text and there is none.
const nothing = "(no content)"

// sendable gives blocks as an API takes them back. It refuses, and a conversation is stuck for
// ever, texts of white space alone, a message that ends with a thought, and names of tools that
// are longer than maxName, though models send all three. A thought is signed for its place, so
// that a text beside one is replaced and not left out.
func sendable(blocks []Block) []Block {
	n := len(blocks)
	if !slices.ContainsFunc(blocks, refused) && (n == 0 || shown(blocks[n-1])) {
		return blocks
	}
	thinks := slices.ContainsFunc(blocks, func(b Block) bool { return !shown(b) })
	var out []Block
	for _, b := range blocks {
		b.Content, b.Name = sendable(b.Content), b.Name[:min(len(b.Name), maxName)]
		switch {
		case !refused(b):
			out = append(out, b)
		case thinks:
			out = append(out, Text(nothing))
		}
	}
	if n = len(out); n == 0 || !shown(out[n-1]) {
		out = append(out, Text(nothing))
	}
	return out
}

// ForAnother gives history as another model can read it: without thoughts, which are signed for
// the one that had them, and with ids of calls that every API takes.
func ForAnother(history []Message) []Message {
	history, _ = distinct(history, true)
	out := slices.Clone(history)
	for i, m := range out {
		out[i].Content = slices.DeleteFunc(slices.Clone(m.Content), func(b Block) bool { return !shown(b) })
		if len(out[i].Content) == 0 {
			out[i].Content = []Block{Text(nothing)}
		}
	}
	return out
}

// maxName is how many characters the name in a call may have.
const maxName = 200

// refused reports whether an API refuses a block for what it or its content is.
func refused(b Block) bool {
	return b.Type == TypeText && strings.TrimSpace(b.Text) == "" || len(b.Name) > maxName || slices.ContainsFunc(b.Content, refused)
}

// appendHead writes the body up to its first message.
func (r Request) appendHead(buf []byte) (_ []byte, err error) {
	buf = jsonscan.AppendQuoted(append(buf, `{"model":`...), r.Model)
	buf = strconv.AppendInt(append(buf, `,"max_tokens":`...), int64(r.MaxTokens), 10)
	buf = r.appendOptions(buf)
	if len(r.System) > 0 {
		if buf, err = appendBlocks(append(buf, `,"system":`...), r.System); err != nil {
			return nil, err
		}
	}
	if len(r.Tools) > 0 {
		buf = jsonscan.AppendList(append(buf, `,"tools":`...), r.Tools, func(buf []byte, def json.RawMessage) []byte { return append(buf, def...) })
	}
	return append(buf, `,"messages":[`...), nil
}
