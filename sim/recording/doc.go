// Package recording reads what anybody's agent left behind - other people's cassettes, archives, raw streams and
// transcripts - into one neutral model: conversations of turns, each with the tools that were on offer, the events
// that were streamed, the calls they made and the results that came back (SPEC O2; DESIGN, decision 7).
//
// Formats are distinguished by what is in a file, never by its name. Reading is streaming: Scan hands on one turn at
// a time and keeps no more than the turns that still wait for results, so that a file's size does not decide about
// memory; Open collects a whole recording for those who want it in one piece.
//
// A recording may be broken in ways that are its own: a stream that was cut, a line that is no JSON, a result for a
// call nobody made. Those are Problems, with their place, and the reading goes on. What is not read at all is
// counted. Only what is no recording, or passes a limit as a whole, is an error.
//
// What the package does not do: it evaluates no tags of foreign languages, follows
// no references, and guesses no results.
package recording
