package shell

import (
	"strings"
	"time"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

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
