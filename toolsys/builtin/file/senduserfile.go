package file

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/tool"
)

// SendFileIn is what SendUserFile takes.
type SendFileIn struct {
	Files   []string `json:"files" minItems:"1" maxItems:"20" jsonschema:"The files' paths"`
	Caption string   `json:"caption,omitempty" jsonschema:"What they are, in a line"`
}

// SentFile is one file that the user has.
type SentFile struct {
	Path string `json:"path"`
	// Copy is where the user finds it.
	Copy  string `json:"copy"`
	Bytes int    `json:"bytes"`
}

// SendFileOut is what SendUserFile answers with.
type SendFileOut struct {
	Files []SentFile `json:"files"`
}

// SendUserFile hands the user copies of files, in a folder of its own, and shows where
// they are (SPEC L). All files are looked at before the first is handed over. To read a
// file is all it does to the user's own, so rules about reading count for it.
func SendUserFile(d Deps, outbox string) *tool.Tool {
	return tool.Must(tool.Def[SendFileIn, SendFileOut]{
		Name:  "SendUserFile",
		Texts: prompts.Of("senduserfile"),
		Call: tool.Data(func(ctx context.Context, in SendFileIn, c *tool.Context) (SendFileOut, error) {
			return d.handOver(ctx, in, outbox, c)
		}),
		Text: SendFileOut.text,
		Validate: func(in SendFileIn, c *tool.Context) *tool.Refusal {
			for _, name := range in.Files {
				if unc(name, c) {
					continue
				}
				if _, refusal := d.locate(name, c); refusal != nil {
					return refusal
				}
			}
			return nil
		},
		Subject: func(in SendFileIn, c *tool.Context) tool.Subject {
			paths := tool.Each(in.Files, func(name string) string { return subjectPath(name, c) })
			return tool.Subject{Paths: paths, Kin: []string{"Read"}}
		},
		Traits: tool.Traits[SendFileIn]{
			ReadOnly: tool.Always[SendFileIn],
			Effects: func(in SendFileIn, c *tool.Context) tool.Effects {
				e := tool.Effects{Writes: []string{"user", outbox + "/**"}}
				for _, name := range in.Files {
					e.Reads = append(e.Reads, d.lookups(name, c)...)
				}
				return e
			},
		},
		Shaping: tool.Shaping[SendFileIn]{Classifier: func(in SendFileIn) string { return strings.Join(in.Files, " ") }},
		View:    tool.Titled("File for you", "Handing over files", SendFileIn.words),
	})
}

// words are the first file, and how many more there are.
func (in SendFileIn) words() string {
	if len(in.Files) < 2 {
		return brief(strings.Join(in.Files, ""))
	}
	return fmt.Sprintf("%s and %d more", brief(in.Files[0]), len(in.Files)-1)
}

func (d Deps) handOver(ctx context.Context, in SendFileIn, outbox string, c *tool.Context) (SendFileOut, error) {
	var contents [][]byte
	var out SendFileOut
	for _, name := range in.Files {
		p, content, refusal := d.open(name, c)
		if refusal != nil {
			return SendFileOut{}, failure(refusal)
		}
		contents = append(contents, content)
		out.Files = append(out.Files, SentFile{Path: p.abs, Bytes: len(content)})
	}
	if err := ctx.Err(); err != nil {
		return SendFileOut{}, err
	}
	if err := d.FS.MkdirAll(outbox, 0o700); err != nil {
		return SendFileOut{}, fmt.Errorf("the files cannot be handed over: %w", err)
	}
	for i, content := range contents {
		copied, err := d.copyInto(outbox, path.Base(out.Files[i].Path), content)
		if err != nil {
			return SendFileOut{}, fmt.Errorf("%s was not handed over: %w", out.Files[i].Path, err)
		}
		out.Files[i].Copy = copied
	}
	if c.Notify != nil {
		copies := tool.Each(out.Files, func(f SentFile) string { return fmt.Sprintf("\n%s (%d bytes)", f.Copy, f.Bytes) })
		c.Notify(strings.TrimSpace(in.Caption + strings.Join(copies, "")))
	}
	return out, nil
}

// copyInto writes a file under the first of name, name-2, ... that is free; what cannot
// be written in full leaves nothing.
func (d Deps) copyInto(dir, name string, content []byte) (string, error) {
	ext := path.Ext(name)
	to := path.Join(dir, name)
	for n := 2; ; n++ {
		there, err := afero.Exists(d.FS, to)
		if err != nil {
			return "", err
		}
		if !there {
			break
		}
		to = path.Join(dir, fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext))
	}
	if err := afero.WriteFile(d.FS, to, content, 0o600); err != nil {
		_ = d.FS.Remove(to) // the write's error is the one to report
		return "", err
	}
	return to, nil
}

func (out SendFileOut) text() string {
	names := tool.Each(out.Files, func(f SentFile) string { return fmt.Sprintf("%s (%d bytes)", f.Path, f.Bytes) })
	return "The user has " + strings.Join(names, ", ") + "."
}
