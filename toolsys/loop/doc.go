// Package loop is the conversation: it makes a request, reads the stream, has the
// calls scheduled and run, sends the results back, and does so again while there
// are calls (H5). It owns the State: modifiers and observations are applied here
// and nowhere else. Sub-agents are conversations of the same kind with a state of
// their own (B4).
package loop
