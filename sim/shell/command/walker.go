package command

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// walker finds files as rg does: hidden and ignored ones left out, -g and -t obeyed, in path order.
type walker struct {
	p              *Proc
	hidden, ignore bool
	vcs            bool // .gitignore counts: there is a repository
	depth          int
	include        []string // types
	exclude        []string
	globs          []ignoreRule // -g, last match wins
}

func newWalker(p *Proc, o options) (*walker, error) {
	unrestricted := 0
	for _, x := range o.list {
		if x.name == "u" {
			unrestricted++
		}
	}
	w := &walker{p: p, hidden: o.has(".") || unrestricted >= 2, ignore: !o.has("no-ignore") && unrestricted == 0, depth: 1 << 30}
	w.vcs = w.ignore && !o.has("no-ignore-vcs")
	var err error
	if o.has("d") {
		if w.depth, err = strconv.Atoi(o.get("d", "")); err != nil {
			return nil, err
		}
	}
	for _, x := range o.list {
		if x.name == "g" || x.name == "iglob" {
			w.globs = append(w.globs, parseIgnore(x.value, "", x.name == "iglob"))
		}
	}
	if w.include, err = typeGlobs(o.all("t")); err != nil {
		return nil, err
	}
	w.exclude, err = typeGlobs(o.all("T"))
	return w, err
}

// files calls use with each file below root, until it says no. An empty root is the working directory,
// whose files are named without a prefix.
func (w *walker) files(root string, use func(name string) bool) error {
	name := root
	if name == "" {
		name = "."
	}
	info, err := w.p.Files.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		use(root)
		return nil
	}
	rules, inRepository := w.above(w.p.Files.Abs(name))
	w.vcs = w.vcs && inRepository
	if !w.vcs {
		rules = slices.DeleteFunc(rules, func(r ignoreRule) bool { return r.git })
	}
	w.walk(root, w.p.Files.Abs(name), rules, 1, use)
	return nil
}

// above collects the rules of the directories over dir, and says whether a repository is around it.
func (w *walker) above(dir string) (rules []ignoreRule, inRepository bool) {
	var chain []string
	for at := dir; ; at = path.Dir(at) {
		chain = append(chain, at)
		if w.p.Files.Exists(path.Join(at, ".git")) {
			inRepository = true
			break
		}
		if at == "/" {
			break
		}
	}
	if !w.ignore {
		return nil, inRepository
	}
	for _, at := range slices.Backward(chain[1:]) {
		rules = append(rules, w.rulesIn(at)...)
	}
	return rules, inRepository
}

func (w *walker) rulesIn(dir string) []ignoreRule {
	var rules []ignoreRule
	for _, name := range []string{".gitignore", ".ignore", ".rgignore"} {
		data, err := w.p.Files.ReadFile(path.Join(dir, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimRight(line, " \r\n")
			if line == "" || line[0] == '#' {
				continue
			}
			r := parseIgnore(line, dir, false)
			r.git = name == ".gitignore"
			rules = append(rules, r)
		}
	}
	return rules
}

func (w *walker) walk(name, abs string, rules []ignoreRule, depth int, use func(string) bool) bool {
	if depth > w.depth {
		return true
	}
	if w.ignore {
		here := w.rulesIn(abs)
		if !w.vcs {
			here = slices.DeleteFunc(here, func(r ignoreRule) bool { return r.git })
		}
		rules = append(slices.Clip(rules), here...)
	}
	list, err := w.p.Files.List(abs)
	if err != nil {
		return true
	}
	for _, e := range list {
		child := path.Join(abs, e.Name())
		shown := e.Name()
		if name != "" {
			shown = strings.TrimSuffix(name, "/") + "/" + e.Name()
		}
		if e.Mode()&symlink != 0 || w.skips(e.Name(), child, rules, e.IsDir()) {
			continue
		}
		if e.IsDir() {
			if !w.walk(shown, child, rules, depth+1, use) {
				return false
			}
		} else if w.takes(e.Name()) && !use(shown) {
			return false
		}
	}
	return true
}

func (w *walker) takes(base string) bool {
	return (len(w.include) == 0 || typed(w.include, base)) && !typed(w.exclude, base)
}

// skips: a glob of -g decides first, then hidden names, then the ignore files, the last rule that
// matches winning.
func (w *walker) skips(base, abs string, rules []ignoreRule, dir bool) bool {
	if len(w.globs) > 0 {
		if hit, keep := lastRule(w.globs, relative(w.p.Files.Dir, abs), dir); hit {
			return !keep
		}
		if !dir && slices.ContainsFunc(w.globs, func(r ignoreRule) bool { return !r.negate }) {
			return true // some glob includes, and none included this
		}
	}
	if strings.HasPrefix(base, ".") && !w.hidden {
		return true
	}
	for _, r := range slices.Backward(rules) {
		if r.matches(relative(r.dir, abs), dir) {
			return !r.negate
		}
	}
	return false
}

// lastRule finds the last glob that matches; -g's globs include, unless they begin with !.
func lastRule(globs []ignoreRule, name string, dir bool) (hit, keep bool) {
	for _, r := range slices.Backward(globs) {
		if r.matches(name, dir) && (r.negate || !dir) {
			return true, !r.negate
		}
	}
	return false, false
}

func relative(dir, abs string) string {
	if rest, ok := strings.CutPrefix(abs, strings.TrimSuffix(dir, "/")+"/"); ok {
		return rest
	}
	return strings.TrimPrefix(abs, "/")
}
