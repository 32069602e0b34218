// Package replay runs other people's recorded conversations through this tool
// system, without their tools (DESIGN, decision 7; SPEC J8, O2).
//
// A recording holds the definitions of the tools and, in the next request, their results. From both come stand-in
// tools: the real schemas, the recorded answers, and as duration and safety what was measured or assumed. Each turn
// then runs through the real session, scheduler, pipeline and schema validation, in virtual time, once under each
// policy; what the policies take stands side by side.
//
// Little of that is recorded by most recorders, so every figure states what it rests
// on: measured, or assumed, and then what: the pace of the stream, the durations of
// the tools, their safety. What has no evidence of being safe is exclusive.
//
// Turns are replayed one at a time, because nothing of one turn's timing depends on another's: the results of a turn
// are all there before the next request leaves. That keeps memory at the size of a turn, however long the recording.
//
// Requests of a recording can also go to an API again (Again), to see how the shapes of its answers differ from the
// recorded ones (Drift). Whoever sends the requests brings the answers: this package knows no network.
package replay
