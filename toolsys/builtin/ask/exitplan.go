package ask

import (
	"context"
	_ "embed" // the prompt beside this file
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

//go:embed exitplan.md
var exitPrompt string

// ExitIn is what ExitPlanMode takes.
type ExitIn struct {
	Plan string `json:"plan" minLength:"1" jsonschema:"The plan to be approved, in Markdown"`
}

// ExitPlanMode presents the plan and, once a person has approved it, goes back to
// the mode that plan mode was entered from (SPEC L, F2). The approval is the
// permission to run this very call, so no rule and no classifier gives it.
func ExitPlanMode() *tool.Tool {
	return tool.Must(tool.Def[ExitIn, PlanOut]{
		Name:        "ExitPlanMode",
		Hint:        "exit planning mode and execute",
		Description: "Presents the plan for approval and leaves plan mode.",
		Prompt:      func(tool.PromptOptions) string { return exitPrompt },
		Call: func(_ context.Context, in ExitIn, c *tool.Context) (tool.Result[PlanOut], error) {
			return tool.Result[PlanOut]{
				Data:   PlanOut{Mode: c.State.Before.String(), Plan: in.Plan},
				Modify: stopPlanning(in.Plan),
			}, nil
		},
		Block: func(out PlanOut) []message.Block {
			return []message.Block{message.Text("The plan is approved and plan mode is off (mode " + out.Mode + "). " +
				"Carry the plan out. If it has several steps, put them on the to-do list first.\n\n" + out.Plan)}
		},
		Validate: func(_ ExitIn, c *tool.Context) *tool.Refusal { return canExit(c) },
		Permit: func(ExitIn, *tool.Context) permission.Opinion {
			return permission.Opinion{Behaviour: permission.Ask, Text: "approve this plan?"}
		},
		Traits: tool.Traits[ExitIn]{
			NeedsUser: tool.Always[ExitIn],
			Effects:   modeEffects[ExitIn],
		},
		Loading: tool.Loading{Deferrable: true},
		View: tool.View[ExitIn]{
			Title:    func(ExitIn) string { return "Plan" },
			Color:    "plan",
			Summary:  func(in ExitIn) string { return firstLine(in.Plan) },
			Activity: func(ExitIn) string { return "Waiting for the plan's approval" },
		},
	})
}

func stopPlanning(plan string) tool.Modifier {
	return func(s tool.State) tool.State {
		s.Mode, s.Before, s.Plan = s.Before, permission.Default, plan
		return s
	}
}

func canExit(c *tool.Context) *tool.Refusal {
	switch {
	case c.Chain.Depth > 0:
		return subAgent()
	case c.State.Mode != permission.Plan:
		return &tool.Refusal{Message: "plan mode is not on, so there is no plan to approve; if the plan was approved already, carry it out", Code: CodeNotPlanning}
	}
	return nil
}

// firstLine is the plan's title: its first line that says something.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if title := strings.TrimSpace(strings.TrimLeft(line, "# \t")); title != "" {
			return title
		}
	}
	return ""
}
