package file

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
)

// maxNear is how many names a suggestion holds.
const maxNear = 3

// nearby words what stands where a missing file was looked for: names like it in
// its folder, or the last folder of its path that does exist. Outside the roots it
// says nothing.
func (d Deps) nearby(p place) string {
	dir := path.Dir(p.real)
	if !d.within(dir, p.roots) {
		return ""
	}
	if ok, _ := afero.DirExists(d.FS, dir); !ok {
		return d.lastFolder(dir)
	}
	near := nearest(path.Base(p.real), d.names(dir))
	if len(near) == 0 {
		return ""
	}
	for i, name := range near {
		near[i] = path.Join(path.Dir(p.abs), name)
	}
	return " Did you mean " + strings.Join(near, " or ") + "?"
}

// within tells whether a resolved path lies in one of the roots, which may
// themselves be links.
func (d Deps) within(real string, roots []string) bool {
	for _, root := range roots {
		target, err := follow(d.FS, root)
		if err == nil && permission.Within(real, []string{target}) {
			return true
		}
	}
	return false
}

func (d Deps) lastFolder(dir string) string {
	for dir != "/" {
		dir = path.Dir(dir)
		if ok, _ := afero.DirExists(d.FS, dir); ok {
			return " The last folder of that path that exists is " + dir + "."
		}
	}
	return ""
}

func (d Deps) names(dir string) []string {
	infos, err := afero.ReadDir(d.FS, dir)
	if err != nil {
		return nil
	}
	names := make([]string, len(infos))
	for i, info := range infos {
		names[i] = info.Name()
	}
	return names
}

// nearest gives the names most like one, best first: those of the same stem
// under another extension, then those that differ in less than half.
func nearest(name string, among []string) []string {
	type scored struct {
		name  string
		apart int
	}
	var near []scored
	for _, other := range among {
		apart := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(other))
		if stem(name) == stem(other) {
			apart = 0
		}
		if apart*2 < max(len(name), 2) {
			near = append(near, scored{other, apart})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(a.apart, b.apart) })
	var names []string
	for _, s := range near[:min(len(near), maxNear)] {
		names = append(names, s.name)
	}
	return names
}

func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
