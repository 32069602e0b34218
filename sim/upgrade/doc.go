// Package upgrade lifts files of earlier formats to those this program writes: go-vcr's
// cassettes as versions 1 to 4 write them, and scenarios (SPEC O1, O2).
//
// A cassette of an earlier form is read all the same, so nothing must be upgraded; what
// one gains is that every response has a duration and event times, where people can see
// and change them, and that other versions' members are gone, which replay never used.
// It is written anew only if something in it is old, and what is written is read back
// and must be the same recording.
//
// A scenario says its format in a line; format 1 is the first. One without the line
// comes from before there was a second, so it is of format 1, and the line is added:
// else no later program could tell. Everything else in the file stays byte for byte.
package upgrade
