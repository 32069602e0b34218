package mcpserve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrCatalogue is wrapped by every error of a catalogue; each names the file, the
// line and what to do.
var ErrCatalogue = errors.New("invalid catalogue")

// Limits of one catalogue file.
const (
	MaxBytes = 64 << 20
	MaxTools = 20_000
	MaxName  = 512 // bytes of a server's or a tool's name
)

// Catalogue is servers by name, each with its tools in the order of the file.
type Catalogue []Server

// Server is one server's tools.
type Server struct {
	Name  string
	Tools []*mcp.Tool
	// Bare says that the tools came out of a request to a model: their names are
	// whole as they stand.
	Bare bool
}

// Join makes one catalogue of several. A tool that two of them give the same server
// is an error.
func Join(catalogues ...Catalogue) (Catalogue, error) {
	var joined Catalogue
	seen := map[[2]string]bool{}
	for _, c := range catalogues {
		for _, s := range c {
			for _, t := range s.Tools {
				key := [2]string{s.Name, t.Name}
				if seen[key] {
					return nil, fmt.Errorf("%w: %w", ErrCatalogue, twice(s.Name, t.Name))
				}
				seen[key], joined = true, joined.add(s.Name, t)
			}
			if i, known := joined.find(s.Name); known {
				joined[i].Bare = joined[i].Bare || s.Bare
			}
		}
	}
	return joined, nil
}

// Tools counts the tools of all servers.
func (c Catalogue) Tools() (n int) {
	for _, s := range c {
		n += len(s.Tools)
	}
	return n
}

func (c Catalogue) find(server string) (int, bool) {
	return slices.BinarySearchFunc(c, server, func(s Server, name string) int { return strings.Compare(s.Name, name) })
}

// add puts a tool that is new behind its server's others.
func (c Catalogue) add(server string, t *mcp.Tool) Catalogue {
	i, known := c.find(server)
	if !known {
		c = slices.Insert(c, i, Server{Name: server})
	}
	c[i].Tools = append(c[i].Tools, t)
	return c
}

func twice(server, tool string) error {
	return fmt.Errorf("server %q has tool %q already; rename one of them or take it out", server, tool)
}
