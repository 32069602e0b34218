package work

import (
	"context"
	_ "embed" // the prompt beside this file
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/message"
	"toolbench/toolsys/search"
	"toolbench/toolsys/tool"
)

//go:embed workflow.md
var workflowPrompt string

// Why Workflow refuses an input that fits its schema.
const (
	CodeNoWorkflow = iota + 1
	CodeBadWorkflow
	CodeWorkflowArgs
)

// Workflows is where workflows lie.
type Workflows struct {
	FS afero.Fs
	// Dirs are the absolute folders of their files, the more important first: of two
	// workflows of one name the first counts.
	Dirs []string
}

// WorkflowIn is what Workflow takes.
type WorkflowIn struct {
	Workflow string            `json:"workflow" minLength:"1" jsonschema:"The workflow's name"`
	Args     map[string]string `json:"args,omitempty" jsonschema:"A value for each of its arguments"`
}

// WorkflowOut is what Workflow answers with.
type WorkflowOut struct {
	Workflow string `json:"workflow"`
	ReplOut
}

// Workflow carries out the steps of a file (SPEC L). Like REPL it allows itself, since each
// step is decided upon by itself, with what it has become.
func Workflow(d Workflows) *tool.Tool {
	return tool.Must(tool.Def[WorkflowIn, WorkflowOut]{
		Name:        "Workflow",
		Hint:        "run a workflow script of steps",
		Description: "Carries out the steps of a workflow that was written down in a file.",
		Describe:    func(in WorkflowIn) string { return "Run the workflow " + in.Workflow },
		Prompt:      func(tool.PromptOptions) string { return workflowPrompt + d.listed() },
		Call:        d.call,
		Block:       WorkflowOut.blocks,
		Validate:    d.validate,
		Permit:      tool.Allows[WorkflowIn]("each step is decided upon by itself"),
		Subject:     func(in WorkflowIn, _ *tool.Context) tool.Subject { return tool.Subject{Content: in.Workflow} },
		Traits: tool.Traits[WorkflowIn]{
			Destructive: tool.Always[WorkflowIn],
			OpenWorld:   tool.Always[WorkflowIn],
			Interrupt:   tool.Cancel,
			Wrapper:     true,
		},
		Loading: tool.Loading{Deferrable: true},
		Limits:  tool.Limits[WorkflowIn]{ResultChars: ReplChars},
		View: tool.View[WorkflowIn]{
			Summary:  func(in WorkflowIn) string { return in.Workflow },
			Activity: func(in WorkflowIn) string { return "Running the workflow " + in.Workflow },
		},
	})
}

func (d Workflows) validate(in WorkflowIn, _ *tool.Context) *tool.Refusal {
	w, err := d.load(in.Workflow)
	switch {
	case errors.Is(err, errNoWorkflow):
		return &tool.Refusal{Message: d.unknown(in.Workflow), Code: CodeNoWorkflow}
	case err != nil:
		return &tool.Refusal{Message: err.Error(), Code: CodeBadWorkflow}
	}
	if problem := w.misfit(in.Args); problem != "" {
		return &tool.Refusal{Message: problem, Code: CodeWorkflowArgs}
	}
	return nil
}

func (d Workflows) unknown(name string) string {
	names := slices.Sorted(maps.Keys(d.files()))
	switch near := search.Nearest(name, names, nil, 3); {
	case len(names) == 0:
		return fmt.Sprintf("no workflow %q: there are none", name)
	case len(near) > 0:
		return fmt.Sprintf("no workflow %q; the nearest are %s", name, strings.Join(near, ", "))
	}
	return fmt.Sprintf("no workflow %q; there are %s", name, strings.Join(names, ", "))
}

// listed is the list of workflows that the prompt refers to. A file that is none is left
// out of it, and calling it gives the reason.
func (d Workflows) listed() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.files())) {
		w, err := d.load(name)
		if err != nil {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\nThe workflows there are:\n")
		}
		fmt.Fprintf(&b, "- %s: %s\n", name, strings.Join(strings.Fields(w.Description), " "))
		for _, arg := range slices.Sorted(maps.Keys(w.Args)) {
			fmt.Fprintf(&b, "  - argument %s: %s\n", arg, strings.Join(strings.Fields(w.Args[arg]), " "))
		}
	}
	return b.String()
}

func (d Workflows) call(ctx context.Context, in WorkflowIn, c *tool.Context) (tool.Result[WorkflowOut], error) {
	if c.Inner == nil {
		return tool.Result[WorkflowOut]{}, errors.New("no calls can be made from here; make them one by one")
	}
	w, err := d.load(in.Workflow)
	if err != nil {
		return tool.Result[WorkflowOut]{}, err
	}
	values := map[string]string{}
	for name, value := range in.Args {
		values["args."+name] = value
	}
	report := c.Inner(ctx, func(done []tool.InnerResult) (tool.InnerCall, bool) {
		n := len(done)
		if n > 0 {
			values["steps."+w.Steps[n-1].ID] = message.PlainText(done[n-1].Blocks)
		}
		if n == len(w.Steps) || n > 0 && done[n-1].Failed && !w.Steps[n-1].KeepGoing {
			return tool.InnerCall{}, false
		}
		return w.Steps[n].call(values), true
	})
	res := tool.Result[WorkflowOut]{Data: WorkflowOut{Workflow: in.Workflow}, Modify: report.Modify, Messages: report.Messages}
	for i, s := range w.Steps {
		res.Failed = res.Data.add(report, i, s.ID, s.Tool) && !s.KeepGoing || res.Failed
	}
	return res, nil
}
