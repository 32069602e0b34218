package trace

import (
	_ "embed" // what the payloads mean
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Member is a member of what events of a kind hold.
type Member struct {
	Name string
	// Type is text, number, microseconds, bool, list or object.
	Type string
	// Optional members are left out of the line where they are empty.
	Optional bool
}

// KindInfo describes the events of a kind. A kind whose events hold one thing or another
// has an entry for each.
type KindInfo struct {
	Kind    Kind
	About   string
	Members []Member
}

//go:embed payloads.txt
var payloadTexts string

// Kinds lists every kind with its members, in about the order of a turn.
func Kinds() []KindInfo {
	all := make([]KindInfo, len(payloads))
	for i, p := range payloads {
		t := reflect.Indirect(reflect.ValueOf(p)).Type()
		_, after, _ := strings.Cut(payloadTexts, "\n"+t.Name()+": ")
		about, _, _ := strings.Cut(after, "\n")
		all[i] = KindInfo{Kind: p.kind(), About: about}
		for _, f := range fieldsOf(t) {
			all[i].Members = append(all[i].Members, f.Member)
		}
	}
	return all
}

// Names lists the kinds, each once, in the order of Kinds.
func Names() []Kind {
	var names []Kind
	for _, p := range payloads {
		if kind := p.kind(); !slices.Contains(names, kind) {
			names = append(names, kind)
		}
	}
	return names
}

// field is a member and where it stands in its struct.
type field struct {
	Member
	index []int
}

// fields keeps the members of each type of payload.
var fields sync.Map // reflect.Type to []field

func fieldsOf(t reflect.Type) []field {
	if known, ok := fields.Load(t); ok {
		return known.([]field)
	}
	var all []field
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("trace"), ",")
		if name != "" {
			all = append(all, field{Member{name, typeOf(f.Type), option == "omitempty"}, f.Index})
		}
	}
	fields.Store(t, all)
	return all
}

func typeOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "microseconds"
	case t.Kind() == reflect.Int:
		return "number"
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Slice:
		return "list"
	}
	return "object"
}

// text is a member's value as Get gives it.
func (f field) text(v reflect.Value) string {
	v = v.FieldByIndex(f.index)
	switch f.Type {
	case "text":
		return v.String()
	case "bool":
		return strconv.FormatBool(v.Bool())
	case "number", "microseconds":
		return strconv.FormatInt(f.number(v), 10)
	}
	if t, ok := v.Interface().(Touches); ok && t.Everything {
		return "everything"
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return "null" // the payloads hold nothing that does not encode
	}
	return string(raw)
}

func (f field) number(v reflect.Value) int64 {
	if f.Type == "microseconds" {
		return time.Duration(v.Int()).Microseconds()
	}
	return v.Int()
}

// Get gives the text of a member, as it stands in the canonical line without its quotes;
// "" for one that is not there.
func (e Event) Get(member string) string {
	if e.Data == nil {
		return ""
	}
	v := reflect.Indirect(reflect.ValueOf(e.Data))
	for _, f := range fieldsOf(v.Type()) {
		if f.Name == member {
			return f.text(v)
		}
	}
	return ""
}

// appendMembers writes the members of data as in a canonical line.
func appendMembers(buf []byte, data Data) []byte {
	if data == nil {
		return buf
	}
	v := reflect.Indirect(reflect.ValueOf(data))
	for _, f := range fieldsOf(v.Type()) {
		if f.Optional && v.FieldByIndex(f.index).IsZero() {
			continue
		}
		buf = append(append(append(buf, ' '), f.Name...), '=')
		switch f.Type {
		case "number", "microseconds":
			buf = strconv.AppendInt(buf, f.number(v.FieldByIndex(f.index)), 10)
		default:
			buf = appendQuoted(buf, f.text(v))
		}
	}
	return buf
}

// appendQuoted is strconv.AppendQuote, which looks at each character by itself: most stand
// in the line as they are, and are copied as one run.
func appendQuoted(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for len(s) > 0 {
		n := 0
		for n < len(s) && ' ' <= s[n] && s[n] <= '~' && s[n] != '"' && s[n] != '\\' {
			n++
		}
		buf, s = append(buf, s[:n]...), s[n:]
		if s == "" {
			break
		}
		_, size := utf8.DecodeRuneInString(s)
		var quoted [16]byte
		one := strconv.AppendQuote(quoted[:0], s[:size])
		buf, s = append(buf, one[1:len(one)-1]...), s[size:]
	}
	return append(buf, '"')
}
