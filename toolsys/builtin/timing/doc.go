// Package timing holds the built-in tools that deal in time. They wait on the
// conversation's own clock and nowhere else, so that an hour's wait costs a
// simulated run nothing and is the same in every run of one seed.
package timing
