package permission

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

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
	unparsed // a text that could not be taken apart: only a rule that forbids covers it, at any of its words
)

// covered reports whether a rule's content covers the unit of q, read wide as a rule that
// forbids is, or narrow.
func (u *unit) covered(q *Query, content string, wide bool) bool {
	folds := wide && q.Shell != nil && q.Shell.Folds
	switch u.kind {
	case contentUnit:
		return contentCovered(content, u.text, wide) || wide && (contentCovered(caseless(content), caseless(u.text), wide) || sameMachine(content, u.text))
	case fileUnit:
		return pathCovered(content, u.text, q, wide)
	case commandPart:
		return u.partCovered(content, wide, folds) || wide && strings.ContainsAny(content, "~$") && u.partCovered(homes.ReplaceAllString(content, "${1}"+q.Home+"${2}"), wide, folds)
	case unparsed:
		return wide && slices.ContainsFunc(u.suspects, func(s string) bool { return wordsCovered(content, s, folds) })
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
		all := make([]unit, len(q.Paths))
		for i, p := range q.Paths {
			all[i] = unit{kind: fileUnit, text: p}
		}
		return all
	case q.Content != "":
		return []unit{{kind: contentUnit, text: q.Content}}
	}
	return nil
}

// shellUnits are the parts, or the whole text where they are unknown.
func shellUnits(q *Query) []unit {
	if !q.Shell.Known || len(q.Shell.Parts) == 0 {
		return []unit{{kind: unparsed, text: q.Shell.Command, suspects: suspects(q.Shell.Command)}}
	}
	all := make([]unit, len(q.Shell.Parts))
	for i := range q.Shell.Parts {
		p := &q.Shell.Parts[i]
		all[i] = partUnit(p)
		all[i].reads = p.ReadOnly && !q.OpenWorld && p.within(q.Roots)
	}
	return all
}

// matchesTool reports whether the rule is about this tool at all, or about its kin.
func (r Rule) matchesTool(q *Query) bool { return r.names(q.Subject) || r.namesAny(q.Kin) }

// namesAny reports whether the rule is about some of the calls of one of these tools.
func (r Rule) namesAny(tools []string) bool {
	return !r.Blanket() && slices.ContainsFunc(tools, func(tool string) bool { return r.names(Subject{Tool: tool}) })
}

// binds reports whether the rule, where it forbids, is about the call by its content, whichever tool it names: who forbids one
// shell a command forbids it to the others.
func (r Rule) binds(q *Query) bool {
	return r.namesAny(q.Bound) || q.Shell != nil && r.namesAny(shellTools)
}

// covers reports whether the rule, read wide, is about any unit, and which.
func (r Rule) covers(q *Query, all []unit) (string, bool) {
	if file, ok := r.coversFile(q); ok {
		return file, true
	}
	if r.Blanket() && slices.ContainsFunc(q.Servers, func(server string) bool { return r.namesServer(Origin{Server: server}) }) {
		return "", true
	}
	if !r.matchesTool(q) && !r.namesRoughly(q.Subject) && !r.namesShown(q.Subject) && !r.binds(q) {
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
	return slices.ContainsFunc(rs.hits, func(h Hit) bool { return !h.Rule.Blanket() && (h.Rule.matchesTool(q) || h.Rule.binds(q)) })
}

// forbids finds the first rule of a forbidding behaviour that covers any unit; nil where none does.
func (rs Rules) forbids(q *Query, all []unit, b Behaviour) *Hit {
	for i := range rs.hits {
		h := &rs.hits[i]
		if h.Behaviour != b {
			continue
		}
		if what, ok := h.Rule.covers(q, all); ok {
			return h.about(what)
		}
	}
	return nil
}

// allows finds allow rules that together cover every unit, and gives the one
// that covers the first that needs one. Units that only read need none, as
// long as some other has one (SPEC F4). It gives nil where they do not.
func (rs Rules) allows(q *Query, all []unit) (first *Hit) {
	if len(all) == 0 {
		return rs.permits(q, &unit{})
	}
	for i := range all {
		u := &all[i]
		h := rs.permits(q, u)
		if h == nil && !u.reads {
			return nil
		}
		first = cmp.Or(first, h)
	}
	return first
}

// permits finds the first allow rule that, read narrow, covers a unit; nil where none does.
func (rs Rules) permits(q *Query, u *unit) *Hit {
	for i := range rs.hits {
		h := &rs.hits[i]
		if h.Behaviour != Allow || !h.Rule.matchesTool(q) {
			continue
		}
		if h.Rule.Blanket() {
			return h
		}
		if u.covered(q, h.Rule.content, false) && (!q.Tree || h.Rule.names(q.Subject) || pathCovered(h.Rule.content, u.text+strings.Repeat("/\x00", 99), q, false)) {
			return h.about(u.text) // who allows the files of a folder to be read does not allow a search of those below it
		}
	}
	return nil
}

// names reports whether the rule's tool part means this tool, by name or alias.
func (r Rule) names(s Subject) bool {
	rest, isMCP := strings.CutPrefix(r.tool, mcpPrefix)
	if isMCP != (s.MCP != nil) {
		return false
	}
	if isMCP {
		return namesOrigin(normal(rest), *s.MCP) || slices.Contains(s.Aliases, r.tool)
	}
	return star(r.tool, s.Tool) || slices.ContainsFunc(s.Aliases, func(alias string) bool { return star(r.tool, alias) })
}

// namesRoughly reports whether the rule means this server's tool where case counts for nothing: who
// forbids mcp__GitHub means the server that calls itself github.
func (r Rule) namesRoughly(s Subject) bool { return s.MCP != nil && r.namesServer(*s.MCP) }

// namesShown reports whether the rule means a server's tool by the name that it is shown by, which may be cut
// short, or is a glob not about servers that covers the whole name: who forbids * means all tools.
func (r Rule) namesShown(s Subject) bool {
	if strings.HasPrefix(r.tool, mcpPrefix) {
		return s.MCP != nil && r.tool == s.Tool
	}
	return s.MCP != nil && star(r.tool, s.MCP.Name())
}

// namesServer is namesRoughly for an origin; one without a tool stands for all of its server.
func (r Rule) namesServer(o Origin) bool {
	rest, isMCP := strings.CutPrefix(r.tool, mcpPrefix)
	return isMCP && namesOrigin(normal(strings.ToLower(rest)), Origin{strings.ToLower(o.Server), strings.ToLower(o.Tool)})
}

// namesOrigin reports whether what follows mcp__ names a tool's origin. Server and tool
// are compared apart, since either may contain the separator: a rule for
// server git means neither github nor git__hub.
func namesOrigin(rest string, o Origin) bool {
	server, tool := starless(o.Server), starless(o.Tool)
	if rest == server || strings.Contains(rest, "*") && !strings.Contains(rest, "__") && star(rest, server) {
		return true
	}
	for i := range len(rest) - 1 {
		if rest[i:i+2] == "__" && star(rest[:i], server) && star(rest[i+2:], tool) {
			return true
		}
	}
	return false
}

// normal writes a name as MCP tool names do: whatever is no letter, digit,
// hyphen or underscore becomes an underscore (SPEC N1). Stars are the rule's.
func normal(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '*':
			return r
		}
		return '_'
	}, name)
}

