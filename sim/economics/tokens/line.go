package tokens

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// noSchema stands in for a schema that is missing.
const noSchema = `{}`

// hintLength is where a description that stands in for a hint is cut, in characters.
const hintLength = 100

// whole is the line of a tool that is sent whole.
func (t Tool) whole() string {
	return `<function>{"description":` + quoted(t.Description) + `,"name":` + quoted(t.Name) + `,"parameters":` + t.Schema + "}</function>\n"
}

// named is the line of a tool that goes by its name.
func (t Tool) named() string { return t.Name + "\n" }

// hinted is the line with the name and what the tool is good for.
func (t Tool) hinted() string { return t.Name + ": " + t.hint() + "\n" }

func (t Tool) hint() string {
	if t.Hint != "" {
		return t.Hint
	}
	text, _, _ := strings.Cut(t.Description, "\n")
	text, _, _ = strings.Cut(text, ". ")
	if utf8.RuneCountInString(text) > hintLength {
		text = string([]rune(text)[:hintLength])
	}
	return text
}

// quoted is a JSON string with nothing escaped that need not be.
func quoted(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return `""`
	}
	text := strings.TrimSuffix(out.String(), "\n")
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(text)
}

// schemaOf writes a schema compactly, the members in their order and characters
// unescaped. missing says that there is none.
func schemaOf(schema any) (text string, missing bool) {
	raw, ok := schema.(json.RawMessage)
	if !ok && schema != nil {
		var err error
		if raw, err = json.Marshal(schema); err != nil {
			return noSchema, true
		}
	}
	if len(raw) == 0 || string(raw) == "null" {
		return noSchema, true
	}
	var out strings.Builder
	compact(&out, raw)
	return out.String(), false
}

// compact copies valid JSON without blanks, its strings unescaped where they can be.
func compact(out *strings.Builder, raw []byte) {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			end := stringEnd(raw, i)
			var s string
			if json.Unmarshal(raw[i:end], &s) == nil {
				out.WriteString(quoted(s))
			}
			i = end
		default:
			out.WriteByte(c)
			i++
		}
	}
}

// stringEnd is where the string that begins at i is over.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(raw))
}
