package schema_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type named struct {
	Name string `json:"name,omitempty"`
}

// every has a member of each kind that is filled in place, and of each that is left to
// encoding/json.
type every struct {
	Text    string            `json:"text,omitempty"`
	Flag    bool              `json:"flag,omitempty"`
	Int     int               `json:"int,omitempty"`
	Tiny    int8              `json:"tiny,omitempty"`
	Size    uint16            `json:"size,omitempty"`
	Ratio   float64           `json:"ratio,omitempty"`
	Rough   float32           `json:"rough,omitempty"`
	List    []string          `json:"list,omitempty"`
	Rows    [][]int           `json:"rows,omitempty"`
	Inner   named             `json:"inner,omitzero"`
	Inners  []named           `json:"inners,omitempty"`
	Pointer *int              `json:"pointer"`
	Far     *named            `json:"far"`
	Any     any               `json:"any,omitempty"`
	Map     map[string]int    `json:"map,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Bytes   []byte            `json:"bytes,omitempty"`
	At      time.Time         `json:"at,omitzero"`
	Pair    [2]int            `json:"pair,omitzero"`
	Deep    map[string]*named `json:"deep,omitempty"`
	Skipped string            `json:"-"`
	Plain   string
}

// Decoding in place gives what encoding/json gives, for all that the schema accepts.
func TestDecodingInPlaceAgreesWithGo(t *testing.T) {
	s := derived[every](t)
	values := map[string][]string{
		"text": {`""`, `"a"`, `"a\"b"`, `"\u00e9\ud83d"`, "\"\xff\"", `"` + strings.Repeat("long ", 200) + `"`}, "flag": {"true", "false"},
		"int": {"0", "-0", "-7", "123456789012345678", "1234567890123456789", "99999999999999999999", "2.0", "1e2"}, "tiny": {"127", "-128", "128"}, "size": {"0", "65535", "65536", "-1"},
		"ratio": {"0", "-0", "1.5", "1e300", "12345678901234567890"}, "rough": {"0.1", "1e39", "16777217"}, "list": {"[]", `["a","b\n"]`, "[ ]"}, "rows": {"[]", "[[],[1, 2]]"},
		"inner": {"{}", `{"name":"x"}`, `{"NAME":"x"}`}, "inners": {`[{"name":"x"},{}]`}, "pointer": {"null", "5", "1.0"}, "far": {"null", `{"name":"x"}`},
		"any": {"null", `{"a":[1]}`, `"x"`}, "map": {`{"a":1}`, "{}"}, "raw": {`{"a": 1}`, "[]", "null"}, "bytes": {`"YQ=="`, `"%"`},
		"at": {`"2026-11-22T00:00:00Z"`, `"soon"`}, "pair": {"[1,2]", "[1]"}, "deep": {`{"a":{"name":"x"},"b":null}`}, "Plain": {`"x"`},
	}
	names := rapid.SampledFrom([]string{
		"text", "flag", "int", "tiny", "size", "ratio", "rough", "list", "rows", "inner", "inners", "any", "map", "raw", "bytes", "at", "pair", "deep", "plain", "-",
	})
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		members := []string{}
		for _, name := range append([]string{"pointer", "far", "Plain"}, rapid.SliceOfNDistinct(names, 0, 4, rapid.ID).Draw(t, "names")...) {
			members = append(members, `"`+name+`" : `+rapid.SampledFrom(append(slices.Repeat(values[name], 8), "1")).Draw(t, name))
		}
		raw := json.RawMessage(" {" + strings.Join(members, " ,") + "}\n")
		got, problems := decode[every](s, raw)
		if !s.Accepts(raw) || len(problems) > 0 {
			assert.True(t, len(problems) == 0 || len(s.Examine(raw)) > 0 || problems[0].Keyword == "decode", "%s %v", raw, problems)
			return
		}
		var want every
		if json.Unmarshal(raw, &want) == nil {
			accepted++
			require.Equal(t, want, got, "%s", raw)
		}
	})
	assert.NotZero(t, accepted)
}

// A value that was decoded is not changed by the next.
func TestDecodedValuesAreApart(t *testing.T) {
	s := derived[editInput](t)
	first, problems := decode[editInput](s, json.RawMessage(`{"file_path":"/a","edits":[{"old_string":"x","new_string":"y"}],"parent":"p"}`))
	require.Empty(t, problems)
	second, problems := decode[editInput](s, json.RawMessage(`{"file_path":"/b","edits":[{"old_string":"z","new_string":""}],"parent":null}`))
	require.Empty(t, problems)
	assert.Equal(t, "/a", first.FilePath)
	assert.Equal(t, []edit{{Old: "x", New: "y"}}, first.Edits)
	assert.Equal(t, "p", *first.Parent)
	assert.Equal(t, []edit{{Old: "z"}}, second.Edits)
	assert.Nil(t, second.Parent)
}

// What is read into a type in one pass is refused for all that its schema forbids.
func TestDecodingInPlaceRefusesWhatTheSchemaForbids(t *testing.T) {
	type item struct {
		Name string `json:"name" minLength:"1"`
	}
	type input struct {
		Kind  string   `json:"kind" enum:"a,b"`
		Count int      `json:"count,omitempty" minimum:"1" maximum:"9"`
		Words []string `json:"words,omitempty" minItems:"1" maxItems:"2"`
		Items []item   `json:"items,omitempty" maxItems:"2"`
	}
	s := derived[input](t)
	for raw, keyword := range map[string]string{
		`{}`: "required", `{"kind":"c"}`: "enum", `{"kind":"a","kind":"a"}`: "duplicate", `{"kind":"a","more":1}`: "additionalProperties",
		`{"kind":"a","count":0}`: "minimum", `{"kind":"a","count":10}`: "maximum", `{"kind":"a","words":[]}`: "minItems",
		`{"kind":"a","words":["x","y","z"]}`: "maxItems", `{"kind":"a","items":[{"name":"x"},{"name":"y"},{"name":"z"}]}`: "maxItems",
		`{"kind":"a","items":[{}]}`: "required", `{"kind":"a","items":[{"name":""}]}`: "minLength", `{"kind":"a","words":["x",1]}`: "type",
		`{"kind":"a"} {}`: "json", `{"kind":null}`: "type", `{"kind":"a","count":true}`: "type", `{"kind":"a","words":{}}`: "type",
	} {
		_, problems := decode[input](s, json.RawMessage(raw))
		if assert.NotEmpty(t, problems, raw) {
			assert.Equal(t, keyword, problems[0].Keyword, raw)
		}
	}
	v, problems := decode[input](s, json.RawMessage(`{"items":[{"name":"x"},{"name":"y"}],"words":["x","y"],"count":9,"kind":"b"}`))
	assert.Empty(t, problems)
	assert.Equal(t, input{"b", 9, []string{"x", "y"}, []item{{"x"}, {"y"}}}, v)
}
