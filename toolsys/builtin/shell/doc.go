// Package shell holds the built-in tools that run commands: Bash, and beside it
// PowerShell, terminals and worktrees. What runs them comes in through Deps: an
// in-process shell on a filesystem in memory, or a real one (SPEC L5). What a command is, and so how it may run, is never guessed from
// its text here: package shellcmd parses it, and this package draws the conclusions for
// permission, scheduling and the screen (L2, L3). Of PowerShell it reads here as much as
// is needed to prove that a script of plain commands only reads.
package shell

import (
	"context"
	"io"

	"github.com/spf13/afero"

	"toolbench/toolsys/tool"
)

// KeepBytes is how much of a stream is kept in memory where Deps has no value.
const KeepBytes = 1 << 20

// Runner runs a command to its end. An error means that it did not start, does not
// parse, or that ctx ended first; nothing is written after it returns.
type Runner func(ctx context.Context, r Request) (Exit, error)

// Deps is what Bash needs from outside. Only Run and FS are required.
type Deps struct {
	Run Runner
	// FS is the filesystem that commands work on. Here it is asked whether a
	// folder exists and which files a glob means, and takes an approved edit.
	FS afero.Fs
	// Start runs a job beside the conversation and gives its task id; nil where
	// there are no background tasks.
	Start func(c *tool.Context, j Job) (id string, err error)
	// Sandbox gives the reason why a command may not run in the sandbox, or ""; nil where
	// there is none.
	Sandbox func(command string) (problem string)
	// Resolve gives what a path leads to when links are followed; nil where the
	// filesystem has none. It is never called for a UNC path.
	Resolve func(path string) string
	// OutputDir takes the whole of a stream that is longer than KeepBytes, on FS;
	// empty writes none.
	OutputDir string
	// KeepBytes is how much of a stream is kept in memory, its beginning and its
	// end; 0 means 1 MiB.
	KeepBytes int
}

// Request is one command to run.
type Request struct {
	Script string
	// Dir is the working directory, Env the whole environment.
	Dir            string
	Env            map[string]string
	Stdout, Stderr io.Writer
	// Unsandboxed is true for a call that was allowed to go round the sandbox.
	Unsandboxed bool
}

// Exit is how a command ended.
type Exit struct {
	Code int
	// Dir and Env are the working directory and the exported environment after it.
	Dir string
	Env map[string]string
	// Forbidden words what the sandbox kept the command from; "" where there was none.
	Forbidden string
}

// Job is a command that runs in the background. Both its streams go to out.
type Job struct {
	Title, Command string
	Run            func(ctx context.Context, out io.Writer) (code int, err error)
}
