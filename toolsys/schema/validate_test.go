package schema_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/schema"
)

func compiled(t testing.TB, raw string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(json.RawMessage(raw))
	require.NoError(t, err)
	return s
}

func derived[T any](t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.LazyOf(reflect.TypeFor[T]()).Schema()
	require.NoError(t, err)
	return s
}

func messages(ps schema.Problems) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Message)
	}
	return out
}

// wrap makes a tool schema whose one parameter x has the given schema.
func wrap(x string) string { return `{"type":"object","properties":{"x":` + x + `}}` }

// doubling is a schema of n rules, each of which refers to the next one twice.
func doubling(keyword string, n int, last string) string {
	var defs strings.Builder
	for i := range n {
		fmt.Fprintf(&defs, `"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%[3]d"}]},`, i, keyword, i+1)
	}
	return fmt.Sprintf(`{"type":"object","$ref":"#/$defs/d0","$defs":{%s"d%d":%s}}`, defs.String(), n, last)
}

// A server's schema of a few lines kept the validator at work for years, and nothing could stop it.
func TestASchemaCannotKeepTheValidatorAtWork(t *testing.T) {
	const deep, refusal = `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}}}}}}}}`, "The input cannot be checked: "
	all := make([]string, 12)
	for i := range all {
		all[i] = fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i)
	}
	var knot strings.Builder
	for i := range all {
		fmt.Fprintf(&knot, `"d%d":{"anyOf":[%s]},`, i, strings.Join(all, ","))
	}
	for name, c := range map[string]struct{ schema, input string }{
		"escaped":        {strings.ReplaceAll(doubling("allOf", 40, `{}`), "$ref", `\u0024\u0072\u0065\u0066`), `{"x":1}`},
		"all of":         {doubling("allOf", 40, `{}`), `{"x":1}`},
		"any of":         {doubling("anyOf", 40, `{"required":["y"]}`), `{"x":1}`},
		"one of":         {doubling("oneOf", 40, `{"required":["y"]}`), `{"x":1}`},
		"by members":     {`{"type":"object","properties":{"a":{"allOf":[` + strings.Repeat(`{"$ref":"#"},`, 9) + `{"$ref":"#"}]}},"not":{"required":["b"]}}`, deep},
		"in one another": {`{"type":"object","$ref":"#/$defs/d0","$defs":{` + knot.String() + `"e":{}}}`, `{"x":1}`},
	} {
		problems := compiled(t, c.schema).Validate(json.RawMessage(c.input))
		if assert.Len(t, problems, 1, name) {
			assert.Equal(t, "schema", problems[0].Keyword, name)
			assert.Contains(t, problems[0].Message, refusal, name)
		}
	}
	for name, c := range map[string]struct{ schema, input string }{
		"a few":         {doubling("allOf", 10, `{"required":["x"]}`), `{"x":1}`},
		"by members":    {`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}},"not":{"required":["b"]}}`, deep},
		"many values":   {`{"type":"object","properties":{"x":{"items":{"$ref":"#/$defs/n"}}},"$defs":{"n":{"anyOf":[{"type":"null"},{"type":"string"},{"oneOf":[{"type":"number"},{"type":"boolean"}]}]}}}`, `{"x":[` + strings.Repeat("1,", 50_000) + `1]}`},
		"a wide choice": {`{"type":"object","anyOf":[` + strings.Repeat(`{"required":["y"]},`, 5_000) + `{"required":["x"]}]}`, `{"x":1}`},
	} {
		assert.Empty(t, compiled(t, c.schema).Validate(json.RawMessage(c.input)), name)
	}
}

