package file

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/tool"
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
	nb := &notebook{indent: indentOf(content), crlf: bytes.Contains(content, []byte("\r\n"))}
	nb.ending = string(content[len(bytes.TrimRight(content, " \t\r\n")):])
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

// bytes writes the notebook in the layout it was read in.
func (nb *notebook) bytes() ([]byte, error) {
	cells := tool.Each(nb.cells, members.bytes)
	nb.root.set("cells", json.RawMessage(slices.Concat([]byte{'['}, bytes.Join(cells, []byte{','}), []byte{']'})))
	var b bytes.Buffer
	var err error
	if nb.indent == "" {
		err = json.Compact(&b, nb.root.bytes())
	} else {
		err = json.Indent(&b, nb.root.bytes(), "", nb.indent)
	}
	laidOut := b.Bytes()
	if nb.crlf { // no string in JSON holds a bare line feed
		laidOut = bytes.ReplaceAll(laidOut, []byte("\n"), []byte("\r\n"))
	}
	return append(laidOut, nb.ending...), err
}

// indexID names a cell that has no id by its place, counted from 0.
func indexID(index int) string { return "cell-" + strconv.Itoa(index) }

func (nb *notebook) id(i int) string {
	var id string
	_ = json.Unmarshal(nb.cells[i].get("id"), &id) // absent or malformed: none
	return cmp.Or(id, indexID(i))
}

// ids are the cells' own, and for one without the name that Read gives it.
func (nb *notebook) ids() []string {
	ids := make([]string, len(nb.cells))
	for i := range nb.cells {
		ids[i] = nb.id(i)
	}
	return ids
}

func (nb *notebook) kind(i int) string {
	var kind string
	_ = json.Unmarshal(nb.cells[i].get("cell_type"), &kind) // absent or malformed: none
	return kind
}

// source is a cell's text, which is one text or a list of its lines.
func (nb *notebook) source(i int) string {
	var text joined
	_ = json.Unmarshal(nb.cells[i].get("source"), &text) // absent or malformed: none
	return string(text)
}

// replace gives a cell a new source. Outputs belong to the code that made them, so they go with it.
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

