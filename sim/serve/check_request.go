package serve

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// offered checks that the tools called are offered: a client can only run those that it has.
func (c *checker) offered() {
	for _, x := range c.log {
		if x.answer < 0 {
			continue
		}
		var names []string
		for _, t := range x.req.tools {
			names = append(names, toolName(t))
		}
		for _, call := range c.conv.Answers[x.answer].Calls() {
			if c.tested = true; !slices.Contains(names, call.Name) {
				c.report(x.answer, "%s is called and was not offered; offered are %s; say which stands for it with --map %s=NAME",
					call.Name, list(names), call.Name)
			}
		}
	}
}

// list names a few of many.
func list(names []string) string {
	const most = 12
	switch n := len(names); {
	case n == 0:
		return "no tools at all"
	case n > most:
		return strings.Join(names[:most], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// allowedNames are what an API takes as the name of a tool.
var allowedNames = map[dialect.API]*regexp.Regexp{
	dialect.Messages:  regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
	dialect.Converse:  regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	dialect.Chat:      regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	dialect.Responses: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	dialect.Gemini:    regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`),
}

// requests checks what the API looks at before it looks at the conversation.
func (c *checker) requests() {
	for _, x := range c.log {
		c.tested = true
		report := func(format string, args ...any) { c.report(max(0, x.answer), format, args...) }
		if c.api == dialect.Messages && x.req.maxTokens < 1 {
			report("max_tokens is missing")
		}
		c.checkTools(x.req.tools, report)
		checkIDs(x.req, report)
	}
}

func (c *checker) checkTools(tools []gjson.Result, report func(string, ...any)) {
	var names []string
	allowed := allowedNames[c.api]
	for i, t := range tools {
		name := toolName(t)
		switch kind := t.Get("type").Str; {
		case slices.Contains(names, name):
			report("tools.%d: the name %q is taken", i, name)
		case !allowed.MatchString(name):
			report("tools.%d: the name %q is not %s", i, name, allowed)
		case kind != "" && kind != "custom":
		case c.api != dialect.Messages && !schemaOf(t).Exists(): // a tool without arguments
		case !schemaOf(t).IsObject():
			report("tools.%d: %s has no input_schema", i, name)
		case schemaOf(t).Get("type").Str != "object":
			report("tools.%d: the input_schema of %s is not of type object", i, name)
		}
		names = append(names, name)
	}
}

// checkIDs checks that the ids of calls are distinct, and that a reference leads to a tool.
func checkIDs(r *request, report func(string, ...any)) {
	seen := map[string]bool{}
	for i, m := range r.messages {
		for _, b := range blocks(m) {
			switch id := b.Get("id").Str; b.Get("type").Str {
			case "tool_use":
				if seen[id] {
					report("messages.%d: the id %q is taken", i, id)
				}
				seen[id] = true
			case "tool_result":
				for _, part := range b.Get("content").Array() {
					name := part.Get("tool_name").Str
					if part.Get("type").Str == "tool_reference" && !slices.ContainsFunc(r.tools, func(t gjson.Result) bool { return toolName(t) == name }) {
						report("messages.%d: the reference to %q leads to no tool of the request", i, name)
					}
				}
			}
		}
	}
}
