// Package hook lets others have a say in a call: Go functions and external commands
// that see it before and after it runs, change its input or output, decide its
// permission, stop it, or add context (SPEC G1-G3).
//
// The rules of merging, all in [Set.Run]:
//
//   - Every hook that matches runs, once, in the order of registration. Neither a
//     denial nor a stop ends the round early: a hook that keeps the books must see
//     the calls that others refuse.
//   - Each sees the input and the output as those before it left them.
//   - Deny beats ask beats allow; the reason is that of the first hook that said the
//     strictest. The first stop gives the reason of the stop. Contexts and messages
//     are all kept, those of later hooks too.
//   - A hook can only add strictness and words, never lose a call (G2). One that
//     errors, panics, outstays its time or replies nonsense counts as its OnFailure
//     says: as if it had not been there, or as asking or denying. A command that runs
//     before the call denies by default: a guard that died has not let anybody pass
//     (G4). Of a reply that makes sense in part, that part counts too. Each trouble is
//     in the [Report] of its hook, for the trace.
//   - In doubt a hook runs: an `if` that cannot be judged holds.
//
// A hook runs in a goroutine of its own. One that ignores its context is left behind
// when its time is up, and its goroutine lives until it returns; what it was given
// are copies, so it can do no harm later.
package hook
