package permission

import (
	_ "embed" // the table of what decides
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// byRule makes d what a rule wants, where there is one, and reports that.
func (d *Decision) byRule(hit *Hit) bool {
	if hit != nil {
		*d = Decision{Behaviour: hit.Behaviour, Reason: Reason{Kind: ByRule, Hit: hit}}
	}
	return hit != nil
}

// of makes d the decision that a hook or a tool gave, where it counts, and reports that.
func (d *Decision) of(o *Opinion, by Kind, counts bool) bool {
	if counts {
		*d = Decision{Behaviour: o.Behaviour, Reason: Reason{Kind: by, Text: o.Text}}
	}
	return counts
}

// sealDenies keeps what is sealed as it is, whatever mode and rules permit.
func (in *Inputs) sealDenies(d *Decision) bool {
	file, breaks := in.Query.breaksSeal()
	if breaks {
		*d = Decision{Behaviour: Deny, Reason: Reason{
			Kind: ByWorktree, Text: file + " belongs to the main tree, which stays as it is while you are in the worktree; change the worktree's own file",
		}}
	}
	return breaks
}

// breaksSeal gives a file that a call would change although it is sealed.
func (q *Query) breaksSeal() (file string, breaks bool) {
	if len(q.Sealed) == 0 || q.reads() {
		return "", false
	}
	sealed := func(p string) bool { return Within(p, q.Sealed) && !Within(p, q.Roots) }
	if q.Shell == nil {
		i := slices.IndexFunc(q.Paths, sealed)
		if i < 0 {
			return "", false
		}
		return q.Paths[i], true
	}
	for _, p := range q.Shell.Parts {
		for _, f := range p.Files {
			if f.Write && sealed(f.fixed()) {
				return f.Path, true
			}
		}
	}
	return "", false
}

// ruling is the classifier's, where it counts: in auto mode, until too many denials.
func (in *Inputs) ruling() Ruling {
	if in.Mode != Auto || in.Denials.FallBack() {
		return NoRuling
	}
	return in.Verdict.Ruling
}

// edits reports whether the call only changes files, and only within the roots.
// One that names none cannot be known to stay inside. What decides about other calls
// is not covered: a repository's own folder, and the settings that hold the rules.
func (q *Query) edits() bool {
	return q.Edits && len(q.Paths) > 0 && q.within() && !slices.ContainsFunc(q.Paths, deciding)
}

// deciding reports whether a file decides what may run: what git runs, or the rules.
func deciding(p string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(p, isSlash), func(name string) bool { return decides(folded(name)) })
}

// decides reports whether git, shells, editors or agents take from a file or folder of this name what they run.
func decides(name string) bool {
	return slices.Contains(decidingNames, name) || path.Ext(name) == ".code-workspace" || shortName.MatchString(name)
}

//go:embed deciding.txt
var decidingTable string

var decidingNames = strings.Fields(decidingTable)

// shortName matches names such as git~1, which some disk has for a longer one as well.
var shortName = regexp.MustCompile(`^[^.~]{1,6}~\d(?:\.|$)`)

// shortened reports whether some name of a path may be the short one of another file.
func shortened(p string) bool {
	return strings.Contains(p, "~") && slices.ContainsFunc(strings.FieldsFunc(p, isSlash), shortName.MatchString)
}

// folded is a name as the file systems take it that are least exact: without regard to case, to characters
// that cannot be seen or stand for others in another case, and to blanks, dots and a stream at its end.
func folded(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r)) // the long s is an s
	}, name)
	return strings.TrimRight(joined.Replace(name), " .")
}

// joined takes the letters apart that are one character and become two where case counts for nothing.
var joined = strings.NewReplacer("ﬁ", "fi", "ﬂ", "fl", "ﬀ", "ff", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// question is what the user is asked.
func (in *Inputs) question() string {
	switch q := &in.Query; {
	case q.Destructive:
		return "no rule allows this, and it cannot be undone"
	case q.reads() && !q.within():
		return "no rule allows this, and it reads outside the roots"
	case q.Edits && slices.ContainsFunc(q.Paths, deciding):
		return "no rule allows this, and it changes what decides about other calls"
	case q.Edits && !q.within():
		return "no rule allows this, and it changes files outside the roots"
	}
	return "no rule allows this"
}