// starless is normal for what a server calls itself and its tools, in which a star is a character like others.
func starless(name string) string { return strings.ReplaceAll(normal(name), "*", "_") }

// wordsCovered is textCovered, without regard to case where the shell folds it.
func wordsCovered(pattern, text string, folds bool) bool {
	return textCovered(pattern, text) || folds && textCovered(strings.ToLower(pattern), strings.ToLower(text))
}

// textCovered reports whether a pattern covers plain text: exact, with * for any text. A closing ":*"
// is the old prefix form, the words alone or followed by a blank or a colon; a
// closing " *" also covers the words alone.
func textCovered(pattern, text string) bool {
	if words, is := strings.CutSuffix(pattern, ":*"); is {
		words = strings.TrimRight(words, " \t")
		return slices.ContainsFunc([]string{"", " *", "\t*", "\n*", ":*"}, func(boundary string) bool { return star(words+boundary, text) })
	}
	words, is := strings.CutSuffix(pattern, " *")
	return is && star(words, text) || star(pattern, text)
}

// star reports whether text matches a pattern whose only sign is *, any run of bytes.
// Backslash before a star takes it literally. It runs in time proportional to
// the product of the lengths, without recursion.
func star(pattern, text string) bool {
	if strings.IndexByte(pattern, '*') < 0 {
		return pattern == text
	}
	p, t := 0, 0
	backP, backT := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			backP, backT = p, t
			p++
		case p < len(pattern) && width(pattern[p:], text[t]) > 0:
			p += width(pattern[p:], text[t])
			t++
		case backP >= 0:
			backT++
			p, t = backP+1, backT
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// width is how many bytes of the pattern the byte c uses up, 0 if it differs.
func width(pattern string, c byte) int {
	switch escaped := strings.HasPrefix(pattern, `\*`); {
	case escaped && c == '*':
		return 2
	case !escaped && pattern[0] == c:
		return 1
	}
	return 0
}

// contentCovered reports whether a rule covers what a tool names as its content. Host names know no
// case and may end in a dot, and are compared as the network knows them.
func contentCovered(pattern, content string, wide bool) bool {
	if isDomain(pattern) && isDomain(content) {
		pattern, content = hostname(pattern), hostname(content)
		if !strings.Contains(pattern, "%") { // a rule for an address is about it on each of the machine's networks
			content, _, _ = strings.Cut(content, "%")
		}
		if _, err := netip.ParseAddr(content[len(domainPrefix):]); err != nil && !wide && strings.Trim(pattern[len(domainPrefix):], ".*0123456789") == "" && strings.ContainsAny(pattern, "0123456789") {
			return false // a name that begins as addresses do, such as 10.x.org beside 10.*, is none of them
		}
	}
	return textCovered(pattern, content)
}

// domainPrefix begins a content that is about a host.
const domainPrefix = "domain:"

// isDomain reports whether a content is about a host.
func isDomain(content string) bool {
	return len(content) >= len(domainPrefix) && strings.EqualFold(content[:len(domainPrefix)], domainPrefix)
}

// hostname is the form in which hosts are compared: that of the network, where there is one. An address of
// version 6 has several, and people write it in the brackets that it has in a URL.
func hostname(s string) string {
	if addr, err := netip.ParseAddr(strings.Trim(s[len(domainPrefix):], "[]")); err == nil {
		return domainPrefix + addr.Unmap().String()
	}
	s, _ = networkName(s)
	return strings.TrimSuffix(strings.ToLower(s), ".")
}
