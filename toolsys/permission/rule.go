package permission

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule is one pattern for calls: a tool, and optionally what the call is about
// (SPEC F1). It is a comparable value; only [ParseRule] makes one.
type Rule struct {
	tool    string
	content string // empty: the rule is about every call of the tool
}

// mcpPrefix begins the names of MCP tools and the rules about them.
const mcpPrefix = "mcp__"

// ParseRule reads the syntax in the package comment (SPEC F1). An error gives
// what is wrong, where (in bytes), and what to write instead.
func ParseRule(text string) (Rule, error) {
	rule, err := parseRule(strings.TrimSpace(text))
	if err != nil {
		return Rule{}, fmt.Errorf("permission rule %q: %w", text, err)
	}
	return rule, nil
}

// parseRule reads a rule without blanks around it.
func parseRule(text string) (Rule, error) {
	if !utf8.ValidString(text) {
		return Rule{}, errors.New("not valid UTF-8")
	}
	tool, rest, hasContent := strings.Cut(text, "(")
	if err := checkTool(tool); err != nil {
		return Rule{}, err
	}
	if !hasContent {
		return Rule{tool: tool}, nil
	}
	content, err := closed(rest, len(tool)+1)
	if err != nil {
		return Rule{}, err
	}
	if content == "" {
		return Rule{}, fmt.Errorf("nothing between the parentheses; write %s for every call", tool)
	}
	if isDomain(content) {
		if _, err := networkName(content); err != nil {
			return Rule{}, err
		}
	}
	return Rule{tool: tool, content: content}, nil
}

// checkTool refuses what cannot be a tool's name.
func checkTool(tool string) error {
	if tool == "" {
		return errors.New("no tool name at byte 0")
	}
	for at, r := range tool {
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`),\`, r) {
			return fmt.Errorf("%q at byte %d cannot be in a tool name; a rule is Tool or Tool(content)", r, at)
		}
	}
	server, isMCP := strings.CutPrefix(tool, mcpPrefix)
	if isMCP && strings.Trim(server, "_") == "" {
		return fmt.Errorf("no server after %s; write %s* for all servers", mcpPrefix, mcpPrefix)
	}
	if isMCP && strings.HasSuffix(server, "__") {
		return fmt.Errorf("no tool after %s; write %s for all of the server", tool, strings.TrimRight(tool, "_"))
	}
	return nil
}

// closed takes the closing parenthesis off and the escapes out. The content
// starts at byte `at` of the rule.
func closed(rest string, at int) (string, error) {
	body, has := strings.CutSuffix(rest, ")")
	if !has {
		if i := strings.LastIndexByte(rest, ')'); i >= 0 {
			return "", fmt.Errorf("%q at byte %d follows the closing parenthesis", rest[i+1:], at+i+1)
		}
		return "", fmt.Errorf("the parenthesis at byte %d is never closed", at-1)
	}
	if run := len(body) - len(strings.TrimRight(body, `\`)); run%2 == 1 {
		return "", fmt.Errorf(`the closing parenthesis at byte %d is escaped; write \\) to end with a backslash`, at+len(body))
	}
	return strings.TrimSpace(unescape(body)), nil
}

// Tool is the name the rule is about, as it was written.
func (r Rule) Tool() string { return r.tool }

// Content is what stands between the parentheses, without escapes; empty where
// the rule has none.
func (r Rule) Content() string { return r.content }

// Blanket reports whether the rule is about every call of its tool: no content,
// or nothing but a star.
func (r Rule) Blanket() bool { return r.content == "" || r.content == "*" }

// String gives the syntax back; it parses to the same rule.
func (r Rule) String() string {
	if r.content == "" {
		return r.tool
	}
	return r.tool + "(" + escape(r.content) + ")"
}

// MarshalText gives the syntax back, for settings files and traces.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is ParseRule.
func (r *Rule) UnmarshalText(text []byte) error {
	parsed, err := ParseRule(string(text))
	if err == nil {
		*r = parsed
	}
	return err
}

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
