package schema_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/toolsys/schema"
)

func FuzzValidate(f *testing.F) {
	for _, input := range []string{
		`{"file_path":"/a","parent":null}`, `{"edits":[{"old_string":1}]}`, `{"a":1,"a":2}`, `{"limit":1e400}`, `{"`, `null`, ``,
	} {
		f.Add([]byte(`{"type":"object","properties":{"x":{"type":"integer","minimum":1}}}`), []byte(input))
	}
	f.Add([]byte(`{"type":"object","$ref":"#"}`), []byte(`{}`))
	f.Add([]byte(`{"type":"object","properties":{"x":{"$ref":"#"}},"oneOf":[{},{}]}`), []byte(`{"x":{}}`))
	f.Fuzz(func(t *testing.T, rawSchema, input []byte) {
		s, err := schema.Compile(rawSchema)
		if err != nil {
			return
		}
		ps := s.Examine(input)
		if s.Accepts(input) {
			require.Empty(t, ps)
		}
		if len(ps) == 0 {
			require.True(t, json.Valid(input))
		}
		require.Equal(t, ps, s.Examine(input))
	})
}

// FuzzRead holds the package's own reader to encoding/json's grammar and values.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+3,"\u00e9\ud83d\ude00\/",true,null]}`, `"\ud800"`, "\"\xff\"", `01`, `1.`, `[1,]`, ` {} `, `-`, `tru`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := schema.ReadsAsJSON(raw)
		if bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) > 1000 {
			return // beyond the depth that the reader allows
		}
		require.Equal(t, json.Valid(raw), ok)
		if !ok {
			return
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var want any
		require.NoError(t, d.Decode(&want))
		require.Equal(t, want, got)
	})
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":true},"items":[{"b":1}],"x":"\u003c"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := schema.Canonical(raw)
		if err != nil {
			return
		}
		require.True(t, json.Valid(once))
		twice, err := schema.Canonical(once)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}
