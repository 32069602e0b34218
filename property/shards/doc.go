// Package shards plays a range of numbered cases on many machines: parts of it stand in a
// queue of NATS JetStream, workers take them, and what they found is stored by part. Cases are
// pure functions of their number, so that a part may be played twice, and the whole is what
// one machine would have found. Only what is in the store counts as done. What a case is, its
// owner knows: it gives a function from a range to the bytes of its result.
package shards
