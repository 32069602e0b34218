package command

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// rg [-cFHhIilnNoqSsuvwx.] [-A N] [-B N] [-C N] [-e PATTERN] [-f FILE] [-g GLOB] [-m N] [-r TEXT] [-t TYPE] [-T TYPE]
// [--files] [--hidden] [--no-ignore] [--iglob G] [-d N] [PATTERN] [PATH...]; paths come sorted.
func runRg(p *Proc) int {
	p.Args = dashNumber(p.Args, "-C")
	o, ok := p.parse("cFHhIilLnNoqSsuvwxpU.A:B:C:e:f:g:m:r:t:T:d:j:P", "after-context=>A", "before-context=>B", "context=>C", "regexp=>e", "file=>f", "glob=>g", "max-count=>m", "replace=>r",
		"type=>t", "type-not=>T", "max-depth=>d", "count>c", "count-matches", "fixed-strings>F", "with-filename>H", "no-filename>I", "ignore-case>i", "files-with-matches>l",
		"files-without-match", "line-number>n", "no-line-number>N", "only-matching>o", "quiet>q", "smart-case>S", "case-sensitive>s", "unrestricted>u", "invert-match>v",
		"word-regexp>w", "line-regexp>x", "files", "hidden>.", "no-ignore", "no-ignore-vcs", "iglob=", "no-heading", "heading", "color=", "colors=", "sort=", "no-messages", "type-list",
		"no-config", "threads=>j", "max-columns=", "trim", "pcre2>P", "follow>L", "no-hidden", "column", "binary", "text", "glob-case-insensitive")
	if !ok {
		return exitUsage
	}
	for _, refused := range []string{"P", "U", "L", "column", "heading", "p", "trim", "glob-case-insensitive"} {
		if o.has(refused) {
			return p.usage("option '%s' is not supported in the in-process shell", refused)
		}
	}
	if o.has("type-list") {
		return p.typeList()
	}
	w, code := newRg(p, o)
	if w == nil {
		return code
	}
	return w.run()
}

type ripgrep struct {
	p       *Proc
	o       options
	walk    *walker
	out     lineOutput
	list    bool // --files
	max     int
	roots   []string
	matched bool
	failed  bool
}

func newRg(p *Proc, o options) (*ripgrep, int) {
	r := &ripgrep{p: p, o: o, list: o.has("files"), roots: o.rest, max: 1 << 30}
	var patterns []string
	if !r.list {
		var err error
		if patterns, r.roots, err = p.patterns(o); err != nil {
			return nil, p.usage("%v", err)
		}
	}
	m, err := rgMatcher(patterns, o)
	if err != nil {
		return nil, p.usage("regex parse error: %v", err)
	}
	if r.walk, err = newWalker(p, o); err != nil {
		return nil, p.usage("%v", err)
	}
	if r.out, err = newLineOutput(p, o, m); err != nil {
		return nil, p.usage("%v", err)
	}
	r.configure()
	return r, 0
}

func (r *ripgrep) configure() {
	o := r.o
	r.out.rg = true
	r.out.without = o.has("files-without-match")
	r.out.number = o.last("n", "N") == "n"
	r.out.count = o.has("c") || o.has("count-matches")
	if o.has("r") {
		text := o.get("r", "")
		r.out.replace = &text
	}
	if n, ok := natural(o.get("m", "")); ok {
		r.max = int(n)
	}
	single := len(r.roots) == 1 && !r.p.Files.IsDir(r.roots[0]) || len(r.roots) == 0 && !r.list && r.piped()
	r.out.withName = o.last("H", "I", "h") == "H" || o.last("H", "I", "h") == "" && !single
}

// piped says whether standard input has something to search: rg then searches it instead of the folder.
func (r *ripgrep) piped() bool {
	_, err := r.p.Stdin.Peek(1)
	return err == nil
}

func rgMatcher(patterns []string, o options) (*matcher, error) {
	ignore := o.last("i", "s", "S") == "i"
	if o.last("i", "s", "S") == "S" {
		ignore = !slices.ContainsFunc(patterns, func(p string) bool { return strings.ToLower(p) != p })
	}
	if o.has("F") {
		return grepMatcher(patterns, 0, true, ignore, o.has("w"), o.has("x"))
	}
	m, err := newMatcher(patterns, ignore, o.has("w"), o.has("x"))
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return m, nil
}

