// Package scenarios is the embedded suite: what `toolbench run` runs when it is
// told nothing else. Each file says in a sentence what it guards.
package scenarios

import "embed"

// Files are the scenarios of the suite.
//
//go:embed *.yaml
var Files embed.FS
