package check

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/message"
)

func TestRequestsThatAnAPIRefuses(t *testing.T) {
	const call, result = `{"type":"tool_use","id":"a","name":"Look","input":{}}`, `{"type":"tool_result","tool_use_id":"a","content":"seen"}`
	for name, c := range map[string]struct{ body, want string }{
		"sound":              {`{"tools":[{"name":"Look"}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[` + call + `]},{"role":"user","content":[` + result + `]}]}`, ""},
		"open at the end":    {`{"messages":[{"role":"assistant","content":[` + call + `]}]}`, "messages.1 has 0 results for a"},
		"open within":        {`{"messages":[{"role":"assistant","content":[` + call + `]},{"role":"user","content":"go on"}]}`, "messages.1 has 0 results for a"},
		"twice":              {`{"messages":[{"role":"assistant","content":[` + call + `]},{"role":"user","content":[` + result + `,` + result + `]}]}`, "messages.1 has 2 results for a"},
		"no call":            {`{"messages":[{"role":"user","content":[` + result + `]}]}`, "messages.0 has a result for a, which the message before did not call"},
		"behind a text":      {`{"messages":[{"role":"assistant","content":[` + call + `]},{"role":"user","content":[{"type":"text","text":"x"},` + result + `]}]}`, "messages.1 has the result for a behind other content"},
		"two of one name":    {`{"tools":[{"name":"Look"},{"name":"Look"}],"messages":[]}`, "two tools are named Look"},
		"not offered":        {`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_reference","tool_name":"Gone"}]}]}`, "messages.0 refers to the tool Gone, which is not offered"},
		"not offered, deep":  {`{"messages":[{"role":"assistant","content":[` + call + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"Gone"}]}]}]}`, "messages.1 refers to the tool Gone, which is not offered"},
		"nothing said":       {`{"messages":[{"role":"user","content":[]}]}`, "messages.0 is empty"},
		"an empty text":      {`{"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`, "messages.0 has an empty text"},
		"white space":        {`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":" \n"}]}]}`, "messages.0 has an empty text"},
		"only thought":       {`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}]}`, "messages.1 ends with a thought"},
		"a long name":        {`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"` + strings.Repeat("n", 201) + `"}]}]}`, "messages.0 has a name of more than 200 characters"},
		"half a character":   {`{"messages":[{"role":"user","content":"\ud83d\ude00 \\ud83d \uDE00"}]}`, "messages.0 has half a character"},
		"whole characters":   {`{"messages":[{"role":"user","content":"\ud83d\ude00 \\ud83d"}]}`, ""},
		"escaped":            {`{"tools":[{"n\u0061me":"\u004cook"},{"name":"Look"}],"messages":[]}`, "two tools are named Look"},
		"another type":       {`{"messages":[{"role":"user","content":[{"type":5}]}]}`, "messages.0 is empty"},
		"no content":         {`{"messages":[{"role":"user","content":null}]}`, "messages.0 has an empty text"},
		"tools of no kind":   {`{"tools":{},"messages":[]}`, "its tools cannot be read"},
		"a combination":      {`{"tools":[{"name":"Look","input_schema":{"type":"object","oneOf":[]}}],"messages":[]}`, "the schema of Look combines others at the top, or names a property otherwise than with 64 of A-Z a-z 0-9 _ . -"},
		"an odd name":        {`{"tools":[{"name":"Look","input_schema":{"properties":{"a":{"oneOf":[]},"$b":{}}}}],"messages":[]}`, "the schema of Look combines others at the top, or names a property otherwise than with 64 of A-Z a-z 0-9 _ . -"},
		"a combination deep": {`{"tools":[{"name":"Look","input_schema":{"properties":{"a":{"oneOf":[],"properties":{"$b":{}}}}}}],"messages":[{"role":"user","content":"go"}]}`, ""},
		"no tools":           {`{"tools":null,"messages":[{"role":"user","content":[{"content":{"type":[]},"type":"other"}]}]}`, ""},
		"no JSON":            {`{`, "it is no JSON"},
	} {
		body, _ := message.ReadBody([]byte(c.body))
		why := (&refuser{}).refusals(body)
		if c.want == "" {
			assert.Empty(t, why, name)
			continue
		}
		assert.Contains(t, why, c.want, name)
	}
}
