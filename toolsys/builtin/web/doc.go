// Package web holds the built-in tools that reach out to the network. The network
// itself comes in through Deps as one function, so that a run can be recorded,
// replayed and cut off; nothing is remembered between two calls but the page that
// WebBrowser's browser has open.
package web

import (
	"embed"

	"toolbench/toolsys/tool"
)

//go:embed *.md
var promptFiles embed.FS

var prompts = tool.ReadPrompts(promptFiles)
