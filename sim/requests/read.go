package requests

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"toolbench/sim/recording"
)

// MaxBytes is the most that the requests of one file may say, what they repeat
// counted once.
const MaxBytes = 256 << 20

// Read takes the sessions of a recording, in any of its formats. The name is for
// messages. Errors are those of recording.Scan; the last is ErrTooLarge also for
// requests that say more than MaxBytes. What was read before an error is given.
func Read(name string, r io.Reader, limits recording.Limits) (*File, error) {
	rd := &reader{file: &File{Name: name}, sessions: map[int]*Session{}, requests: map[place]*Request{}, parser: newParser(MaxBytes)}
	sum, err := recording.Scan(name, r, limits, recording.Handler{
		Request: rd.request, Turn: rd.turn, Problem: func(recording.Problem) { rd.file.Problems++ },
	})
	rd.file.Format = sum.Format
	slices.SortFunc(rd.file.Sessions, func(a, b *Session) int { return a.Number - b.Number })
	if errors.Is(err, errFull) {
		err = fmt.Errorf("%s: %w: its requests say more than %d MB; split the file", name, recording.ErrTooLarge, MaxBytes>>20)
	}
	return rd.file, err
}

// reader is a file on its way.
type reader struct {
	file     *File
	sessions map[int]*Session
	// requests wait for their turns, which come when results are known.
	requests map[place]*Request
	parser   *parser
}

type place struct{ conversation, turn int }

func (rd *reader) request(c *recording.Conversation, turn int, body string) error {
	r, err := rd.parser.request(body)
	rd.requests[place{c.Number, turn}] = r
	return err
}

func (rd *reader) turn(c *recording.Conversation, t *recording.Turn) error {
	s := rd.sessions[c.Number]
	if s == nil {
		s = &Session{Number: c.Number, Agent: c.Agent}
		rd.sessions[c.Number] = s
		rd.file.Sessions = append(rd.file.Sessions, s)
	}
	at := place{c.Number, t.Number}
	turn := Turn{Number: t.Number, Request: rd.requests[at], Usage: t.Usage, Sent: t.Sent}
	delete(rd.requests, at)
	for _, call := range t.Calls {
		turn.Calls = append(turn.Calls, rd.parser.own(call.Name))
	}
	s.Turns = append(s.Turns, turn)
	return nil
}
