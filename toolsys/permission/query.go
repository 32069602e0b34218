package permission

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Subject is a tool as rules see it.
type Subject struct {
	// Tool is the name the model calls it by.
	Tool string
	// Aliases are its old names, which keep working in rules (SPEC F4).
	Aliases []string
	// MCP is where it comes from, nil for a built-in. An MCP tool is matched by
	// its origin even if it keeps a bare name (SPEC D1, N1).
	MCP *Origin
}

// Origin is a tool's place among MCP servers.
type Origin struct{ Server, Tool string }

// Name is the tool's with its server's, as rules write it.
func (o Origin) Name() string { return mcpPrefix + starless(o.Server) + "__" + starless(o.Tool) }

// Query describes one call (SPEC F1).
type Query struct {
	Subject

	// Kin are other tools whose rules with a content match this call too: a
	// rule for Edit covers paths that Write changes, one for Read what Grep
	// searches. A blanket rule never reaches further than its own tool.
	Kin []string
	// Bound are tools of which only the rules that forbid match this call too, by their content: who
	// forbids a host to one tool forbids it to another, and who allows it does not.
	Bound []string
	// Shell is the command, for a tool that runs one.
	Shell *Shell
	// Paths are the files the call touches: absolute, cleaned, symlinks
	// resolved. Where resolving changed a path, give both: a forbidding rule
	// matches if it covers either, an allow rule has to cover both.
	Paths []string
	// PathsUnknown reports whether the call may touch files that are not listed, Tree whether it is about all below its
	// paths and leaves out by itself what is forbidden there.
	PathsUnknown, Tree bool
	// Content is what else a rule's parentheses may name, such as
	// domain:example.com; it is looked at where Shell and Paths are empty. OthersUnknown reports whether the
	// call may be about others that are not named.
	Content       string
	OthersUnknown bool
	// Servers are the MCP servers that a built-in tool takes something from, such as a resource:
	// rules that forbid all of one bind the call.
	Servers []string

	// Dir is the working directory and Home the user's, for relative and ~ rules.
	Dir, Home string
	// Roots are the allowed directories: the working directory and the additional ones.
	Roots []string
	// Left are the directories that were allowed before a worktree was entered: what forbids there still does.
	Left []string
	// Links are what forbidding rules name by a link, with what that leads to: see [Rules.Links].
	Links []Link
	// Sealed are directories in which nothing may be changed but below the roots.
	Sealed []string

	// ReadOnly, Edits (changes files and does nothing else), Destructive and
	// OpenWorld (reaches beyond the machine) are the call's class. A call marked
	// to be destructive is never taken for read-only.
	ReadOnly, Edits, Destructive, OpenWorld bool
	// Interactive marks a tool that exists to ask the user, so that its own
	// ask is answered by nobody else.
	Interactive bool
}

// Link is a glob, or how it begins, and what that stands for as well when links are followed.
type Link struct{ From, To string }

// Shell is a command that was read without being run (SPEC F4, F6).
type Shell struct {
	// Command is the whole text.
	Command string
	// Parts are all that the command does: each simple command, those that other
	// commands run included, each redirection, each construct that is not proved
	// harmless. An allow rule lets the command run only where rules cover every
	// part that does not merely read.
	Parts []Part
	// Known is false where the command could not be taken apart; then no allow
	// rule with a content covers it.
	Known bool
	// Folds reports whether the shell takes names in any case; then so do rules that forbid.
	Folds bool
}

// Part is one thing that a command does.
type Part struct {
	// Text is what allow rules match.
	Text string
	// Readings are what rules that forbid match beside the text: the words without
	// quotes, the program's plain name, a subcommand behind options.
	Readings []string
	// Commands are the words of the command, and of those that it may run by its words, each program by its plain name:
	// with signs for what is not known, and of an option all forms.
	// Launched are those that begin at further words of one that is no leaf.
	Commands, Launched [][]string
	// ReadOnly reports whether it is proved that the part only reads, so that it
	// needs no allow rule beside parts that have one.
	ReadOnly bool
	// Construct marks a part that no rule with a content can allow.
	Construct bool
	// Opaque is the reason why what the part runs cannot be known; empty where it can.
	Opaque string
	// Foreign reports whether the program reads a configuration that may name any program and
	// that the part's words do not name: only a rule that lets the program be configured allows it.
	Foreign bool
	// Leaf reports whether the program runs no other that its words name; Input is
	// what it is given to read. Of one that is no leaf, words and input are searched
	// for what is forbidden.
	Leaf  bool
	Input string
	// Files are the files the part touches; FilesUnknown reports whether there may
	// be others.
	Files        []File
	FilesUnknown bool
}

// File is a file that a part of a command touches.
type File struct {
	// Path is absolute and clean; a glob if Glob is set. Tree reports whether all
	// below is meant too, Write whether it may be changed, Named whether it may be by another name,
	// Names whether in a folder, and with Tree in those below, nothing is read but names and sizes.
	Path                            string
	Glob, Tree, Write, Named, Names bool
}

// reads reports whether the call only reads.
func (q *Query) reads() bool {
	return q.ReadOnly && !q.Destructive && (q.Shell == nil || q.Shell.Known && !slices.ContainsFunc(q.Shell.Parts, func(p Part) bool { return !p.ReadOnly }))
}

// within reports whether all that the call touches lies in the allowed roots. A
// call that touches no files does, unless it reaches out.
func (q *Query) within() bool {
	if q.OpenWorld || q.PathsUnknown || slices.ContainsFunc(q.Paths, func(p string) bool { return !Within(p, q.Roots) }) {
		return false
	}
	return q.Shell == nil || !slices.ContainsFunc(q.Shell.Parts, func(p Part) bool { return !p.within(q.Roots) })
}

// within reports whether a part touches nothing outside the roots.
func (p *Part) within(roots []string) bool {
	return !p.FilesUnknown && !slices.ContainsFunc(p.Files, func(f File) bool { return !Within(f.fixed(), roots) })
}

// fixed is the path, or of a glob the folder that it looks through.
func (f File) fixed() string {
	if !f.Glob {
		return f.Path
	}
	return fixedFolder(f.Path)
}

// fixedFolder is the folder that a glob's matches surely lie in. A glob with .. in
// it may lead anywhere.
func fixedFolder(glob string) string {
	at := strings.IndexAny(glob, globSigns)
	if at < 0 {
		return glob
	}
	fixed := glob[:at]
	if glob[at] == '\\' {
		at = len(unsigned.FindString(glob))
		fixed = escaped.ReplaceAllString(glob[:at], "$1")
	}
	switch {
	case at == len(glob):
		return fixed
	case slices.Contains(strings.Split(glob[at:], "/"), ".."):
		return "/"
	}
	return path.Dir(fixed + "x")
}

// unsigned is what stands in a glob before its first sign that is not escaped, as one that escaped matches is.
var unsigned, escaped = regexp.MustCompile(`^(?:[^*?\[\]{}\\]|\\[*?\[\]{}\\])*`), regexp.MustCompile(`\\([*?\[\]{}\\])`)
