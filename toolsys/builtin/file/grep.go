package file

import (
	"cmp"
	"context"
	_ "embed" // the table of types
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"toolbench/toolsys/tool"
)

// GrepIn is what Grep takes (SPEC L). The short names are those of grep.
type GrepIn struct {
	Pattern    string `json:"pattern" minLength:"1" jsonschema:"The regular expression to search for, in RE2 syntax"`
	Path       string `json:"path,omitempty" jsonschema:"The file or folder to search; the working directory if left out"`
	Glob       string `json:"glob,omitempty" jsonschema:"Search only files whose names match, such as *.go or src/**/*.ts; several separated by spaces; ! in front leaves files out"`
	Type       string `json:"type,omitempty" jsonschema:"Search only files of a type, such as go, py, js, ts, rust, java, md"`
	Mode       string `json:"output_mode,omitempty" enum:"content,files_with_matches,count" default:"files_with_matches" jsonschema:"What to show: the matching lines, the files, or how many lines match in each"`
	After      int    `json:"-A,omitempty" minimum:"0" jsonschema:"Lines to show after each match (content mode)"`
	Before     int    `json:"-B,omitempty" minimum:"0" jsonschema:"Lines to show before each match (content mode)"`
	Around     int    `json:"-C,omitempty" minimum:"0" jsonschema:"Lines to show before and after each match (content mode)"`
	Numbers    *bool  `json:"-n,omitempty" default:"true" jsonschema:"Show line numbers (content mode)"`
	IgnoreCase bool   `json:"-i,omitempty" jsonschema:"Ignore case"`
	Multiline  bool   `json:"multiline,omitempty" jsonschema:"Let a match span lines, a dot matching line feeds too"`
	Limit      int    `json:"head_limit,omitempty" minimum:"0" jsonschema:"Show only so many lines or files; 0 means all"`
	Skip       int    `json:"offset,omitempty" minimum:"0" jsonschema:"Leave out so many lines or files at the start, before head_limit counts"`
}

