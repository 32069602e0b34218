// Package toolbench holds what the command carries with it: its documents, and the suite that
// `toolbench run` runs when it is given nothing else. What programs import is in toolsys;
// docs/architecture.md draws all of it.
package toolbench

import (
	"embed"
	"io/fs"
)

// Docs are the documents, which `toolbench help TOPIC` prints, below docs.
//
//go:embed docs/*.md
var Docs embed.FS

//go:embed scenarios/*.yaml scenarios/history/*.yaml scenarios/mustfail/*.yaml
var scenarios embed.FS

// Suite are the scenarios. Each file says in a sentence what it guards. Those below history are
// faults that other tool systems had, named by repository and number; those below mustfail hold
// cases in which something is wrong, which prove the checks.
func Suite() fs.FS {
	suite, err := fs.Sub(scenarios, "scenarios")
	if err != nil {
		panic(err) // the name is a constant
	}
	return suite
}
