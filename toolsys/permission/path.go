package permission

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// IsUNC reports whether a path names another machine's share: two slashes of
// either kind in front (SPEC L6). Such a path must not be handed to a
// filesystem before it is allowed: opening it sends credentials.
func IsUNC(p string) bool { return len(p) >= 2 && isSlash(rune(p[0])) && isSlash(rune(p[1])) }

// isSlash reports whether a character is a slash of either kind.
func isSlash(r rune) bool { return r == '/' || r == '\\' }

// Within reports whether an absolute path lies in one of the absolute roots, or
// is one (SPEC L6). `..` is cleaned first; symlinks are the caller's. UNC and
// relative paths are in no root.
func Within(p string, roots []string) bool {
	if IsUNC(p) || !path.IsAbs(p) {
		return false
	}
	p = cleaned(p)
	return slices.ContainsFunc(roots, func(root string) bool {
		return !IsUNC(root) && path.IsAbs(root) && below(p, cleaned(root))
	})
}

// cleaned cleans an absolute path. Most are clean, which is soon seen.
func cleaned(p string) string {
	if len(p) > 1 && p[len(p)-1] != '/' && !strings.Contains(p, "//") && !strings.Contains(p, "/.") {
		return p
	}
	return path.Clean(p)
}

// below reports whether a clean path is a clean directory or in it.
func below(p, dir string) bool {
	rest, in := strings.CutPrefix(p, strings.TrimSuffix(dir, "/"))
	return p == dir || in && strings.HasPrefix(rest, "/")
}

