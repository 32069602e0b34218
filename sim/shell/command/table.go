package command

import (
	"maps"
	"slices"
)

// table is the one list of commands. It is read only.
var table = map[string]Func{
	"[": runTest, "awk": runAwk, "base64": runBase64, "basename": runBasename, "bash": runShell, "cat": runCat, "chmod": runChmod,
	"cmp": runCmp, "comm": runComm, "cp": runCp, "cut": runCut, "date": runDate, "diff": runDiff, "dirname": runDirname, "du": runDu,
	"echo": runEcho, "egrep": runGrep, "env": runEnv, "expr": runExpr, "false": runFalse, "fgrep": runGrep, "file": runFile,
	"find": runFind, "fold": runFold, "gawk": runAwk, "git": runGit, "gojq": runJq, "grep": runGrep, "head": runHead,
	"hostname": runHostname, "id": runID, "jq": runJq, "kill": runKill, "ln": runLn, "ls": runLs, "mawk": runAwk, "md5sum": runSum,
	"mkdir": runMkdir, "mktemp": runMktemp, "mv": runMv, "nl": runNl, "nohup": runNohup, "nproc": runNproc, "od": runOd, "paste": runPaste,
	"printenv": runPrintenv, "printf": runPrintf, "pwd": runPwd, "readlink": runReadlink, "realpath": runRealpath, "rev": runRev,
	"rg": runRg, "rm": runRm, "rmdir": runRmdir, "sed": runSed, "seq": runSeq, "sh": runShell, "sha1sum": runSum, "sha256sum": runSum,
	"sleep": runSleep, "sort": runSort, "stat": runStat, "tac": runTac, "tail": runTail, "tee": runTee, "test": runTest,
	"time": runTime, "timeout": runTimeout, "touch": runTouch, "tr": runTr, "tree": runTree, "true": runTrue, "uname": runUname,
	"uniq": runUniq, "wc": runWc, "which": runWhich, "whoami": runWhoami, "xargs": runXargs, "yes": runYes,
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