func TestEachProblemIsWordedForTheModel(t *testing.T) {
	cases := []struct{ name, schema, input, want string }{
		{"missing", `{"type":"object","required":["file_path"]}`, `{}`, `The required parameter "file_path" is missing`},
		{"unexpected", `{"type":"object","additionalProperties":false}`, `{"foo":1}`, `An unexpected parameter "foo" was provided`},
		{"type", wrap(`{"type":"integer"}`), `{"x":"3"}`, `The parameter "x" type is expected as "integer" but provided as "string"`},
		{"types", wrap(`{"type":["string","null"]}`), `{"x":3}`, `The parameter "x" type is expected as "null" or "string" but provided as "number"`},
		{"null", wrap(`{"type":"string"}`), `{"x":null}`, `The parameter "x" type is expected as "string" but provided as "null"`},
		{"root", `{"type":"object"}`, `[1]`, `The input's type is expected as "object" but provided as "array"`},
		{"null root", `{"type":"object"}`, `null`, `The input's type is expected as "object" but provided as "null"`},
		{"enum", wrap(`{"enum":["a","b",3]}`), `{"x":"c"}`, `The parameter "x" must be one of "a", "b", 3 but is "c"`},
		{"const", wrap(`{"const":"a"}`), `{"x":"b"}`, `The parameter "x" must be "a" but is "b"`},
		{"minimum", wrap(`{"minimum":1}`), `{"x":0.5}`, `The parameter "x" must be at least 1 but is 0.5`},
		{"maximum", wrap(`{"maximum":600000}`), `{"x":600001}`, `The parameter "x" must be at most 600000 but is 600001`},
		{"above", wrap(`{"exclusiveMinimum":1}`), `{"x":1}`, `The parameter "x" must be more than 1 but is 1`},
		{"below", wrap(`{"exclusiveMaximum":1}`), `{"x":1}`, `The parameter "x" must be less than 1 but is 1`},
		{"multiple", wrap(`{"multipleOf":2}`), `{"x":3}`, `The parameter "x" must be a multiple of 2 but is 3`},
		{"short", wrap(`{"minLength":3}`), `{"x":"天气"}`, `The parameter "x" must have at least 3 characters but has 2`},
		{"long", wrap(`{"maxLength":1}`), `{"x":"ab"}`, `The parameter "x" must have at most 1 character but has 2`},
		{"few", wrap(`{"minItems":1}`), `{"x":[]}`, `The parameter "x" must have at least 1 item but has 0`},
		{"many", wrap(`{"maxItems":0}`), `{"x":[1]}`, `The parameter "x" must have at most 0 items but has 1`},
		{"few members", wrap(`{"minProperties":1}`), `{"x":{}}`, `The parameter "x" must have at least 1 member but has 0`},
		{"many members", wrap(`{"maxProperties":0}`), `{"x":{"a":1}}`, `The parameter "x" must have at most 0 members but has 1`},
		{"pattern as written", wrap(`{"pattern":"^\\u00e4$"}`), `{"x":"b"}`, `The parameter "x" must match the pattern ^\u00e4$ but is "b"`},
		{"pattern", wrap(`{"pattern":"^a$"}`), `{"x":"b"}`, `The parameter "x" must match the pattern ^a$ but is "b"`},
		{"unique", wrap(`{"uniqueItems":true}`), `{"x":[1,2,1]}`, `The parameter "x" must not repeat an item, but items 0 and 2 are equal`},
		{"format in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"x":{"format":"date"}}}`, `{"x":"no"}`, `The parameter "x" is not a valid date: "no"`},
		{"dependent", `{"type":"object","dependentRequired":{"a":["b"]}}`, `{"a":1}`, `The input needs "b" when "a" is given`},
		{"dependencies", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","dependencies":{"a":["b"]}}`, `{"a":1}`, `The input needs "b" when "a" is given`},
		{"not", wrap(`{"not":{"type":"string"}}`), `{"x":"a"}`, `The parameter "x" has a form that is not allowed`},
		{"contains", wrap(`{"contains":{"type":"string"}}`), `{"x":[1]}`, `The parameter "x" lacks an item that it must contain`},
		{"name", wrap(`{"propertyNames":{"pattern":"^[a-z]+$"}}`), `{"x":{"A":1}}`, `The parameter name "A" is not allowed`},
		{"forbidden", wrap(`false`), `{"x":1}`, `An unexpected parameter "x" was provided`},
		{"unevaluated", `{"type":"object","properties":{"a":{}},"unevaluatedProperties":false}`, `{"b":1}`, `An unexpected parameter "b" was provided`},
		{"union of types", wrap(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), `{"x":3}`, `The parameter "x" type is expected as "string" or "null" but provided as "number"`},
		{"two forms match", wrap(`{"oneOf":[{"type":"number"},{"type":"integer"}]}`), `{"x":3}`, `The parameter "x" matches more than one of the allowed forms (1 and 2)`},
		{"reference", `{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}}`, `{"x":"3"}`, `The parameter "x" type is expected as "number" but provided as "string"`},
		{"generic", wrap(`{"maxContains":1,"contains":{"type":"integer"}}`), `{"x":[1,2]}`, `The parameter "x" is not valid: max 1 items required to match contains schema, but matched 2 items at 0 1`},
		{"cut off", `{"type":"object"}`, `{"a":`, `The input is not valid JSON: unexpected end of JSON input (at byte 5 of 5)`},
		{"nothing", `{"type":"object"}`, ``, `The input is not valid JSON: unexpected end of JSON input (at byte 0 of 0)`},
		{"trailing", `{"type":"object"}`, `{} {}`, `The input is not valid JSON: invalid character '{' after top-level value (at byte 4 of 5)`},
		{"duplicate", `{"type":"object"}`, `{"a":{"b":1,"\u0062":2}}`, `The parameter "a.b" was provided more than once`},
		{"outsize number", `{"type":"object"}`, `{"a":[1e999999999]}`, `The parameter "a[0]" is a number out of range`},
		{"long number", `{"type":"object"}`, `{"a":` + strings.Repeat("9", 500) + `}`, `The parameter "a" is a number out of range`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, []string{c.want}, messages(compiled(t, c.schema).Validate(json.RawMessage(c.input))))
		})
	}
}

