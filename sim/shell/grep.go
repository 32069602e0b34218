package shell

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/shellcmd"
)

// grepOptions are the options of grep, egrep and fgrep.
const grepOptions = `E|extended-regexp F|fixed-strings G|basic-regexp e|regexp= f|file= i|y|ignore-case v|invert-match
	w|word-regexp x|line-regexp c|count l|files-with-matches L|files-without-match q|quiet|silent s|no-messages
	n|line-number H|with-filename h|no-filename o|only-matching r|recursive R|dereference-recursive a|text I
	m|max-count= A|after-context= B|before-context= C|context=# include= exclude= exclude-dir= color|colour?`

// runGrep is grep [-EFGivwxclLqsnHhorRaI] [-e PATTERN] [-f FILE] [-m N] [-A N] [-B N] [-C N] [--include=GLOB]
// [--exclude=GLOB] [--exclude-dir=GLOB] [PATTERN] [FILE...]; egrep and fgrep are grep -E and -F.
func runGrep(p *proc, o options) int {
	g := &grepper{proc: p, options: o, walking: o.has("r", "R")}
	if err := g.configure(); err != nil {
		return p.usage("%v", err)
	}
	for _, name := range g.names {
		if g.visit(name, true); g.done() {
			break
		}
	}
	switch {
	case g.failed && !(o.has("q") && g.matched):
		return exitUsage
	case g.matched:
		return 0
	}
	return exitFailure
}

type grepper struct {
	*proc
	options
	re       *regexp.Regexp
	names    []string
	walking  bool
	withName bool
	limit    int // of the lines selected in a file

	before, after int  // lines of context
	printed       bool // something was printed, so that the next group needs a separator
	broken        bool // the reader of the output went away
	matched       bool
	failed        bool
}

// done reports whether nothing further can change what grep gives.
func (g *grepper) done() bool { return g.Ctx.Err() != nil || g.broken || g.has("q") && g.matched }

func (g *grepper) configure() error {
	patterns, err := g.patterns()
	if err != nil {
		return err
	}
	if g.re, err = g.compile(patterns); err != nil {
		return err
	}
	g.withName = g.last("H", "h") == "H" || !g.has("h") && (len(g.names) > 1 || g.walking)
	if len(g.names) == 0 {
		g.names = []string{map[bool]string{true: ".", false: "-"}[g.walking]}
	}
	var ok bool
	if g.limit, ok = natural(g.get("m", "2000000000")); !ok {
		return errors.New("invalid max count")
	}
	for _, x := range g.list {
		n, ok := natural(x.value)
		switch x.name {
		case "A":
			g.after = n
		case "B":
			g.before = n
		case "C":
			if !g.has("A") {
				g.after = n
			}
			if !g.has("B") {
				g.before = n
			}
		default:
			continue
		}
		if !ok {
			return errors.New(x.value + ": invalid context length argument")
		}
	}
	if g.has("o") {
		g.before, g.after = 0, 0
	}
	return nil
}

// patterns come from -e and -f, or from the first operand; each line is one.
func (g *grepper) patterns() ([]string, error) {
	g.names = g.rest
	given := g.all("e")
	for _, name := range g.all("f") {
		data, err := g.read(name)
		if err != nil {
			return nil, err
		}
		if len(data) > 0 {
			given = append(given, strings.TrimSuffix(string(data), "\n"))
		}
	}
	if !g.has("e", "f") {
		if len(g.rest) == 0 {
			return nil, errors.New("no pattern given")
		}
		given, g.names = g.rest[:1], g.rest[1:]
	}
	return slices.Concat(each(given, func(p string) []string { return strings.Split(p, "\n") })...), nil
}

// compile joins patterns. No pattern at all, from an empty file, matches nothing.
func (g *grepper) compile(patterns []string) (*regexp.Regexp, error) {
	kind := cmp.Or(g.last("E", "F", "G"), map[string]string{"egrep": "E", "fgrep": "F"}[g.Name])
	for i, p := range patterns {
		var err error
		if kind == "F" {
			p = regexp.QuoteMeta(p)
		} else if p, err = shellcmd.TranslateRegexp(p, kind == "E"); err != nil {
			return nil, err
		}
		patterns[i] = "(?:" + p + ")"
	}
	text := strings.Join(patterns, "|")
	if len(patterns) == 0 {
		text = `[^\s\S]`
	}
	if g.has("x") {
		text = "^(?:" + text + ")$"
	}
	if g.has("i") {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err == nil {
		re.Longest()
	}
	return re, err
}

func (g *grepper) report(name string, err error) {
	g.failed = true
	if !g.has("s") {
		g.complain("%s: %s", name, reason(err))
	}
}

// visit greps a file, or with -r a tree.
func (g *grepper) visit(name string, operand bool) {
	if name == "-" && operand {
		g.file(name)
		return
	}
	info, err := g.Files.Stat(name)
	switch {
	case err != nil:
		g.report(name, err)
	case !info.IsDir():
		if g.wanted(path.Base(name), operand && !g.walking) {
			g.file(name)
		}
	case !g.walking:
		g.failed = true
		g.complain("%s: Is a directory", name)
		g.summary(name, 0)
	case operand && name == "." || !matchesGlobs(g.all("exclude-dir"), path.Base(name)):
		g.tree(name)
	}
}

func (g *grepper) tree(name string) {
	list, err := g.Files.List(name)
	if err != nil {
		g.report(name, err)
		return
	}
	for _, e := range list {
		full := below(name, e.Name())
		if name == "." && !slices.Contains(g.rest, ".") {
			full = e.Name() // no operand: names without ./
		}
		if e.IsDir() || e.Mode().IsRegular() || e.Mode()&fs.ModeSymlink != 0 && g.has("R") {
			g.visit(full, false)
		}
		if g.done() {
			return
		}
	}
}

// wanted reports whether a file is searched, by --exclude, and by --include unless it was named.
func (g *grepper) wanted(base string, named bool) bool {
	include := g.all("include")
	return !matchesGlobs(g.all("exclude"), base) && (named || len(include) == 0 || matchesGlobs(include, base))
}

func matchesGlobs(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(pattern string) bool {
		re, err := globRegexp(strings.TrimSuffix(pattern, "/"), false)
		return err == nil && re.MatchString(name)
	})
}

