package message_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/message"
)

// oddities are events that the two readers could read apart: names in other letters,
// names twice, values of other types, escapes, halves of pairs, what is missing.
var oddities = []string{
	begin, startCall(0, `{"a":1}`), jsonDelta(3, `{"é":"\u2028"`), stop(-1), reason("tool_use"), end, `{"type":"ping"}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud83d\ude00 \ud83d \/ \"x\""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"a":[1e999]}}}`,
	`{"type":"content_block_delta","INDEX":2,"deltA":{"type":"text_delta","TEXT":"a"}}`, `{"type":"ping","Type":"message_stop"}`, `{"type":"ping","type":"message_stop"}`, `{"type":"pıng","ındex":"x","uſage":1}`,
	`{"\u0074ype":"ping"}`, `{"type":"ping","index":1.0}`, `{"type":"ping","index":9223372036854775808}`, `{"type":"ping","index":-0}`,
	`{"type":"message_start","message":{"id":null,"stop_reason":null,"content":[{"type":"text","text":"a"}]}}`,
	`{"type":"message_start","message":{"content":null,"usage":{"input_tokens":null,"other":{}}}}`,
	`{"type":"error","error":{"type":"overloaded","message":"m"}}`, `{"type":"error","error":null}`,
	`{"type":"ping","usage":null,"delta":null,"content_block":null,"message":null}`, `null`, `[]`, ``, `{"type":"ping"}{}`, " {\"type\" : \"p\\u0069ng\"}\n",
	"{\"type\":\"ping\xff\",\"usage\":{\"output_tokens\":01}}",
}

// sameEvent holds the reader of usual events to encoding/json: what it reads, both read
// alike.
func sameEvent(t *testing.T, data []byte) (usual bool) {
	got, usual := message.Read(data)
	want, err := message.General(data)
	if usual {
		require.NoError(t, err, "%s", data)
		require.Equal(t, want, got, "%s", data)
	}
	return usual
}

func FuzzEvent(f *testing.F) {
	for _, e := range oddities {
		f.Add([]byte(e))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameEvent(t, data) })
}

// The reader of usual events reads nearly all events that servers sent.
func TestRecordedEventsAreUsual(t *testing.T) {
	files, err := filepath.Glob("../../../shared/corpus/*/*.[st][sx][et]")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the recordings are not here")
	}
	all, usual := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(strings.TrimPrefix(line, "data:"))
			if !strings.HasPrefix(line, "{") {
				continue
			}
			if all++; sameEvent(t, []byte(line)) {
				usual++
			}
		}
	}
	assert.Greater(t, usual*100, all*95, "%d of %d events", usual, all)
}