func TestAllProblemsComeAtOnceInTheOrderOfTheirPlaces(t *testing.T) {
	input := json.RawMessage(`{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"","new_string":4},{"x y":1}],"limit":0,"mode":"odd","parent":"p","zeta":1,"tags":["red","green"]}`)
	want := []string{
		`The parameter "edits[1].new_string" type is expected as "string" but provided as "number"`,
		`The parameter "edits[1].old_string" must have at least 1 character but has 0`,
		`The required parameter "edits[2].new_string" is missing`,
		`The required parameter "edits[2].old_string" is missing`,
		`An unexpected parameter "edits[2]["x y"]" was provided`,
		`The required parameter "file_path" is missing`,
		`The parameter "limit" must be at least 1 but is 0`,
		`The parameter "mode" must be one of "strict", "loose" but is "odd"`,
		`The parameter "tags[1]" must be one of "red", "blue" but is "green"`,
		`An unexpected parameter "zeta" was provided`,
	}
	s := derived[editInput](t)
	for range 100 {
		require.Equal(t, want, messages(s.Validate(input)))
	}
	assert.Equal(t, "edits[1].new_string", s.Validate(input)[0].Path)
	assert.Equal(t, "type", s.Validate(input)[0].Keyword)
}

func TestIndexesSortAsNumbers(t *testing.T) {
	s := compiled(t, wrap(`{"items":{"type":"string"}}`))
	ps := s.Validate(json.RawMessage(`{"x":[0,"","",3,"","","","","","",10]}`))
	var places []string
	for _, p := range ps {
		places = append(places, p.Path)
	}
	assert.Equal(t, []string{"x[0]", "x[3]", "x[10]"}, places)
}

