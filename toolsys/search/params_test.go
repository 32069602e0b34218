package search_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/search"
)

func TestParametersAreListedWithWhatIsInThem(t *testing.T) {
	schema := `{"type":"object","description":"not a parameter","properties":{
		"to":{"type":"array","description":"Recipients","items":{"type":"object","properties":{"email":{"type":"string"}}}},
		"at":{"anyOf":[{"type":"null"},{"type":"string","description":"A time"}]},
		"labels":{"additionalProperties":{"properties":{"colour":true}}},
		"again":{"$ref":"#/$defs/rule"}},
		"$defs":{"rule":{"properties":{"every":{"description":"Days between"}}}}}`
	assert.Equal(t, []string{
		"again", "at", "A time", "labels", "colour", "to: Recipients", "email", "every: Days between",
	}, search.Parameters(json.RawMessage(schema)))
}

func TestWhatIsNoSchemaHasNoParameters(t *testing.T) {
	for _, schema := range []string{"", "null", "true", "[]", `"x"`, "{", `{"properties":[]}`, `{"properties":{}}`} {
		assert.Empty(t, search.Parameters(json.RawMessage(schema)), schema)
	}
}

func TestADeepSchemaEnds(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"p":`, 200) + `{}` + strings.Repeat(`}}`, 200)
	start := time.Now()
	found := search.Parameters(json.RawMessage(deep))
	assert.NotEmpty(t, found)
	assert.Less(t, len(found), 50)
	assert.Less(t, time.Since(start), 5*time.Second)
}

func FuzzParameters(f *testing.F) {
	for _, seed := range []string{`{"properties":{"a":{"items":{"oneOf":[{"properties":{"b":1}}]}}}}`, `{"prefixItems":[true]}`, "null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		assert.Equal(t, search.Parameters(schema), search.Parameters(schema), "each time the same")
	})
}
