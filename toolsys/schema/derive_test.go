package schema_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/schema"
)

type edit struct {
	Old string `json:"old_string" jsonschema:"Text to <replace> & drop" minLength:"1"`
	New string `json:"new_string"`
	All bool   `json:"replace_all,omitempty" default:"false"`
}

type editInput struct {
	FilePath string          `json:"file_path" jsonschema:"Absolute path"`
	Edits    []edit          `json:"edits,omitempty" minItems:"1" maxItems:"3"`
	Mode     string          `json:"mode,omitempty" enum:"strict,loose" default:"strict"`
	Limit    int             `json:"limit,omitempty" minimum:"1" maximum:"600000"`
	Ratio    float64         `json:"ratio,omitempty"`
	Tags     []string        `json:"tags,omitempty" enum:"red,blue"`
	Env      map[string]*int `json:"env,omitempty"`
	Extra    json.RawMessage `json:"extra,omitempty"`
	Parent   *string         `json:"parent"`
}

func TestADerivedSchemaIsStrictAndItsBytesAreFixed(t *testing.T) {
	const want = `{"type":"object","properties":{` +
		`"file_path":{"type":"string","description":"Absolute path"},` +
		`"edits":{"type":"array","items":{"type":"object","properties":{` +
		`"old_string":{"type":"string","description":"Text to <replace> & drop","minLength":1},` +
		`"new_string":{"type":"string"},"replace_all":{"type":"boolean","default":false}},` +
		`"required":["old_string","new_string"],"additionalProperties":false},"minItems":1,"maxItems":3},` +
		`"mode":{"type":"string","enum":["strict","loose"],"default":"strict"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":600000},` +
		`"ratio":{"type":"number"},` +
		`"tags":{"type":"array","items":{"type":"string","enum":["red","blue"]}},` +
		`"env":{"type":"object","additionalProperties":{"type":"integer"}},` +
		`"extra":{},"parent":{"type":["null","string"]}},` +
		`"required":["file_path","parent"],"additionalProperties":false}`
	for range 20 {
		got, err := schema.For[editInput]()
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestAnEmptyInputStillHasAnObjectSchema(t *testing.T) {
	got, err := schema.For[struct{}]()
	require.NoError(t, err)
	assert.Equal(t, `{"type":"object","properties":{},"additionalProperties":false}`, string(got))
}

func TestOptionsGiveTypesAndLastEdits(t *testing.T) {
	type level int
	type input struct {
		Level level `json:"level"`
	}
	got, err := schema.For[input](
		schema.WithType[level](&jsonschema.Schema{Type: "string", Enum: []any{"low", "high"}}),
		schema.With(func(root *jsonschema.Schema) { root.Description = "An input." }))
	require.NoError(t, err)
	assert.Equal(t, `{"type":"object","description":"An input.","properties":{"level":{"type":"string","enum":["low","high"]}},"required":["level"],"additionalProperties":false}`, string(got))
}

func TestWhatCannotBeDerivedIsAnError(t *testing.T) {
	_, err := schema.For[[]string]()
	require.ErrorIs(t, err, schema.ErrRootNotObject)
	_, err = schema.For[struct{ F func() }]()
	require.ErrorContains(t, err, "func")
	_, err = schema.For[struct {
		N int `minimum:"one"`
	}]()
	require.ErrorContains(t, err, `field N: tag minimum:"one": not a number`)
	_, err = schema.For[struct {
		N int `enum:"1,two"`
	}]()
	require.ErrorContains(t, err, "not JSON")
	_, err = schema.For[struct {
		S string `minLength:"-1"`
	}]()
	require.ErrorContains(t, err, "not a count")
}

// What a server lists again at its next connection is not compiled again.
func TestEqualSchemasAreCompiledOnce(t *testing.T) {
	of := func(text string) *schema.Schema {
		s, err := schema.NewLazy(func() (json.RawMessage, error) { return json.RawMessage(text), nil }).Schema()
		require.NoError(t, err)
		return s
	}
	text := `{"type":"object","properties":{"listed":{"type":"string"}}}`
	first := of(text)
	assert.Same(t, first, of(text))
	assert.NotSame(t, first, of(strings.Replace(text, "listed", "others", 1)))
	for i := range 300 { // two megabytes of others
		of(fmt.Sprintf(`{"type":"object","title":"%d","description":%q}`, i, strings.Repeat("x", 8<<10)))
	}
	assert.NotSame(t, first, of(text), "what nobody asks for is not kept for ever")
}

func TestLazyBuildsOnce(t *testing.T) {
	built := 0
	lazy := schema.NewLazy(func() (json.RawMessage, error) {
		built++
		return schema.For[editInput]()
	})
	assert.Zero(t, built)
	first, err := lazy.Schema()
	require.NoError(t, err)
	second, _ := lazy.Schema()
	raw, _ := lazy.Raw()
	assert.Same(t, first, second)
	assert.Equal(t, string(raw), string(first.Raw()))
	assert.Equal(t, 1, built)

	_, err = schema.LazyOf(reflect.TypeFor[[]string]()).Schema()
	assert.ErrorIs(t, err, schema.ErrRootNotObject)
}

func TestCanonicalForgetsWhoWroteTheSchema(t *testing.T) {
	a := `{"required":["b"],"type":"object", "properties":{"b":{"description":"x \u003c y","type":"string"},"a":true,"type":{"enum":[{"z":1,"a":2}]}},"$defs":{"q":{"items":{"minimum":1,"type":"number"},"type":"array"}},"anyOf":[{"title":"t","type":"object"}]}`
	want := `{"type":"object","properties":{"b":{"type":"string","description":"x < y"},"a":{},"type":{"enum":[{"z":1,"a":2}]}},"required":["b"],"$defs":{"q":{"type":"array","items":{"type":"number","minimum":1}}},"anyOf":[{"type":"object","title":"t"}]}`
	got, err := schema.Canonical(json.RawMessage(a))
	require.NoError(t, err)
	assert.Equal(t, want, string(got))
	again, err := schema.Canonical(got)
	require.NoError(t, err)
	assert.Equal(t, want, string(again), "writing it twice changes nothing")

	_, err = schema.Canonical(json.RawMessage(`{"type":"object","type":"array"}`))
	require.ErrorContains(t, err, "more than once")
	_, err = schema.Canonical(json.RawMessage(`{"type":`))
	require.ErrorContains(t, err, "not JSON")
}
