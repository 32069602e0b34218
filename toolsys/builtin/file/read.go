package file

import (
	"context"
	_ "embed" // the prompt beside this file
	"path"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed read.md
var readPrompt string

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
	// Notes say what else there is to know, a sentence each.
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
	return tool.Must(tool.Def[ReadIn, ReadOut]{
		Name:        "Read",
		Hint:        "read file contents text image pdf notebook",
		Description: "Reads a file: text with line numbers, an image, pages of a PDF, or a notebook with its outputs.",
		Describe:    func(in ReadIn) string { return "Read " + in.Path },
		Prompt:      func(tool.PromptOptions) string { return readPrompt },
		Call:        d.read,
		Block:       ReadOut.blocks,
		Validate:    d.validateRead,
		Subject: func(in ReadIn, c *tool.Context) tool.Subject {
			return tool.Subject{Paths: []string{subjectPath(in.Path, c)}}
		},
		Traits: tool.Traits[ReadIn]{
			Safe:      tool.Always[ReadIn],
			ReadOnly:  tool.Always[ReadIn],
			Class:     func(ReadIn) tool.Class { return tool.Class{Read: true} },
			Interrupt: tool.Cancel,
			Effects: func(in ReadIn, c *tool.Context) tool.Effects {
				return tool.Effects{Reads: d.lookups(in.Path, c)}
			},
		},
		Shaping: tool.Shaping[ReadIn]{
			Backfill:   absolute("file_path"),
			Classifier: func(in ReadIn) string { return in.Path },
		},
		Limits: tool.Limits[ReadIn]{ResultChars: tool.Unlimited},
		View: tool.View[ReadIn]{
			Summary:  func(in ReadIn) string { return brief(in.Path) },
			Activity: func(in ReadIn) string { return "Reading " + path.Base(in.Path) },
		},
	})
}

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
	p, refusal := d.locate(in.Path, c)
	if refusal != nil {
		return none, failure(refusal)
	}
	f, refusal := d.load(p)
	if refusal != nil {
		return none, failure(refusal)
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	v, err := view(p, f.content, in)
	if err != nil {
		return none, err
	}
	v.out.Path = p.abs
	observed := observe(p, f.content)
	if v.partial {
		observed = observePart(p, f.content, v.out.First, v.out.Shown)
	}
	return tool.Result[ReadOut]{Data: v.out, Observed: observed}, nil
}

// viewed is what a reader made of a file.
type viewed struct {
	out     ReadOut
	partial bool
}

// view chooses the reader. The content decides; only a notebook, which is JSON
// like any other, goes by its name.
func view(p place, content []byte, in ReadIn) (viewed, error) {
	media := imageType(content)
	switch {
	case strings.HasPrefix(string(content[:min(len(content), 5)]), "%PDF-"):
		return viewPDF(p, content, in)
	case in.Pages != "":
		return viewed{}, failure(refuse(CodeRange, "%s is not a PDF file; pages is for those. Use offset and limit.", p.abs))
	case media != "":
		return viewImage(p, content, media)
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
	for _, note := range o.Notes {
		parts = append(parts, "["+note+"]")
	}
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
