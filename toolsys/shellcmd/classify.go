package shellcmd

import (
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// Class is what a script does, found without running it. Whatever is not known to be harmless counts as
// harmful: ReadOnly and Safe are only ever true for scripts all of whose parts are understood.
type Class struct {
	Parsed bool
	Err    error // why it did not parse
	// ReadOnly (L2): every part is a known read-only command with read-only options, nothing is
	// written by a redirection, and no substitution hides something else.
	ReadOnly bool
	// Safe (L2): ReadOnly, and the shell's directory and environment stay as they are, and nothing is
	// left running: such calls may run beside each other.
	Safe bool
	// Search, Read, List (L3): a read-only script whose parts that matter are all of the class. Parts
	// that do not matter: echo and its like, and filters behind a pipe.
	Search, Read, List bool
	// Parts are all simple commands in the order of the source, those inside substitutions, functions,
	// loops and wrappers (xargs CMD, find -exec CMD, sh -c '...') included (F4).
	Parts   []Part
	Writes  []Redirect // redirections that write files, wherever they stand
	Changes ChangeSet
	SedEdit *SedEdit      // the whole script is one in-place substitution (H3)
	Git     []string      // git's subcommands (L4)
	Sleeps  time.Duration // the sum of all sleeps, if it is plain from the source; else 0
	Network bool          // some part is a known client of the network
}

// Part is one simple command.
type Part struct {
	Name string   // the command's name; empty if it is not literal
	Args []string // as in the source where they are not literal
	// Text is the source, normalised, without assignments and redirections: what permission rules match.
	Text string
	// Literal says that name and arguments contain no expansion but file patterns in the arguments.
	Literal   bool
	Redirects []Redirect
}

// Redirect is one redirection.
type Redirect struct {
	Op     string // as in the source: >, >>, <, 2> is Op > with Fd 2
	Fd     string // empty: the operator's own
	Target string // source text if not literal
	Write  bool   // it writes a file, other than /dev/null and the standard streams
}

// ChangeSet is what a script changes in the shell that runs it.
type ChangeSet struct {
	Dir       bool     // cd, pushd, popd
	Vars      []string // assigned, exported, unset or read into, in order
	Functions []string // defined
	Options   bool     // set, shopt, umask, alias, trap, source
}

func (c ChangeSet) none() bool {
	return !c.Dir && !c.Options && len(c.Vars) == 0 && len(c.Functions) == 0
}

// Classify says what script does. It is pure: nothing is run or looked up.
func Classify(script string) Class {
	file, err := Parse(script)
	if err != nil {
		return Class{Err: err}
	}
	a := newAnalysis()
	a.node(file)
	a.settle()
	c := a.class
	c.Parsed = true
	c.ReadOnly = a.readOnly && len(file.Stmts) > 0
	c.Safe = c.ReadOnly && c.Changes.none() && !a.leftRunning
	c.Sleeps = plainSleeps(file.Stmts)
	c.SedEdit = sedEdit(file)
	if c.ReadOnly {
		fold(&c, file.Stmts)
	}
	return c
}

// analysis gathers a Class on the way through the tree.
type analysis struct {
	class       Class
	readOnly    bool
	leftRunning bool
	depth       int
	functions   map[string]bool
	unknown     []string // names that must turn out to be functions
	redirects   []*syntax.Redirect
	tainted     map[string]bool // variables whose value might run something if evaluated as arithmetic
	evaluated   map[string]bool // names that arithmetic evaluates
}

func newAnalysis() *analysis {
	return &analysis{readOnly: true, functions: map[string]bool{}, tainted: map[string]bool{}, evaluated: map[string]bool{}}
}

// settle decides what needs the whole script: calls of functions that may be defined later, and
// variables that arithmetic evaluates.
func (a *analysis) settle() {
	for _, name := range a.unknown {
		if !a.functions[name] {
			a.readOnly = false
		}
	}
	for name := range a.evaluated {
		if a.tainted[name] {
			a.readOnly = false
		}
	}
}

func (a *analysis) harmful() { a.readOnly = false }
