package reports

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"toolbench/toolsys/schema"
)

// The files are derived from the types of the JSON reports and their tags: run
// `go test ./reports -update`.
//
//go:embed *.schema.json
var schemas embed.FS

// The versions of the JSON reports; Version is that of run and try, the others are named after
// their commands. One changes when a field goes or changes its meaning; fields may be added
// within a version.
const (
	CacheVersion   = 1
	CompareVersion = 1
	DriftVersion   = 1
	FuzzVersion    = 2
	InitVersion    = 1
	ListVersion    = 1
	RecordVersion  = 1
	ReplayVersion  = 1
	RulesVersion   = 1
	Version        = 1
	SearchVersion  = 1
	ServeVersion   = 2
	TokensVersion  = 1
	UpgradeVersion = 1
)

// SchemaNames are the names of the published schemas, sorted: each is the command
// whose --format json it describes.
func SchemaNames() []string {
	entries, err := schemas.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("the embedded schemas cannot be listed: %s", err))
	}
	return each(entries, func(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), ".schema.json") })
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

// share writes a percentage, or another figure, with at most four decimals.
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
		if r == '\n' || Harmless(r) {
			out = append(out, text[:n]...)
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
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

// Stored is a JSON report that was read back. Command is the one that wrote it; try
// writes the report of run.
type Stored struct {
	Command string
	doc     any
}

// storable are the reports that can be read back: a member that no other has, and the
// type that writes it. Their order decides where two fit.
var storable = []struct {
	command string
	members []string
	version int
	read    func([]byte) (any, error)
}{
	{"run", []string{"outcomes", "totals"}, Version, decoded[runJSON]},
	{"tokens", []string{"full_tokens"}, TokensVersion, decoded[tokensJSON]},
	{"cache", []string{"orderings", "prices"}, CacheVersion, decoded[cacheJSON]},
	{"cache", []string{"recordings", "prices"}, CacheVersion, decoded[recordedCacheJSON]},
	{"replay", []string{"recordings", "skipped"}, ReplayVersion, decoded[replayJSON]},
	{"search", []string{"rankers", "queries"}, SearchVersion, decoded[standingsJSON]},
	{"fuzz", []string{"engine", "goals"}, FuzzVersion, decoded[fuzzJSON]},
	{"search", []string{"rankers", "query"}, SearchVersion, decoded[findingsJSON]},
}

func decoded[T any](data []byte) (any, error) {
	var doc T
	err := json.Unmarshal(data, &doc)
	return doc, err
}

// ErrNotReport is what is no JSON report of this program.
var ErrNotReport = errors.New("no JSON report of toolbench; write one with --format json=FILE")

// Read reads a JSON report back. It is held against its published schema, so that an
// error names the place.
func Read(data []byte) (Stored, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at := syntax.Offset - min(1, int64(len(data))-syntax.Offset) // behind the byte, unless the end came too early
			return Stored{}, fmt.Errorf("line %d: %w: %w", 1+strings.Count(string(data[:at]), "\n"), ErrNotReport, err)
		}
		return Stored{}, ErrNotReport
	}
	for _, kind := range storable {
		if slices.ContainsFunc(kind.members, func(m string) bool { return members[m] == nil }) {
			continue
		}
		if text := strings.TrimSpace(string(members["version"])); text != fmt.Sprint(kind.version) {
			return Stored{}, fmt.Errorf("version: a report of %s has version %d here, not %s; write it again with this program",
				kind.command, kind.version, Safe(cmp.Or(text, "none")))
		}
		if err := fits(kind.command, data); err != nil {
			return Stored{}, err
		}
		doc, err := kind.read(data)
		if err != nil {
			return Stored{}, fmt.Errorf("%w: %w", ErrNotReport, err)
		}
		return Stored{kind.command, doc}, nil
	}
	return Stored{}, fmt.Errorf("%w: it has members of none of run, replay, tokens, cache, search, fuzz, try", ErrNotReport)
}

// fits holds a report against the published schema of its command.
func fits(command string, data []byte) error {
	s, err := schema.Compile(Schema(command))
	if err != nil {
		return fmt.Errorf("the schema of %s cannot be used: %w", command, err)
	}
	problems := s.Validate(data)
	if len(problems) == 0 {
		return nil
	}
	first := problems[0]
	more := ""
	if n := len(problems) - 1; n > 0 {
		more = " (and " + plural(n, "problem", "problems") + " more)"
	}
	return fmt.Errorf("%s: %s%s; write the report again with `toolbench %s --format json=FILE`", Safe(cmp.Or(first.Path, "the report")), Safe(first.Message), more, command)
}

// StoredOf is a report as it would be read back.
func StoredOf(command string, r Report) Stored { return Stored{command, r.document()} }

// Write writes a stored report as it was read.
func (s Stored) Write(w io.Writer) error { return printJSON(w, s.doc) }

// UnmarshalJSON reads a number of milliseconds back.
func (d *ms) UnmarshalJSON(data []byte) error {
	var number float64
	if err := json.Unmarshal(data, &number); err != nil {
		return err
	}
	*d = ms(int64(number*1e6 + math.Copysign(0.5, number)))
	return nil
}
