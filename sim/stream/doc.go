// Package stream is the model's response as the bench sees it: server-sent
// events, each with the virtual time at which it arrives (SPEC O2).
//
// It decodes recorded bodies whatever way they were cut into chunks, encodes them again, paces them, and writes new
// ones from scripted turns. Everything here is a pure function of its arguments: no clock, no randomness, no IO
// beyond the writer that Encode is given. The same turn gives the same bytes, which is what lets recordings be made
// anew and compared byte for byte.
//
// The decoder exists although the official SDK has one, because the bench has to time the end of each event, has to
// accept streams the SDK drops silently (no "event:" lines), and has to report a stream that was cut.
package stream
