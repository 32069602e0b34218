// Package tree rebuilds the files that a recorded session saw, as they stood before its
// first call, from what its tools read, listed and changed (SPEC O3, O5): nobody who
// sends a recording sends the disk along, and a scenario without one has nothing to be
// read once its stand-ins give way to real tools.
//
// Readers of every agent are understood by what their names and inputs say, their
// results by the forms that line numbers take. A file is kept as cells, one a line, each
// with the line it was at the start: an edit moves what is below it, so that what is
// seen later still finds its place. What was seen first counts. What nobody saw stays
// empty, so that line numbers keep their meaning, and is told.
//
// What the package does not do: it guesses no content, follows no shell beyond the
// plain reading of files, and keeps no binary files, links or permissions.
package tree
