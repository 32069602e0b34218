// Package draft makes scenarios of recordings, so that nobody has to write one from
// nothing: each conversation becomes a file that runs as it stands, with its own
// cassette, and fails when a call is reordered, dropped or changed.
//
// The files that the session read, listed and changed stand beside it as a tree, as they were before its first call.
// Readers of every agent are understood by their names and inputs, their results by the forms that line numbers take.
// Each line keeps the number it had at the start, so that what is read after an edit still finds its place. What was
// read first counts; what was never read stays empty, and is reported.
//
// The tools are stand-ins: real schemas, recorded answers by call id. On demand the system's own file tools take the
// place of those of the same name, where they give what was recorded: then the draft also checks them. The stream is
// recorded anew, with the requests that this system itself sends, so that the suite can match them strictly.
// Expectations are what a first run found. What was assumed, and what does not fit the recording, stands in comments
// on top of the file, for the person who makes the draft into what is to be guarded.
//
// The user's messages are the recorded ones: at first, after each end, and in the middle
// of a run where calls took time. What ran beside others in the recording does so here,
// by the same evidence as in sim/replay, and calls take as long as they were measured.
//
// Secrets are blanked before anything is written, also where a stream cuts them in two. The package guesses no
// safety, no durations and no content beyond its evidence (what has none is exclusive), follows no shell beyond the
// plain reading of files, and keeps neither system prompts nor images, binary files, links or permissions.
package draft