// hasIDs reports whether cells have ids, which they do since nbformat 4.5.
func (nb *notebook) hasIDs() bool {
	var major, minor int
	_ = json.Unmarshal(nb.root.get("nbformat"), &major) // absent or malformed: old
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

// likewise writes a source in the form the notebook uses: one string, or a list of lines with their line feeds.
func likewise(before json.RawMessage, source string) any {
	if len(before) > 0 && before[0] == '"' {
		return source
	}
	return slices.AppendSeq([]string{}, strings.Lines(source))
}

// maxOutputBytes is how much of one cell's text output is shown.
const maxOutputBytes = 10_000

// shownCell is a notebook's cell as far as it is shown.
type shownCell struct {
	Type    string        `json:"cell_type"`
	ID      string        `json:"id"`
	Source  joined        `json:"source"`
	Outputs []shownOutput `json:"outputs"`
}

type shownOutput struct {
	Type      string                     `json:"output_type"`
	Text      joined                     `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Name      string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// joined is text that nbformat writes as one string or as a list of lines.
type joined string

// UnmarshalJSON takes either form.
func (j *joined) UnmarshalJSON(raw []byte) error {
	var lines []string
	if json.Unmarshal(raw, &lines) == nil {
		*j = joined(strings.Join(lines, ""))
		return nil
	}
	var text string
	err := json.Unmarshal(raw, &text)
	*j = joined(text)
	return err
}

// viewNotebook shows cells with their outputs. A file of that name that is no
// notebook is shown as the text it is, so that it can be mended.
func viewNotebook(p place, content []byte, in ReadIn) (ReadOut, error) {
	var nb struct {
		Cells *[]shownCell `json:"cells"`
	}
	if err := json.Unmarshal(content, &nb); err != nil || nb.Cells == nil {
		out, err := viewText(p, content, in)
		out.Notes = append(out.Notes, "This is no notebook that can be parsed; it is shown as text.")
		return out, err
	}
	r := rangeOf(len(*nb.Cells), in.Offset, in.Limit, len(*nb.Cells))
	out := ReadOut{Kind: "notebook", First: r.first, Shown: r.shown, Total: r.total, Notes: notebookNotes(r)}
	var parts []string
	for i := r.first - 1; i < r.first-1+r.shown; i++ {
		cell := (*nb.Cells)[i]
		parts = append(parts, cell.text(i))
		out.Media = append(out.Media, cell.images()...)
	}
	out.Text = strings.Join(parts, "\n")
	return out, fits(out.Text, r, "cell")
}

func notebookNotes(r span) []string {
	if r.total == 0 {
		return []string{"The notebook has no cells."}
	}
	if note := r.note("cell"); note != "" {
		return []string{note}
	}
	return nil
}

// text shows the cell under the id that NotebookEdit takes.
func (c shownCell) text(index int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<cell id=%q type=%q>\n%s\n</cell>", cmp.Or(c.ID, indexID(index)), c.Type, c.Source)
	for _, o := range c.Outputs {
		if text := o.text(); text != "" {
			b.WriteString("\n<output>\n" + shortened(text) + "\n</output>")
		}
	}
	return b.String()
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

func (o shownOutput) text() string {
	switch o.Type {
	case "stream":
		return string(o.Text)
	case "error":
		return colours.ReplaceAllString(fmt.Sprintf("%s: %s\n%s", o.Name, o.Value, strings.Join(o.Traceback, "\n")), "")
	}
	var text joined
	_ = json.Unmarshal(o.Data["text/plain"], &text) // absent or malformed: nothing to show
	return string(text)
}

func shortened(s string) string {
	if len(s) <= maxOutputBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxOutputBytes], "") + fmt.Sprintf("… [output cut, %d more bytes]", len(s)-maxOutputBytes)
}

// images are the pictures among the outputs, in order.
func (c shownCell) images() []Media {
	var found []Media
	for _, o := range c.Outputs {
		for _, kind := range imageTypes {
			var data joined
			if raw, ok := o.Data[kind]; ok && json.Unmarshal(raw, &data) == nil {
				found = append(found, Media{Type: kind, Data: strings.Join(strings.Fields(string(data)), "")})
				break
			}
		}
	}
	return found
}

// members is a JSON object that keeps the order of its members and the bytes of
// their values: what an edit does not touch must not change.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads one object.
func (m *members) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	*m = nil
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		next := member{name: name.(string)} // a member's name is always a string
		if err := d.Decode(&next.value); err != nil {
			return err
		}
		*m = append(*m, next)
	}
	return nil
}

// bytes writes the object, its values as they are.
func (m members) bytes() []byte {
	out := []byte{'{'}
	for i, each := range m {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, plainJSON(each.name)...), ':')
		out = append(out, each.value...)
	}
	return append(out, '}')
}

func (m members) get(name string) json.RawMessage {
	for _, each := range m {
		if each.name == name {
			return each.value
		}
	}
	return nil
}

// set replaces a member's value, or adds the member where the names stay sorted
// if they are: nbformat writes them so.
func (m *members) set(name string, value any) {
	raw := plainJSON(value)
	for i, each := range *m {
		if each.name == name {
			(*m)[i].value = raw
			return
		}
	}
	at := slices.IndexFunc(*m, func(each member) bool { return each.name > name })
	if at < 0 {
		at = len(*m)
	}
	*m = slices.Insert(*m, at, member{name, raw})
}

func (m *members) drop(name string) {
	*m = slices.DeleteFunc(*m, func(each member) bool { return each.name == name })
}

// plainJSON is JSON without the escapes meant for HTML, as notebooks have it.
func plainJSON(v any) json.RawMessage {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	out, err := jsonscan.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // strings, lists and maps of them always encode
	}
	return out
}
