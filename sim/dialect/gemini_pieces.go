package dialect

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// pieces are a call of Gemini's whose arguments come in several: each piece names the place
// in the input and has its value, or more of a text.
type pieces struct {
	id, name, signature string
	args                any
	// broken: a piece had no place.
	broken bool
}

func (c *pieces) add(list gjson.Result) {
	for _, p := range list.Array() {
		path, ok := pathOf(Either(p, "jsonPath", "json_path").String())
		if !ok {
			c.broken = true
			continue
		}
		var value any
		for _, member := range []string{"stringValue", "string_value", "numberValue", "number_value", "boolValue", "bool_value"} {
			switch v := p.Get(member); v.Type {
			case gjson.Number:
				value = json.RawMessage(v.Raw)
			case gjson.String, gjson.True, gjson.False:
				value = v.Value()
			}
		}
		c.args, ok = put(c.args, path, value)
		c.broken = c.broken || !ok
	}
}

func (c *pieces) input() json.RawMessage {
	if c.args == nil {
		return json.RawMessage("{}")
	}
	return JSON(c.args)
}

// put sets the value at a path; a text is added to one that is there. Ok is false where the
// path contradicts an earlier one, or leaves a place of a list out.
func put(in any, path []any, value any) (out any, ok bool) {
	if len(path) == 0 {
		was, isText := in.(string)
		if more, adds := value.(string); adds && isText {
			return was + more, true
		}
		return value, in == nil || !isText
	}
	switch key := path[0].(type) {
	case string:
		object, is := in.(map[string]any)
		if in == nil {
			object, is = map[string]any{}, true
		}
		if !is {
			return in, false
		}
		object[key], ok = put(object[key], path[1:], value)
		return object, ok
	case int:
		list, is := in.([]any)
		if in != nil && !is || key > len(list) {
			return in, false
		}
		if key == len(list) {
			list = append(list, nil)
		}
		list[key], ok = put(list[key], path[1:], value)
		return list, ok
	}
	return in, false
}

// maxPath bounds how deep a path leads.
const maxPath = 100

// pathOf reads the simple kind of JSONPath that leads to one place: $.a.b[0]['c d'].
func pathOf(text string) (path []any, ok bool) {
	rest, ok := strings.CutPrefix(text, "$")
	for ; ok && rest != "" && len(path) < maxPath; ok = ok && len(path) > 0 {
		if name, dotted := strings.CutPrefix(rest, "."); dotted {
			end := strings.IndexAny(name, ".[")
			if end < 0 {
				end = len(name)
			}
			path, rest, ok = append(path, name[:end]), name[end:], end > 0
			continue
		}
		quote, end := "", strings.Index(rest, "]")
		if len(rest) > 1 && strings.ContainsRune(`'"`, rune(rest[1])) {
			quote = rest[1:2]
			end = strings.Index(rest, quote+"]") + 1
		}
		if rest[0] != '[' || end < 1+2*len(quote) {
			return nil, false
		}
		inner := rest[1+len(quote) : end-len(quote)]
		rest = rest[end+1:]
		if quote != "" {
			path = append(path, inner)
			continue
		}
		n, err := strconv.Atoi(inner)
		path, ok = append(path, n), err == nil && n >= 0
	}
	return path, ok && rest == "" && len(path) > 0
}
