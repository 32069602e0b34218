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