func (r *ripgrep) run() int {
	roots := r.roots
	if len(roots) == 0 {
		if !r.list && r.piped() {
			r.search("-")
			return r.code()
		}
		roots = []string{""}
	}
	for _, root := range roots {
		if root == "-" {
			r.search(root)
			continue
		}
		err := r.walk.files(root, func(name string) bool { r.file(name); return !r.done() })
		if err != nil {
			r.failed = true
			r.p.complain("%s: %s (os error 2)", root, Reason(err))
		}
	}
	return r.code()
}

func (r *ripgrep) done() bool {
	return r.out.broken || r.o.has("q") && r.matched || r.p.Ctx.Err() != nil
}

func (r *ripgrep) code() int {
	switch {
	case r.failed && !(r.o.has("q") && r.matched):
		return exitUsage
	case r.matched:
		return 0
	}
	return exitFailure
}

func (r *ripgrep) file(name string) {
	if r.list {
		r.matched = true
		r.out.write(name + "\n")
		return
	}
	r.search(name)
}

func (r *ripgrep) search(name string) {
	data, err := r.p.read(name)
	if err != nil {
		r.failed = true
		r.p.complain("%s: %s", name, Reason(err))
		return
	}
	if name == "-" {
		name = "<stdin>"
	}
	isBinary := binary(data) && !r.o.has("text")
	if isBinary && !slices.Contains(r.roots, name) && strings.Count(strings.Join(optionNames(r.o), ""), "u") < 3 {
		return // binary files found on the way are not searched
	}
	n := r.out.file(name, data, r.max, isBinary)
	if r.out.without {
		n = map[bool]int{true: 1}[n == 0]
	}
	r.matched = r.matched || n > 0
}

func optionNames(o options) []string {
	var out []string
	for _, x := range o.list {
		if len(x.name) == 1 {
			out = append(out, x.name)
		}
	}
	return out
}

func (p *Proc) typeList() int {
	for _, name := range slices.Sorted(mapKeys(fileTypes)) {
		p.printf("%s: %s\n", name, strings.ReplaceAll(fileTypes[name], " ", ", "))
	}
	return 0
}

func mapKeys(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// fileTypes are the globs of -t. It is read only.
var fileTypes = map[string]string{
	"c": "*.c *.h", "config": "*.cfg *.conf *.config *.ini", "cpp": "*.C *.H *.cc *.cpp *.cxx *.hh *.hpp *.hxx *.h *.inl", "csharp": "*.cs", "css": "*.css *.scss",
	"csv": "*.csv", "docker": "*Dockerfile*", "elixir": "*.ex *.exs *.eex", "go": "*.go", "h": "*.h *.hh *.hpp", "haskell": "*.hs *.lhs", "html": "*.htm *.html", "java": "*.java *.jsp",
	"js": "*.js *.jsx *.vue *.cjs *.mjs", "json": "*.json *.sarif", "kotlin": "*.kt *.kts", "less": "*.less", "log": "*.log", "lua": "*.lua", "make": "*.mk *.mak [Mm]akefile [Gg][Nn][Uu]makefile",
	"markdown": "*.markdown *.md *.mdown *.mkdn *.mdx", "md": "*.markdown *.md *.mdown *.mkdn *.mdx", "php": "*.php *.php3 *.php4 *.php5 *.phtml", "protobuf": "*.proto", "py": "*.py *.pyi", "python": "*.py *.pyi",
	"r": "*.R *.r *.Rmd", "ruby": "*.rb *.gemspec Gemfile Rakefile *.rbw", "rust": "*.rs", "sass": "*.sass *.scss", "sh": "*.sh *.bash *.zsh *.bashrc *.profile", "sql": "*.sql *.psql", "svg": "*.svg",
	"swift": "*.swift", "tf": "*.tf *.tfvars", "toml": "*.toml Cargo.lock", "ts": "*.ts *.tsx *.cts *.mts", "typescript": "*.ts *.tsx *.cts *.mts", "txt": "*.txt", "xml": "*.xml *.xsd *.xslt", "yaml": "*.yaml *.yml", "zig": "*.zig",
}

func typeGlobs(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		globs, ok := fileTypes[name]
		if !ok {
			return nil, fmt.Errorf("unrecognized file type: %s", name)
		}
		out = append(out, strings.Fields(globs)...)
	}
	return out, nil
}

func typed(globs []string, name string) bool { return matchesGlobs(globs, path.Base(name)) }