func TestTheClosestAlternativeIsExplained(t *testing.T) {
	s := compiled(t, wrap(`{"oneOf":[
		{"type":"object","properties":{"kind":{"const":"file"},"path":{"type":"string"}},"required":["kind","path"]},
		{"type":"object","properties":{"kind":{"const":"url"},"url":{"type":"string"}},"required":["kind","url"]}]}`))
	assert.Equal(t, []string{
		`The parameter "x" matches none of the 2 allowed forms; what the closest form lacks follows`,
		`The required parameter "x.url" is missing`,
	}, messages(s.Validate(json.RawMessage(`{"x":{"kind":"url"}}`))))
}

func TestALongListIsCutWithACount(t *testing.T) {
	var members []string
	for i := range 25 {
		members = append(members, fmt.Sprintf(`"p%02d":1`, i))
	}
	ps := compiled(t, `{"type":"object","additionalProperties":false}`).Validate(json.RawMessage("{" + strings.Join(members, ",") + "}"))
	lines := strings.Split(ps.String(), "\n")
	assert.Len(t, ps, 25)
	assert.Equal(t, "The input does not match the tool's schema:", lines[0])
	assert.Equal(t, `- An unexpected parameter "p00" was provided`, lines[1])
	assert.Equal(t, "... and 5 more", lines[21])
	assert.Empty(t, schema.Problems(nil).String())
}

func TestTheModelsOwnTextIsRepeatedSafelyAndBriefly(t *testing.T) {
	s := compiled(t, `{"type":"object","properties":{"x":{"enum":["a"]}},"additionalProperties":false}`)
	text := s.Validate(json.RawMessage(`{"x":"\u001b[31m` + strings.Repeat("é", 5000) + `","\u001b":1,"` + strings.Repeat("k", 5000) + `":1}`)).String()
	assert.NotContains(t, text, "\x1b")
	assert.Less(t, len(text), 1000)
}

func TestDeepInputIsRefusedNotRecursedInto(t *testing.T) {
	s := compiled(t, `{"type":"object"}`)
	deep := `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`
	assert.Equal(t, []string{"The input is not valid JSON: it nests deeper than 1000 levels"}, messages(s.Validate(json.RawMessage(deep))))
	assert.Len(t, s.Validate(json.RawMessage(strings.Repeat(`{"a":`, 1_000_000))), 1)
}

