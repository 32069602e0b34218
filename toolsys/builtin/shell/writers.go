package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/shellcmd"
)

// writers are the commands whose changes are known from their operands, with the
// options that make no difference to that. Not listed, or another option: unknown.
var writers = map[string]struct {
	options string
	plan    func(e *effects, operands []string)
}{
	"cp":    {"fv", func(e *effects, names []string) { e.transfer(names, (*effects).readTree, (*effects).change) }},
	"mkdir": {"pv", each((*effects).changeTree)},
	"mv":    {"fv", func(e *effects, names []string) { e.transfer(names, (*effects).shift, (*effects).shift) }},
	"rm":    {"dfrRv", each((*effects).shift)},
	"rmdir": {"v", each((*effects).shift)},
	"tee":   {"a", each((*effects).change)},
	"touch": {"c", each((*effects).change)},
}

func each(do func(*effects, string)) func(*effects, []string) {
	return func(e *effects, names []string) {
		for _, name := range names {
			do(e, e.at(name))
		}
	}
}

// writer adds what a writing part changes; false means that nobody knows.
func (e *effects) writer(p shellcmd.Part, s *study) bool {
	if p.Name == "sed" {
		return e.sedInPlace(s)
	}
	w, known := writers[p.Name]
	args, words := arguments(p, e.vars)
	if !known || !p.Literal || slices.ContainsFunc(words, func(w looseness) bool { return w != fixed }) {
		return false
	}
	names, ok := withoutOptions(args, w.options)
	if ok {
		w.plan(e, names)
	}
	return ok
}

// sedInPlace is the one use of sed's -i that is understood: it is all there is.
func (e *effects) sedInPlace(s *study) bool {
	if s.class.SedEdit == nil {
		return false
	}
	e.shift(e.at(s.class.SedEdit.File)) // a link becomes a file
	return true
}

// withoutOptions are the operands, if there are no options but those allowed.
func withoutOptions(args []string, allowed string) (names []string, ok bool) {
	for i, arg := range args {
		switch {
		case arg == "--":
			return append(names, args[i+1:]...), true
		case len(arg) > 1 && arg[0] == '-':
			if strings.Trim(arg[1:], allowed) != "" {
				return nil, false
			}
		default:
			names = append(names, arg)
		}
	}
	return names, true
}

// transfer is cp and mv: the sources, and where each of them goes.
func (e *effects) transfer(names []string, from, to func(*effects, string)) {
	if len(names) < 2 {
		return // it says so and does nothing
	}
	sources, target := names[:len(names)-1], e.at(names[len(names)-1])
	e.read(target)
	into, err := afero.IsDir(e.disk(), target)
	for _, name := range sources {
		source := e.at(name)
		from(e, source)
		switch {
		case err != nil || !into:
			e.below(target, to)
		case strings.Trim(path.Base(name), ".") == "" || source == "/":
			e.below(target, to) // its own name is not the one it gets
		default:
			to(e, path.Join(target, path.Base(source)))
		}
	}
}

// below is for a target that may turn out to be a folder.
func (e *effects) below(target string, to func(*effects, string)) {
	to(e, target)
	e.changeTree(target)
}
