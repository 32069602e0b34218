// Minimal is a program with one tool of its own and a scripted model: the least that
// has to be written, and built, to use the tool system.
package main

import (
	"context"
	"fmt"
	"log"

	"toolbench/toolsys"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

type query struct {
	ID string `json:"id" jsonschema:"the order's number"`
}

var queryOrder = tool.Must(tool.Def[query, string]{
	Name:        "queryOrder",
	Description: "Looks up an order.",
	Call: func(_ context.Context, in query, _ *tool.Context) (tool.Result[string], error) {
		return tool.Done("Order " + in.ID + " is shipped."), nil
	},
	Traits: tool.Traits[query]{Safe: tool.Always[query], ReadOnly: tool.Always[query]},
})

func main() {
	system, err := toolsys.New(toolsys.Config{Tools: []*tool.Tool{queryOrder}})
	if err != nil {
		log.Fatal(err)
	}
	session, err := system.Open(loop.Config{Model: model, Policy: schedule.Streaming})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.Send(context.Background(), message.UserText("Where is order 7?")); err != nil {
		log.Fatal(err)
	}
	for _, m := range session.History() {
		for _, r := range m.Results() {
			fmt.Println(message.PlainText(r.Content))
		}
	}
}

// model calls the tool once and then ends; api.New gives one that reaches the real API.
func model(_ context.Context, req message.Request, on func(data []byte) error) error {
	events := []string{`{"type":"message_start","message":{"id":"m1","content":[]}}`}
	if len(req.Messages) == 1 {
		events = append(events,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"queryOrder","input":{"id":"7"}}}`,
			`{"type":"content_block_stop","index":0}`)
	}
	for _, e := range append(events, `{"type":"message_stop"}`) {
		if err := on([]byte(e)); err != nil {
			return err
		}
	}
	return nil
}
