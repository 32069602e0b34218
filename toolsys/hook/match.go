package hook

import (
	"fmt"
	"path"
	"strings"
)

// matcher is a Matcher taken apart; empty, it matches every tool.
type matcher []string

// parseMatcher reads "", "*", or names and globs with | between them.
func parseMatcher(text string) (matcher, error) {
	if text == "" || text == "*" {
		return nil, nil
	}
	parts := strings.Split(text, "|")
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
		if parts[i] == "" {
			return nil, fmt.Errorf("matcher %q has an empty part; write names with one | between them", text)
		}
		if _, err := path.Match(parts[i], ""); err != nil {
			return nil, fmt.Errorf("matcher %q: bad glob %q", text, parts[i])
		}
	}
	return parts, nil
}

func (m matcher) matches(tool string, aliases []string) bool {
	if len(m) == 0 {
		return true
	}
	for _, part := range m {
		if globbed(part, tool) {
			return true
		}
		for _, alias := range aliases {
			if globbed(part, alias) {
				return true
			}
		}
	}
	return false
}

// globbed is exact for a name without glob characters; tool names have no slash, so
// * means anything.
func globbed(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return err == nil && ok
}
