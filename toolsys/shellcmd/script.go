package shellcmd

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// Env is what a script's meaning depends on beside its text.
type Env struct {
	// Dir is the absolute directory the script starts in, Home the user's; where
	// one is empty, paths that need it are unknown.
	Dir, Home string
	// Repository reports whether git may read the configuration that it finds from a directory on: a repository can
	// name programs that git runs. Nil trusts the starting directory and no other.
	Repository func(dir string) bool
	// Straight reports whether .. behind a directory leads to the one above it, as it does not behind a link. Nil trusts none.
	Straight func(dir string) bool
	// Plain reports whether another shell than Bash may run it: it is read as a plain one reads it too, to which [[ a > b ]] empties b.
	Plain bool
}

// Script is what a script does, found without running it.
type Script struct {
	// Source is the text; Err is why it did not parse, nil if it did.
	Source string
	Err    error
	// ReadOnly reports whether it is proved that the script only reads (SPEC L2).
	// Doubt is the first reason why it is not.
	ReadOnly bool
	Doubt    string
	// Safe reports whether it may also run beside others: it leaves the shell's
	// directory and variables as they are, and nothing running.
	Safe bool
	// Search, Read and List are the classes of a read-only script's output (SPEC L3).
	Search, Read, List bool
	// Steps are all that the script does, in the order of the source.
	Steps []Step
	// Changes are what is different afterwards in the shell that ran it.
	Changes Changes
	// SedEdit is set where the whole script is one substitution in place (SPEC H3).
	SedEdit *SedEdit
	// Git lists git's subcommands (SPEC L4).
	Git []string
	// Network reports whether some step is a known client of the network.
	Network bool
	// Plain reports whether the script is a plain sequence: simple commands of
	// literal words and patterns, joined by ;, &&, || and |, nothing left running.
	Plain bool
}

// Step is one thing that a script does.
type Step struct {
	// Text is the source in a normal form: single blanks, no redirections.
	Text string
	// Words are a command's name and arguments; nil for other steps.
	Words []Word
	// Name is the command's name without its folder; empty where it is not known.
	Name string
	// Readings are other texts for the same step: without quotes, with the program's
	// plain name, without options before a subcommand. Rules that forbid match them.
	Readings []string
	// Supposed are steps of a command that the words show and that may run.
	Supposed []Step
	// ReadOnly reports whether the step is proved to only read; Doubt is the reason why not.
	ReadOnly bool
	Doubt    string
	// Construct marks a step that no rule for a command can cover: a construct that
	// could not be read, or that changes what other steps mean.
	Construct bool
	// Opaque is the reason why what the step runs cannot be known; empty where it can.
	Opaque string
	// Foreign reports whether git would read the configuration of a repository that is not
	// trusted, and that the step's own words do not name.
	Foreign bool
	// Leaf reports whether the program is known to run no other program that its arguments name.
	Leaf bool
	// Confined reports whether the program opens no files but those in Files: no configuration, no index.
	Confined bool
	// Files are the files that the step touches; FilesUnknown reports whether there may be others.
	Files        []File
	FilesUnknown bool
	// Input is the text that a here-document or here-string gives the step.
	Input string
	// Set are the values of variables that are set for the step and may mean something to its program.
	Set []string
}

// File is a file that a step touches.
type File struct {
	// Path is absolute and clean, or relative where the directory is not known. It is a glob if Glob is set.
	Path string
	Glob bool
	// Spelled is the absolute path as the script spells it, where it has a .. in it that may not be
	// straight: behind a link, that leads up from where the link leads.
	Spelled string
	// Tree reports whether all below the path is meant too; Links, whether links there may be followed; Split,
	// whether a name there with blanks or quotes in it is taken for others, Parts, whether that of a match is.
	// Entries reports whether of a folder the files in it are meant, Repository whether all of the repository that it
	// lies in, Names whether no more than names and sizes are read in a folder, and in those below it if Tree is set.
	Tree, Links, Split, Parts, Entries, Repository, Names bool
	// Write reports whether the file may be changed; Named, whether it has another name then.
	Write, Named bool
}

// Changes are what a script changes in the shell that runs it.
type Changes struct {
	Dir       bool
	Vars      []string
	Functions []string
	Options   bool
}

// None reports whether nothing is changed.
func (c Changes) None() bool {
	return !c.Dir && !c.Options && len(c.Vars) == 0 && len(c.Functions) == 0
}

// Read interprets a script without running it. It is pure but for env.Repository and env.Straight.
func Read(source string, env Env) *Script {
	s := &Script{Source: source}
	file, err := parseStrict(source, syntax.LangBash)
	if err != nil {
		s.Err, s.Doubt = err, "it does not parse"
		return s
	}
	w := newWalker(s, env)
	w.whole = assigned(file)
	w.statements(file.Stmts)
	if env.Plain {
		w.script(source, syntax.LangPOSIX)
	}
	s.conclude(w, file)
	return s
}

func (s *Script) conclude(w *walker, file *syntax.File) {
	s.ReadOnly = len(file.Stmts) > 0
	puts := slices.ContainsFunc(s.Steps, func(st Step) bool { return st.puts() })
	if w.mistaken && !slices.ContainsFunc(s.Steps, func(st Step) bool { return !st.ReadOnly }) { // what rules allow is often a message in such a text
		w.construct(file.Stmts[0], "a here-document in a substitution, in which Bash 3.2 takes signs for its own")
	}
	for i := 0; i < len(s.Steps); i++ {
		if puts && !s.Steps[i].Leaf && !s.Steps[i].puts() && w.spend(len(s.Source)) {
			s.Steps[i].Input += "\n" + s.Source // it may run what the script has written
		}
		if !s.Steps[i].ReadOnly {
			s.ReadOnly, s.Doubt = false, cmp.Or(s.Doubt, s.Steps[i].Doubt)
		}
	}
	s.Safe = s.ReadOnly && s.Changes.None() && !w.leftRunning
	s.Plain = !w.leftRunning
	syntax.Walk(file, func(n syntax.Node) bool {
		s.Plain = s.Plain && plainNode(n)
		return s.Plain
	})
	s.SedEdit = sedEdit(file)
	if s.ReadOnly {
		fold(s, file.Stmts)
	}
}

// plainNode reports whether a part may stand in a plain sequence of commands.
func plainNode(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		return !n.Background && !n.Coprocess && !n.Disown
	case *syntax.CallExpr:
		return len(n.Assigns) == 0
	case *syntax.Redirect:
		return n.N == nil || allDigits(n.N.Value)
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar
	case *syntax.BinaryCmd:
		return n.Op == syntax.AndStmt || n.Op == syntax.OrStmt || n.Op == syntax.Pipe
	case nil, *syntax.File, *syntax.Word, *syntax.Lit, *syntax.Comment:
		return true
	}
	return false
}
