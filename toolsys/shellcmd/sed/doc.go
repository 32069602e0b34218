// Package sed parses and runs sed scripts.
//
// It exists for two readers: the shell, which runs `sed` on files in memory (SPEC L5), and the
// classifier, which must find out without running it whether a script writes files or starts commands
// (SPEC L2) and what an in-place substitution would make of a file (SPEC H3).
//
// It follows GNU sed: the commands {} = a b c d D e(parsed, never run) g G h H i l n N p P q Q r s t T
// w x y z #, addresses by number, $, pattern, first~step and ranges (with +N and ~N), the s flags
// g p N i I m M w e(parsed, never run). R, W, F, v and back-references inside a pattern are refused.
//
// Its regular expressions are those of POSIX, basic and extended, with GNU's additions; Go has RE2.
// [CompileRegexp] translates one into the other and asks for the leftmost-longest match, so that a script
// written for a real machine finds the same text here. The simulated grep reads its patterns with it too.
package sed
