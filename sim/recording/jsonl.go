package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// lineScan reads a JSON value a line. What a line is shows in the line itself, so
// that logs which begin with anything are read too.
type lineScan struct {
	s        *scanner
	events   *lone
	converse *converser
	talks    *talks
	pairs    *yamlScan
	at       int
	// what they are called: lines, or values.
	what string
}

func (s *scanner) lineScan() *lineScan {
	ls := &lineScan{s: s, events: s.lone(), talks: s.talks(), pairs: &yamlScan{s: s, chains: s.chains(), list: plainList}, what: "lines"}
	ls.events.responses.trouble = func(k Kind, text string) { s.problem(Problem{Kind: k, Text: text, Line: ls.at}) }
	ls.converse = &converser{emit: func(e stream.Event) error { return ls.events.responses.add(e, ls.at) }}
	return ls
}

func (ls *lineScan) end() error {
	if err := ls.converse.end(); err != nil {
		return err
	}
	if err := ls.events.responses.end("the file ends before message_stop"); err != nil {
		return err
	}
	if err := ls.talks.end(); err != nil {
		return err
	}
	return ls.pairs.chains.end()
}

// scanLines reads logs of agents, and events without their "data:".
func (s *scanner) scanLines(r *bufio.Reader) error {
	ls := s.lineScan()
	lines := &lineReader{r: r, max: s.limits.Line}
	bad := 0
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.broken(err)
		}
		ls.at = l.n
		switch text := bytes.TrimSpace(l.text); {
		case l.long:
			s.tooLong(l.n)
		case len(text) == 0 || string(text) == "[DONE]":
		case json.Valid(text):
			if err := ls.take(text); err != nil {
				return err
			}
		default:
			ls.malformed(l, text)
			if bad++; !s.known() && bad > maxStrange {
				return s.fail(ErrNotRecording, "its first %d lines are not what a recording's are", bad)
			}
		}
	}
	return ls.end()
}

// maxStrange is how many lines may be no JSON before a file in which nothing was
// recognized is given up.
const maxStrange = 100

func (s *scanner) known() bool { return s.format != "" && s.format != packed }

// malformed tells a line that is broken from one that is still being written.
func (ls *lineScan) malformed(l line, text []byte) {
	switch {
	case !l.ended:
		ls.s.problem(Problem{Kind: CutStream, Text: "the last line is not complete: the file was cut, or is still being written", Line: l.n})
	case ls.events.responses.turn != nil:
		ls.events.responses.unread(l.n, bytes.Clone(text), "it is no JSON")
	default:
		ls.s.problem(Problem{Kind: Malformed, Text: "the line is no JSON", Line: l.n})
	}
}

// take looks at what a line is.
func (ls *lineScan) take(text []byte) error {
	v := gjson.ParseBytes(text)
	kind := v.Get("type").String()
	switch {
	case isEvent(kind, v):
		ls.s.format = EventLines
		e := stream.Event{Type: kind, Data: bytes.Clone(text)}
		return ls.events.responses.add(e, ls.at)
	case kind == "message" && v.Get("message.role").Exists():
		ls.s.format = Messages
		return ls.talks.message(v, ls.at)
	case kind == "session":
		ls.s.format = Messages
		ls.talks.session(v)
		return nil
	case (kind == "user" || kind == "assistant") && v.Get("message").IsObject():
		ls.s.format = Blocks
		return ls.talks.block(v, ls.at)
	case kind == "":
		if e, ok := converseEvent(v); ok {
			ls.s.format = EventLines
			return ls.converse.add(e)
		}
	}
	if x := flatExchange(v); x != nil {
		return ls.flat(x)
	}
	if v.Get("request").IsObject() && v.Get("response").IsObject() {
		return ls.exchange(v)
	}
	if known, err := ls.history(v); known || err != nil {
		return err
	}
	ls.s.ignore(ls.named(kind))
	return nil
}

// named words what a line is that is no message.
func (ls *lineScan) named(kind string) string {
	if kind == "" {
		return ls.what + " without a type"
	}
	return fmt.Sprintf("%s of type %q", ls.what, kind[:min(len(kind), 40)])
}

// isEvent recognizes the Messages API's events among lines.
func isEvent(kind string, v gjson.Result) bool {
	switch kind {
	case messageStart:
		return v.Get("message").IsObject() && v.Get("message.role").String() != "toolResult" && v.Get("message.content").Exists()
	case pingEvent, messageStop, "message_delta":
		return true
	case errorEvent:
		return v.Get("error").IsObject()
	}
	return strings.HasPrefix(kind, "content_block_")
}
