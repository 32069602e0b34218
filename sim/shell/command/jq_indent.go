package command

import (
	"maps"
	"slices"
	"strings"
)

func sortedKeysOf(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// indentJSON lays compact JSON out as jq does: empty containers on one line.
func indentJSON(s, indent string) string {
	var b strings.Builder
	depth := 0
	inString := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case inString:
			b.WriteByte(c)
			if c == '\\' {
				i++
				b.WriteByte(s[i])
			} else if c == '"' {
				inString = false
			}
			continue
		case c == '"':
			inString = true
		case (c == '{' || c == '[') && i+1 < len(s) && s[i+1] == c+2:
			b.WriteString(s[i : i+2])
			i++
			continue
		case c == '{' || c == '[':
			depth++
			b.WriteString(string(rune(c)) + "\n" + strings.Repeat(indent, depth))
			continue
		case c == '}' || c == ']':
			depth--
			b.WriteString("\n" + strings.Repeat(indent, depth))
		case c == ',':
			b.WriteString(",\n" + strings.Repeat(indent, depth))
			continue
		case c == ':':
			b.WriteString(": ")
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
