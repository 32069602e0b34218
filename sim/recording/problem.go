package recording

import (
	"errors"
	"fmt"
	"strings"
)

// Kind tells problems apart.
type Kind string

// The problems a recording may have of its own.
const (
	CutStream  Kind = "cut"        // a stream, a file or its last line ends too early
	ErrorEvent Kind = "error"      // the model's side said that it failed
	Malformed  Kind = "malformed"  // a line, an event or a body that cannot be read
	TooLarge   Kind = "too-large"  // a part passes a limit and was left out
	Stray      Kind = "stray"      // a result that answers no call
	Repeat     Kind = "repeated"   // an id that was given twice
	Unreadable Kind = "unreadable" // a body in an encoding that is not known
)

// Problem is what is wrong with a recording, and where.
type Problem struct {
	Kind Kind
	Text string
	// Line in the file and Interaction among its exchanges count from 1; 0 says
	// nothing. Conversation and Turn are set where the problem is one turn's.
	Line, Interaction  int
	Conversation, Turn int
}

// Place words where the problem is; "" for the file as a whole.
func (p Problem) Place() string {
	var parts []string
	for _, part := range []struct {
		word string
		n    int
	}{{"line", p.Line}, {"interaction", p.Interaction}, {"conversation", p.Conversation}, {"turn", p.Turn}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", part.word, part.n))
		}
	}
	return strings.Join(parts, ", ")
}

// String gives place and text.
func (p Problem) String() string {
	if place := p.Place(); place != "" {
		return place + ": " + p.Text
	}
	return p.Text
}

// The errors of Scan and Open, for errors.Is; the message names file and place.
var (
	// ErrNotRecording: nothing in the file is a recording.
	ErrNotRecording = errors.New("not a recording")
	// ErrTooLarge: the file as a whole passes a limit.
	ErrTooLarge = errors.New("over a limit")
	// ErrUnreadable: the bytes cannot be read.
	ErrUnreadable = errors.New("cannot be read")
)
