package command

import (
	"maps"
	"slices"
	"strings"
)

// table is the one list of commands. It is read only.
var table = map[string]Func{
	"[": runTest, "basename": runBasename, "bash": runShell, "cat": runCat, "cp": runCp, "cut": runCut,
	"date": runDate, "diff": runDiff, "dirname": runDirname, "echo": runEcho, "egrep": runGrep, "env": runEnv,
	"false": runFalse, "fgrep": runGrep, "find": runFind, "grep": runGrep, "head": runHead, "ln": runLn, "ls": runLs,
	"mkdir": runMkdir, "mv": runMv, "printf": runPrintf, "pwd": runPwd, "rm": runRm, "sed": runSed, "seq": runSeq,
	"sh": runShell, "sleep": runSleep, "sort": runSort, "tail": runTail, "tee": runTee, "test": runTest,
	"timeout": runTimeout, "touch": runTouch, "tr": runTr, "true": runTrue, "uniq": runUniq, "wc": runWc,
	"xargs": runXargs, "yes": runYes,
}

// absent are utilities that a machine usually has and the in-process shell does not.
var absent = strings.Fields(`awk base64 chgrp chmod chown cmp comm dd df du expr file fold gawk git hostname id jq kill
	less mawk md5sum mktemp more nl nohup nproc od paste perl printenv python python3 readlink realpath rev rg rmdir
	sha256sum shuf split stat tac tar tree uname which whoami xxd`)

// lacking ends a message about what a real machine has.
const lacking = " (the in-process shell does not have it)"

// Hint gives what to add to the message that a command was not found: that a real machine would have it.
func Hint(name string) string {
	if slices.Contains(absent, name) {
		return lacking
	}
	return ""
}

// Lookup gives the command of a name, which may be a path into one of the usual directories.
func Lookup(name string) (Func, bool) {
	for _, dir := range []string{"/bin/", "/usr/bin/", "/usr/local/bin/"} {
		if rest, below := strings.CutPrefix(name, dir); below && rest != "" {
			name = rest
			break
		}
	}
	f, ok := table[name]
	return f, ok
}

// Names gives all names, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(table))
}
