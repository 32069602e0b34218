package requests_test

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"toolbench/sim/recording"
	"toolbench/sim/requests"
)

// Whatever a client has sent, reading it neither panics nor gives a request without
// what it was read from.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"messages":[]}`, `{"messages":[{"role":"user","content":"Go."}],"tools":{}}`, `{"messages":[{"content":[{"type":"tool_result","content":{"tool_references":[{}]}}]}]}`,
		`{"messages":[{"content":5}],"tools":[1,{"name":["a"],"input_schema":[]},{"cache_control":{}}],"system":{"text":1},"cache_control":{}}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		data, err := yaml.Marshal(map[string]any{"version": 1, "interactions": []any{map[string]any{
			"request":  map[string]any{"method": "POST", "url": "https://api.example/v1/messages", "body": body},
			"response": map[string]any{"code": 200, "body": `{"type":"message","id":"m","content":[]}`},
		}}})
		if err != nil {
			t.Skip("no text of YAML")
		}
		file, err := requests.Read("f.yaml", strings.NewReader(string(data)), recording.Limits{})
		if err != nil {
			return
		}
		for _, s := range file.Sessions {
			for _, turn := range s.Sent() {
				if turn.Request.Marked() && len(turn.Request.Tools)+len(turn.Request.System)+len(turn.Request.Messages) == 0 {
					t.Error("a breakpoint behind nothing")
				}
			}
		}
	})
}
