package permission

import "slices"

// unit is one thing of a call that a rule's content has to cover.
type unit struct {
	kind  unitKind
	text  string
	reads bool // harmless by itself, so that it needs no rule beside units that have one
	// plain is a part's text without blanks around it; suspects are those of a command
	// that could not be taken apart.
	plain    string
	part     *Part
	suspects []string
}

type unitKind uint8

const (
	nothing unitKind = iota // covered by no content
	contentUnit
	fileUnit
	commandPart
	unparsed
)

// covered reports whether a rule's content covers the unit of q, read wide as a rule that
// forbids is, or narrow.
func (u *unit) covered(q *Query, content string, wide bool) bool {
	switch u.kind {
	case contentUnit:
		return contentCovered(content, u.text)
	case fileUnit:
		return pathCovered(content, u.text, q, wide)
	case commandPart:
		return u.partCovered(content, wide)
	case unparsed:
		return wide && slices.ContainsFunc(u.suspects, func(s string) bool { return textCovered(content, s) })
	}
	return false
}

// units takes a call apart. A call that names nothing has none, and only
// blanket rules match it.
func units(q *Query) []unit {
	switch {
	case q.Shell != nil:
		return shellUnits(q)
	case len(q.Paths) > 0:
		return pathUnits(q)
	case q.Content != "":
		return []unit{{kind: contentUnit, text: q.Content}}
	}
	return nil
}

// shellUnits are the parts, or the whole text where they are unknown.
func shellUnits(q *Query) []unit {
	if !q.Shell.Known || len(q.Shell.Parts) == 0 {
		return []unit{unparsedUnit(q.Shell.Command)}
	}
	all := make([]unit, len(q.Shell.Parts))
	for i := range q.Shell.Parts {
		p := &q.Shell.Parts[i]
		all[i] = partUnit(p)
		all[i].reads = p.ReadOnly && !q.OpenWorld && p.within(q.Roots)
	}
	return all
}

// pathUnits are the files.
func pathUnits(q *Query) []unit {
	all := make([]unit, len(q.Paths))
	for i, p := range q.Paths {
		all[i] = unit{kind: fileUnit, text: p}
	}
	return all
}

// matchesTool reports whether the rule is about this tool at all, or about its kin.
func (r Rule) matchesTool(q *Query) bool {
	if r.names(q.Subject) {
		return true
	}
	return !r.Blanket() && slices.ContainsFunc(q.Kin, func(kin string) bool {
		return r.names(Subject{Tool: kin})
	})
}

// covers reports whether the rule, read wide, is about any unit, and which.
func (r Rule) covers(q *Query, all []unit) (string, bool) {
	if file, ok := r.coversFile(q); ok {
		return file, true
	}
	if !r.matchesTool(q) {
		return "", false
	}
	if r.Blanket() {
		return "", true
	}
	for i := range all {
		if u := &all[i]; u.covered(q, r.content, true) {
			return u.text, true
		}
	}
	return "", false
}

// nameParts reports whether a rule about the call's tool names a part of a call.
func (rs Rules) nameParts(q *Query) bool {
	for i := range rs.hits {
		if r := rs.hits[i].Rule; !r.Blanket() && r.matchesTool(q) {
			return true
		}
	}
	return false
}

// forbids finds the first rule of a forbidding behaviour that covers any unit.
func (rs Rules) forbids(q *Query, all []unit, b Behaviour) (Hit, bool) {
	for _, h := range rs.hits {
		if h.Behaviour != b {
			continue
		}
		if what, ok := h.Rule.covers(q, all); ok {
			h.What = what
			return h, true
		}
	}
	return Hit{}, false
}

// allows finds allow rules that together cover every unit, and gives the one
// that covers the first that needs one. Units that only read need none, as
// long as some other has one (SPEC F4).
func (rs Rules) allows(q *Query, all []unit) (Hit, bool) {
	if len(all) == 0 {
		return rs.permits(q, &unit{})
	}
	first, found := Hit{}, false
	for i := range all {
		u := &all[i]
		h, ok := rs.permits(q, u)
		if !ok && !u.reads {
			return Hit{}, false
		}
		if ok && !found {
			first, found = h, true
		}
	}
	return first, found
}

// permits finds the first allow rule that, read narrow, covers a unit.
func (rs Rules) permits(q *Query, u *unit) (Hit, bool) {
	for _, h := range rs.hits {
		if h.Behaviour != Allow || !h.Rule.matchesTool(q) {
			continue
		}
		if h.Rule.Blanket() {
			return h, true
		}
		if u.covered(q, h.Rule.content, false) {
			h.What = u.text
			return h, true
		}
	}
	return Hit{}, false
}
