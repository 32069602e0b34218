// Package capture records sessions with a model that is really there: the bench's own
// tool system talks to the API, or to anything with the same protocol, in real time, and
// what goes over the wire ends up in a cassette (SPEC O5).
//
// The modes are those of the VCR family, and the default is the one that never touches
// the network. A cassette is only replaced by a recording that came to its end; one
// that did not is kept beside it, in a file that is marked as partial. Secrets are blanked before
// anything is written (see sim/secret).
//
// The recorder hands an answer on when the whole of it is there, so calls start later
// than they would in a session; the event times in the cassette are the real ones.
package capture
