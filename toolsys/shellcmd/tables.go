package shellcmd

import (
	"bytes"
	_ "embed" // the tables beside this file
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed programs.json
var programsJSON []byte

// tables are what is known of programs by their names.
var tables = readPrograms(programsJSON)

// programs are the tables of programs.json. A key of a table may name several programs, and a list is
// written as a text with blanks.
type programs struct {
	// Readers only read, whatever files they are given (SPEC L2). Changers change the files they name and
	// run no other program. Wrappers run the command in their arguments.
	Readers  named[spec]
	Changers named[changer]
	Wrappers named[wrapper]
	// Shows are the words, with a comma between them, a star for a name and a percent sign for a text, with which
	// programs show what they or the machine are and do nothing else, whatever lies in the folder.
	Shows named[phrases]
	// Shapes and GitShapes match the words, with a blank between them, with which programs and subcommands of git
	// only read. Settings match the values with which variables of the environment may be set for a command.
	Shapes, GitShapes, Settings named[pattern]
	// Printers match the options with which programs print names as they are: no text of the option's own, no target
	// of a link, and none that begins within a name. Filters match those with which they pass on whole lines.
	Printers, Filters named[pattern]
	// FileTests, BinaryTests and UnaryTests are operators of test: those about files, and by the words around them.
	FileTests, BinaryTests, UnaryTests set
	// RunOptions are options whose values programs run.
	RunOptions named[list]
	// Synonyms are options and subcommands with their other names, by program or by program-subcommand. Combined are
	// options with those that they stand for together. Signs are those in front of operands that stand for options,
	// by program-subcommand. Names are programs that are one under several names.
	Signs named[phrases]
	Names []list
	// WholeOptions are programs whose options of several letters have one dash.
	Synonyms, Combined named[phrases]
	WholeOptions       set
	// FindTests are find's predicates that only look, and how many words each takes.
	FindTests named[int]
	// Git are git's subcommands that only read, GitLists the options with which branch and tag list.
	Git      named[spec]
	GitLists spec
	// GitRunOptions are options of subcommands that run a program, GitRuns subcommands that run commands
	// of their arguments, GitShows those that print what is in files.
	GitRunOptions list
	// GitOwn are git's further subcommands that run no program that their words name; any other name may be an alias.
	GitRuns, GitShows, GitOwn set
	// Interpreters run commands of their arguments or their input, which are not looked into. Scripted are
	// interpreters of other languages: they run a script in a file, which is a program like any other, or code of
	// their options or their input. Modules are Python's that are programs by themselves.
	Interpreters, Scripted, Modules set
	// Leaves are further programs that run no program that their arguments name. Roaming are programs that
	// only read and open files of their own too: settings, an index, the folders of the search path.
	Leaves, Roaming set
	// Network are clients of the network.
	Network set
	// Search, Read and List are the classes of output (SPEC L3); what Neutral commands print is in none.
	Search, Read, List, Neutral set
	// Questions answer with their exit code 1 (SPEC J3), GitQuestions with some of these options, if there are any.
	Questions    set
	GitQuestions named[list]
}

// spec describes a program that only reads.
type spec struct {
	// Short are option letters, each with a colon behind it if it takes a value, two
	// if the value may only be attached; Long are names, with = or ? likewise.
	Short, Long string
	// Any reports whether no option of the program writes or runs anything, so that
	// further options and words that are not literal are harmless too.
	Any bool
	// Apart reports whether an option's value has to be the next word: the program has its own ways with clusters.
	Apart bool
	// Permutes reports whether options may stand behind operands on every system: elsewhere they are operands there.
	Permutes bool
	// Digits reports whether -5 is an option.
	Digits   bool
	Operands operandKind
	// AtMost bounds the number of operands; 0 does not.
	AtMost int
	// FileValues are the short and long options whose value is a file that is read.
	FileValues list
	// Walks are the options with which folders are gone through, Follows those with
	// which links are followed to wherever they lead.
	Walks, Follows list
	// Names reports whether of folders no more than the names and sizes of what is in them are read.
	Names bool
	// Patterns are the options that bring the pattern.
	Patterns list
	// Refused are options of an Any program that are not harmless after all.
	Refused list
	// Elsewhere are those that do more where another program has the name. No word made at run time is taken for one.
	Elsewhere list
}

// operandKind is what a program's operands are.
type operandKind uint8

const (
	texts        operandKind = iota // words, never files
	files                           // files
	fileFolders                     // files, or folders of which files are read
	patternFiles                    // a pattern or program, then files
	patternTrees                    // a pattern, then folders that are gone through
	trees                           // folders that are gone through, the working directory if there are none
	nothing                         // there may be none
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *operandKind) UnmarshalText(text []byte) error {
	kinds := []string{"texts", "files", "fileFolders", "patternFiles", "patternTrees", "trees", "nothing"}
	at := slices.Index(kinds, string(text))
	if at < 0 {
		return fmt.Errorf("%q is no kind of operands", text)
	}
	*k = operandKind(at)
	return nil
}

type list []string

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *list) UnmarshalText(text []byte) error {
	*l = strings.Fields(string(text))
	return nil
}

// pattern is for whole texts. It is compiled when it is first used, as few programs are met in a run.
type pattern struct{ compiled func() *regexp.Regexp }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *pattern) UnmarshalText(text []byte) error {
	whole := "^(?:" + string(text) + ")$"
	p.compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(whole) })
	return nil
}

type phrases []string

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *phrases) UnmarshalText(text []byte) error {
	*p = strings.Split(string(text), ", ")
	return nil
}

type set map[string]bool

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *set) UnmarshalText(text []byte) error {
	*s = set{}
	for name := range strings.FieldsSeq(string(text)) {
		(*s)[name] = true
	}
	return nil
}

// named is a table with names of programs as its keys.
type named[T any] map[string]T

// UnmarshalJSON implements json.Unmarshaler.
func (n *named[T]) UnmarshalJSON(data []byte) error {
	var grouped map[string]T
	if err := strictly(data, &grouped); err != nil {
		return err
	}
	*n = named[T]{}
	for names, v := range grouped {
		for name := range strings.FieldsSeq(names) {
			if _, twice := (*n)[name]; twice {
				return fmt.Errorf("%s is there twice", name)
			}
			(*n)[name] = v
		}
	}
	return nil
}

// strictly decodes JSON without unknown members.
func strictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

func readPrograms(data []byte) (p programs) {
	if err := strictly(data, &p); err != nil {
		panic("programs.json: " + err.Error()) // the file is part of the program, which shows at start
	}
	return p
}
