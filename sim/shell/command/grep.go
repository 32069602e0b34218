package command

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/pattern"

	"toolbench/toolsys/shellcmd/posixre"
)

// grep [-EFGivwxclLqsnHhobrRaIUz] [-e PATTERN] [-f FILE] [-m N] [-A N] [-B N] [-C N] [--include=G]
// [--exclude=G] [--exclude-dir=G] [--color] [PATTERN] [FILE...]; egrep and fgrep are grep -E and -F.
func runGrep(p *Proc) int {
	p.Args = dashNumber(p.Args, "-C")
	o, ok := p.parse("EFGPivywxclLqsnHhorRaIUTe:f:m:A:B:C:b", "extended-regexp>E", "fixed-strings>F", "basic-regexp>G", "perl-regexp>P", "regexp=>e", "file=>f",
		"ignore-case>i", "no-ignore-case", "invert-match>v", "word-regexp>w", "line-regexp>x", "count>c", "files-with-matches>l", "files-without-match>L", "quiet>q", "silent>q",
		"no-messages>s", "line-number>n", "with-filename>H", "no-filename>h", "only-matching>o", "recursive>r", "dereference-recursive>R",
		"text>a", "binary>U", "max-count=>m", "after-context=>A", "before-context=>B", "context=>C", "include=", "exclude=", "exclude-dir=",
		"color?", "colour?", "byte-offset>b", "initial-tab>T", "line-buffered", "binary-files=", "no-group-separator", "group-separator=")
	if !ok {
		return exitUsage
	}
	g, code := newGrep(p, o)
	if g == nil {
		return code
	}
	return g.run()
}

type grepper struct {
	p       *Proc
	o       options
	m       *matcher
	out     lineOutput
	max     int
	names   []string
	walking bool
	matched bool
	failed  bool
}

func newGrep(p *Proc, o options) (*grepper, int) {
	if o.has("P") {
		return nil, p.usage("-P: Perl-compatible expressions are not supported in the in-process shell")
	}
	patterns, names, err := p.patterns(o)
	if err != nil {
		return nil, p.usage("%v", err)
	}
	syntax := posixre.Basic
	if o.last("E", "F", "G") == "E" || p.Name == "egrep" {
		syntax = posixre.Extended
	}
	fixed := o.last("E", "F", "G") == "F" || p.Name == "fgrep"
	m, err := grepMatcher(patterns, syntax, fixed, o.has("i") || o.has("y"), o.has("w"), o.has("x"))
	if err != nil {
		return nil, p.usage("%v", err)
	}
	g := &grepper{p: p, o: o, m: m, names: names, walking: o.has("r") || o.has("R"), max: 1 << 30}
	if o.has("m") {
		if g.max, err = strconv.Atoi(o.get("m", "")); err != nil {
			return nil, p.usage("invalid max count")
		}
	}
	if len(names) == 0 {
		g.names = []string{map[bool]string{true: ".", false: "-"}[g.walking]}
	}
	g.out, err = newLineOutput(p, o, m)
	g.out.withName = o.last("H", "h") == "H" || o.last("H", "h") == "" && (len(names) > 1 || g.walking)
	if err != nil {
		return nil, p.usage("%v", err)
	}
	return g, 0
}

// patterns come from -e and -f, or from the first operand.
func (p *Proc) patterns(o options) (patterns, rest []string, err error) {
	patterns, rest = o.all("e"), o.rest
	for _, name := range o.all("f") {
		data, err := p.read(name)
		if err != nil {
			return nil, nil, err
		}
		if text := strings.TrimSuffix(string(data), "\n"); len(data) > 0 {
			patterns = append(patterns, text)
		}
	}
	if len(patterns) == 0 && !o.has("f") {
		if len(rest) == 0 {
			return nil, nil, errNoPattern
		}
		patterns, rest = rest[:1], rest[1:]
	}
	if len(patterns) == 0 { // an empty file matches nothing
		patterns = []string{"[^\\s\\S]"}
	}
	return patterns, rest, nil
}

func (g *grepper) run() int {
	for _, name := range g.names {
		g.visit(name, true)
		if g.p.Ctx.Err() != nil || g.out.broken || g.o.has("q") && g.matched {
			break
		}
	}
	switch {
	case g.failed && !(g.o.has("q") && g.matched):
		return exitUsage
	case g.matched:
		return 0
	}
	return exitFailure
}

func (g *grepper) report(name string, err error) {
	g.failed = true
	if !g.o.has("s") {
		g.p.complain("%s: %s", name, Reason(err))
	}
}

// visit greps a file, or with -r a tree.
func (g *grepper) visit(name string, operand bool) {
	if name == "-" && operand {
		g.file(name)
		return
	}
	info, err := g.p.Files.Stat(name)
	if err != nil {
		g.report(name, err)
		return
	}
	if !info.IsDir() {
		if g.wanted(path.Base(name), operand) {
			g.file(name)
		}
		return
	}
	if !g.walking {
		g.failed = true
		g.p.complain("%s: Is a directory", name)
		g.out.summary(name, 0, false)
		return
	}
	if matchesGlobs(g.o.all("exclude-dir"), path.Base(name)) && !(operand && name == ".") {
		return
	}
	g.tree(name, operand)
}