// Resolving takes the square of what is in a schema, and looking for a reference that leads nowhere reads
// all of it for each.
func TestASchemaCannotKeepTheCompilerAtWork(t *testing.T) {
	of := func(n int, member, last string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"m%d":%s,`, i, fmt.Sprintf(member, i))
		}
		_, err := schema.Compile(json.RawMessage(`{"type":"object","properties":{` + b.String() + `"z":` + last + `}}`))
		require.Error(t, err)
		return err.Error()
	}
	const nowhere, odd = `{"$ref":"#/nowhere"}`, `{"$ref":"#/properties/m%d/x","x":{}}`
	assert.Equal(t, "schema has about 20002 parts; at most 6000 are taken", of(20_000, `{"title":"%d"}`, `7`))
	assert.Equal(t, "schema has about 20003 parts; at most 6000 are taken", of(20_000, `true,"n%d":0`, `false`))
	assert.Equal(t, "schema has about 12002 parts; at most 6000 are taken", of(2000, odd, `7`))
	assert.Equal(t, 8, strings.Count(of(300, `{"$ref":"#/$defs/%d"}`, nowhere), "leads nowhere"))
	assert.Equal(t, schema.ErrRemoteReference.Error()+": b.json", of(300, `{"$ref":"#/$defs/%d"}`, `{"$ref":"b.json"}`))
	assert.Equal(t, "schema does not resolve, and of its references only 8 were followed to find out why",
		of(8, `{"$ref":"#/$defs/apart","title":"%d"}`, nowhere+`},"$defs":{"apart":{"$id":"apart"}`))
}

func TestASchemaThatCannotBeUsedIsAnError(t *testing.T) {
	cases := []struct{ name, raw, want string }{
		{"not JSON", `{"type":`, "not JSON"},
		{"array root", `{"type":"array"}`, schema.ErrRootNotObject.Error()},
		{"no type", `{"properties":{}}`, schema.ErrRootNotObject.Error()},
		{"boolean", `true`, schema.ErrRootNotObject.Error()},
		{"bad keyword", `{"type":"object","properties":{"x":{"type":"strnig"},"y":{"minimum":"1"}}}`, "schema does not resolve: it is not valid at properties.x.type, properties.y.minimum"},
		{"dangling reference", wrap(`{"$ref":"#/$defs/none"}`), "does not resolve"},
		{"dangling and remote", `{"type":"object","properties":{"a":{"$ref":"#/$defs/one"},"b":{"$ref":"b.json"},"c":{"$ref":"http://localhost/c"}}}`, schema.ErrRemoteReference.Error() + ": b.json, http://localhost/c"},
		{"several causes", `{"type":"object","properties":{"a":{"$ref":"#/$defs/one"},"b":{"$ref":"#/$defs/two"}}}`, `schema does not resolve: the reference #/$defs/one leads nowhere, the reference #/$defs/two leads nowhere`},
		{"file", wrap(`{"$ref":"file:///etc/passwd"}`), schema.ErrRemoteReference.Error() + ": file:///etc/passwd"},
		{"relative file", wrap(`{"$ref":"other.json"}`), schema.ErrRemoteReference.Error()},
		{"network", wrap(`{"$ref":"http://localhost:1/s.json#/a"}`), schema.ErrRemoteReference.Error() + ": http://localhost:1/s.json#/a"},
		{"foreign dialect", `{"$schema":"http://localhost:1/dialect","type":"object"}`, schema.ErrRemoteReference.Error()},
		{"look-ahead within", wrap(`{"pattern":"^a(?!b)"}`), "it is not valid at properties.x.pattern"},
		{"look-ahead in the first of two choices", wrap(`{"pattern":"^(?!a)b|c"}`), "it is not valid at properties.x.pattern"},
		{"look-ahead that is repeated", wrap(`{"pattern":"^(?!a)*b"}`), "it is not valid at properties.x.pattern"},
		{"look-ahead without end", wrap(`{"pattern":"^(?!a[)]b"}`), "it is not valid at properties.x.pattern"},
		{"look-ahead of a look-behind", wrap(`{"pattern":"^(?!(?<=a)b)c"}`), "it is not valid at properties.x.pattern"},
		{"look-ahead in a long pattern", wrap(`{"pattern":"^(?!a)` + strings.Repeat("(b)", 100) + `"}`), "it is not valid at properties.x.pattern"},
		{"look-behind", wrap(`{"pattern":"^a(?<!a)"}`), "it is not valid at properties.x.pattern"},
		{"outsize bound", wrap(`{"maximum":1e999999999}`), "out of range"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := schema.Compile(json.RawMessage(c.raw))
			require.ErrorContains(t, err, c.want)
			for range 30 {
				_, again := schema.Compile(json.RawMessage(c.raw))
				require.EqualError(t, again, err.Error())
			}
		})
	}
}

func TestDraftsFourToTwentyTwentyAreUnderstood(t *testing.T) {
	cases := []struct{ draft, x string }{
		{"http://json-schema.org/draft-04/schema#", `{"type":"number","minimum":1,"exclusiveMinimum":true}`},
		{"http://json-schema.org/draft-06/schema#", `{"type":"number","exclusiveMinimum":1}`},
		{"http://json-schema.org/draft-07/schema#", `{"if":{"type":"number"},"then":{"exclusiveMinimum":1}}`},
		{"https://json-schema.org/draft/2019-09/schema", `{"type":"number","exclusiveMinimum":1}`},
		{"https://json-schema.org/draft/2020-12/schema", `{"type":"number","exclusiveMinimum":1}`},
	}
	for _, c := range cases {
		t.Run(c.draft, func(t *testing.T) {
			s := compiled(t, `{"$schema":"`+c.draft+`","type":"object","properties":{"x":`+c.x+`}}`)
			assert.Empty(t, s.Validate(json.RawMessage(`{"x":2}`)))
			assert.Len(t, s.Validate(json.RawMessage(`{"x":1}`)), 1)
		})
	}
}

