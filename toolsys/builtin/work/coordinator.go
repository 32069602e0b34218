package work

import (
	"context"

	"toolbench/toolsys/tool"
)

// CodeAlreadySo refuses to enter or leave the mode where that has been done.
const CodeAlreadySo = 1

// CoordinatorIn is what CoordinatorMode takes.
type CoordinatorIn struct {
	Active bool `json:"active" jsonschema:"true enters the mode, false leaves it"`
}

// CoordinatorOut is what CoordinatorMode answers with.
type CoordinatorOut struct {
	Active bool `json:"active"`
}

// CoordinatorMode has the main conversation do nothing but direct agents (SPEC L, C3): while
// it is on, calls of tools that do work themselves are refused. The tools stay in the pool,
// so that what is cached of it holds, and agents have all of them. The mode only takes away,
// and leaving it gives no more than there was before, so neither needs consent.
func CoordinatorMode() *tool.Tool {
	return tool.Must(tool.Def[CoordinatorIn, CoordinatorOut]{
		Name:        "CoordinatorMode",
		Coordinates: true,
		Texts:       prompts.Of("coordinator"),
		Call: func(_ context.Context, in CoordinatorIn, _ *tool.Context) (tool.Result[CoordinatorOut], error) {
			return tool.Result[CoordinatorOut]{Data: CoordinatorOut(in), Modify: setOption(tool.OptionCoordinator, map[bool]string{true: "true"}[in.Active])}, nil
		},
		Text: func(out CoordinatorOut) string {
			if out.Active {
				return "Coordinator mode is on: from here on agents do the work. Begin them with Agent, write to them with SendMessage, and put together what they report."
			}
			return "Coordinator mode is off: all tools can be used again."
		},
		Validate: canCoordinate,
		Permit:   tool.Allows[CoordinatorIn]("it permits nothing that was not permitted before"),
		Loading:  tool.Loading{Deferrable: true},
		View:     tool.Doing("Coordinator mode", "Turning coordinator mode ", CoordinatorIn.word).Colored("plan"),
	})
}

func (in CoordinatorIn) word() string { return map[bool]string{true: "on", false: "off"}[in.Active] }

func canCoordinate(in CoordinatorIn, c *tool.Context) *tool.Refusal {
	switch {
	case c.Chain.Depth > 0:
		return &tool.Refusal{Message: "only the main conversation coordinates; do the work you were given, and report", Code: CodeSubAgent}
	case in.Active == c.State.Coordinates():
		return &tool.Refusal{Message: "coordinator mode is " + in.word() + " already", Code: CodeAlreadySo}
	}
	return nil
}
