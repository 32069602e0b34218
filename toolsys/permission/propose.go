package permission

import (
	"path"
	"slices"
	"strings"
)

// Propose gives rules that would let a call run about which a person is asked, and calls
// like it: the parts of its command as they stand, or its tool in the folders that it
// touches. There are none where rules cannot let it run, as where a rule demands that
// each such call is asked about.
func Propose(in Inputs) []Rule {
	rules := proposed(&in.Query)
	if len(rules) == 0 || !AllowedBy(in, rules) {
		return nil
	}
	return rules
}

// AllowedBy reports whether a call would run, unasked, if the session allowed what these
// rules cover.
//
// It never is where a file is changed that decides about other calls, such as a hook of git:
// who allows a folder does not mean those, and is asked each time.
func AllowedBy(in Inputs, rules []Rule) bool {
	if in.Query.Edits && slices.ContainsFunc(in.Query.Paths, deciding) {
		return false
	}
	in.Rules = in.Rules.With(Session, Allow, rules...)
	return Resolve(in).Behaviour == Allow
}

func proposed(q *Query) []Rule {
	about := func(contents []string) (rules []Rule) {
		for _, c := range contents {
			rules = append(rules, Rule{tool: q.Tool, content: c})
		}
		return rules
	}
	switch {
	case q.MCP != nil:
		return []Rule{{tool: strings.TrimSuffix(q.MCP.Name(), "__")}}
	case q.Shell != nil:
		return about(q.Shell.toAllow())
	case len(q.Paths) > 0:
		return about(q.folders())
	case q.Content != "" && !strings.Contains(q.Content, "*"):
		return about([]string{q.Content})
	case q.Content != "":
		return nil
	}
	return []Rule{{tool: q.Tool}}
}

// toAllow are the parts of a command that need a rule; none where one of them could not be
// written as a rule that means it alone.
func (s *Shell) toAllow() (texts []string) {
	for _, p := range s.Parts {
		switch {
		case p.ReadOnly:
		case p.Construct || p.Foreign || p.Opaque != "" || strings.Contains(p.Text, "*") || strings.HasSuffix(p.Text, ":"):
			return nil
		case !slices.Contains(texts, p.Text):
			texts = append(texts, p.Text)
		}
	}
	return texts
}

// folders are all below the roots that the call's files lie in, or below the files' own
// folders.
func (q *Query) folders() (globs []string) {
	for _, p := range q.Paths {
		dir := path.Dir(p)
		if i := slices.IndexFunc(q.Roots, func(root string) bool { return Within(p, []string{root}) }); i >= 0 {
			dir = q.Roots[i]
		}
		if dir == "/" || strings.ContainsAny(dir, globSigns) || IsUNC(p) {
			return nil
		}
		if glob := dir + "/**"; !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	return globs
}