func TestUnicodeEscapesInPatternsAreECMAScripts(t *testing.T) {
	s := compiled(t, wrap(`{"pattern":"^[\\u4e00-\\u9fff]+$"}`))
	assert.Empty(t, s.Validate(json.RawMessage(`{"x":"天气"}`)))
	assert.NotEmpty(t, s.Validate(json.RawMessage(`{"x":"weather"}`)))
	for pattern, c := range map[string]struct{ fit, unfit string }{
		`^\\u{1F600}\\u2764$`:              {"😀❤", "u{1F600}"},
		`^\\ud83d\\ude00[\\uD83D\\uDE01]$`: {"😀😁", "\ufffd\ufffd"},
		`^\\\\u0061$`:                      {`\\u0061`, "a"},
	} {
		s := compiled(t, wrap(`{"pattern":"`+pattern+`"}`))
		assert.Empty(t, s.Validate(json.RawMessage(`{"x":"`+c.fit+`"}`)), pattern)
		assert.NotEmpty(t, s.Validate(json.RawMessage(`{"x":"`+c.unfit+`"}`)), pattern)
	}
}

// What keeps an input from the form whose tag it has is what its model must mend, however much that is.
func TestTheClosestFormIsTheOneWithTheInputsTag(t *testing.T) {
	for name, c := range map[string]struct{ forms, x, want string }{
		"a tag": {
			`{"properties":{"kind":{"const":"a"},"n":{"type":"string"}}},{"properties":{"kind":{"const":"b"},"n":{"type":"integer"}}}`,
			`{"kind":"b","n":"1"}`, `The parameter "x.n" type is expected as "integer" but provided as "string"`,
		},
		"a tag of a choice": {
			`{"properties":{"kind":{"enum":["b"]},"l":{"items":{"type":"integer"},"maxItems":2}}},{"properties":{"kind":{"enum":["a","c"]}}}`,
			`{"kind":"b","l":["1","2",3]}`, `The parameter "x.l" must have at most 2 items but has 3
The parameter "x.l[0]" type is expected as "integer" but provided as "string"
The parameter "x.l[1]" type is expected as "integer" but provided as "string"`,
		},
		"a kind": {
			`{"type":"string"},{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"boolean"}}}`,
			`{"a":"1","b":2.5}`, `The parameter "x.a" type is expected as "integer" but provided as "string"
The parameter "x.b" type is expected as "boolean" but provided as "number"`,
		},
		"a tag further within": {
			`{"properties":{"a":{"properties":{"kind":{"const":"a"}}}}},{"required":["b","c"]}`,
			`{"a":{"kind":"b"}}`, `The required parameter "x.b" is missing
The required parameter "x.c" is missing`,
		},
	} {
		s := compiled(t, wrap(`{"anyOf":[`+c.forms+`]}`))
		assert.Equal(t, c.want, strings.Join(messages(s.Validate(json.RawMessage(`{"x":` + c.x + `}`)))[1:], "\n"), name)
	}
}

