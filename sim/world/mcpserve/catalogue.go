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
	for _, c := range catalogues {
		for _, s := range c {
			for _, t := range s.Tools {
				var err error
				if joined, err = joined.add(s.Name, t); err != nil {
					return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
				}
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

func (c Catalogue) add(server string, t *mcp.Tool) (Catalogue, error) {
	i, known := c.find(server)
	if !known {
		c = slices.Insert(c, i, Server{Name: server})
	}
	if slices.ContainsFunc(c[i].Tools, func(other *mcp.Tool) bool { return other.Name == t.Name }) {
		return c, fmt.Errorf("server %q has tool %q already; rename one of them or take it out", server, t.Name)
	}
	c[i].Tools = append(c[i].Tools, t)
	return c, nil
}
