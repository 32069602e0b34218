package mcptool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/schema"
	"toolbench/toolsys/tool"
)

// ErrEndless is the error of a list that does not end.
var ErrEndless = errors.New("a list that does not end")

// MaxTools is the most tools that are taken from one server.
const MaxTools = 10_000

// Server is a connected server.
type Server struct {
	// Name is the configured name; it is part of the tools' names.
	Name string
	// Bare keeps the tools' own names, without mcp__server__ (N1).
	Bare bool
	// Session gives the session to make calls through, at each call anew.
	Session func(context.Context) (*mcp.ClientSession, error)

	// broken reports whether an error of a call means that its session is lost; track
	// notes a call while it runs. Both are a fleet's, nil without one.
	broken func(*mcp.ClientSession, error) bool
	// hope is what a call that lost its server has to add about it.
	hope  string
	track func(context.Context, *tool.Context) (token string, done func())
}

// List gives all tools of a session, page by page. Errors: those of the session, and ErrEndless for a
// server that gives the same cursor twice or more than MaxTools tools.
func List(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	return allTools(ctx, session, func(*mcp.ListToolsResult) {})
}

// allTools gives all tools of a session; came takes each page as it comes.
func allTools(ctx context.Context, session *mcp.ClientSession, came func(*mcp.ListToolsResult)) ([]*mcp.Tool, error) {
	return pages("tools", func(cursor string) ([]*mcp.Tool, string, error) {
		page, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		came(page)
		return page.Tools, page.NextCursor, nil
	})
}

// pages reads a list to its end. next gives the page at a cursor, and the next cursor, "" after the last.
func pages[T any](what string, next func(cursor string) ([]T, string, error)) ([]T, error) {
	var all []T
	seen := map[string]bool{}
	for cursor := ""; ; {
		page, after, err := next(cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		switch {
		case len(all) > MaxTools || len(seen) > MaxTools:
			return nil, fmt.Errorf("%w: more than %d %s or pages", ErrEndless, MaxTools, what)
		case after == "":
			return all, nil
		case seen[after]:
			return nil, fmt.Errorf("%w: the %s: cursor %q comes again", ErrEndless, what, after)
		}
		seen[after] = true
		cursor = after
	}
}

// Listing is what a server listed.
type Listing struct {
	Server Server
	Tools  []*mcp.Tool
}

// Tools makes a tool of everything that was listed, sorted by name, with a report of all that is not as
// it should be (N1, N2). A tool listed twice by one server counts once.
func Tools(listings ...Listing) ([]*tool.Tool, []Report) {
	tools, reports, _ := newNames().tools(nil, listings, nil)
	return tools, reports
}

// adaptedTool is a tool that was made of what a server listed, nil where none could be.
type adaptedTool struct {
	from    *mcp.Tool
	name    string
	tool    *tool.Tool
	reports []Report
}

// of reports whether the same would be made again.
func (m adaptedTool) of(from *mcp.Tool, name string) bool {
	return m.from != nil && m.name == name && (m.from == from || reflect.DeepEqual(m.from, from))
}

// tools makes the tools of one fleet's listings under the names that are theirs. What was
// made before stands where it is listed as it was: a schema is not compiled again, nor
// what follows from a tool found anew, since another server's list has changed.
func (n *names) tools(f *Fleet, listings []Listing, before map[ref]adaptedTool) ([]*tool.Tool, []Report, map[ref]adaptedTool) {
	offers, reports := gather(listings)
	refs := slices.Collect(maps.Keys(offers))
	given, more := n.give(f, refs)
	reports = append(reports, more...)
	built, all := make([]*tool.Tool, 0, len(refs)), make(map[ref]adaptedTool, len(refs))
	for _, r := range refs {
		m := before[r]
		if !m.of(offers[r].tool, given[r]) {
			m = adaptedTool{from: offers[r].tool, name: given[r]}
			m.tool, m.reports = build(offers[r], r, given[r])
		}
		if all[r] = m; m.tool != nil {
			built = append(built, m.tool)
		}
		reports = append(reports, m.reports...)
	}
	slices.SortFunc(built, byName)
	slices.SortFunc(reports, func(a, b Report) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Tool, b.Tool), strings.Compare(a.What, b.What))
	})
	return built, reports, all
}

func byName(a, b *tool.Tool) int { return strings.Compare(a.Name, b.Name) }

// listedTool is a server's tool as it was listed.
type listedTool struct {
	server Server
	tool   *mcp.Tool
	output *schema.Schema // of structured content; nil allows any
}

// gather finds every tool once. Of a tool that is listed twice the definition that
// sorts first counts, whichever came first.
func gather(listings []Listing) (map[ref]listedTool, []Report) {
	offers := map[ref]listedTool{}
	var reports []Report
	for _, l := range listings {
		for _, t := range l.Tools {
			r := ref{l.Server.Name, t.Name, l.Server.Bare}
			before, twice := offers[r]
			switch {
			case t.Name == "":
				reports = append(reports, Report{Server: l.Server.Name, What: "a tool without a name is not loaded"})
				continue
			case twice:
				reports = append(reports, Report{Server: r.server, Tool: r.tool, Name: r.name(), What: "it is listed more than once; one definition counts"})
				if bytes.Compare(written(before.tool), written(t)) <= 0 {
					continue
				}
			}
			offers[r] = listedTool{server: l.Server, tool: t}
		}
	}
	return offers, reports
}

// listings are servers' lists of tools, of at most size servers: the one that was not
// used for longest makes room (N6). A list is dropped when its server announces
// a change, when the time is over for which the server has it stand, and with its session.
type listings struct {
	size int
	kept []listingOf // the longest unused first
}

type listingOf struct {
	server string
	tools  []*mcp.Tool
	// until is when it is to be read anew, zero for no time.
	until time.Time
}

// get gives a list; fresh is false for one that is not there or not to stand any more.
func (c *listings) get(server string, now time.Time) (tools []*mcp.Tool, fresh bool) {
	i := slices.IndexFunc(c.kept, func(l listingOf) bool { return l.server == server })
	if i < 0 {
		return nil, false
	}
	found := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), found)
	return found.tools, found.until.IsZero() || now.Before(found.until)
}

func (c *listings) put(server string, tools []*mcp.Tool, until time.Time) {
	c.drop(server)
	if len(c.kept) >= c.size {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	c.kept = append(c.kept, listingOf{server, tools, until})
}

func (c *listings) drop(server string) {
	c.kept = slices.DeleteFunc(c.kept, func(l listingOf) bool { return l.server == server })
}

// Report is something about a server's tool that its user may want to read. The tool
// is loaded all the same unless What has it otherwise.
type Report struct {
	// Server and Tool are the server's own names; Tool is "" when the report is on
	// the server. Name is what the model calls the tool.
	Server, Tool, Name string
	What               string
}

func (r Report) String() string {
	if r.Tool == "" {
		return fmt.Sprintf("MCP server %q: %s", r.Server, r.What)
	}
	return fmt.Sprintf("MCP server %q, tool %q: %s", r.Server, r.Tool, r.What)
}