// A space is for ECMAScript what Unicode takes for one, a byte order mark too; for RE2 it is one of five bytes.
func TestSpacesInPatternsAreECMAScripts(t *testing.T) {
	spans := [][2]rune{{0, 0x100}, {0x167f, 0x1681}, {0x180e, 0x180e}, {0x1fff, 0x2065}, {0x2fff, 0x3001}, {0xfefe, 0xff00}, {0x1f600, 0x1f600}}
	space := func(r rune) bool { return r >= '\t' && r <= '\r' || unicode.In(r, unicode.Z) || r == 0xfeff }
	for pattern, fits := range map[string]func(rune) bool{
		`^\s$`: space, `^[\s]$`: space, `^[^\S]$`: space,
		`^\S$`: func(r rune) bool { return !space(r) }, `^[^\s]$`: func(r rune) bool { return !space(r) }, `^[\S]$`: func(r rune) bool { return !space(r) },
		`^[\s\S]$`:        func(rune) bool { return true },
		`^[\]\s-_]$`:      func(r rune) bool { return space(r) || strings.ContainsRune("]-_", r) },
		`^[\S-\n]$`:       func(r rune) bool { return !space(r) || r == '\n' },
		`^(?!\s)[^a]$`:    func(r rune) bool { return !space(r) && r != 'a' },
		`^(?=[[\s])\D$`:   func(r rune) bool { return space(r) || r == '[' },
		`^\\s$|^[\\s]\[$`: func(rune) bool { return false },
	} {
		text, err := json.Marshal(pattern)
		require.NoError(t, err)
		s := compiled(t, wrap(`{"pattern":`+string(text)+`}`))
		for _, span := range spans {
			for r := span[0]; r <= span[1]; r++ {
				x, err := json.Marshal(map[string]string{"x": string(r)})
				require.NoError(t, err)
				require.Equal(t, fits(r), len(s.Validate(x)) == 0, "%s: %q", pattern, r)
			}
		}
	}
}

// Decimals of pydantic, addresses of zod and the usual passwords look ahead from the start of the text.
func TestPatternsMayLookAheadFromTheStart(t *testing.T) {
	for pattern, c := range map[string]struct{ fit, unfit []string }{
		`^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`: {[]string{"1", "-0.5", "+10", ".5"}, []string{"", "-", "+.", "1.2.3", "a"}},
		`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`: {
			[]string{"a.b@example.org", "a@b.cd"}, []string{".a@b.cd", "a..b@b.cd", "a@b", "a@b.c"}},
		`^(?=.*[a-z])(?=.*\d)[a-z\d)|]{4,}$`:      {[]string{"abc1", "1b)|"}, []string{"abcd", "1234", "ab1", "abc1!"}},
		`^(?!a|b\)|[)|])`:                         {[]string{"", "c", "ca", "b", "\\)"}, []string{"a", "b)", ")", "|"}},
		`^(?=(a|b)\))(?![^)]*\u0063)[^x]*$`:       {[]string{"a)", "b)c"}, []string{"c)", "a)x", "ac)", "a"}},
		`^(?!con$|(prn|aux)$)[^\/:*?"<>|]*[^ .]$`: {[]string{"a", "cons", "aux1"}, []string{"con", "prn", "a.", "a/b"}},
	} {
		text, err := json.Marshal(pattern)
		require.NoError(t, err)
		s := compiled(t, wrap(`{"pattern":`+string(text)+`}`))
		for want, inputs := range [][]string{c.fit, c.unfit} {
			for _, in := range inputs {
				x, err := json.Marshal(map[string]string{"x": in})
				require.NoError(t, err)
				assert.Len(t, s.Validate(x), want, "%s: %q", pattern, in)
			}
		}
	}
	named := compiled(t, `{"type":"object","patternProperties":{"^(?!_)":{"type":"string"}},"additionalProperties":false}`)
	assert.Empty(t, named.Validate(json.RawMessage(`{"a":"b"}`)))
	assert.Len(t, named.Validate(json.RawMessage(`{"_a":"b"}`)), 1)
	assert.Equal(t, []string{`The parameter "x" must match the pattern ^(?!a)b but is "ab"`},
		messages(compiled(t, wrap(`{"pattern":"^(?!a)b"}`)).Validate(json.RawMessage(`{"x":"ab"}`))))
}
