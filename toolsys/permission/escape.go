package permission

import "strings"

// Backslashes mean something only in a run before a parenthesis, or at the end,
// where one follows. There every two stand for one, and an odd one escapes the
// parenthesis. This leaves \\host\share as it is.

// escape writes content so that unescape gives it back.
func escape(content string) string {
	var b strings.Builder
	run := 0
	for i := range len(content) {
		c := content[i]
		if c == '(' || c == ')' {
			b.WriteString(strings.Repeat(`\`, run+1))
		}
		if run++; c != '\\' {
			run = 0
		}
		b.WriteByte(c)
	}
	b.WriteString(strings.Repeat(`\`, run))
	return b.String()
}

// unescape reads the text between the outer parentheses.
func unescape(body string) string {
	var b strings.Builder
	for body != "" {
		rest := strings.TrimLeft(body, `\`)
		run := len(body) - len(rest)
		if rest == "" || rest[0] == '(' || rest[0] == ')' {
			run /= 2
		}
		plain, _, _ := strings.Cut(rest, `\`)
		b.WriteString(body[:run] + plain)
		body = rest[len(plain):]
	}
	return b.String()
}

// trailingBackslashes counts the run at the end.
func trailingBackslashes(s string) int {
	return len(s) - len(strings.TrimRight(s, `\`))
}
