package file

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"toolbench/toolsys/message"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// ReadIn is what Read takes (SPEC L).
type ReadIn struct {
	Path   string `json:"file_path" minLength:"1" jsonschema:"The file to read; absolute, or relative to the working directory"`
	Offset int    `json:"offset,omitempty" minimum:"0" jsonschema:"The first line to show, counted from 1; for notebooks the first cell"`
	Limit  int    `json:"limit,omitempty" minimum:"1" jsonschema:"How many lines to show; for notebooks how many cells"`
	Pages  string `json:"pages,omitempty" jsonschema:"PDF files only: the pages to show, such as 3 or 1-5 or 10-; 20 pages at most"`
}

// ReadOut is what Read answers with.
type ReadOut struct {
	Kind string `json:"kind" enum:"text,image,pdf,notebook"`
	Path string `json:"file_path"`
	// Text is what the model sees of the file; numbered lines for a text file.
	Text string `json:"text,omitempty"`
	// First is the first unit shown, Shown how many, Total how many there are:
	// lines of a text, cells of a notebook, pages of a PDF.
	First int `json:"first,omitempty"`
	Shown int `json:"shown,omitempty"`
	Total int `json:"total,omitempty"`
	// Notes are further facts on the file, a sentence each.
	Notes []string `json:"notes,omitempty"`
	// Media are images and documents.
	Media []Media `json:"media,omitempty"`
}

// Media is an image or document, base64.
type Media struct {
	Type string `json:"media_type"`
	Data string `json:"data"`
}

// Read shows a file: text with line numbers, images, PDF pages, notebooks
// (SPEC L). It limits its own result, so that reading never ends in a file that
// has to be read (K1).
func Read(d Deps) *tool.Tool {
	return onFile(tool.Def[ReadIn, ReadOut]{
		Name:     "Read",
		Describe: func(in ReadIn) string { return "Read " + in.Path },
		Texts:    prompts.Of("read"),
		Call:     d.read,
		Block:    ReadOut.blocks,
		Validate: d.validateRead,
		Traits:   tool.Looks(tool.Class{Read: true}, func(in ReadIn, c *tool.Context) []string { return d.lookups(in.Path, c) }),
		Shaping:  tool.Shaping[ReadIn]{Classifier: ReadIn.path},
		Limits:   tool.Limits[ReadIn]{ResultChars: tool.Unlimited},
		Draw:     tool.Drawing[ReadIn, ReadOut]{Result: drawRead},
	}, "file_path", ReadIn.path, "Reading")
}

func (in ReadIn) path() string { return in.Path }

// absolute shows observers where a path member leads (G2).
func absolute(member string) func(raw map[string]any, c *tool.Context) {
	return func(raw map[string]any, c *tool.Context) {
		if name, ok := raw[member].(string); ok && name != "" {
			raw[member] = subjectPath(name, c)
		}
	}
}

func (d Deps) validateRead(in ReadIn, c *tool.Context) *tool.Refusal {
	if unc(in.Path, c) {
		return nil
	}
	if _, refusal := d.locate(in.Path, c); refusal != nil {
		return refusal
	}
	_, refusal := parsePages(in.Pages)
	return refusal
}

