// Package measure puts the same work to every library that runs a model's tool
// calls: the cost of a call that does nothing, the time a message of reads and
// writes takes, the moment the first tool starts while the message still streams,
// and what is left of a message when a call fails, panics or is cancelled.
//
// It knows no library. Each is adapted to a Peer, and each measurement runs in a
// process of its own, because some of them end the process.
//
// It has a module of its own, without a requirement, so that libraries that do not
// build beside each other can be measured by the same code.
package measure
