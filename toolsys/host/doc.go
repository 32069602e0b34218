// Package host puts the real machine behind the interfaces of the tools: its shell, and
// its disk as a filesystem of absolute paths (SPEC L5).
//
// [Shell] runs commands in bash, else sh, each in a process group of its own that ends
// with it.
//
// [Disk] has two safeguards that a filesystem in memory does not need. Nothing outside of
// its root can be reached, wherever a link leads and whenever it changes. And it is an
// overlay unless writing is asked for: changes stay in memory, where later calls
// see them, and are gone at the end. The overlay cannot remove or rename what lies on
// the disk; that is an error of the call.
//
// What was read through it is kept as it was before, so that a session can be replayed without
// the disk.
package host
