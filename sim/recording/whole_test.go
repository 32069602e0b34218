package recording_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
	"toolbench/sim/stream"
)

// A message that was not streamed keeps what a client has to send back: a thought's
// signature, whose tool a server ran, of which set a tool is, and who called it.
func TestAMessageKeepsWhatIsSentBack(t *testing.T) {
	const text = `version: 1
interactions:
- request: {body: '{"model":"m","messages":[{"role":"user","content":"Hi."}]}', url: "https://api.anthropic.com/v1/messages", method: POST}
  response: {body: '{"id":"m1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"sig"},{"type":"mcp_tool_use","id":"c1","name":"look","server_name":"sky","input":{}},{"type":"tool_use","id":"c2","name":"click","toolset_name":"browser","caller":{"type":"code_execution_20250825","tool_id":"s"},"input":{}}],"stop_reason":"end_turn"}', headers: {Content-Type: [application/json]}, code: 200}
`
	rec, err := recording.Open("whole.yaml", strings.NewReader(text), recording.Limits{}, nil)
	require.NoError(t, err)
	require.Len(t, rec.Conversations, 1)
	wire := string(stream.Bytes(rec.Conversations[0].Turns[0].Events))
	assert.Contains(t, wire, `"signature":"sig"`)
	assert.Contains(t, wire, `"server_name":"sky"`)
	assert.Contains(t, wire, `"toolset_name":"browser"`)
	assert.Contains(t, wire, `"caller":{"type":"code_execution_20250825","tool_id":"s"}`)
}
