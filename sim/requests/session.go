package requests

import (
	"time"

	"toolbench/sim/recording"
)

// File is a recording with the requests of its sessions.
type File struct {
	Name   string
	Format recording.Format
	// Sessions go by when they began.
	Sessions []*Session
	// Problems counts what is wrong with the recording itself.
	Problems int
}

// Session is one conversation.
type Session struct {
	// Number counts the file's conversations from 1; Agent is a sub-agent's id.
	Number int
	Agent  string
	// Turns are its turns in order.
	Turns []Turn
}

// Turn is a request with what came of it.
type Turn struct {
	// Number counts from 1.
	Number int
	// Request is nil where the recording holds none, as a transcript.
	Request *Request
	// Calls names the tools that the answer called, in order, repeated ones too.
	Calls []string
	// Usage is what the API measured; nil where that was not recorded.
	Usage *recording.Usage
	// Sent is when the request left; zero where nobody knows.
	Sent time.Time
}

// Request is a prompt, as the API puts it together: tools, system prompt, messages.
type Request struct {
	Model            string
	Tools            []Tool
	System, Messages []Piece
}

// Tool is a definition as it was sent.
type Tool struct {
	Name, Description string
	// Kind is the type of a tool that the API defines; "" for the client's own.
	Kind string
	// Schema is the input's JSON Schema, "" where there is none.
	Schema string
	// Text is the whole definition, less its breakpoint.
	Text string
	// Deferred is sent with defer_loading: it stays out of the prompt (E4).
	Deferred, Breakpoint bool
}

// Piece is a block of the system prompt or of a message.
type Piece struct {
	// Name is what a report calls it.
	Name, Text string
	Breakpoint bool
}

// Marked says whether the request has a breakpoint anywhere.
func (r *Request) Marked() bool {
	for _, t := range r.Tools {
		if t.Breakpoint {
			return true
		}
	}
	for _, pieces := range [][]Piece{r.System, r.Messages} {
		for _, p := range pieces {
			if p.Breakpoint {
				return true
			}
		}
	}
	return false
}

// Sent gives the turns whose request is in the recording.
func (s *Session) Sent() []Turn {
	var out []Turn
	for _, t := range s.Turns {
		if t.Request != nil {
			out = append(out, t)
		}
	}
	return out
}
