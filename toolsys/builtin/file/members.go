package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// members is a JSON object that keeps the order of its members and the bytes of
// their values: what an edit does not touch must not change.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads one object.
func (m *members) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	*m = nil
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		next := member{name: name.(string)} // a member's name is always a string
		if err := d.Decode(&next.value); err != nil {
			return err
		}
		*m = append(*m, next)
	}
	return nil
}

// MarshalJSON writes the object compactly.
func (m members) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, each := range m {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, plainJSON(each.name)...), ':')
		out = append(out, each.value...)
	}
	return append(out, '}'), nil
}

func (m members) get(name string) json.RawMessage {
	for _, each := range m {
		if each.name == name {
			return each.value
		}
	}
	return nil
}

// set replaces a member's value, or adds the member where the names stay sorted
// if they are: nbformat writes them so.
func (m *members) set(name string, value any) {
	raw := plainJSON(value)
	for i, each := range *m {
		if each.name == name {
			(*m)[i].value = raw
			return
		}
	}
	at := slices.IndexFunc(*m, func(each member) bool { return each.name > name })
	if at < 0 {
		at = len(*m)
	}
	*m = slices.Insert(*m, at, member{name, raw})
}

func (m *members) drop(name string) {
	*m = slices.DeleteFunc(*m, func(each member) bool { return each.name == name })
}

// plainJSON is JSON without the escapes meant for HTML, as notebooks have it.
func plainJSON(v any) json.RawMessage {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null") // strings, lists and maps of them always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
