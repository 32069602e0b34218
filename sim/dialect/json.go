package dialect

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"toolbench/toolsys/jsonscan"
)

// object writes a JSON object of names and values, in their order. What is empty is left
// out: no bool, list or raw value, and no string that is not a text.
func object(pairs ...any) json.RawMessage {
	out := []byte("{")
	for i := 0; i < len(pairs); i += 2 {
		if isEmpty(pairs[i+1]) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, JSON(pairs[i])...), ':'), JSON(pairs[i+1])...)
	}
	return append(out, '}')
}

// text is a string that is written also when it is empty.
type text string

func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case json.RawMessage:
		return len(v) == 0
	case []json.RawMessage:
		return len(v) == 0
	}
	return false
}

// JSON writes a value, "null" where what is raw in it is no JSON. Signs of HTML stay as they are.
func JSON(v any) []byte {
	out, err := jsonscan.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return out
}

func raw(v gjson.Result) json.RawMessage { return json.RawMessage(v.Raw) }

// listOf is a list that is written also when it is empty.
func listOf(items []json.RawMessage) json.RawMessage {
	if len(items) == 0 {
		return json.RawMessage("[]")
	}
	return JSON(items)
}

func textBlock(s string) json.RawMessage { return object("type", "text", "text", text(s)) }

// each gives what f makes of each thing.
func each[T, U any](all []T, f func(T) U) (out []U) {
	for _, one := range all {
		out = append(out, f(one))
	}
	return out
}

// message is one message of a conversation.
func message(role string, blocks []json.RawMessage) json.RawMessage {
	return object("role", text(role), "content", listOf(blocks))
}

// count is a number of tokens at one of some paths, 0 without.
func count(v gjson.Result, paths ...string) int {
	for _, path := range paths {
		if c := v.Get(path); c.Type == gjson.Number && c.Num >= 0 && c.Num < 1e12 {
			return int(c.Num)
		}
	}
	return 0
}

// usage is the Messages API's, where the others count what the cache gave and took as input too, but for
// those where that is more than their input; nil where nothing was counted.
func usage(input, cached, written, output int) json.RawMessage {
	if input+cached+written+output == 0 {
		return nil
	}
	if cached+written <= input {
		input -= cached + written
	}
	return object("input_tokens", input, "cache_creation_input_tokens", written, "cache_read_input_tokens", cached, "output_tokens", output)
}
