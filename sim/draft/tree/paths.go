package tree

import (
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Home is where "~" is: the home of a scenario that says nothing else.
const Home = "/home/dev"

// DefaultDir is where a session works whose paths say nothing: the working directory of
// such a scenario.
const DefaultDir = "/repo"

var drive = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// devices are no files that a tree could hold.
var devices = regexp.MustCompile(`^/(dev|proc|sys)(/|$)`)

// Limits of a path: what a disk takes.
const (
	maxPath = 1024
	maxName = 255
)

// clean makes an absolute path with slashes of what a call says. No path leaves the
// tree: ".." at its root stays there.
func clean(p, dir string) (string, bool) {
	p = strings.TrimPrefix(strings.TrimSpace(p), "file://")
	switch {
	case drive.MatchString(p):
		p = "/" + strings.ToLower(p[:1]) + "/" + strings.ReplaceAll(p[3:], `\`, "/")
	case strings.HasPrefix(p, `\\`), strings.Contains(p, `\`) && !strings.Contains(p, "/"):
		p = strings.ReplaceAll(strings.Replace(p, `\\`, "/", 1), `\`, "/")
	}
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		p = Home + p[1:]
	case !strings.HasPrefix(p, "/"):
		p = dir + "/" + p
	}
	p = path.Clean(p)
	return p, sane(p) && !devices.MatchString(p)
}

func sane(p string) bool {
	if len(p) > maxPath || p == "/" || strings.IndexFunc(p, unicode.IsControl) >= 0 || strings.ContainsRune(p, unicode.ReplacementChar) {
		return false
	}
	for name := range strings.SplitSeq(p[1:], "/") {
		if name == "" || len(name) > maxName || strings.TrimSpace(name) != name {
			return false
		}
	}
	return true
}

// dirOf finds where a session worked: as it is known, else where its relative paths are
// found in its absolute ones, else the folder that all absolute ones share.
func dirOf(sights []sight, known string) string {
	if p, ok := clean(known, "/"); known != "" && ok {
		return p
	}
	var absolute, relative []string
	for _, s := range sights {
		p, ok := clean(s.path, "")
		switch {
		case !ok || strings.HasPrefix(strings.TrimSpace(s.path), "~"):
		case strings.HasPrefix(strings.TrimSpace(s.path), "/") || drive.MatchString(s.path):
			absolute = append(absolute, path.Dir(p))
		case s.dir == "":
			relative = append(relative, p)
		}
	}
	if dir := voted(absolute, relative); dir != "" {
		return dir
	}
	if dir := shared(absolute); dir != "" && dir != "/" {
		return dir
	}
	return DefaultDir
}

// mostVotes bounds how many paths are compared with each other.
const mostVotes = 300

// voted is the folder below which most relative paths begin as absolute ones go on.
func voted(absolute, relative []string) string {
	votes := map[string]int{}
	best := ""
	for _, r := range relative[:min(len(relative), mostVotes)] {
		first, _, deep := strings.Cut(strings.TrimPrefix(r, "/"), "/")
		if !deep || strings.HasPrefix(first, ".") {
			continue
		}
		for _, a := range absolute[:min(len(absolute), mostVotes)] {
			if i := strings.Index(a+"/", "/"+first+"/"); i > 0 {
				dir := a[:i]
				if votes[dir]++; votes[dir] > votes[best] || votes[dir] == votes[best] && dir < best {
					best = dir
				}
			}
		}
	}
	return best
}

// shared is the deepest folder that all have in common.
func shared(dirs []string) string {
	if len(dirs) == 0 {
		return ""
	}
	all := dirs[0]
	for _, d := range dirs {
		for all != "/" && d != all && !strings.HasPrefix(d, all+"/") {
			all = path.Dir(all)
		}
	}
	return all
}
