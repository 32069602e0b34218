// Package shellcmd reads what a shell command does, without running it: whether it only reads, which commands it is
// made of, which files it touches, and whether what it will run can be known at all (SPEC L2-L4, F4-F6, H3, J3).
//
// # Proof, not a filter
//
// [Read] interprets the syntax tree with values that are partly known. A script is read-only where every construct,
// every word and every variable of it is one that the tables here allow. Nothing is looked for that is dangerous:
// what has no rule is doubtful, and doubt makes a question of the script. So a construct that is missing here costs a
// question and never a file.
//
// A word that decides something (a program's name, an option, a subcommand) must be literal after Bash's own quote
// removal and brace expansion. A word that is not literal is tolerated only where no option of the program writes or
// runs anything, or where it cannot begin with a dash.
//
// # Steps
//
// A [Step] is one thing that a script does: a command, a redirection, an assignment, a construct that could not be
// read. An allow rule lets a script run only where it covers every step that does not merely read. Commands that
// other commands run (xargs, find -exec, sh -c, env) are steps of their own.
//
// # Sed
//
// A sed script is read as the shell's own are, since two need to know: the simulated shell, which runs it on files in
// memory (SPEC L5), and who is asked about a call, which must find out without running it whether it writes files or
// starts commands (SPEC L2) and what it would make of a file in place (SPEC H3). [ParseSed] follows GNU sed: the
// commands {} = a b c d D e(parsed, never run) g G h H i l n N p P q Q r s t T w x y z #, addresses by number, $,
// pattern, first~step and ranges (with +N and ~N), the s flags g p N i I m M w e(parsed, never run). R, W, F, v and
// back-references inside a pattern are refused.
//
// Its regular expressions are those of POSIX, basic and extended, with GNU's additions; Go has RE2.
// [CompileSedRegexp] translates one into the other and asks for the leftmost-longest match, so that a script written
// for a real machine finds the same text here. The simulated grep reads its patterns with it too.
//
// # What it does not do
//
// It does not know what programs in the repository do, and takes the environment that a script starts with as
// harmless. Sleeps, classes of output (search, read, list) and the meaning of exit codes are found on the way.
package shellcmd
