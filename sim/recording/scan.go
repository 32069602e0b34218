package recording

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// Handler is told what Scan finds, as it finds it. Members may be nil.
type Handler struct {
	// Turn is called for each turn once its results are known or will not come, in
	// order within its conversation. An error ends the reading and is returned.
	Turn func(*Conversation, *Turn) error
	// Request is called with the body of the request that a turn answers, before Turn
	// is, where the recording holds requests; turn is the turn's Number.
	Request func(c *Conversation, turn int, body string) error
	// Problem is called for each problem of the recording's own.
	Problem func(Problem)
}

// Summary is what is known at the end of a Scan.
type Summary struct {
	Format  Format
	Ignored map[string]int
}

// Scan reads a recording turn by turn (O2). The name is for messages. Memory is
// bounded by the limits, whatever the reader gives. Errors wrap ErrNotRecording,
// ErrTooLarge, ErrUnreadable, or are the handler's.
func Scan(name string, r io.Reader, limits Limits, h Handler) (Summary, error) {
	s := &scanner{name: name, limits: limits.complete(), handler: h, ignored: map[string]int{}}
	err := s.scan(bufio.NewReaderSize(r, peekSize))
	return Summary{Format: s.format, Ignored: s.ignored}, err
}

// Open reads a whole recording into memory: see Scan for the way to read large ones.
func Open(name string, r io.Reader, limits Limits) (*Recording, error) {
	rec := &Recording{Name: name}
	sum, err := Scan(name, r, limits, Handler{
		Turn: func(c *Conversation, t *Turn) error {
			if len(c.Turns) == 0 {
				rec.Conversations = append(rec.Conversations, c)
			}
			c.Turns = append(c.Turns, t)
			return nil
		},
		Problem: func(p Problem) { rec.Problems = append(rec.Problems, p) },
	})
	rec.Format, rec.Ignored = sum.Format, sum.Ignored
	// They come when their first turn is done, and are wanted in the order they began.
	slices.SortFunc(rec.Conversations, func(a, b *Conversation) int { return a.Number - b.Number })
	return rec, err
}

// scanner is a recording on its way.
type scanner struct {
	name    string
	limits  Limits
	handler Handler
	format  Format
	begun   int // conversations
	found   bool
	first   *Problem
	ignored map[string]int
}

// fail makes an error of the file.
func (s *scanner) fail(kind error, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", s.name, kind, fmt.Sprintf(format, args...))
}

// begin opens a conversation.
func (s *scanner) begin(id, agent string) (*Conversation, error) {
	if s.begun == s.limits.Conversations {
		return nil, s.fail(ErrTooLarge, "more than %d conversations; split the file", s.limits.Conversations)
	}
	s.begun++
	return &Conversation{Number: s.begun, ID: id, Agent: agent}, nil
}

// emit hands a turn on, with the problem that it may be.
func (s *scanner) emit(c *Conversation, t *Turn) error {
	s.found = true
	if t.Ending != Whole {
		kind := map[Ending]Kind{Cut: CutStream, Failed: ErrorEvent, Broken: Malformed}[t.Ending]
		s.problem(Problem{Kind: kind, Text: t.Why, Line: t.Line, Interaction: t.Interaction, Conversation: c.Number, Turn: t.Number})
	}
	for _, call := range t.Calls {
		if call.Repeated {
			s.problem(Problem{Kind: Repeat, Text: fmt.Sprintf("two calls of one message have the id %q", call.ID),
				Line: t.Line, Interaction: t.Interaction, Conversation: c.Number, Turn: t.Number})
		}
	}
	if s.handler.Turn == nil {
		return nil
	}
	return s.handler.Turn(c, t)
}

func (s *scanner) problem(p Problem) {
	if s.first == nil {
		s.first = &p
	}
	if s.handler.Problem != nil {
		s.handler.Problem(p)
	}
}

// maxKinds bounds how many kinds of ignored things are told apart: their names come
// from the file.
const maxKinds = 64

func (s *scanner) ignore(what string) {
	if _, known := s.ignored[what]; !known && len(s.ignored) >= maxKinds {
		what = "other"
	}
	s.ignored[what]++
}
