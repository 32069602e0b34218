package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/footprint"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

// effects are read off the parsed command (J8): of one that only reads, and of one
// that is a plain sequence of readers and known writers. What stays in the shell
// (cd, export), what runs on (&), and whatever is not written out, is everything.
func (d bash) effects(in BashIn, c *tool.Context) tool.Effects {
	s := d.study(in)
	if in.RunInBackground || in.Edit != nil || !s.orderly() {
		return tool.Effects{Everything: true}
	}
	e := &effects{touched: d.touched(s, c)}
	e.read(c.State.Dir)
	for _, p := range e.paths {
		e.readTree(p)
	}
	for i, p := range s.class.Parts {
		if s.reads[i] {
			e.reader(p)
		} else if !e.writer(p, s) {
			return tool.Effects{Everything: true}
		}
	}
	for _, r := range s.class.Writes {
		e.change(e.at(r.Target))
	}
	if e.unknown || e.uproots(s, c) {
		return tool.Effects{Everything: true}
	}
	return e.sorted()
}

// orderly: all that the command does is in its parts and redirections.
func (s *study) orderly() bool {
	changes := s.class.Changes
	leaves := changes.Dir || changes.Options || len(changes.Vars) > 0 || len(changes.Functions) > 0
	return s.class.Parsed && (s.class.Safe || s.sight.plain && !leaves)
}

// effects are gathered beside what a command's reading parts touch. What is unknown
// of the one is of the other.
type effects struct {
	touched
	done tool.Effects
}

// keys are a path's, or make all unknown where it cannot be looked up.
func (e *effects) keys(name string) []string {
	if permission.IsUNC(name) {
		e.unknown = true
		return nil
	}
	keys, ok := footprint.Keys(e.disk(), name)
	e.unknown = e.unknown || !ok
	return keys
}

func (e *effects) disk() afero.Fs {
	if e.fs == nil {
		return afero.NewMemMapFs()
	}
	return e.fs
}

func (e *effects) read(name string) { e.done.Reads = append(e.done.Reads, e.keys(name)...) }

// readTree reads a path and, should it be a folder, all below it; of a pattern, the
// folder that it looks through.
func (e *effects) readTree(name string) {
	if at := strings.IndexAny(name, "*?[{"); at >= 0 {
		name = path.Dir(name[:at] + "x")
	}
	e.done.Reads = append(e.done.Reads, footprint.Tree(e.keys(name))...)
}

func (e *effects) change(name string) {
	e.done.Writes = append(e.done.Writes, e.keys(name)...)
}

// changeTree changes a path and all below it.
func (e *effects) changeTree(name string) {
	e.done.Writes = append(e.done.Writes, footprint.Tree(e.keys(name))...)
}

// shift is changeTree of a name that may stand for something else afterwards.
func (e *effects) shift(name string) {
	e.changeTree(name)
	e.done.Shifts = append(e.done.Shifts, footprint.Tree(e.keys(name))...)
}

// at is a written name's path. A pattern may be any number of paths.
func (e *effects) at(name string) string {
	bad := name == "" || strings.ContainsAny(name, "*?[{") || strings.HasPrefix(name, "~") && name != "~" && !strings.HasPrefix(name, "~/")
	e.unknown = e.unknown || bad
	return e.abs(e.context.State.Dir, name)
}

// reader adds what a reading part looks at beside the files that it names.
func (e *effects) reader(p shellcmd.Part) {
	args, words := arguments(p, e.vars)
	p.Args = args
	switch {
	case readsNothing[p.Name] || staysWithOperands[p.Name]:
	case !walks[p.Name]:
		e.done.Reads = append(e.done.Reads, "/**")
	case len(operands(p, words)) == 0:
		for _, dir := range e.dirs {
			e.readTree(dir)
		}
	}
}

// staysWithOperands are commands that read the files they name, or their input.
var staysWithOperands = map[string]bool{
	"[": true, "awk": true, "b2sum": true, "base64": true, "cat": true, "cksum": true, "cmp": true, "column": true,
	"comm": true, "cut": true, "expand": true, "file": true, "fmt": true, "fold": true, "gawk": true, "gojq": true,
	"head": true, "hexdump": true, "join": true, "jq": true, "md5sum": true, "nl": true, "od": true, "paste": true,
	"readlink": true, "realpath": true, "rev": true, "sed": true, "sha1sum": true, "sha256sum": true, "sha512sum": true,
	"sort": true, "stat": true, "strings": true, "tac": true, "tail": true, "test": true, "unexpand": true, "uniq": true,
	"wc": true, "xxd": true,
}

// walks are commands that go through the trees they name, or that of the working
// directory; none looks above them.
var walks = map[string]bool{
	"diff": true, "du": true, "egrep": true, "fgrep": true, "find": true, "grep": true, "ls": true,
}

// uproots: a command that moves names does something else too, which may go by the
// moved names, or it moves a folder that permission is decided by.
func (e *effects) uproots(s *study, c *tool.Context) bool {
	if len(e.done.Shifts) == 0 {
		return false
	}
	busy := 0
	for _, p := range s.class.Parts {
		if !readsNothing[p.Name] {
			busy++
		}
	}
	if busy > 1 || len(s.class.Writes) > 0 || len(s.sight.reads) > 0 {
		return true
	}
	for _, root := range append(slices.Clone(c.Roots), c.State.Dir) {
		for _, key := range footprint.Tree(e.keys(root)) {
			if slices.Contains(e.done.Shifts, key) {
				return true
			}
		}
	}
	return false
}

func (e *effects) sorted() tool.Effects {
	tidy := func(keys []string) []string {
		slices.Sort(keys)
		return slices.Compact(keys)
	}
	if len(e.done.Writes) > 0 {
		e.done.Writes = append(e.done.Writes, footprint.Order)
	}
	return tool.Effects{Reads: tidy(e.done.Reads), Writes: tidy(e.done.Writes), Shifts: tidy(e.done.Shifts)}
}
