package mcptool

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listings are servers' lists of tools, of at most size servers: the one that was not
// used for longest makes room (N6). A list is dropped when its server says that it
// changed, and with its session.
type listings struct {
	size int
	kept []listingOf // the least used first
}

type listingOf struct {
	server string
	tools  []*mcp.Tool
}

func (c *listings) get(server string) ([]*mcp.Tool, bool) {
	i := c.index(server)
	if i < 0 {
		return nil, false
	}
	found := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), found)
	return found.tools, true
}

func (c *listings) put(server string, tools []*mcp.Tool) {
	c.drop(server)
	if len(c.kept) >= c.size {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	c.kept = append(c.kept, listingOf{server, tools})
}

func (c *listings) drop(server string) {
	if i := c.index(server); i >= 0 {
		c.kept = slices.Delete(c.kept, i, i+1)
	}
}

func (c *listings) index(server string) int {
	return slices.IndexFunc(c.kept, func(l listingOf) bool { return l.server == server })
}
