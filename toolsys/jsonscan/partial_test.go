package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/jsonscan"
)

func TestTheBeginningOfAnInputIsCompleted(t *testing.T) {
	for begun, whole := range map[string]string{
		`{`: `{}`, `{"a`: `{}`, `{"a":`: `{}`, `{"a":"b`: `{"a":"b"}`, `{"a":"b\`: `{"a":"b"}`, `{"a":"b\u00`: `{"a":"b"}`,
		`{"a":1,`: `{"a":1}`, `{"a":1,"b"`: `{"a":1}`, `{"a":[1,{"b":"c`: `{"a":[1,{"b":"c"}]}`, `{"a":tr`: `{}`, `{"a":"}"`: `{"a":"}"}`,
		`{"a":1}`: `{"a":1}`, `{"a":"x,`: `{"a":"x,"}`,
	} {
		assert.Equal(t, whole, string(jsonscan.Complete([]byte(begun))), begun)
	}
}

// However a stream cuts an input, its beginning can be shown.
func TestEveryBeginningCanBeRead(t *testing.T) {
	const input = `{"command":"echo \"a\\u00e4\" | tr a b","n":[-1.5e3,true,null,{"x":{}}],"last":"\ud83d\ude00"}`
	for n := 1; n <= len(input); n++ {
		whole := jsonscan.Complete([]byte(input[:n]))
		require.True(t, json.Valid(whole), "%s became %s", input[:n], whole)
	}
}

// What is open is not copied for each thing that opens: deep inputs would take minutes to show.
func TestADeepBeginningIsCompletedAtOnce(t *testing.T) {
	for _, level := range []string{`{"a":`, `[`, `[1,`} {
		begun := bytes.Repeat([]byte(level), 30_000)
		copies := testing.AllocsPerRun(1, func() { jsonscan.Complete(begun) })
		assert.Less(t, copies, 200.0, level)
	}
}
