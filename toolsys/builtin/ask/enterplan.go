package ask

import (
	"context"
	_ "embed" // the prompt beside this file

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

//go:embed enterplan.md
var enterPrompt string

// Why a door of plan mode stays shut.
const (
	CodeAlreadyPlanning = iota + 1
	CodeNotPlanning
	CodeSubAgent
)

// EnterIn is what EnterPlanMode takes: nothing.
type EnterIn struct{}

// PlanOut is what both doors of plan mode answer with.
type PlanOut struct {
	// Mode is the permission mode from now on.
	Mode string `json:"mode"`
	// Plan is the plan that was approved; empty on the way in.
	Plan string `json:"plan,omitempty"`
}

// EnterPlanMode switches to plan mode, in which only reading is possible, and
// remembers the mode to go back to (SPEC L, F1). It needs the user's consent,
// since it changes how the session goes on.
func EnterPlanMode() *tool.Tool {
	return tool.Must(tool.Def[EnterIn, PlanOut]{
		Name:        "EnterPlanMode",
		Hint:        "enter planning mode for complex tasks",
		Description: "Switches to plan mode, to explore and plan before anything is changed.",
		Prompt:      func(tool.PromptOptions) string { return enterPrompt },
		Call: func(context.Context, EnterIn, *tool.Context) (tool.Result[PlanOut], error) {
			return tool.Result[PlanOut]{Data: PlanOut{Mode: permission.Plan.String()}, Modify: startPlanning}, nil
		},
		Block: func(PlanOut) []message.Block {
			return []message.Block{message.Text("Plan mode is on: from here on you can read and search, and change nothing. " +
				"Explore, settle open questions with AskUserQuestion, then present the plan with ExitPlanMode.")}
		},
		Validate: func(_ EnterIn, c *tool.Context) *tool.Refusal { return canEnter(c) },
		Permit: func(EnterIn, *tool.Context) permission.Opinion {
			return permission.Opinion{Behaviour: permission.Ask, Text: "plan before changing anything?"}
		},
		Traits: tool.Traits[EnterIn]{
			NeedsUser: tool.Always[EnterIn],
			Effects:   modeEffects[EnterIn],
		},
		Loading: tool.Loading{Deferrable: true},
		View: tool.View[EnterIn]{
			Title:    func(EnterIn) string { return "Plan mode" },
			Color:    "plan",
			Activity: func(EnterIn) string { return "Entering plan mode" },
		},
	})
}

// modeEffects: every other call is decided upon by the mode.
func modeEffects[In any](In, *tool.Context) tool.Effects { return tool.Effects{Everything: true} }

// startPlanning keeps the mode to go back to; a second time it keeps nothing,
// lest plan mode lead back to plan mode.
func startPlanning(s tool.State) tool.State {
	if s.Mode != permission.Plan {
		s.Before, s.Mode = s.Mode, permission.Plan
	}
	return s
}

func canEnter(c *tool.Context) *tool.Refusal {
	switch {
	case c.Chain.Depth > 0:
		return subAgent()
	case c.State.Mode == permission.Plan:
		return &tool.Refusal{Message: "plan mode is on already; present the plan with ExitPlanMode when it is ready", Code: CodeAlreadyPlanning}
	}
	return nil
}

// subAgent: a sub-agent's state is its own (B4), and nobody talks to it.
func subAgent() *tool.Refusal {
	return &tool.Refusal{Message: "only the main conversation switches plan mode; report your findings to it instead", Code: CodeSubAgent}
}
