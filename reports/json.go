package reports

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The files are derived from the types of the JSON reports and their tags: run
// `go test ./reports -update`.
//
//go:embed *.schema.json
var schemas embed.FS

// SchemaNames are the names of the published schemas, sorted: each is the command
// whose --format json it describes.
func SchemaNames() []string {
	entries, err := schemas.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("the embedded schemas cannot be listed: %s", err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".schema.json"))
	}
	return names
}

// Schema is the JSON Schema (2020-12) of what a command writes with --format json. A
// name that is not in SchemaNames is a programmer's mistake and panics.
func Schema(name string) []byte {
	data, err := schemas.ReadFile(name + ".schema.json")
	if err != nil {
		panic(fmt.Sprintf("there is no schema %q", name))
	}
	return data
}

// ms writes a duration as a number of milliseconds.
type ms time.Duration

// MarshalJSON is exact: a float would round, and turn small ones into 1e-06.
func (d ms) MarshalJSON() ([]byte, error) { return []byte(millis(time.Duration(d))), nil }

// share writes a percentage with at most four decimals.
type share float64

// MarshalJSON never fails: what is no number is 0.
func (p share) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, rounded(float64(p), 1e4), 'f', -1, 64), nil
}

// printJSON writes a value as indented JSON that is safe to print. Lists are never null.
func printJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(listed(reflect.ValueOf(value)).Interface()); err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	// "##[" is a command to GitHub's log wherever it stands in a line.
	_, err := w.Write(bytes.ReplaceAll(printable(b.Bytes()), []byte("##["), []byte(`#\u0023[`)))
	return err
}

// printable escapes, in JSON, the characters that the encoder lets through and a
// terminal may obey. They can stand in strings only, where an escape means the same.
func printable(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n' || Harmless(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

// listed is a copy of a value in which no list is nil, at any depth.
func listed(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(listed(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if t := v.Type().Field(i); t.IsExported() && t.Tag.Get("json") != "-" {
				out.Field(i).Set(listed(v.Field(i)))
			}
		}
		return out
	case reflect.Map:
		out := reflect.MakeMap(v.Type())
		for key, value := range v.Seq2() {
			out.SetMapIndex(key, listed(value))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(listed(v.Elem()))
		return out
	}
	return v
}
