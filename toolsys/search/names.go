package search

import (
	"strings"

	"toolbench/toolsys/search/terms"
)

// equal is the name itself, in any case.
func equal(d *doc, text string) (string, int) {
	if d.lower == text {
		return "the name itself", 1
	}
	return "", 0
}

// ofServer is mcp__server for a tool of that server and no other whose name
// merely begins alike.
func ofServer(d *doc, text string) (string, int) {
	server, is := strings.CutPrefix(strings.TrimRight(text, "*_"), mcpPrefix)
	if is && server != "" && normal(server) == d.server {
		return "a tool of server " + d.Server, 1
	}
	return "", 0
}

// normal writes a server's name as tool names do (SPEC N1), in lower case.
func normal(server string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (terms.IsWord(r) || r == '-') {
			return r
		}
		return '_'
	}, strings.ToLower(server))
}

// partial is a name that begins with the text or, second best, contains it.
func partial(d *doc, text string) (string, int) {
	switch {
	case strings.HasPrefix(d.lower, text):
		return "name begins so", 2
	case strings.Contains(d.lower, text):
		return "name contains it", 1
	}
	return "", 0
}
