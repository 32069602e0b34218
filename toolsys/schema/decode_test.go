package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/schema"
)

// decode is [schema.Schema.Decode] into a T.
func decode[T any](s *schema.Schema, raw json.RawMessage) (T, schema.Problems) {
	v, problems := s.Decode(reflect.TypeFor[T](), raw)
	return v.(T), problems
}

func TestDecodeGivesTheValueOrTheProblems(t *testing.T) {
	s := derived[edit](t)
	got, ps := decode[edit](s, json.RawMessage(`{"old_string":"a","new_string":"b"}`))
	assert.Empty(t, ps)
	assert.Equal(t, edit{Old: "a", New: "b"}, got)

	got, ps = decode[edit](s, json.RawMessage(`{"OLD_STRING":"a","new_string":"b"}`))
	assert.Zero(t, got, "encoding/json alone would take the name in any case")
	assert.Equal(t, []string{`An unexpected parameter "OLD_STRING" was provided`, `The required parameter "old_string" is missing`}, messages(ps))
}

func TestIntegersMayBeWrittenAsFractions(t *testing.T) {
	type input struct {
		Limit int              `json:"limit"`
		Each  []int            `json:"each,omitempty"`
		By    map[string]uint8 `json:"by,omitempty"`
		Ratio float64          `json:"ratio,omitempty"`
	}
	got, ps := decode[input](derived[input](t), json.RawMessage(`{"limit":5.0,"each":[1e3,-2],"by":{"a":7.00},"ratio":1.5}`))
	require.Empty(t, ps)
	assert.Equal(t, input{Limit: 5, Each: []int{1000, -2}, By: map[string]uint8{"a": 7}, Ratio: 1.5}, got)
}

type shouting string

func (s *shouting) UnmarshalJSON([]byte) error { return assert.AnError }

func TestWhatOnlyTheGoTypeRefusesIsAProblemToo(t *testing.T) {
	type inner struct {
		N int `json:"n"`
	}
	type input struct {
		In inner    `json:"in,omitzero"`
		S  shouting `json:"s,omitempty"`
	}
	s := derived[input](t)
	_, ps := decode[input](s, json.RawMessage(`{"in":{"n":99999999999999999999}}`))
	assert.Equal(t, []string{`The parameter "in.n" cannot hold number 99999999999999999999`}, messages(ps))
	assert.Equal(t, "in.n", ps[0].Path)
	_, ps = decode[input](s, json.RawMessage(`{"s":"x"}`))
	assert.Equal(t, []string{"The input cannot be read: " + assert.AnError.Error()}, messages(ps))
}

// Whatever Go writes for an input, its derived schema takes, and decoding gives
// the same value again.
func TestDerivedSchemasAgreeWithGo(t *testing.T) {
	s := derived[editInput](t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		in := editInput{
			FilePath: text.Draw(t, "path"),
			Mode:     rapid.SampledFrom([]string{"", "strict", "loose"}).Draw(t, "mode"),
			Limit:    rapid.IntRange(0, 600000).Draw(t, "limit"),
			Ratio:    rapid.Float64Range(-1e300, 1e300).Draw(t, "ratio"),
			Parent:   rapid.Ptr(text, true).Draw(t, "parent"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			in.Edits = append(in.Edits, edit{Old: "x" + text.Draw(t, "old"), New: text.Draw(t, "new"), All: rapid.Bool().Draw(t, "all")})
		}
		raw, err := json.Marshal(in)
		require.NoError(t, err)
		require.Empty(t, s.Examine(raw))
		got, ps := decode[editInput](s, raw)
		require.Empty(t, ps)
		again, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, string(raw), string(again))
	})
}