// GrepOut is what Grep answers with. One of Lines, Files and Counts is set, by
// mode; all are in order of path.
type GrepOut struct {
	Mode   string      `json:"output_mode"`
	Lines  []GrepLine  `json:"lines,omitempty"`
	Files  []string    `json:"files,omitempty"`
	Counts []GrepCount `json:"counts,omitempty"`
	// Matches is how many lines match, in multiline mode how many matches there
	// are, and In in how many files; both whatever is shown.
	Matches int `json:"matches"`
	In      int `json:"in_files"`
	// Omitted is how many lines or files head_limit left out at the end.
	Omitted int `json:"omitted,omitempty"`
	// Context is true where lines around matches were asked for; Numbers where lines
	// are shown with their numbers.
	Context bool     `json:"context,omitempty"`
	Numbers bool     `json:"numbers,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// GrepLine is one line of content; Match distinguishes it from context.
type GrepLine struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
	Match bool   `json:"match"`
}

// GrepCount is how often a file matches.
type GrepCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// Grep searches the contents of files (SPEC L). It passes over .git, what
// .gitignore files name, binary files and links.
func Grep(d Deps) *tool.Tool {
	return tool.Must(tool.Def[GrepIn, GrepOut]{
		Name:     "Grep",
		Describe: func(in GrepIn) string { return "Search for " + in.Pattern },
		Texts:    prompts.Of("grep"),
		Call:     tool.Data(acting(d.planGrep, d.grep)),
		Text:     GrepOut.text,
		Validate: looked(GrepIn.root, d.planGrep),
		Subject:  searching(d, GrepIn.root),
		Traits: tool.Looks(tool.Class{Search: true}, func(in GrepIn, c *tool.Context) []string {
			return append(d.treeKeys(in.root(), c), d.ignoreKeys(in.root(), c)...)
		}),
		Shaping: tool.Shaping[GrepIn]{
			Backfill:   absolute("path"),
			Classifier: func(in GrepIn) string { return in.Pattern + " in " + in.root() },
		},
		View: tool.Doing("Grep", "Searching for ", func(in GrepIn) string { return in.Pattern }),
		Draw: tool.Drawing[GrepIn, GrepOut]{Result: drawFound},
	})
}

func (in GrepIn) root() string { return cmp.Or(in.Path, ".") }

func (in GrepIn) mode() string { return cmp.Or(in.Mode, "files_with_matches") }

// maxContext is more than any file has lines, and far from overflowing.
const maxContext = maxFileBytes

// around is how many lines of context there are before and after.
func (in GrepIn) around() (before, after int) {
	return min(max(in.Before, in.Around), maxContext), min(max(in.After, in.Around), maxContext)
}

// search is a call that is ready to run.
type search struct {
	place
	scanner
	filter
	single bool // the place is a file
}

func (d Deps) planGrep(in GrepIn, c *tool.Context) (search, *tool.Refusal) {
	scan, refusal := scannerOf(in)
	if refusal != nil {
		return search{}, refusal
	}
	names, refusal := filterOf(in.Glob, in.Type)
	if refusal != nil {
		return search{}, refusal
	}
	p, refusal := d.locate(in.root(), c)
	if refusal != nil {
		return search{}, refusal
	}
	s := search{place: p, scanner: scan, filter: names}
	refusal = d.folder(p)
	if refusal != nil && refusal.Code == CodeKind { // a file, then
		_, refusal = d.load(p)
		s.single = true
	}
	return s, refusal
}

func (d Deps) grep(ctx context.Context, in GrepIn, s search, c *tool.Context) (GrepOut, error) {
	before, after := in.around()
	g := results{in: in, dir: c.State.Dir, out: GrepOut{
		Mode: in.mode(), Context: before+after > 0, Numbers: in.Numbers == nil || *in.Numbers,
	}}
	if err := d.gather(ctx, s, d.hiddenBelow("Grep", s.place, c), &g); err != nil {
		return GrepOut{}, err
	}
	return g.finish(), nil
}

// name is a found file's full path.
func (s search) name(rel string) string {
	if s.single {
		return s.abs
	}
	return path.Join(s.abs, rel)
}

func (s search) open(rel string) place {
	return place{abs: s.name(rel), real: strings.TrimSuffix(path.Join(s.real, rel), "/")}
}

// scanner finds the lines of a text that match.
type scanner struct {
	re        *regexp.Regexp
	prefix    string // every match begins with it
	multiline bool
}

// maxPattern bounds what an expression takes, compiled: about two hundred times its length.
const maxPattern = 200_000

// scannerOf compiles an expression. In multiline mode a dot matches line feeds
// too and a match may span lines; ^ and $ are a line's ends in both.
func scannerOf(in GrepIn) (scanner, *tool.Refusal) {
	flags := ""
	if in.IgnoreCase {
		flags += "i"
	}
	if in.Multiline {
		flags += "ms"
	}
	pattern := in.Pattern
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	if len(pattern) > maxPattern {
		return scanner{}, refuse(CodePattern, "The pattern has %d bytes; %d at most can be searched for at once.", len(pattern), maxPattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return scanner{}, refuse(CodePattern, "The pattern is not a regular expression that can be used: %v. "+
			"The syntax is RE2: no look-around and no back-references; a literal brace or bracket needs a backslash.", err)
	}
	prefix, _ := re.LiteralPrefix()
	if strings.Contains(prefix, "\n") { // the file may have CRLF there
		prefix = ""
	}
	return scanner{re: re, prefix: prefix, multiline: in.Multiline}, nil
}

// hits are what was found in one file.
type hits struct {
	lines   []string // of the file
	matched []int    // indices of the lines that match, sorted
	count   int      // matching lines, or matches in multiline mode
}

// scan searches a text; false means that nothing matches.
func (s scanner) scan(t text) (hits, bool) {
	if !strings.Contains(t.body, s.prefix) {
		return hits{}, false
	}
	h := hits{lines: t.lines()}
	if s.multiline {
		s.scanAll(&h)
	} else {
		s.scanLines(&h)
	}
	return h, h.count > 0
}

func (s scanner) scanLines(h *hits) {
	for i, line := range h.lines {
		if s.re.MatchString(line) {
			h.matched = append(h.matched, i)
		}
	}
	h.count = len(h.matched)
}

// scanAll marks every line that a match touches. A match that is empty and
// lies behind the last line touches none.
func (s scanner) scanAll(h *hits) {
	all := strings.Join(h.lines, "\n")
	line, at := 0, 0 // the line that at lies in
	for _, m := range s.re.FindAllStringIndex(all, -1) {
		line += strings.Count(all[at:m[0]], "\n")
		at = m[0]
		last := line + strings.Count(all[m[0]:max(m[0], m[1]-1)], "\n")
		for i := line; i <= last && i < len(h.lines); i++ {
			if n := len(h.matched); n == 0 || h.matched[n-1] < i {
				h.matched = append(h.matched, i)
			}
		}
		h.count++
	}
}

//go:embed filetypes.txt
var typeTable string

// fileTypes gives the name globs of the file types that Grep takes, under the
// names that ripgrep gives them.
func fileTypes() map[string][]string {
	types := map[string][]string{}
	for line := range strings.Lines(typeTable) {
		if words := strings.Fields(line); len(words) > 1 {
			types[words[0]] = words[1:]
		}
	}
	return types
}

// checkType refuses a type that is not in the table.
func checkType(name string) *tool.Refusal {
	types := fileTypes()
	if _, exists := types[name]; exists || name == "" {
		return nil
	}
	names := slices.Sorted(maps.Keys(types))
	if near := nearest(name, names); len(near) > 0 {
		return refuse(CodeType, "There is no file type %q. Did you mean %s? Or use glob.", name, strings.Join(near, " or "))
	}
	return refuse(CodeType, "There is no file type %q. The types are: %s. Or use glob.", name, strings.Join(names, ", "))
}
