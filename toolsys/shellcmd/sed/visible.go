package sed

import (
	"fmt"
	"strings"
)

// visible is the l command: escapes, and lines broken at width (0: 70 columns, 1: never).
func visible(s string, width int) string {
	if width == 0 {
		width = 70
	}
	var b strings.Builder
	column := 0
	for i := range len(s) {
		part := visibleByte(s[i])
		if width > 1 && column+len(part) > width-1 {
			b.WriteString("\\\n")
			column = 0
		}
		b.WriteString(part)
		column += len(part)
	}
	return b.String() + "$\n"
}

func visibleByte(c byte) string {
	if i := strings.IndexByte("\a\b\f\n\r\t\v\\", c); i >= 0 {
		return `\` + string(`abfnrtv\`[i])
	}
	if c < 0x20 || c >= 0x7f {
		return fmt.Sprintf(`\%03o`, c)
	}
	return string(rune(c))
}