// file prints what one file has.
func (g *grepper) file(name string) {
	data, err := g.read(name)
	if err != nil {
		g.report(name, err)
		return
	}
	if name == "-" {
		name = "(standard input)"
	}
	isBinary := looksBinary(data) && !g.has("a")
	if isBinary && g.has("I") {
		return
	}
	lines, _ := splitEnded(string(data), "\n")
	summary := g.has("q", "c", "l", "L") || isBinary
	selected, last := 0, -1 // last is the last line that was selected
	for i, line := range lines {
		inContext := !summary && last >= 0 && i-last <= g.after
		switch full := selected >= g.limit; {
		case !full && g.selects(line):
			selected++
			if !summary {
				g.group(name, lines, last, i)
				g.show(name, line, i)
			}
			last = i
		case inContext:
			g.write(g.prefix(name, i, "-") + line + "\n")
		case full:
			lines = nil
		}
		if lines == nil || g.broken || summary && selected > 0 && !g.has("c") {
			break
		}
	}
	g.matched = g.matched || selected > 0
	if isBinary && selected > 0 && !g.has("q", "c", "l", "L") {
		g.complain("%s: binary file matches", name)
		return
	}
	g.summary(name, selected)
}

// group prints the lines before a selected one, and a separator where lines are left out.
func (g *grepper) group(name string, lines []string, last, i int) {
	if !g.has("A", "B", "C") || g.has("o") {
		return
	}
	begin := max(i-g.before, 0)
	if last >= 0 {
		begin = min(max(begin, last+1+g.after), i)
	}
	if g.printed && (last < 0 || begin > last+1+g.after) {
		g.write("--\n")
	}
	for ; begin < i; begin++ {
		g.write(g.prefix(name, begin, "-") + lines[begin] + "\n")
	}
}

func (g *grepper) show(name, line string, i int) {
	switch prefix := g.prefix(name, i, ":"); {
	case !g.has("o"):
		g.write(prefix + line + "\n")
	case !g.has("v"):
		for _, at := range g.matches(line) {
			g.write(prefix + line[at[0]:at[1]] + "\n")
		}
	}
	g.printed = true
}

func (g *grepper) prefix(name string, i int, mark string) string {
	prefix := ""
	if g.withName {
		prefix = name + mark
	}
	if g.has("n") {
		prefix += strconv.Itoa(i+1) + mark
	}
	return prefix
}

func (g *grepper) write(s string) { g.broken = g.broken || g.print(s) != nil }

// summary prints what stands for a file's lines.
func (g *grepper) summary(name string, n int) {
	switch {
	case g.has("q"):
	case g.has("L") && n == 0, g.has("l") && n > 0:
		g.write(name + "\n")
	case g.has("c") && !g.has("l", "L"):
		if g.withName {
			g.write(name + ":")
		}
		g.write(strconv.Itoa(n) + "\n")
	}
}

// selects reports whether a line is one of those asked for.
func (g *grepper) selects(line string) bool {
	matches := g.re.MatchString(line)
	if matches && g.has("w") {
		matches = g.find(line, 0) != nil
	}
	return matches != g.has("v")
}

// find gives the first match at or behind from, with -w one between no word's characters.
func (g *grepper) find(line string, from int) []int {
	for from <= len(line) {
		at := g.re.FindStringIndex(line[from:])
		if at == nil || from > 0 && g.re.String()[0] == '^' {
			return nil
		}
		begin, end := from+at[0], from+at[1]
		if !g.has("w") || !wordAt(line, begin-1) && !wordAt(line, end) {
			return []int{begin, end}
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

// matches gives the matches that are not empty.
func (g *grepper) matches(line string) (all [][]int) {
	if !g.has("w") {
		return slices.DeleteFunc(g.re.FindAllStringIndex(line, -1), func(at []int) bool { return at[0] == at[1] })
	}
	for from := 0; ; {
		at := g.find(line, from)
		if at == nil {
			return all
		}
		if at[0] < at[1] {
			all = append(all, at)
		}
		from = max(at[1], at[0]+1)
	}
}
