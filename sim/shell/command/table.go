package command

import (
	"maps"
	"slices"
)

// table is the one list of commands. It is read only.
var table = map[string]Func{
	"[": runTest, "awk": runAwk, "basename": runBasename, "bash": runShell, "cat": runCat, "chmod": runChmod,
	"cp": runCp, "cut": runCut, "date": runDate, "diff": runDiff, "dirname": runDirname, "echo": runEcho, "egrep": runGrep,
	"env": runEnv, "false": runFalse, "fgrep": runGrep, "find": runFind, "gawk": runAwk, "git": runGit, "grep": runGrep,
	"head": runHead, "hostname": runWho, "id": runWho, "kill": runKill, "ln": runLn, "ls": runLs, "mawk": runAwk,
	"mkdir": runMkdir, "mktemp": runMktemp, "mv": runMv, "nohup": runNohup, "printenv": runPrintenv, "printf": runPrintf,
	"pwd": runPwd, "readlink": runReadlink, "realpath": runRealpath, "rm": runRm, "rmdir": runRmdir, "sed": runSed, "seq": runSeq,
	"sh": runShell, "sleep": runSleep, "sort": runSort, "tail": runTail, "tee": runTee, "test": runTest,
	"timeout": runTimeout, "touch": runTouch, "tr": runTr, "true": runTrue, "uname": runWho, "uniq": runUniq, "wc": runWc, "which": runWhich,
	"whoami": runWho, "xargs": runXargs, "yes": runYes,
}

// Lookup gives the command of a name, which may be a path into one of the usual directories.
func Lookup(name string) (Func, bool) {
	for _, dir := range []string{"/bin/", "/usr/bin/", "/usr/local/bin/"} {
		if len(name) > len(dir) && name[:len(dir)] == dir {
			name = name[len(dir):]
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
