// Package scenarios is the embedded suite: what `toolbench run` runs when it is
// told nothing else. Each file says in a sentence what it guards. Those below history
// are faults that other tool systems had, named by repository and number; those below
// mustfail hold cases in which something is wrong, which prove the checks.
package scenarios

import "embed"

// Files are the scenarios of the suite.
//
//go:embed *.yaml history/*.yaml mustfail/*.yaml
var Files embed.FS
