package toolsys_test

import (
	"context"
	"fmt"

	"toolbench/toolsys"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
)

// A rule and a mode that the conversation begins with, a hook that sees each call of the tool, and a function that asks a
// person. The rule allows the call; the hook is stricter.
func Example_permission() {
	rules, err := permission.Rules{}.Parse(permission.Project, permission.Allow, "queryOrder")
	if err != nil {
		panic(err)
	}
	guard, err := hook.New(toolsys.RealClock(), hook.Hook{
		Name: "orders-have-numbers", Event: hook.PreToolUse, Matcher: "queryOrder",
		Run: func(_ context.Context, in hook.Input) (hook.Output, error) {
			fmt.Println("hook:", string(in.Input))
			return hook.Output{Decision: permission.Ask, Reason: "the customer has to agree"}, nil
		},
	})
	if err != nil {
		panic(err)
	}
	system, err := toolsys.New(toolsys.Config{Tools: []*tool.Tool{queryOrder}})
	if err != nil {
		panic(err)
	}
	session, err := system.Open(loop.Config{
		Model: scripted,
		State: tool.State{Rules: rules, Mode: permission.Default, Root: "/srv/shop", Dir: "/srv/shop"},
		Handlers: pipeline.Handlers{Hooks: guard, Ask: func(_ context.Context, q pipeline.Question) (pipeline.Reply, error) {
			fmt.Println("asked:", q.Tool, "because", q.Reason)
			return pipeline.Reply{Allow: false, Text: "not today"}, nil
		}},
	})
	if err != nil {
		panic(err)
	}
	if _, err := session.Send(context.Background(), message.UserText("Where is order 7?")); err != nil {
		panic(err)
	}
	for _, m := range session.History() {
		for _, r := range m.Results() {
			fmt.Println("result:", message.PlainText(r.Content))
		}
	}
	// Output:
	// hook: {"id":"7"}
	// asked: queryOrder because hook: the customer has to agree
	// result: Permission to use queryOrder was denied (user: not today).
}
