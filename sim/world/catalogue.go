package world

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// ErrCatalogue is wrapped by every error of a catalogue; each names the file, the line and what to do.
var ErrCatalogue = errors.New("invalid catalogue")

// Limits of one catalogue file.
const (
	MaxCatalogueBytes = 64 << 20
	MaxTools          = 20_000
	MaxName           = 512 // bytes of a server's or a tool's name
)

// Catalogue is servers by name, each with its tools in the order of the file.
type Catalogue []Server

// Server is one server's tools.
type Server struct {
	Name  string
	Tools []*mcp.Tool
	// Bare reports whether the tools came out of a request to a model: their names are whole as they stand.
	Bare bool
}

// JoinCatalogues makes one catalogue of several. A tool that two of them give the same server is an error.
func JoinCatalogues(catalogues ...Catalogue) (Catalogue, error) {
	joined, left := JoinCatalogueRests(catalogues...)
	if len(left) > 0 {
		return nil, left[0]
	}
	return joined, nil
}

// JoinCatalogueRests joins as JoinCatalogues does, but leaves out tools that were there already, each with an error.
func JoinCatalogueRests(catalogues ...Catalogue) (joined Catalogue, left []error) {
	seen := map[[2]string]bool{}
	for _, c := range catalogues {
		for _, s := range c {
			for _, t := range s.Tools {
				key := [2]string{s.Name, t.Name}
				if seen[key] {
					left = append(left, fmt.Errorf("%w: %w", ErrCatalogue, twice(s.Name, t.Name)))
					continue
				}
				seen[key], joined = true, joined.add(s.Name, t)
			}
			if i, known := joined.find(s.Name); known {
				joined[i].Bare = joined[i].Bare || s.Bare
			}
		}
	}
	return joined, left
}

// Write writes a catalogue that ParseCatalogue reads: a tool a line, with its server.
func (c Catalogue) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, s := range c {
		for _, t := range s.Tools {
			line := struct {
				Server string `json:"server"`
				*mcp.Tool
			}{s.Name, t}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
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

// decode makes the text UTF-8, without a mark of byte order. Shells of Windows write UTF-16, with a mark; what is
// neither is refused, since whatever stood in for its characters would be counted and searched.
func (p *parser) decode() (err error) {
	if p.data, _, err = transform.Bytes(unicode.BOMOverride(transform.Nop), p.data); err != nil {
		return fmt.Errorf("%w: %s: it begins as UTF-16 and is none (%w); save it as UTF-8", ErrCatalogue, p.file, err)
	}
	if _, at, err := transform.Bytes(encoding.UTF8Validator, p.data); err != nil {
		return p.fail(at, "byte 0x%02x is no UTF-8; save the file as UTF-8", p.data[at])
	}
	p.data = events(p.data)
	return nil
}

// line is the one that an offset lies in, from 1.
func line(data []byte, offset int) int {
	return 1 + bytes.Count(data[:max(0, min(offset, len(data)))], []byte("\n"))
}

// events takes the data out of an event stream, which is how a server over streamable HTTP answers, and leaves blanks
// in place of the rest, so that lines keep their numbers. Any other text stays as it is.
func events(data []byte) []byte {
	head := bytes.TrimLeft(data, " \t\r\n")
	if !bytes.HasPrefix(head, []byte("event:")) && !bytes.HasPrefix(head, []byte("data:")) && !bytes.HasPrefix(head, []byte("id:")) {
		return data
	}
	var out []byte
	for l := range bytes.Lines(data) {
		text, ok := bytes.CutPrefix(l, []byte("data:"))
		if !ok {
			text = []byte("\n")
		}
		out = append(out, text...)
	}
	return out
}

// remedy is what can be done about JSON that is none.
func remedy(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "']' looking for beginning of value"), strings.Contains(text, "'}' looking for beginning of object key"):
		return "take out the comma before it"
	case strings.Contains(text, "invalid character '/'"):
		return "JSON has no comments; take them out"
	case strings.Contains(text, "exceeded max depth"):
		return "JSON is read 10000 levels deep; flatten it"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the file is cut off; write it whole"
	}
	return `write one JSON object a line, an array of objects, or {"tools": [...]}`
}

// kinds are the values of JSON that their first byte gives away; the others are numbers. It is read only.
var kinds = map[byte]string{'{': "an object", '[': "an array", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null"}

// kind names a value of JSON.
func kind(r gjson.Result) string { return cmp.Or(kinds[r.Raw[0]], "a number") }

// Plain words a type error without the names of Go types.
func Plain(err error) string {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s has the wrong type, %s", cmp.Or(mismatch.Field, "it"), mismatch.Value)
	}
	return err.Error()
}
