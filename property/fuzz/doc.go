// Package fuzz runs many random cases, checks every invariant on each, compares it with
// the scheduler's definition and with the other engine, and makes what fails small (O6,
// O7). It counts the goals that came up: what never did was not tested.
//
// A scheduler case is run three ways, which must give the same log: by discrete events
// (package des); in process, where the real clock, conversation, scheduler, pipeline,
// hooks, permissions and budgets get the bytes of the model's stream directly, five times
// as fast and able to stop a conversation from outside; and end to end, as a scenario,
// over HTTP and through the client library.
//
// Shell scripts are cases of another kind: they are generated over Bash's grammar from
// harmless and harmful pieces, each place where a script can hide a command having one.
// Those that toolsys/shellcmd calls read-only run in a real Bash in a scratch folder,
// where nothing may change and nothing that the folder holds may be executed. What a
// script reads outside of the folder is no finding, and what depends on programs that
// the machine lacks is not tried.
package fuzz
