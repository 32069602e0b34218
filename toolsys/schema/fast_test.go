package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/schema"
)

// The fast path may answer "surely valid" only where the validator agrees; the
// schemas combine keywords it supports with others.
func TestTheFastPathNeverAcceptsWhatTheValidatorRefuses(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		raw := `{"type":"object","properties":{"a":` + drawSchema(t, 3) + `,"b":` + drawSchema(t, 2) + `}` + drawObjectTail(t) + `}`
		s, err := schema.Compile(json.RawMessage(raw))
		require.NoError(t, err, raw)
		for range 8 {
			input := json.RawMessage(drawInput(t))
			problems := s.Examine(input)
			if s.Accepts(input) {
				accepted++
				require.Empty(t, problems, "schema %s input %s", raw, input)
			}
			if len(problems) > 0 {
				refused++
			}
			require.Equal(t, problems, s.Validate(input), "both paths have one verdict")
		}
	})
	assert.NotZero(t, accepted, "the property must have met what the fast path takes")
	assert.NotZero(t, refused)
}

func drawSchema(t *rapid.T, depth int) string {
	kinds := []string{
		`true`, `{}`, `{"type":"string"}`, `{"type":"integer"}`, `{"type":"number"}`, `{"type":["null","boolean"]}`,
		`{"type":"string","enum":["x","y",""]}`, `{"enum":["x",1]}`, `{"type":["string","null","integer"],"enum":["x","y"]}`, `{"type":"object"}`, `{"type":"array"}`, `{"type":"integer","minimum":-1,"maximum":3}`,
		`{"minimum":0}`, `{"type":"number","maximum":0.5}`, `{"type":"string","minLength":1,"maxLength":2}`,
		`{"type":"string","format":"date"}`, `{"pattern":"x"}`, `{"const":1}`, `{"x-note":1,"type":"boolean"}`, `false`,
	}
	if depth > 0 {
		inner := drawSchema(t, depth-1)
		kinds = append(kinds,
			`{"type":"array","items":`+inner+`,"minItems":1,"maxItems":2}`,
			`{"items":`+inner+`,"uniqueItems":true}`,
			`{"type":"object","additionalProperties":`+inner+`}`,
			`{"type":"object","properties":{"a":`+inner+`,"c":`+inner+`}`+drawObjectTail(t)+`}`,
			`{"anyOf":[`+inner+`,{"type":"null"}]}`)
	}
	return rapid.SampledFrom(kinds).Draw(t, "schema")
}

func drawObjectTail(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		``, `,"additionalProperties":false`, `,"required":["a"]`, `,"required":["a","z"]`,
		`,"required":["a"],"additionalProperties":false`, `,"additionalProperties":{"type":"string"}`,
		`,"minProperties":1`, `,"$comment":"c","title":"t"`,
	}).Draw(t, "tail")
}

// drawInput writes JSON as a careless model would: names twice, names in
// another case, odd numbers, and now and then a cut.
func drawInput(t *rapid.T) string {
	text := `{"a":` + drawValue(t, 3) + drawMembers(t, 2) + `}`
	if rapid.IntRange(0, 19).Draw(t, "cut") == 0 {
		text = text[:rapid.IntRange(0, len(text)).Draw(t, "at")]
	}
	return text
}

func drawMembers(t *rapid.T, depth int) string {
	var b strings.Builder
	for range rapid.IntRange(0, 2).Draw(t, "members") {
		name := rapid.SampledFrom([]string{"a", "b", "c", "A", "", "\\u0061", "é"}).Draw(t, "name")
		b.WriteString(`,"` + name + `":` + drawValue(t, depth))
	}
	return b.String()
}

func drawValue(t *rapid.T, depth int) string {
	leaves := []string{
		`null`, `true`, `false`, `0`, `-0`, `1`, `2`, `4`, `-3`, `1.0`, `0.25`, `1e2`, `1E-1`, `1e999`, `12345678901234567890`,
		`""`, `"x"`, `"y"`, `"xyz"`, `"\u0078"`, `"天气"`, `"\ud800"`, "\"\xff\"", `"2024-01-01"`, `[]`, `{}`,
	}
	if depth > 0 {
		leaves = append(leaves,
			`[`+drawValue(t, depth-1)+`,`+drawValue(t, depth-1)+`]`,
			`{"c":`+drawValue(t, depth-1)+drawMembers(t, depth-1)+`}`,
			` {"a" : `+drawValue(t, depth-1)+"\n}")
	}
	return rapid.SampledFrom(leaves).Draw(t, "value")
}

func TestCommonSchemasTakeTheFastPath(t *testing.T) {
	s := derived[editInput](t)
	for _, input := range []string{
		`{"file_path":"/a","parent":null}`,
		` { "file_path" : "/a\n" , "parent":"p", "edits":[{"old_string":"a","new_string":"b","replace_all":true}], "limit":5, "ratio":0.5, "mode":"loose", "tags":["red"], "env":{"A":1}, "extra":{"any":[1,null]} } `,
	} {
		assert.True(t, s.Accepts(json.RawMessage(input)), input)
	}
	for _, input := range []string{
		`{"file_path":"/a"}`, `{"file_path":"/a","parent":null,"parent":null}`, `{"file_path":"/a","parent":null} x`,
		`{"file_path":"/a","parent":null,"extra":{"x":1,"x":2}}`, `{"file_path":"/a","parent":null,"limit":01}`,
	} {
		assert.False(t, s.Accepts(json.RawMessage(input)), input)
	}
}

func TestTheFastPathDoesNotAllocate(t *testing.T) {
	s := derived[fiveFields](t)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if !s.Accepts(fiveFieldsInput) {
			t.Fatal("not accepted")
		}
	}))
}
