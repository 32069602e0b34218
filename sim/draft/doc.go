// Package draft makes scenarios of other people's recordings (SPEC O3, O5; DESIGN,
// decision 7), so that nobody has to write one from nothing: each conversation becomes
// a file that runs as it stands, with its own cassette, and fails when a call is
// reordered, dropped or changed.
//
// The files that the session saw stand beside it as a tree (see sim/draft/tree).
//
// The tools are stand-ins: real schemas, recorded answers by call id. On demand the
// system's own file tools take the place of those of the same name, where they give
// what was recorded: then the draft also checks them. The stream is
// recorded anew, with the requests that this system itself sends, so that the suite can
// match them strictly. Expectations are what a first run found. What was assumed, and
// what does not fit the recording, stands in comments on top of the file: a draft is
// there to be read and made into what somebody wants to guard.
//
// The user says what the recorded one said: at first, after each end, and in the middle
// of a run where calls took time. What ran beside others in the recording does so here,
// by the same evidence as in sim/replay, and calls take as long as they were measured
// to, so that a session that was run the way calls are run here takes as long again.
//
// Secrets are blanked before anything is written, also where a stream cuts them in two.
// What the package does not do: it guesses no safety and no durations beyond what it is
// told or was measured (what has no evidence is exclusive), and keeps neither system
// prompts nor images.
package draft
