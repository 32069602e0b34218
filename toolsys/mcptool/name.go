package mcptool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// suffixed ends name in n hex digits of a hash of where it comes from.
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

// rank is 0 for a tool whose name came about without changing a character, and 1 for others.
func (r ref) rank() int {
	if r.bare && r.name() == r.tool || !r.bare && r.name() == "mcp__"+r.server+"__"+r.tool {
		return 0
	}
	return 1
}

// names holds the names in use, of one fleet or of several that were joined. A name
// belongs to the tool that had it first for as long as the connections are kept: a
// server that comes later never answers calls that are meant for another.
type names struct {
	mu    sync.Mutex
	given map[owner]string
	owner map[string]owner
}

// owner is a tool of a server of a fleet, as two fleets may have servers of one name.
type owner struct {
	fleet *Fleet
	ref
}

func newNames() *names { return &names{given: map[owner]string{}, owner: map[string]owner{}} }

// give gives every tool a name of its own. Of those that would share one and come
// together, a tool whose name was not changed gets it, else the first by server and
// tool; the others end in a hash of what they are. So the names of tools that come
// together never depend on the order in which they are listed.
func (n *names) give(f *Fleet, refs []ref) (map[ref]string, []Report) {
	n.mu.Lock()
	defer n.mu.Unlock()
	refs = slices.Clone(refs)
	slices.SortFunc(refs, func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), strings.Compare(a.server, b.server), strings.Compare(a.tool, b.tool))
	})
	var late []owner
	for _, r := range refs {
		o := owner{f, r}
		_, had := n.given[o]
		_, taken := n.owner[r.name()]
		switch {
		case had:
		case taken:
			late = append(late, o)
		default:
			n.given[o], n.owner[r.name()] = r.name(), o
		}
	}
	for _, o := range late {
		name := n.free(o.ref)
		n.given[o], n.owner[name] = name, o
	}
	given := map[ref]string{}
	var reports []Report
	for _, r := range refs {
		name := n.given[owner{f, r}]
		given[r] = name
		if first := n.owner[r.name()]; name != r.name() {
			reports = append(reports, Report{r.server, r.tool, name, fmt.Sprintf(
				"%s is the name of tool %q of server %q already, so this one is called %s", r.name(), first.tool, first.server, name)})
		}
	}
	return given, reports
}

// free finds the shortest suffixed name that nobody has, as a hostile server could
// have guessed the first.
func (n *names) free(r ref) string {
	for try := 1; ; try++ {
		of := r.tool
		if try > 8 { // servers of one name in many fleets: the hash has no more digits
			of += fmt.Sprintf("\x00%d", try)
		}
		name := suffixed(r.name(), r.server, of, min(8*try, 64))
		if _, taken := n.owner[name]; !taken {
			return name
		}
	}
}
