// Package run plays scenarios through the real tool system in virtual time: it builds
// the world, the model and the person that a scenario describes, and leaves a record for
// the checks. It records cassettes too, and runs a prompt in real time.
package run
