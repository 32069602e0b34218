// Package run plays scenarios through the real tool system in virtual time: it builds
// the world, the model and the person that a scenario describes, and leaves a record for
// the checks. It makes cassettes from scripts and from recorded answers too.
//
// Capture records a session with a real model: the same system sends its requests to the
// API in real time, and the exchanges end up in a cassette. The default mode never uses
// the network. A cassette is only replaced by a recording that came to its end; one that
// did not is kept beside it, in a file that is marked as partial. Secrets are blanked
// before anything is written. The recorder hands an answer on when it is complete, so
// calls start later than they would in a session; the event times in the cassette are the
// real ones.
package run