func (d Deps) read(ctx context.Context, in ReadIn, c *tool.Context) (tool.Result[ReadOut], error) {
	var none tool.Result[ReadOut]
	p, content, refusal := d.open(in.Path, c)
	if refusal != nil {
		return none, failure(refusal)
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	out, err := view(p, content, in)
	if err != nil {
		return none, err
	}
	out.Path = p.abs
	seen := tool.Seen(p.real, content)
	if out.Shown < out.Total { // the hash is still that of all of it, since any change counts
		seen.Read.Partial, seen.Read.Offset, seen.Read.Limit = true, out.First, out.Shown
	}
	return tool.Result[ReadOut]{Data: out, Observed: []tool.Observation{seen}}, nil
}

// view chooses the reader. The content decides; only a notebook, which is JSON
// like any other, goes by its name.
func view(p place, content []byte, in ReadIn) (ReadOut, error) {
	media := http.DetectContentType(content)
	switch {
	case strings.HasPrefix(string(content[:min(len(content), 5)]), "%PDF-"):
		return viewPDF(p, content, in)
	case in.Pages != "":
		return ReadOut{}, failure(refuse(CodeRange, "%s is not a PDF file; pages is for those. Use offset and limit.", p.abs))
	case slices.Contains(imageTypes, media):
		return ReadOut{Kind: "image", Media: []Media{media64(media, content)}}, nil
	case path.Ext(p.real) == ".ipynb":
		return viewNotebook(p, content, in)
	}
	return viewText(p, content, in)
}

func (o ReadOut) blocks() []message.Block {
	var parts []string
	if o.Text != "" {
		parts = append(parts, o.Text)
	}
	parts = append(parts, tool.Each(o.Notes, bracketed)...)
	var blocks []message.Block
	if len(parts) > 0 {
		blocks = append(blocks, message.Text(strings.Join(parts, "\n")))
	}
	for _, m := range o.Media {
		if strings.HasPrefix(m.Type, "image/") {
			blocks = append(blocks, message.Image(m.Type, m.Data))
			continue
		}
		blocks = append(blocks, message.Document(m.Type, m.Data))
	}
	return blocks
}

// bracketed is a note beside what was found.
func bracketed(note string) string { return "[" + note + "]" }

const (
	// defaultLines is how many lines are shown where no limit is given.
	defaultLines = 2000
	// maxShownBytes is what one Read may show: 25,000 tokens at four bytes each.
	maxShownBytes = 100_000
)

// viewText shows a range of lines with their numbers.
func viewText(p place, content []byte, in ReadIn) (ReadOut, error) {
	t, ok := decode(content)
	if !ok {
		return ReadOut{}, failure(refuse(CodeKind, "%s is a binary file of %d bytes and cannot be shown as text.", p.abs, len(content)))
	}
	lines := t.lines()
	r := rangeOf(len(lines), in.Offset, in.Limit, defaultLines)
	out := ReadOut{
		Kind: "text", First: r.first, Shown: r.shown, Total: r.total, Notes: textNotes(t, r),
		Text: numbered(lines[r.first-1:r.first-1+r.shown], r.first),
	}
	return out, fits(out.Text, r, "line")
}

func textNotes(t text, r span) []string {
	var notes []string
	if t.body == "" {
		notes = append(notes, "The file exists but is empty.")
	} else if note := r.note("line"); note != "" {
		notes = append(notes, note)
	}
	if n := t.foreign(); n > 0 {
		notes = append(notes, fmt.Sprintf("The file is not valid UTF-8: %s shown as �.", render.Count(n, "byte")))
	}
	return notes
}

// span is a range of a file's lines, cells or pages; first counts from 1.
type span struct{ first, shown, total int }

// rangeOf keeps a wanted range within what there is. Offset 0 means the start,
// limit 0 as many as usual.
func rangeOf(total, offset, limit, usual int) span {
	first := min(max(offset, 1), total+1)
	limit = cmp.Or(limit, usual)
	return span{first: first, shown: min(limit, total-first+1), total: total}
}

func (r span) complete() bool { return r.shown == r.total }

// note describes what is not shown and how to see it.
func (r span) note(unit string) string {
	switch {
	case r.complete():
		return ""
	case r.shown == 0:
		return fmt.Sprintf("The offset is beyond the end: the file has %s.", render.Count(r.total, unit))
	}
	return fmt.Sprintf("Shown: %ss %d to %d of %d. Use offset and limit for others.", unit, r.first, r.first+r.shown-1, r.total)
}

// fits refuses what would flood the conversation (K1).
func fits(shown string, r span, unit string) error {
	if len(shown) <= maxShownBytes {
		return nil
	}
	return failure(refuse(CodeRange,
		"The %ss %d to %d hold about %d tokens, more than the %d that one Read may show. "+
			"Use offset and limit for a smaller part, or search with Grep.",
		unit, r.first, r.first+r.shown-1, len(shown)/4, maxShownBytes/4))
}

// imageTypes are the kinds of images that the API takes.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func media64(media string, content []byte) Media {
	return Media{Type: media, Data: base64.StdEncoding.EncodeToString(content)}
}

// maxLineChars is how much of one line is shown, in code points.
const maxLineChars = 2000

// numbered shows lines with their numbers in front, the first being number first.
// Invalid bytes are replaced, since a result travels as JSON.
func numbered(lines []string, first int) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%6d\t%s", first+i, cut(replaced(line)))
	}
	return b.String()
}

// replaced shows each byte that is no UTF-8 as the replacement character.
func replaced(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// cut shortens an overlong line and marks the cut.
func cut(line string) string {
	if len(line) <= maxLineChars {
		return line
	}
	chars := utf8.RuneCountInString(line)
	if chars <= maxLineChars {
		return line
	}
	end := 0
	for range maxLineChars {
		_, size := utf8.DecodeRuneInString(line[end:])
		end += size
	}
	return fmt.Sprintf("%s… [line cut, %d more characters]", line[:end], chars-maxLineChars)
}
