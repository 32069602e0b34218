package mcptool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// MaxName is the longest name of a tool, in characters.
const MaxName = 128

// Name is what the model calls a server's tool: mcp__server__tool, or the tool's own
// name for a server that keeps bare names (N1). Characters other than letters,
// digits, _ and - become _. A name over MaxName is cut and ends in a hash of what it
// was. Two tools may get the same name; [Tools] settles that.
func Name(server, tool string, bare bool) string {
	name := plain(tool)
	if !bare {
		name = "mcp__" + plain(server) + "__" + name
	}
	if len(name) <= MaxName {
		return name
	}
	return suffixed(name, server, tool, 8)
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}

// suffixed ends name in n hex digits that tell where it comes from.
func suffixed(name, server, tool string, n int) string {
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	suffix := "_" + hex.EncodeToString(sum[:])[:n]
	return name[:min(len(name), MaxName-len(suffix))] + suffix
}

// ref is one tool of one server.
type ref struct {
	server, tool string
	bare         bool
}

func (r ref) name() string { return Name(r.server, r.tool, r.bare) }

// exact says that the name came about without changing a character.
func (r ref) exact() bool {
	if r.bare {
		return r.name() == r.tool
	}
	return r.name() == "mcp__"+r.server+"__"+r.tool
}

// names gives every tool a name of its own. Of those that would share one, a tool
// whose name was not changed keeps it, else the first by server and tool; the others
// end in a hash of what they are. So a name depends on who is there, never on who
// came first.
func names(refs []ref) (map[ref]string, []Report) {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, func(a, b ref) int {
		return cmp.Or(precedence(a, b), strings.Compare(a.server, b.server), strings.Compare(a.tool, b.tool))
	})
	given, owner := map[ref]string{}, map[string]ref{}
	var late []ref
	for _, r := range refs {
		if _, taken := owner[r.name()]; taken {
			late = append(late, r)
			continue
		}
		given[r], owner[r.name()] = r.name(), r
	}
	var reports []Report
	for _, r := range late {
		name := free(r, owner)
		given[r], owner[name] = name, r
		first := owner[r.name()]
		reports = append(reports, Report{r.server, r.tool, name, fmt.Sprintf(
			"%s is the name of tool %q of server %q already, so this one is called %s", r.name(), first.tool, first.server, name)})
	}
	return given, reports
}

func precedence(a, b ref) int {
	switch {
	case a.exact() == b.exact():
		return 0
	case a.exact():
		return -1
	}
	return 1
}

// free finds the shortest suffixed name that nobody has, as a hostile server could
// have guessed the first.
func free(r ref, owner map[string]ref) string {
	for n := 8; ; n += 8 {
		name := suffixed(r.name(), r.server, r.tool, min(n, 64))
		if _, taken := owner[name]; !taken || n > 64 {
			return name
		}
	}
}
