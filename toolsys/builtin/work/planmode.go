package work

import (
	"context"
	"strings"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// Why plan mode is not entered or left.
const (
	CodeAlreadyPlanning = iota + 1
	CodeNotPlanning
	CodeSubAgent
)

// PlanOut is what both tools of plan mode answer with.
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
	return tool.Must(tool.Def[Nothing, PlanOut]{
		Name:  "EnterPlanMode",
		Texts: prompts.Of("enterplan"),
		Call: func(context.Context, Nothing, *tool.Context) (tool.Result[PlanOut], error) {
			return tool.Result[PlanOut]{Data: PlanOut{Mode: permission.Plan.String()}, Modify: startPlanning}, nil
		},
		Text: func(PlanOut) string {
			return "Plan mode is on: from here on you can read and search, and change nothing. " +
				"Explore, settle open questions with AskUserQuestion, then present the plan with ExitPlanMode."
		},
		Validate: func(_ Nothing, c *tool.Context) *tool.Refusal {
			return switches(c, c.State.Mode == permission.Plan, CodeAlreadyPlanning, "plan mode is on already; present the plan with ExitPlanMode when it is ready")
		},
		Permit:  tool.Asks[Nothing]("plan before changing anything?"),
		Traits:  tool.Traits[Nothing]{NeedsUser: tool.Always[Nothing]}, // every other call is decided upon by the mode
		Loading: tool.Loading{Deferrable: true},
		View:    tool.Titled[Nothing]("Plan mode", "Entering plan mode", nil).Colored("plan"),
	})
}

// startPlanning keeps the mode to go back to; a second time it keeps nothing,
// lest plan mode lead back to plan mode.
func startPlanning(s tool.State) tool.State {
	if s.Mode != permission.Plan {
		s.Before, s.Mode = s.Mode, permission.Plan
	}
	return s
}

// switches refuses a call that is out of place, and that of a sub-agent: its state is its own (B4), and no person watches it.
func switches(c *tool.Context, misplaced bool, code int, why string) *tool.Refusal {
	switch {
	case c.Chain.Depth > 0:
		return &tool.Refusal{Message: "only the main conversation switches plan mode; report your findings to it instead", Code: CodeSubAgent}
	case misplaced:
		return &tool.Refusal{Message: why, Code: code}
	}
	return nil
}

// ExitIn is what ExitPlanMode takes.
type ExitIn struct {
	Plan string `json:"plan" minLength:"1" jsonschema:"The plan to be approved, in Markdown"`
}

// ExitPlanMode presents the plan and, once a person has approved it, goes back to
// the mode that plan mode was entered from (SPEC L, F2). The approval is the
// permission to run this very call, so no rule and no classifier gives it.
func ExitPlanMode() *tool.Tool {
	return tool.Must(tool.Def[ExitIn, PlanOut]{
		Name:  "ExitPlanMode",
		Texts: prompts.Of("exitplan"),
		Call: func(_ context.Context, in ExitIn, c *tool.Context) (tool.Result[PlanOut], error) {
			return tool.Result[PlanOut]{
				Data: PlanOut{Mode: c.State.Before.String(), Plan: in.Plan},
				Modify: func(s tool.State) tool.State {
					s.Mode, s.Before, s.Plan = s.Before, permission.Default, in.Plan
					return s
				},
			}, nil
		},
		Text: func(out PlanOut) string {
			return "The plan is approved and plan mode is off (mode " + out.Mode + "). " +
				"Carry the plan out. If it has several steps, put them on the to-do list first.\n\n" + out.Plan
		},
		Validate: func(_ ExitIn, c *tool.Context) *tool.Refusal {
			return switches(c, c.State.Mode != permission.Plan, CodeNotPlanning, "plan mode is not on, so there is no plan to approve; if the plan was approved already, carry it out")
		},
		Permit:  tool.Asks[ExitIn]("approve this plan?"),
		Traits:  tool.Traits[ExitIn]{NeedsUser: tool.Always[ExitIn]},
		Loading: tool.Loading{Deferrable: true},
		View: tool.Titled("Plan", "Waiting for the plan's approval",
			func(in ExitIn) string { return firstLine(in.Plan) }).Colored("plan"),
		Draw: tool.Drawing[ExitIn, PlanOut]{Use: drawPlan, Result: func(_ ExitIn, o tool.Outcome[PlanOut]) []render.Node {
			if !o.Known {
				return nil
			}
			return []render.Node{render.Words("The plan is approved; the mode is "+o.Data.Mode, render.Dim)}
		}},
	})
}

// firstLine is the plan's title: its first line that is not empty.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if title := strings.TrimSpace(strings.TrimLeft(line, "# \t")); title != "" {
			return title
		}
	}
	return ""
}
