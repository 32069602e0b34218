package toolsys_test

import (
	"context"
	"fmt"

	"toolbench/toolsys"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

// What queryOrder is asked, and what it answers.
type (
	orderQuery struct {
		ID string `json:"id" jsonschema:"the order's number"`
	}
	order struct {
		State string `json:"state"`
	}
)

// A tool of one's own takes a name, a sentence and a function; its schema is read
// off the Go types. What is left out has the safe value: with the two traits here
// the tool only reads and may run beside others.
var queryOrder = tool.Must(tool.Def[orderQuery, order]{
	Name:        "queryOrder",
	Description: "Looks up an order.",
	Call: func(_ context.Context, in orderQuery, _ *tool.Context) (tool.Result[order], error) {
		return tool.Done(order{State: "shipped"}), nil
	},
	Traits: tool.Traits[orderQuery]{Safe: tool.Always[orderQuery], ReadOnly: tool.Always[orderQuery]},
})

// A program that only wants the tools of its own trade. The model here plays a
// script; api.New gives one that reaches the real API.
func Example() {
	system, err := toolsys.New(toolsys.Config{Tools: []*tool.Tool{queryOrder}})
	if err != nil {
		panic(err)
	}
	session, err := system.Open(loop.Config{Model: scripted, Policy: schedule.Streaming})
	if err != nil {
		panic(err)
	}
	outcome, err := session.Send(context.Background(), message.UserText("Where is order 7?"))
	if err != nil {
		panic(err)
	}
	for _, m := range session.History() {
		for _, r := range m.Results() {
			fmt.Println("result:", message.PlainText(r.Content))
		}
	}
	fmt.Println("answer:", message.PlainText(outcome.Final.Content))
	// Output:
	// result: {"state":"shipped"}
	// answer: It is on its way.
}

// scripted calls queryOrder once and then answers.
func scripted(_ context.Context, req message.Request, on func(data []byte) error) error {
	events := []string{
		`{"type":"message_start","message":{"id":"m1","content":[]}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"queryOrder","input":{"id":"7"}}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_stop"}`,
	}
	if len(req.Messages) > 1 { // the result has come back
		events[1] = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"It is on its way."}}`
	}
	for _, e := range events {
		if err := on([]byte(e)); err != nil {
			return err
		}
	}
	return nil
}
