package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"

	"toolbench/bench/measure"
)

// sdkRunner is the official SDK's tool runner over a transport in the process: it
// streams where the message is streamed, and takes a whole reply where it is not.
func sdkRunner() measure.Peer {
	return measure.Peer{Name: "anthropic-sdk-go", Module: "github.com/anthropics/anthropic-sdk-go", Path: "BetaToolRunner, a transport in memory", Open: openSDK}
}

type sdkContent = anthropic.BetaToolResultBlockParamContentUnion

func sdkTool(t measure.Tool) (anthropic.BetaTool, error) {
	if t.Small {
		return sdkTyped[measure.One](t)
	}
	return sdkTyped[measure.Five](t)
}

func sdkTyped[In measure.Input](t measure.Tool) (anthropic.BetaTool, error) {
	return toolrunner.NewBetaToolFromJSONSchema(t.Name, "Works on a file.", func(ctx context.Context, in In) (sdkContent, error) {
		text, err := t.Do(ctx, in.Where())
		return sdkContent{OfText: &anthropic.BetaTextBlockParam{Text: text}}, err
	})
}

// sdkScript answers the first request with the message and later ones with the end.
type sdkScript struct {
	said        measure.Message
	whole, done []byte
	// fresh: no request has come yet.
	fresh bool
}

// RoundTrip is the server.
func (s *sdkScript) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	first := s.fresh
	s.fresh = false
	streamed := s.said.Whole > 0
	kind, body := "application/json", io.Reader(bytes.NewReader(s.done))
	switch {
	case streamed && first:
		kind, body = "text/event-stream", s.stream(r.Context())
	case streamed:
		kind, body = "text/event-stream", bytes.NewReader(sdkEvents(sdkStart, sdkEnd("end_turn")))
	case first:
		body = bytes.NewReader(s.whole)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(body), Request: r}, nil
}

const sdkStart = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`

func sdkEnd(reason string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":1}}`, reason)
}

// stream writes the message as it comes.
func (s *sdkScript) stream(ctx context.Context) io.Reader {
	r, w := io.Pipe()
	go func() {
		i := 0
		_, err := w.Write(sdkEvents(sdkStart))
		if err == nil {
			err = s.said.Stream(ctx, func(c measure.Call) error {
				_, err := w.Write(sdkCall(i, c))
				i++
				return err
			})
		}
		if err == nil {
			_, err = w.Write(sdkEvents(sdkEnd("tool_use"), `{"type":"message_stop"}`))
		}
		w.CloseWithError(err) // nil is the end of the bytes
	}()
	return r
}

func sdkCall(i int, c measure.Call) []byte {
	return sdkEvents(
		fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, i, c.ID, c.Tool),
		fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%q}}`, i, c.Input),
		fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
}

func sdkEvents(all ...string) []byte {
	var b bytes.Buffer
	for _, e := range all {
		var head struct{ Type string }
		if json.Unmarshal([]byte(e), &head) == nil {
			fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", head.Type, e)
		}
	}
	return b.Bytes()
}

// sdkReply is a whole reply that is not streamed.
func sdkReply(m measure.Message) ([]byte, error) {
	blocks := make([]map[string]any, len(m.Calls))
	for i, c := range m.Calls {
		blocks[i] = map[string]any{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": json.RawMessage(c.Input)}
	}
	return json.Marshal(map[string]any{
		"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks, "stop_reason": "tool_use",
		"usage": map[string]int{"input_tokens": 1, "output_tokens": 1},
	})
}

func openSDK(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
	made := make([]anthropic.BetaTool, len(all))
	for i, t := range all {
		tool, err := sdkTool(t)
		if err != nil {
			return measure.Conversation{}, err
		}
		made[i] = tool
	}
	whole, err := sdkReply(m)
	if err != nil {
		return measure.Conversation{}, err
	}
	script := &sdkScript{said: m, whole: whole, done: []byte(`{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)}
	client := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey("none"), option.WithBaseURL("http://in.memory"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: script}))
	params := anthropic.BetaToolRunnerParams{BetaMessageNewParams: anthropic.BetaMessageNewParams{
		Model: "m", MaxTokens: 1000, Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("go"))},
	}}
	var history func() []anthropic.BetaMessageParam
	return measure.Conversation{
		Run: func(ctx context.Context) error {
			script.fresh = true
			if m.Whole > 0 {
				runner := client.Beta.Messages.NewToolRunnerStreaming(made, params)
				history = runner.Messages
				return streamSDK(ctx, runner)
			}
			runner := client.Beta.Messages.NewToolRunner(made, params)
			history = runner.Messages
			if err := m.Collect(ctx); err != nil {
				return err
			}
			_, err := runner.RunToCompletion(ctx)
			return err
		},
		Answers: func() (out []measure.Answer) {
			for _, message := range history() {
				for _, block := range message.Content {
					if r := block.OfToolResult; r != nil {
						out = append(out, measure.Answer{ID: r.ToolUseID, Error: r.IsError.Value})
					}
				}
			}
			return out
		},
	}, nil
}

func streamSDK(ctx context.Context, runner *anthropic.BetaToolRunnerStreaming) error {
	for events := range runner.AllStreaming(ctx) {
		for _, err := range events {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
