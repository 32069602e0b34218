package work

import (
	"context"
	"fmt"
	"strings"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// Why VerifyPlanExecution refuses an input that fits its schema.
const (
	CodeNoPlan = iota + 1
	CodeStillPlanning
	CodeTooDeepToVerify
)

// VerifyIn is what VerifyPlanExecution takes.
type VerifyIn struct {
	Summary string `json:"summary,omitempty" jsonschema:"What was done, and what was left out on purpose"`
}

// VerifyOut is what VerifyPlanExecution answers with.
type VerifyOut struct {
	// Verdict is done, partly, not_done, or unclear where the report has none.
	Verdict string `json:"verdict" enum:"done,partly,not_done,unclear"`
	Report  string `json:"report"`
}

// verdictMark begins the last line of the report.
const verdictMark = "VERDICT:"

// VerifyPlanExecution has a sub-agent check the approved plan against what is there (SPEC
// L). The sub-agent is in plan mode, so that it can look and change nothing. A report
// without a verdict counts as none.
func VerifyPlanExecution(d Deps) *tool.Tool {
	return tool.Must(tool.Def[VerifyIn, VerifyOut]{
		Name:     "VerifyPlanExecution",
		Texts:    prompts.Of("verifyplan"),
		Call:     d.verify,
		Text:     func(out VerifyOut) string { return "Verdict: " + out.Verdict + "\n\n" + out.Report },
		Validate: d.validateVerify,
		Permit:   tool.Allows[VerifyIn]("it looks and changes nothing"),
		Traits: tool.Traits[VerifyIn]{
			ReadOnly:  tool.Always[VerifyIn],
			Interrupt: tool.Cancel,
		},
		View: tool.Titled("Check of the plan", "Checking the plan against what is there",
			func(in VerifyIn) string { return firstLine(in.Summary) }).Colored("plan"),
	})
}

func (d Deps) validateVerify(_ VerifyIn, c *tool.Context) *tool.Refusal {
	switch {
	case c.State.Mode == permission.Plan:
		return &tool.Refusal{Message: "the plan is still being made; present it with ExitPlanMode, carry it out, then check it", Code: CodeStillPlanning}
	case c.State.Plan == "":
		return &tool.Refusal{Message: "no plan was approved in this conversation, so there is none to check", Code: CodeNoPlan}
	case c.Chain.Depth >= max(1, d.MaxDepth):
		return &tool.Refusal{Message: fmt.Sprintf("a sub-agent at depth %d may not start another; check the plan yourself", c.Chain.Depth), Code: CodeTooDeepToVerify}
	}
	return nil
}

func (d Deps) verify(ctx context.Context, in VerifyIn, c *tool.Context) (tool.Result[VerifyOut], error) {
	if c.Spawn == nil {
		return tool.Result[VerifyOut]{}, errNoAgents
	}
	got, err := c.Spawn(ctx, tool.Job{
		Description: "check the plan", Prompt: verifyTask(c.State.Plan, in.Summary), Progress: c.Progress,
		Isolate: func(s tool.State) tool.State {
			s.Before, s.Mode = s.Mode, permission.Plan
			return s
		},
	})
	if err != nil {
		return tool.Result[VerifyOut]{}, fmt.Errorf("the plan was not checked: %w", err)
	}
	out := verdictOf(got.Text)
	return tool.Result[VerifyOut]{Data: out, Failed: out.Verdict == "unclear"}, nil
}

func verifyTask(plan, summary string) string {
	text := "Check whether this plan was carried out. Look at the files themselves; change nothing. " +
		"Take the plan step by step: done, partly done or missing, each with the place that shows it.\n\n<plan>\n" + plan + "\n</plan>"
	if summary != "" {
		text += "\n\nWho carried it out reports, which proves nothing:\n<summary>\n" + summary + "\n</summary>"
	}
	return text + "\n\nEnd with one line: " + verdictMark + " done, " + verdictMark + " partly, or " + verdictMark + " not_done."
}

// verdictOf parts a report from the verdict in its last line.
func verdictOf(report string) VerifyOut {
	report = strings.TrimSpace(report)
	at := strings.LastIndex(report, "\n") + 1
	verdict, ok := strings.CutPrefix(strings.Trim(report[at:], " *_`."), verdictMark)
	verdict = strings.ToLower(strings.Trim(verdict, " *_`."))
	if !ok || verdict != "done" && verdict != "partly" && verdict != "not_done" {
		return VerifyOut{Verdict: "unclear", Report: report}
	}
	return VerifyOut{Verdict: verdict, Report: strings.TrimSpace(report[:at])}
}
