package message

import (
	"bytes"
	"encoding/json"
)

// appendCompact adds raw without white space; nothing at all counts as {}.
func appendCompact(buf []byte, raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return append(buf, "{}"...), nil
	}
	out := bytes.NewBuffer(buf)
	if err := json.Compact(out, raw); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// appendQuoted adds s as a JSON string, without the escapes meant for HTML, so
// that what a person wrote stays readable in a cassette.
func appendQuoted(buf []byte, s string) []byte {
	if plain(s) {
		return append(append(append(buf, '"'), s...), '"')
	}
	out := bytes.NewBuffer(buf)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return append(buf, `""`...) // a string always encodes
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// plain says that s needs no escape: most strings do not, and the encoder is the
// slowest part of writing a request.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func quote(s string) []byte { return appendQuoted(nil, s) }

// marshalMembers writes an object, its members sorted: stable bytes.
func marshalMembers(members map[string]json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(members); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
