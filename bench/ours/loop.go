package ours

import (
	"context"
	"encoding/json"
	"fmt"

	"toolbench/bench/measure"
	"toolbench/toolsys"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

// conversation is the whole loop over a model that plays the message from the
// stream's own JSON, and says "done" to the results.
type conversation struct {
	system *toolsys.System
	cfg    loop.Config
	said   measure.Message
	// before, each and after are the stream's events: each call has three.
	before, after, done [][]byte
	each                map[string][][]byte
	last                *loop.Session
}

func openLoop(policy schedule.Policy) func([]measure.Tool, measure.Message) (measure.Conversation, error) {
	return func(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
		c, err := newConversation(policy, all, m)
		if err != nil {
			return measure.Conversation{}, err
		}
		return measure.Conversation{Run: c.run, Answers: c.answers}, nil
	}
}

func newConversation(policy schedule.Policy, all []measure.Tool, m measure.Message) (*conversation, error) {
	built, err := tools(all)
	if err != nil {
		return nil, err
	}
	system, err := toolsys.New(toolsys.Config{Tools: built})
	if err != nil {
		return nil, err
	}
	rules, err := rules()
	if err != nil {
		return nil, err
	}
	// A hook that hears a tool has a say in it, so its calls keep their order under
	// Effects; this one hears another tool.
	listening, err := hooks("Bash")
	if err != nil {
		return nil, err
	}
	c := &conversation{system: system, said: m, each: map[string][][]byte{}}
	c.cfg = loop.Config{
		Model: c.model, Policy: policy, NonInteractive: true,
		Handlers: pipeline.Handlers{Hooks: listening},
		State:    tool.State{Dir: "/repo", Rules: rules},
	}
	c.script()
	return c, nil
}

// script writes the stream's events once; reading them is what is measured.
func (c *conversation) script() {
	start := []byte(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":100,"output_tokens":1}}}`)
	end := func(reason string) [][]byte {
		return [][]byte{
			fmt.Appendf(nil, `{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":50}}`, reason),
			[]byte(`{"type":"message_stop"}`),
		}
	}
	c.before, c.after = [][]byte{start}, end("tool_use")
	c.done = append([][]byte{start,
		[]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"done"}}`),
		[]byte(`{"type":"content_block_stop","index":0}`),
	}, end("end_turn")...)
	for i, call := range c.said.Calls {
		input, err := json.Marshal(call.Input)
		if err != nil {
			panic(err) // a string always encodes
		}
		c.each[call.ID] = [][]byte{
			fmt.Appendf(nil, `{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, i, call.ID, call.Tool),
			fmt.Appendf(nil, `{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, input),
			fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, i),
		}
	}
}

func (c *conversation) model(ctx context.Context, req message.Request, on func([]byte) error) error {
	if len(req.Messages) > 1 {
		return send(c.done, on)
	}
	if err := send(c.before, on); err != nil {
		return err
	}
	if err := c.said.Stream(ctx, func(call measure.Call) error { return send(c.each[call.ID], on) }); err != nil {
		return err
	}
	return send(c.after, on)
}

func send(events [][]byte, on func([]byte) error) error {
	for _, e := range events {
		if err := on(e); err != nil {
			return err
		}
	}
	return nil
}

func (c *conversation) run(ctx context.Context) error {
	session, err := c.system.Open(c.cfg)
	if err != nil {
		return err
	}
	c.last = session
	_, err = session.Send(ctx, message.UserText("go"))
	return err
}

func (c *conversation) answers() []measure.Answer {
	var out []measure.Answer
	for _, m := range c.last.History() {
		for _, r := range m.Results() {
			out = append(out, measure.Answer{ID: r.ToolUseID, Error: r.IsError})
		}
	}
	return out
}
