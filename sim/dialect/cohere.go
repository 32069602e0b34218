package dialect

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// Cohere's chat in its second version: requests as Chat Completions has them, answers with a
// plan before their calls, and streams whose events name what begins and ends. It is read and
// never given.

// cohereEvents are the types of event of its streams.
var cohereEvents = []string{
	"message-start", "content-start", "content-delta", "content-end", "tool-plan-delta",
	"tool-call-start", "tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end",
}

// isCohereEvent reports whether v is one of them; other libraries have events of these types too.
func isCohereEvent(v gjson.Result) bool {
	return slices.Contains(cohereEvents, v.Get("type").String()) && (v.Get("delta").IsObject() || v.Get("index").Exists())
}

// isCohere reports whether v is an answer.
func isCohere(v gjson.Result) bool {
	return v.Get("message.role").String() == "assistant" && v.Get("finish_reason").Type == gjson.String && v.Get("id").Exists()
}

// cohereUsage is what the model read and wrote, of which not all is paid for.
func cohereUsage(u gjson.Result) json.RawMessage {
	return usage(count(u, "tokens.input_tokens", "billed_units.input_tokens"), count(u, "cached_tokens"), count(u, "tokens.output_tokens", "billed_units.output_tokens"))
}

// cohereStream translates the events of a stream.
type cohereStream struct{ chatStream }

func (c *cohereStream) add(_ string, v gjson.Result) {
	kind, delta := v.Get("type").String(), v.Get("delta")
	if failed := cmp.Or(v.Get("error").String(), delta.Get("error").String()); failed != "" {
		c.w.fail("api_error", failed)
		return
	}
	if kind == "message-start" || !c.w.begun {
		c.w.begun, c.calls, c.text, c.thought = false, nil, 0, 0 // one before it was cut
		c.w.start(v.Get("id").String(), "")
	}
	m := delta.Get("message")
	switch kind {
	case "tool-plan-delta":
		c.writes(m.Get("tool_plan").String())
	case "content-start", "content-delta":
		c.thinks(m.Get("content.thinking").String())
		c.writes(m.Get("content.text").String())
	case "content-end":
		c.rest()
	case "tool-call-start", "tool-call-delta":
		call := m.Get("tool_calls")
		c.piece(v.Get("index"), call.Get("id").String(), call.Get("function.name").String(), call.Get("function.arguments"))
	case "tool-call-end":
		if p := c.find(v.Get("index"), "", "", false); p != nil && p.begun {
			c.w.close(p.block)
		}
	case "message-end":
		c.w.usage = cohereUsage(delta.Get("usage"))
		c.w.ended(delta.Get("finish_reason").String())
		c.w.finish()
	}
}
