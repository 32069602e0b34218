package schema_test

import (
	"encoding/json"
	"testing"

	"toolbench/toolsys/schema"
)

type fiveFields struct {
	Command     string `json:"command" jsonschema:"What to run"`
	Timeout     int    `json:"timeout,omitempty" minimum:"1" maximum:"600000"`
	Description string `json:"description,omitempty"`
	Background  bool   `json:"run_in_background,omitempty"`
	Mode        string `json:"mode,omitempty" enum:"fast,slow"`
}

var fiveFieldsInput = json.RawMessage(`{"command":"git status --short | head -20","timeout":120000,"description":"Show what changed","run_in_background":false,"mode":"fast"}`)

func BenchmarkValidate(b *testing.B) {
	s := derived[fiveFields](b)
	b.ReportAllocs()
	for b.Loop() {
		if ps := s.Validate(fiveFieldsInput); ps != nil {
			b.Fatal(ps)
		}
	}
}

func BenchmarkValidatorOnly(b *testing.B) {
	s := derived[fiveFields](b)
	b.ReportAllocs()
	for b.Loop() {
		if ps := s.Examine(fiveFieldsInput); ps != nil {
			b.Fatal(ps)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	s := derived[fiveFields](b)
	b.ReportAllocs()
	for b.Loop() {
		if _, ps := decode[fiveFields](s, fiveFieldsInput); ps != nil {
			b.Fatal(ps)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	raw, err := schema.For[fiveFields]()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(raw); err != nil {
			b.Fatal(err)
		}
	}
}
