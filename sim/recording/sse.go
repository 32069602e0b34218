package recording

import (
	"bufio"
	"errors"
	"io"

	"toolbench/sim/stream"
)

// lone are responses without requests: one conversation, its turns in a row.
type lone struct {
	s         *scanner
	c         *Conversation
	turns     int
	responses responses
}

func (s *scanner) lone() *lone {
	l := &lone{s: s}
	l.responses = responses{limit: s.limits.Part, done: l.done}
	return l
}

func (l *lone) done(t *Turn) error {
	if l.c == nil {
		var err error
		if l.c, err = l.s.begin("", ""); err != nil {
			return err
		}
	}
	l.turns++
	t.Number = l.turns
	t.Usage = usageOf(t.Events)
	t.settle(noRequests)
	return l.s.emit(l.c, t)
}

// scanSSE reads the bytes of streams, line by line.
func (s *scanner) scanSSE(r *bufio.Reader) error {
	s.format = SSE
	out, at := s.lone(), 0
	out.responses.trouble = func(k Kind, text string) { s.problem(Problem{Kind: k, Text: text, Line: at}) }
	dec, lines := stream.Decoder{MaxEvent: int(s.limits.Part)}, &lineReader{r: r, max: s.limits.Line}
	first, between, feed := 0, true, []byte(nil)
	emit := func(e stream.Event) error { return out.responses.add(e.Clone(), first) }
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.broken(err)
		}
		if at = l.n; l.long {
			s.tooLong(l.n)
			continue
		}
		if between && len(l.text) > 0 {
			first = l.n
		}
		between = len(l.text) == 0
		feed = append(append(feed[:0], l.text...), '\n')
		if err := dec.Feed(feed, emit); err != nil {
			return s.oversized(err, l.n)
		}
	}
	if err := s.endSSE(&dec, out, emit); err != nil {
		return err
	}
	return out.responses.end("the file ends before message_stop")
}

// oversized makes an error of the file of an event that does not end.
func (s *scanner) oversized(err error, n int) error {
	if large, ok := errors.AsType[*stream.TooLargeError](err); ok {
		return s.fail(ErrTooLarge, "the event that goes on at line %d is larger than %d bytes", n, large.Limit)
	}
	return err
}

// endSSE takes a last event that lacks nothing but its blank line.
func (s *scanner) endSSE(dec *stream.Decoder, out *lone, emit func(stream.Event) error) error {
	cut, ok := errors.AsType[*stream.TruncatedError](dec.Close())
	switch {
	case !ok:
		return nil
	case cut.Whole:
		return emit(cut.Event)
	}
	if out.responses.turn == nil {
		s.problem(Problem{Kind: CutStream, Text: "the file ends inside an event"})
		return nil
	}
	return out.responses.end("the file ends inside an event")
}

// tooLong: nothing is skipped in silence.
func (s *scanner) tooLong(n int) {
	s.problem(Problem{Kind: TooLarge, Text: "the line is longer than the limit and was left out", Line: n})
}

func (s *scanner) broken(err error) error {
	if errors.Is(err, errCapped) {
		return err
	}
	return s.fail(ErrUnreadable, "%s", err)
}
