package file

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

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
	var whole string
	err := json.Unmarshal(raw, &whole)
	*j = joined(whole)
	return err
}

// viewNotebook shows cells with their outputs. A file of that name that is no
// notebook is shown as the text it is, so that it can be mended.
func viewNotebook(p place, content []byte, in ReadIn) (viewed, error) {
	var nb struct {
		Cells *[]shownCell `json:"cells"`
	}
	if err := json.Unmarshal(content, &nb); err != nil || nb.Cells == nil {
		v, err := viewText(p, content, in)
		v.out.Notes = append(v.out.Notes, "This is no notebook that can be parsed; it is shown as text.")
		return v, err
	}
	r := rangeOf(len(*nb.Cells), in.Offset, in.Limit, len(*nb.Cells))
	v := viewed{partial: !r.whole(), out: ReadOut{Kind: "notebook", First: r.first, Shown: r.shown, Total: r.total}}
	var parts []string
	for i := r.first - 1; i < r.first-1+r.shown; i++ {
		cell := (*nb.Cells)[i]
		parts = append(parts, cell.text(i))
		v.out.Media = append(v.out.Media, cell.images()...)
	}
	v.out.Text = strings.Join(parts, "\n")
	v.out.Notes = notebookNotes(r)
	v.out.Media, v.out.Notes = sendable(v.out.Media, v.out.Notes)
	return v, fits(v.out.Text, r, "cell")
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
	id := c.ID
	if id == "" {
		id = indexID(index)
	}
	s := fmt.Sprintf("<cell id=%q type=%q>\n%s\n</cell>", id, c.Type, c.Source)
	for _, o := range c.Outputs {
		if text := o.text(); text != "" {
			s += "\n<output>\n" + shortened(text) + "\n</output>"
		}
	}
	return s
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
	_ = json.Unmarshal(o.Data["text/plain"], &text) // absent or odd: nothing to show
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
		for _, kind := range []string{"image/png", "image/jpeg", "image/gif", "image/webp"} {
			var data joined
			if raw, ok := o.Data[kind]; ok && json.Unmarshal(raw, &data) == nil {
				found = append(found, Media{Type: kind, Data: strings.Join(strings.Fields(string(data)), "")})
				break
			}
		}
	}
	return found
}

// sendable leaves out the pictures that are too large for the API, with a note.
func sendable(all []Media, notes []string) ([]Media, []string) {
	var kept []Media
	for _, m := range all {
		if base64.StdEncoding.DecodedLen(len(m.Data)) <= maxMediaBytes {
			kept = append(kept, m)
		}
	}
	if left := len(all) - len(kept); left > 0 {
		notes = append(notes, count(left, "image")+" too large to be shown.")
	}
	return kept, notes
}
