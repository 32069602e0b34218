package mcptool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Report tells of something about a server's tool that its user may want to know;
// nothing of it kept a tool from loading unless What says so.
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

func sortReports(reports []Report) {
	slices.SortFunc(reports, func(a, b Report) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Tool, b.Tool), strings.Compare(a.What, b.What))
	})
}
