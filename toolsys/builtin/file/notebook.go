package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// notebook is an nbformat 4 file, of which only the cells are understood.
type notebook struct {
	root   members
	cells  []members
	indent string // "" means one line
	crlf   bool   // lines end in CRLF
	ending string // white space after the last brace
}

// parseNotebook takes a file apart.
//
// Errors: no JSON object, no cells, a format older than 4.
func parseNotebook(content []byte) (*notebook, error) {
	nb := &notebook{indent: indentOf(content), crlf: bytes.Contains(content, []byte("\r\n")), ending: endingOf(content)}
	if err := json.Unmarshal(content, &nb.root); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	raw := nb.root.get("cells")
	if raw == nil {
		return nil, errors.New("it has no cells (nbformat 4 or later is needed)")
	}
	if err := json.Unmarshal(raw, &nb.cells); err != nil {
		return nil, fmt.Errorf("its cells are no list of objects: %w", err)
	}
	return nb, nil
}

var firstIndent = regexp.MustCompile(`^\s*\{\r?\n([ \t]+)`)

// indentOf is the white space in front of the first member.
func indentOf(content []byte) string {
	if m := firstIndent.FindSubmatch(content); m != nil {
		return string(m[1])
	}
	return ""
}

func endingOf(content []byte) string {
	return string(content[len(bytes.TrimRight(content, " \t\r\n")):])
}

// bytes writes the notebook in the layout it was read in.
func (nb *notebook) bytes() ([]byte, error) {
	cells := nb.cells
	if cells == nil {
		cells = []members{}
	}
	raw := []byte{'['}
	for i, cell := range cells {
		if i > 0 {
			raw = append(raw, ',')
		}
		one, err := cell.MarshalJSON()
		if err != nil {
			return nil, err
		}
		raw = append(raw, one...)
	}
	nb.root.set("cells", json.RawMessage(append(raw, ']')))
	whole, err := nb.root.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if nb.indent == "" {
		err = json.Compact(&b, whole)
	} else {
		err = json.Indent(&b, whole, "", nb.indent)
	}
	laidOut := b.Bytes()
	if nb.crlf { // no string in JSON holds a bare line feed
		laidOut = bytes.ReplaceAll(laidOut, []byte("\n"), []byte("\r\n"))
	}
	return append(laidOut, nb.ending...), err
}

// indexID names a cell that has no id by its place, counted from 0.
func indexID(index int) string { return "cell-" + strconv.Itoa(index) }

// find gives the place of the cell with an id, or with the name that Read gives
// to one without; -1 where there is none.
func (nb *notebook) find(id string) int {
	for i := range nb.cells {
		if nb.id(i) == id {
			return i
		}
	}
	return -1
}

func (nb *notebook) id(i int) string {
	var id string
	if json.Unmarshal(nb.cells[i].get("id"), &id) != nil || id == "" {
		return indexID(i)
	}
	return id
}

func (nb *notebook) ids() []string {
	ids := make([]string, len(nb.cells))
	for i := range nb.cells {
		ids[i] = nb.id(i)
	}
	return ids
}

func (nb *notebook) kind(i int) string {
	var kind string
	_ = json.Unmarshal(nb.cells[i].get("cell_type"), &kind) // absent or odd: none
	return kind
}

// replace gives a cell a new source. Outputs belong to the code that made them,
// so they go with it.
func (nb *notebook) replace(i int, kind, source string) {
	cell := &nb.cells[i]
	cell.set("cell_type", kind)
	cell.set("source", likewise(cell.get("source"), source))
	if kind == "code" {
		cell.set("execution_count", nil)
		cell.set("outputs", []string{})
		cell.drop("attachments")
		return
	}
	cell.drop("execution_count")
	cell.drop("outputs")
}

// insert puts a new cell at a place.
func (nb *notebook) insert(at int, kind, source string) {
	cell := members{}
	cell.set("cell_type", kind)
	if nb.hasIDs() {
		cell.set("id", nb.freshID(at, kind, source))
	}
	cell.set("metadata", map[string]string{})
	cell.set("source", likewise(nb.anySource(), source))
	nb.cells = slices.Insert(nb.cells, at, cell)
	if kind == "code" {
		nb.replace(at, kind, source)
	}
}

// hasIDs: cells have ids since nbformat 4.5.
func (nb *notebook) hasIDs() bool {
	var major, minor int
	_ = json.Unmarshal(nb.root.get("nbformat"), &major) // absent or odd: old
	_ = json.Unmarshal(nb.root.get("nbformat_minor"), &minor)
	return major > 4 || major == 4 && minor >= 5
}

// freshID makes an id from what the cell is and where, since there is no chance
// here; it is counted on until no other cell has it.
func (nb *notebook) freshID(at int, kind, source string) string {
	taken := nb.ids()
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%d\x00%s\x00%s", n, at, kind, source))
		if id := hex.EncodeToString(sum[:4]); !slices.Contains(taken, id) {
			return id
		}
	}
}

func (nb *notebook) anySource() json.RawMessage {
	if len(nb.cells) == 0 {
		return nil
	}
	return nb.cells[0].get("source")
}

// likewise writes a source in the form the notebook uses: one string, or a list
// of lines with their line feeds.
func likewise(before json.RawMessage, source string) any {
	if len(before) > 0 && before[0] == '"' {
		return source
	}
	lines := strings.SplitAfter(source, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