// pathCovered reports whether a rule's content covers a path of the call.
func pathCovered(content, p string, q *Query, wide bool) bool {
	if IsUNC(p) && IsUNC(content) && (content[0] != '/' || wide) && globbed(slashed(content), slashed(p), wide) {
		return true // only backslashes name a share; //host is also an absolute path, so it forbids one but never permits
	}
	if IsUNC(p) && !wide {
		return false
	}
	p = path.Clean(plainSlashes(p)) // where there is no UNC, //etc is /etc: forbidden as both
	if wide && (q.Shell == nil || q.Shell.Folds) && strings.Contains(p, `\`) && pathCovered(content, strings.ReplaceAll(p, `\`, "/"), q, wide) {
		return true // to Bash a backslash in a name is a character like any other
	}
	if wide && !IsUNC(content) && strings.Contains(content, `\`) && pathCovered(strings.ReplaceAll(content, `\`, "/"), p, q, wide) {
		return true
	}
	if at := copied.FindStringIndex(p); wide && at != nil && pathCovered(content, p[:at[0]]+p[at[1]-1:], q, wide) {
		return true
	}
	return slices.ContainsFunc(q.led(pathPatterns(content, q, wide), wide), func(pattern string) bool {
		return globbed(pattern, p, wide)
	})
}

// Links are the globs of the rules which forbid that name a link: who forbids a link forbids what it leads
// to, by whatever name that is asked for. resolve gives what a path leads to.
func (rs Rules) Links(q *Query, resolve func(string) string) (links []Link) {
	for i := range rs.hits {
		h := &rs.hits[i]
		if h.Behaviour == Allow || h.Rule.Blanket() || !h.Rule.namesAny(fileTools) {
			continue
		}
		for _, glob := range pathPatterns(h.Rule.content, q, true) {
			for _, one := range spelledOut(glob) {
				from := fixedFolder(one)
				if to := resolve(from); to != from {
					l := Link{Plainly.Replace(from), Plainly.Replace(to)}
					if one != glob {
						l = Link{glob, path.Clean(l.To + one[len(l.From):])}
					}
					links = append(links, l)
				}
			}
		}
	}
	return links
}

// spelledOut are the globs without alternatives that a glob stands for, each also without the folders of which it may have none.
// Where there are very many alternatives, none is looked at by itself.
func spelledOut(glob string) (all []string) {
	if groups := strings.Count(glob, "{"); groups > 0 && groups < 4 && strings.Count(glob, ",") < 25 {
		if at := alternatives.FindStringSubmatchIndex(glob); at != nil {
			for word := range strings.SplitSeq(glob[at[2]:at[3]], ",") {
				all = append(all, spelledOut(glob[:at[2]-1]+word+glob[at[1]:])...)
			}
			return all
		}
	}
	return slices.Compact([]string{glob, strings.ReplaceAll(glob, "/**/", "/")})
}

// alternatives finds a group of them that has no other in it.
var alternatives = regexp.MustCompile(`(?:^|[^\\])\{([^{}\\]*)\}`)

// led adds to globs, where they are read wide, what each stands for behind a link.
func (q *Query) led(globs []string, wide bool) []string {
	for _, glob := range slices.Clip(globs) {
		for _, l := range q.Links {
			if wide && below(glob, l.From) {
				globs = append(globs, path.Clean(l.To+glob[len(l.From):]))
			}
		}
	}
	return globs
}

// copied finds the folder of a copy of the tree which agents make below it to work apart: what is forbidden in
// the tree is in those that they left.
var copied = regexp.MustCompile(`(?i)/\.(?:worktrees|claude/worktrees)/[^/]+/`)

// plainSlashes turns the backslashes of a UNC path; elsewhere one is a
// character like any other.
func plainSlashes(p string) string {
	if !IsUNC(p) {
		return p
	}
	return strings.ReplaceAll(p, `\`, "/")
}

// slashed writes a UNC path as /host/share, cleaned, in lower case: the other
// machine's shares know no case.
func slashed(p string) string { return path.Clean(strings.ToLower(plainSlashes(p))) }

// pathPatterns are the absolute globs that a rule's content stands for. One slash in front is the
// root of the filesystem; other agents read it as the project's folder, so that a rule which was
// written for those has to forbid there as well (see [fromProject]). Two slashes are the root for all.
func pathPatterns(content string, q *Query, wide bool) []string {
	switch {
	case strings.HasPrefix(content, `\\`):
		return nil
	case strings.HasPrefix(content, "/") && (!wide || !fromProject(content, q)):
		return []string{path.Clean(content)} // cleaning makes one slash of two
	case strings.HasPrefix(content, "/"):
		return append(anchored(q.bases(), content), path.Clean(content))
	case content == "~" || strings.HasPrefix(content, "~/"):
		return anchored([]string{q.Home}, content[1:])
	case !wide:
		return anchored([]string{q.Dir}, content)
	}
	patterns := anchored(q.bases(), content)
	switch {
	case strings.HasPrefix(content, "**"): // others read it as any folder of the machine
		patterns = append(patterns, "/"+content)
	case !strings.Contains(content, "/"):
		patterns = append(patterns, anchored(q.bases(), "**/"+content)...)
	}
	return patterns
}

// machine are folders at the root of a filesystem that hardly a project has.
var machine = []string{"etc", "home", "root", "usr", "proc", "sys", "boot", "mnt", "media", "Users", "Volumes", "private", "System"}

// fromProject reports whether a path with one slash in front may have been meant from the project's
// folder: it lies in none of the conversation's folders as it stands, nor is it one that machines have.
func fromProject(content string, q *Query) bool {
	first, _, _ := strings.Cut(content[1:], "/") // empty where there are two slashes
	return first != "" && !slices.Contains(machine, first) && !Within(content, q.bases())
}

// bases are the folders below which a forbidding rule's relative paths lie: changing the
// directory, or working in a copy of the tree, shakes none off.
func (q *Query) bases() []string {
	return slices.Compact(slices.Concat([]string{q.Dir}, q.Roots, q.Left))
}

// anchored puts a relative glob below directories whose own names are no globs.
func anchored(bases []string, relative string) []string {
	var patterns []string
	for _, base := range bases {
		if path.IsAbs(base) {
			patterns = append(patterns, path.Clean(Plainly.Replace(base)+"/"+relative))
		}
	}
	return patterns
}

// globbed reports whether a clean path matches a glob. A glob that is none is a plain
// name. A forbidding rule is also tried with literal brackets, which folders
// such as [id] need and in which a star of a glob that is none still counts, and for
// what lies below the path it names. It takes a name as the disks do that are least exact: there
// every such spelling opens the file.
func globbed(pattern, p string, wide bool) bool {
	plain := pattern
	if !doublestar.ValidatePattern(pattern) {
		plain = Plainly.Replace(pattern)
	}
	if !wide {
		if strings.Contains(plain, "[") {
			plain = classes.ReplaceAllStringFunc(plain, func(m string) string { return m + map[string]string{"[!": "/", "[^": "/"}[m] })
		}
		return doublestar.MatchUnvalidated(plain, p)
	}
	patterns, names := []string{caseless(plain), caseless(pattern)}, []string{caseless(p), alike(p)}
	if strings.ContainsAny(pattern, "[]{}") {
		patterns[1] = bracketless.Replace(patterns[1])
	}
	if marked(p) != marked(pattern) {
		for _, s := range [...]*string{&patterns[0], &patterns[1], &names[0], &names[1]} {
			*s = unmarked(*s)
		}
	}
	return slices.ContainsFunc(slices.Compact(patterns), func(pattern string) bool {
		below := strings.TrimSuffix(pattern, "/") + "/**"
		return slices.ContainsFunc(slices.Compact(names), func(name string) bool {
			return doublestar.MatchUnvalidated(pattern, name) || doublestar.MatchUnvalidated(below, name)
		})
	})
}

// classes matches a glob's escapes and classes, of one of all other signs only the beginning: for the library that is a slash too.
var classes = regexp.MustCompile(`\\.|\[[^!^](?:\\.|[^\]\\])*\]|\[[!^]`)

// caseless is a text as it is compared where case counts for nothing. The long s is an s.
func caseless(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// alike is a path with each of its names [folded].
func alike(p string) string {
	names := strings.Split(p, "/")
	for i, name := range names {
		if strings.Trim(name, ".") != "" {
			names[i] = folded(name)
		}
	}
	return path.Clean(strings.Join(names, "/"))
}

// marked reports whether a text has marks that some disks write as one character with the letter before.
func marked(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Mn, r) })
}

// unmarked is a text in which each letter beyond ASCII, with or without marks behind it, is the same.
func unmarked(s string) string {
	var out []rune
	for _, r := range s {
		if unicode.Is(unicode.Mn, r) && len(out) > 0 {
			out = out[:len(out)-1]
		}
		if beyondASCII(r) {
			r = unicode.ReplacementChar
		}
		out = append(out, r)
	}
	return string(out)
}

// elements are the names of a glob, each a glob of stars and question marks. A name that may be spelled in
// another way is taken for any, and all behind one that means more than these signs, or climbs, for anything.
func elements(glob string) []string {
	names, trees := strings.FieldsFunc(glob, func(r rune) bool { return r == '/' }), 0
	for i, name := range names {
		if name == "**" {
			trees++
		}
		switch {
		case strings.ContainsAny(name, `[]{}\`) || strings.Trim(name, ".") == "" || trees > 3:
			return append(names[:i], "**")
		case name != "**" && (strings.ContainsAny(name, "~:") || strings.ContainsFunc(name, beyondASCII) || strings.TrimRight(name, ". ") != name || strings.Count(name, "*") > 3):
			names[i] = "*"
		}
	}
	return names
}

// meets reports whether one path may match two globs, name by name.
func meets(a, b []string) bool {
	return matched(a, b, "**", func(a, b string) bool {
		return matched(strings.Split(a, ""), strings.Split(b, ""), "*", func(a, b string) bool { return a == b || a == "?" || b == "?" })
	})
}

// matched reports whether two lists may be of the same, where one stands for any number of items, and two of them are as same has it.
func matched(a, b []string, star string, same func(a, b string) bool) bool {
	switch {
	case len(a) > 0 && a[0] == star:
		return matched(a[1:], b, star, same) || len(b) > 0 && matched(a, b[1:], star, same)
	case len(b) > 0 && b[0] == star:
		return matched(b, a, star, same)
	case len(a) == 0 || len(b) == 0:
		return len(a) == len(b)
	}
	return same(a[0], b[0]) && matched(a[1:], b[1:], star, same)
}

// globSigns are the characters that mean something in a glob.
const globSigns = `*?[]{}\`

var (
	// Plainly writes a name as a glob that matches it alone; bracketless is a glob whose brackets stand for themselves.
	Plainly     = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)
	bracketless = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, `\]`, `\]`, `\{`, `\{`, `\}`, `\}`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)
)
