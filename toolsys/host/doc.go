// Package host puts the machine's own disk behind the doors that tools know: a
// filesystem of absolute paths and an in-process shell over it (SPEC L5).
//
// A disk that is really there needs two safeguards that a world in memory does not.
// It is fenced: nothing outside of its root can be seen, whatever a link says. And it
// is an overlay unless writing is asked for: changes stay in memory, where later calls
// see them, and are gone at the end. The overlay cannot remove or rename what lies on
// the disk; that is an error of the call.
//
// What was read is kept as it was before, so that a session can be replayed without
// the disk.
package host
