// Package posix is a filesystem in memory that follows a disk's rules, for the
// worlds in which scenarios run (SPEC O1, L6).
//
// afero's MemMapFs lets a tool write below a missing folder or below a file,
// read without permission, rename over a folder and remove a full one, and it
// has no symbolic links. A tool proved there may fail on the first real disk,
// so this package forbids what a disk forbids, with the disk's errors:
// *os.PathError and *os.LinkError with the errno that the kernel gives.
//
// It wraps nothing. Those rules are about the tree - who is whose parent, what a
// path means at each of its steps - and a map from path to file, which is what
// MemMapFs is, has no such thing; a tree of nodes is both smaller and right.
// afero stays the interface: [FS] is an afero.Fs and an afero.Symlinker.
//
// The rules are Linux's, met through package os, since that is what tools meet
// on a host: Remove, RemoveAll and MkdirAll answer as their namesakes in os do.
// Rename onto a folder fails as in os even where the system call would replace
// an empty one, but with the errno that has the reason (ENOTEMPTY, EISDIR).
//
// What it does not do: hard links, devices, extended attributes, access times,
// supplementary groups, and files beyond 1 GiB (EFBIG). A hole in a file takes
// memory and counts against the capacity. Listings are sorted by name.
package posix
