package shell

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/render"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

// BashOut is what Bash answers with.
type BashOut struct {
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exit_code"`
	// Interrupted is true when the time was up before the command ended.
	Interrupted bool `json:"interrupted"`
	// Dir is the working directory from here on.
	Dir    string `json:"dir"`
	TaskID string `json:"background_task_id,omitempty"`
	// Image is the media type of an image that the command printed.
	Image string `json:"image,omitempty"`
	// Git are the git operations in the command: commit, push.
	Git []string `json:"git,omitempty"`
	// Indexed is true when the output shows that code indexing is finished.
	Indexed bool `json:"indexing_finished,omitempty"`
	// Edited is the file that an approved sed edit was applied to.
	Edited string `json:"edited,omitempty"`
	// Notes are ours, not the command's: what was left out, what was undone.
	Notes []string `json:"notes,omitempty"`
}

// dataImage is what a command prints to show an image: a data URL and nothing else.
var dataImage = regexp.MustCompile(`^data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=\s]+)$`)

// image finds an image in what a command printed; its data is then without blanks.
func image(stdout string) (mediaType, data string, ok bool) {
	m := dataImage.FindStringSubmatch(strings.TrimSpace(stdout))
	if m == nil {
		return "", "", false
	}
	data = strings.Join(strings.Fields(m[2]), "")
	_, err := base64.StdEncoding.DecodeString(data)
	return m[1], data, err == nil
}

// blocks are the output, then the errors, then the notes on them.
func (out BashOut) blocks() []message.Block {
	if mediaType, data, ok := image(out.Stdout); ok {
		all := []message.Block{message.Image(mediaType, data)}
		if rest := out.text(""); rest != "" {
			all = append(all, message.Text(rest))
		}
		return all
	}
	if text := out.text(out.Stdout); text != "" {
		return []message.Block{message.Text(text)}
	}
	return []message.Block{message.Text("(no output)")}
}

// text puts what is ours behind the output, and before one that is so long that only its beginning
// will be shown.
func (out BashOut) text(stdout string) string {
	var parts, notes []string
	for _, stream := range []string{stdout, out.Stderr} {
		if stream = strings.TrimRight(stream, "\n"); stream != "" {
			parts = append(parts, stream)
		}
	}
	if out.ExitCode != 0 && !out.Interrupted {
		notes = append(notes, fmt.Sprintf("[exit code %d]", out.ExitCode))
	}
	for _, n := range out.Notes {
		notes = append(notes, "["+n+"]")
	}
	if len(stdout)+len(out.Stderr) > ResultChars {
		return strings.Join(append(notes, parts...), "\n")
	}
	return strings.Join(append(parts, notes...), "\n")
}

// drawing draws a shell's calls: the command below what it is for, and behind it how it is
// run where that is not as always.
func drawing(language string) tool.Drawing[BashIn, BashOut] {
	return tool.Drawing[BashIn, BashOut]{
		Use: func(in BashIn) []render.Node {
			if in.Description == "" && !strings.Contains(in.Command, "\n") && len(in.Command) <= tool.SummaryChars {
				return nil // the summary is the command
			}
			return render.Brief(in.Command, commandLines, func(text string) render.Node { return render.Code{Text: text, Language: language} })
		},
		Tag: func(in BashIn) string {
			var tags []string
			if in.RunInBackground {
				tags = append(tags, "in the background")
			}
			if in.DisableSandbox {
				tags = append(tags, "outside the sandbox")
			}
			if in.Timeout > 0 {
				tags = append(tags, "within "+(time.Duration(in.Timeout)*time.Millisecond).String())
			}
			return strings.Join(tags, ", ")
		},
	}
}

// commandLines are those of a command that are shown where room is short.
const commandLines = 6

// screenLines are the last of a terminal's that are shown where room is short.
const screenLines = 6

// drawScreen draws the end of what stands on a terminal, where things happen.
func drawScreen(_ TungstenIn, o tool.Outcome[TungstenOut]) []render.Node {
	if !o.Known || strings.TrimSpace(o.Data.Text) == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(o.Data.Text, "\n "), "\n")
	whole := render.Code{Text: strings.Join(lines, "\n")}
	if len(lines) <= screenLines {
		return []render.Node{whole}
	}
	left := len(lines) - screenLines
	return []render.Node{render.Fold{
		Closed: []render.Node{render.Words("… "+render.Count(left, "line")+" above", render.Dim), render.Code{Text: strings.Join(lines[left:], "\n")}},
		Open:   []render.Node{whole},
	}}
}

// indexed is the line with which code indexers end: "indexing
// finished", "Finished indexing 312 files", "Index complete".
var indexed = regexp.MustCompile(`(?im)^\W*(?:(?:code |workspace |project )?index(?:ing)?(?: is)? (?:complete|completed|finished|done)|(?:finished|completed|done) indexing)\b`)

// notice fills in what others want to know of the command (L4).
func (out *BashOut) notice(script *shellcmd.Script) {
	out.Git = script.Git
	out.Indexed = endsIndexing(out.Stdout) || endsIndexing(out.Stderr)
	out.Image, _, _ = image(out.Stdout)
}

// endsIndexing reports whether an indexer wrote the text. The word alone is looked for first,
// which takes a tenth of the time where it is missing.
func endsIndexing(text string) bool {
	return strings.Contains(strings.ToLower(text), "index") && indexed.MatchString(text)
}
