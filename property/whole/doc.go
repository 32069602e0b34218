// Package whole plays a case through the whole system in virtual time, and reads its
// trace back as the log that sim/des gives. Where the two logs differ, one of the two
// engines is wrong (O6).
//
// There are two ways. Lean hands the bytes of the model's stream to the conversation
// itself; it is some five times as fast, and can stop a conversation from outside. Run
// makes a scenario's file of the case and plays that, over HTTP and through the client
// library, sometimes under other policies and in other pieces too. Both must come to
// the same log.
package whole
