package message_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/message"
)

func TestABetaOfAMemberIsSentOnceAndChangesNobodysList(t *testing.T) {
	own := make([]string, 1, 4)
	own[0] = message.BetaEditing
	r := message.Request{Betas: own, Editing: message.Editing{Trigger: 1}, Thinking: message.Thinking{Budget: 1024, Interleaved: true}}
	assert.Equal(t, []string{message.BetaEditing, message.BetaInterleaved}, r.Header())
	assert.Empty(t, own[:2][1], "the request's betas are the caller's")
	assert.Empty(t, message.Request{}.Header())
	assert.Equal(t, []string{"own", message.BetaEditing, message.BetaDiagnosis}, message.Request{Betas: []string{"own"}, Editing: message.Editing{Trigger: 1}, Diagnose: true}.Header())
}

func TestMembersThatMostRequestsHaveNoneOf(t *testing.T) {
	for want, r := range map[string]message.Request{
		`{"model":"m","max_tokens":1,"messages":[],"stream":true}`:                                {Editing: message.Editing{Keep: 3}},
		`{"model":"m","max_tokens":1,"thinking":{"type":"adaptive"},"messages":[],"stream":true}`: {Thinking: message.Thinking{Adaptive: true, Budget: 5}},
		`{"model":"m","max_tokens":1,"container":"c\"1","messages":[],"stream":true}`:             {Container: `c"1`},
		`{"model":"m","max_tokens":1,"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":9},"exclude_tools":["A","B"]}]},"messages":[],"stream":true}`: {
			Editing: message.Editing{Trigger: 9, Exclude: []string{"A", "B"}},
		},
	} {
		r.Model, r.MaxTokens = "m", 1
		got, err := json.Marshal(r)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestWhereCodeRanAndWhatWasClearedIsReadFromTheStream(t *testing.T) {
	reply := func(head, tail string) message.Reply {
		var a message.Assembler
		for _, e := range []string{
			`{"type":"message_start","message":{"id":"m","content":[]` + head + `,"usage":{"input_tokens":3}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"` + tail, `{"type":"message_stop"}`,
		} {
			_, err := a.Add([]byte(e))
			require.NoError(t, err)
		}
		r, err := a.End()
		require.NoError(t, err)
		return r
	}
	none := reply(`,"container":null`, `,"container":null},"usage":{"output_tokens":5},"context_management":null}`)
	assert.Empty(t, none.Container)
	assert.Empty(t, none.Cleared)
	assert.Equal(t, 5, none.Usage.Output)
	early := reply(`,"container":{"id":"c1","expires_at":"soon"}`, `},"usage":{"output_tokens":5}}`)
	assert.Equal(t, "c1", early.Container)
	late := reply(``, `,"container":{"id":"c2"}},"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":2,"cleared_input_tokens":70}]},"usage":{"output_tokens":6}}`)
	assert.Equal(t, "c2", late.Container)
	assert.Equal(t, []message.Cleared{{Uses: 2, Tokens: 70}}, late.Cleared)
	assert.Equal(t, 6, late.Usage.Output)
	assert.Equal(t, "end_turn", late.StopReason)
}

func TestWhoMadeACall(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"tool_use","id":"a","name":"b","input":{}}`:                                                                            message.Direct,
		`{"type":"tool_use","id":"a","name":"b","input":{},"caller":{"type":"direct"}}`:                                                 message.Direct,
		`{"type":"tool_use","id":"a","name":"b","input":{},"caller":{"type":"code_execution_20260120","tool_id":"s"}}`:                  "code_execution_20260120",
		`{"type":"tool_use","id":"a","name":"b","input":{"caller":{"type":"code_execution_20260120"}},"other":{"caller":{"type":"x"}}}`: message.Direct,
	} {
		var b message.Block
		require.NoError(t, json.Unmarshal([]byte(raw), &b))
		assert.Equal(t, want, b.Caller(), raw)
	}
}
