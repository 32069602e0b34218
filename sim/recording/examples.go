package recording

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"gopkg.in/yaml.v3"

	"toolbench/sim/dialect"
)

// Examples that models are trained with to call tools: ShareGPT's form, in which a message is from somebody and has
// a value, the words of Swift, and the tags of Hermes. Calls have no ids; results answer them in order.

// exampleBy is who a message of an example is from, in the words of Chat Completions.
var exampleBy = map[string]string{
	"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "function_call": "assistant", "tool_call": "assistant",
	"observation": "tool", "tool": "tool", "tool_response": "tool", "function_response": "tool", "function": "tool",
}

var (
	taggedCall   = regexp.MustCompile(`(?s)<tool_call>\s*(.*?)\s*</tool_call>`)
	taggedTools  = regexp.MustCompile(`(?s)<tools>\s*(\[.*?\])\s*</tools>`)
	taggedResult = regexp.MustCompile(`(?s)<tool_response>\s*(.*?)\s*</tool_response>`)
)

// exampleOf gives the messages of an example; none where v is no example.
func exampleOf(v gjson.Result) gjson.Result {
	list := firstOf(v, "conversations conversation")
	if list.Get("0.from").Exists() && list.Get("0.value").Exists() {
		return list
	}
	if list = v.Get("messages"); list.Get(`#(role=="tool_call")`).Exists() && list.Get(`#(role=="tool_response")`).Exists() {
		return list
	}
	return gjson.Result{}
}

// example takes an example with the tools that it offers, which stand in a text of their own or in the first message.
func (ls *lineScan) example(v, messages gjson.Result) error {
	ls.logs = logs{key: fmt.Sprint("example\x00", ls.values), model: strings.Clone(v.Get("model").String())}
	t, err := ls.dialogues.of(ls.logs.key, "", "")
	if err != nil {
		return err
	}
	offered := v.Get("tools")
	if m := taggedTools.FindStringSubmatch(messages.Get("0.value").Str); m != nil && !offered.Exists() {
		offered = gjson.Parse(m[1])
	}
	t.tools = offeredIn(offered)
	return ls.said("/chat/completions", dialect.JSON(fields{"messages": exampleMessages(messages)}), time.Time{})
}

// exampleMessages writes the messages of an example as Chat Completions has them.
func exampleMessages(list gjson.Result) []any {
	var out []any
	var answer fields // the last message, if it is one with calls
	for _, m := range list.Array() {
		from, text := firstOf(m, "from role").Str, plainText(firstOf(m, "value content"))
		switch role := exampleBy[from]; role {
		case "assistant":
			said, calls := exampleCalls(text, strings.HasSuffix(from, "_call"))
			if answer != nil && said == "" { // one by one what was called at once
				answer["tool_calls"] = append(answer["tool_calls"].([]any), calls...)
				continue
			}
			message := fields{"role": role, "content": said, "tool_calls": calls}
			if out, answer = append(out, message), nil; len(calls) > 0 {
				answer = message
			}
		case "tool":
			results := [][]string{{"", text}}
			if tagged := taggedResult.FindAllStringSubmatch(text, -1); tagged != nil {
				results = tagged
			}
			for _, r := range results {
				if content := gjson.Get(r[1], "content"); content.Exists() && gjson.Get(r[1], "name").Exists() {
					r[1] = content.String() // beside the name of its tool
				}
				out = append(out, fields{"role": role, "content": r[1]})
			}
			answer = nil
		case "user":
			out, answer = append(out, fields{"role": role, "content": text}), nil
		}
	}
	return out
}

// exampleCalls parts what an answer says from what it calls; whole: nothing but a call stands there. What cannot be
// read as a call was said.
func exampleCalls(text string, whole bool) (said string, calls []any) {
	calls = []any{}
	said = taggedCall.ReplaceAllStringFunc(text, func(tagged string) string {
		made := callsWritten(taggedCall.FindStringSubmatch(tagged)[1])
		if calls = append(calls, made...); made == nil {
			return tagged
		}
		return ""
	})
	if made := callsWritten(text); whole && made != nil {
		return "", made
	}
	return strings.TrimSpace(said), calls
}

// callsWritten reads a call, or a list of them, in JSON or as Python prints it; nil where it is none.
func callsWritten(text string) (calls []any) {
	if !json.Valid([]byte(text)) {
		var v any
		if len(text) > maxPython || yaml.Unmarshal([]byte(text), &v) != nil {
			return nil
		}
		raw, _ := json.Marshal(v) // nothing where there is no JSON for it
		text = string(raw)
	}
	v := gjson.Parse(text)
	if !v.IsArray() {
		v = gjson.Parse("[" + text + "]")
	}
	for _, c := range v.Array() {
		if c.Get("name").Str == "" {
			return nil
		}
		input := callOf("", "", c.Get("arguments"))["input"].(json.RawMessage)
		calls = append(calls, fields{"type": "function", "function": fields{"name": c.Get("name").Str, "arguments": string(input)}})
	}
	return calls
}

// maxPython is how many bytes a call may have that is no JSON: what reads it compares each key with every other one.
const maxPython = 64 << 10