func (g *grepper) tree(name string, operand bool) {
	list, err := g.p.Files.List(name)
	if err != nil {
		g.report(name, err)
		return
	}
	prefix := strings.TrimSuffix(name, "/") + "/"
	if operand && name == "." && len(g.o.rest) <= 1 && !slices.Contains(g.o.rest, ".") {
		prefix = "" // no operand: names without ./
	}
	for _, e := range list {
		if g.out.broken || e.Mode()&symlink != 0 && !g.o.has("R") || !e.IsDir() && !e.Mode().IsRegular() && e.Mode()&symlink == 0 {
			continue
		}
		g.visit(prefix+e.Name(), false)
		if g.o.has("q") && g.matched {
			return
		}
	}
}

// wanted applies --include and --exclude.
func (g *grepper) wanted(base string, operand bool) bool {
	if matchesGlobs(g.o.all("exclude"), base) {
		return false
	}
	include := g.o.all("include")
	return len(include) == 0 || matchesGlobs(include, base) || operand && !g.walking
}

func matchesGlobs(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(pattern string) bool { return glob(strings.TrimSuffix(pattern, "/"), name) })
}

func (g *grepper) file(name string) {
	data, err := g.p.read(name)
	if err != nil {
		g.report(name, err)
		return
	}
	if name == "-" {
		name = "(standard input)"
	}
	isBinary := binary(data) && !g.o.has("a") && g.o.get("binary-files", "") != "text"
	if isBinary && (g.o.has("I") || g.o.get("binary-files", "") == "without-match") {
		return
	}
	n := g.out.file(name, data, g.max, isBinary)
	g.matched = g.matched || n > 0
}

// matcher finds patterns in lines, for grep and rg.
type matcher struct {
	re       *regexp.Regexp
	word     bool // -w: no word character on either side
	lineOnly bool // -x: all of the line
}

// grepMatcher joins patterns, each of which may hold several lines.
func grepMatcher(patterns []string, syntax posixre.Syntax, fixed, ignoreCase, word, lineOnly bool) (*matcher, error) {
	var parts []string
	for _, p := range patterns {
		for line := range strings.SplitSeq(p, "\n") {
			if fixed {
				parts = append(parts, regexp.QuoteMeta(line))
				continue
			}
			text, err := posixre.Translate(line, syntax)
			if err != nil {
				return nil, err
			}
			parts = append(parts, text)
		}
	}
	return newMatcher(parts, ignoreCase, word, lineOnly)
}

// newMatcher takes patterns in Go's syntax.
func newMatcher(parts []string, ignoreCase, word, lineOnly bool) (*matcher, error) {
	text := "(?:" + strings.Join(parts, ")|(?:") + ")"
	if lineOnly {
		text = "^(?:" + text + ")$"
	}
	if ignoreCase {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	re.Longest()
	return &matcher{re: re, word: word, lineOnly: lineOnly}, nil
}

func (m *matcher) match(line string) bool {
	if !m.word {
		return m.re.MatchString(line)
	}
	return m.find(line, 0) != nil
}

// find gives the first match at or behind from.
func (m *matcher) find(line string, from int) []int {
	for from <= len(line) {
		loc := m.re.FindStringIndex(line[from:])
		if loc == nil {
			return nil
		}
		begin, end := from+loc[0], from+loc[1]
		if !m.word || !wordAt(line, begin-1) && !wordAt(line, end) {
			if from == 0 || m.re.String()[0] != '^' {
				return []int{begin, end}
			}
			return nil
		}
		from = begin + 1
	}
	return nil
}

func wordAt(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// all gives the matches that are not empty.
func (m *matcher) all(line string) [][]int {
	if !m.word {
		var out [][]int
		for _, loc := range m.re.FindAllStringIndex(line, -1) {
			if loc[0] < loc[1] {
				out = append(out, loc)
			}
		}
		return out
	}
	var out [][]int
	for from := 0; ; {
		loc := m.find(line, from)
		if loc == nil {
			return out
		}
		if loc[0] < loc[1] {
			out = append(out, loc)
		}
		from = max(loc[1], loc[0]+1)
	}
}

// glob matches all of a name against a shell pattern as fnmatch does: * crosses slashes and leading dots.
func glob(pat, name string) bool {
	re, err := globRegexp(pat, false)
	return err == nil && re.MatchString(name)
}

func globRegexp(pat string, ignoreCase bool) (*regexp.Regexp, error) {
	mode := pattern.EntireString
	if ignoreCase {
		mode |= pattern.NoGlobCase
	}
	text, err := pattern.Regexp(pat, mode)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(text)
}
