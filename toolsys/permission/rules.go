package permission

import (
	"errors"
	"slices"
	"strconv"
)

// Hit is a rule in its place: what it wants and where it comes from.
type Hit struct {
	Rule      Rule
	Source    Source
	Behaviour Behaviour
	// What is the part of the call that it matched: a path, a simple
	// command; empty where it matched the tool as a whole.
	What string
}

// about is the hit with the part of the call that it matched.
func (h *Hit) about(what string) *Hit {
	if what == "" {
		return h
	}
	return &Hit{h.Rule, h.Source, h.Behaviour, what}
}

// Rules is an immutable list of rules in order of their sources (SPEC F1). The
// zero value has none.
type Rules struct{ hits []Hit }

// With returns the rules and these ones.
func (rs Rules) With(source Source, behaviour Behaviour, rules ...Rule) Rules {
	hits := slices.Clone(rs.hits)
	for _, r := range rules {
		hits = append(hits, Hit{Rule: r, Source: source, Behaviour: behaviour})
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return int(a.Source) - int(b.Source) })
	return Rules{hits}
}

// Parse returns the rules and these ones, read from text. All that do not
// parse are reported at once, and then none is added.
func (rs Rules) Parse(source Source, behaviour Behaviour, texts ...string) (Rules, error) {
	var parsed []Rule
	var problems []error
	for _, text := range texts {
		rule, err := ParseRule(text)
		problems = append(problems, err)
		parsed = append(parsed, rule)
	}
	if err := errors.Join(problems...); err != nil {
		return rs, err
	}
	return rs.With(source, behaviour, parsed...), nil
}

// Equal reports whether both are the same rules in the same order.
func (rs Rules) Equal(other Rules) bool { return slices.Equal(rs.hits, other.hits) }

// All lists the rules, first source first.
func (rs Rules) All() []Hit { return slices.Clone(rs.hits) }

// Hides reports whether a blanket deny rule takes a tool from the model's sight,
// and which (SPEC D2).
func (rs Rules) Hides(s Subject) (Hit, bool) {
	for _, h := range rs.hits {
		if h.Behaviour == Deny && h.Rule.Blanket() && (h.Rule.names(s) || h.Rule.namesRoughly(s)) {
			return h, true
		}
	}
	return Hit{}, false
}

// listCommands reports whether allow rules list the commands that shells may run: what one may not run, no other may.
func (rs Rules) listCommands(q *Query) bool {
	return q.Shell != nil && slices.ContainsFunc(rs.hits, func(h Hit) bool {
		return h.Behaviour == Allow && !h.Rule.Blanket() && (h.Rule.names(q.Subject) || h.Rule.namesAny(shellTools))
	})
}

// Match gives the rule that decides a call by rules alone: a deny rule before
// an ask rule before an allow rule, of each the first source's (SPEC F2, F4); nil where none does.
func (rs Rules) Match(q Query) *Hit {
	all := units(&q)
	for _, b := range [...]Behaviour{Deny, Ask} {
		if h := rs.forbids(&q, all, b); h != nil {
			return h
		}
	}
	return rs.allows(&q, all)
}

// Covers reports whether the rule is about any part of a call.
func (r Rule) Covers(q Query) bool {
	_, covers := r.covers(&q, units(&q))
	return covers
}

// MayCover reports whether the rule is about any part of a call, or may be without anybody being
// able to see it. It is how a hook's `if` is matched.
func (r Rule) MayCover(q Query) bool {
	evaded, _ := Rules{}.With(Session, Deny, r).evades(&q)
	below := func(p string) bool { return (File{Path: p, Tree: true}).overlaps(r.content, &q) }
	return evaded != nil || r.Covers(q) || q.Tree && r.matchesTool(&q) && slices.ContainsFunc(q.Paths, below)
}

// CoversAll reports whether the rule, read as one that permits, is about the whole call.
func (r Rule) CoversAll(q Query) bool {
	return Rules{}.With(Session, Allow, r).allows(&q, units(&q)) != nil
}

// String is the hit in a phrase: deny rule Bash(rm *) of project, for "rm -rf x".
func (h Hit) String() string {
	phrase := h.Behaviour.String() + " rule " + h.Rule.String() + " of " + h.Source.String()
	if h.What != "" {
		phrase += ", for " + strconv.Quote(h.What)
	}
	return phrase
}
