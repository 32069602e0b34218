// Package packing undoes what a server did to a body on its way: gzip, deflate, br and
// zstd. Both who reads recordings and who makes them need it, and must agree: what one
// unpacks, the other has to read (SPEC O2, O5).
//
// What the header says counts less than what the bytes say, because recorders often
// unpack a body and leave the header. Each kind is read while it arrives, so that the
// events of a stream keep their times; how much may come of it is bounded.
package packing
