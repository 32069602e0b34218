package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"gopkg.in/yaml.v3"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

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
		Prompt:      func(tool.PromptOptions) string { return prompts.Text("workflow") + d.listed() },
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
		View:    tool.Doing("Workflow", "Running the workflow ", func(in WorkflowIn) string { return in.Workflow }),
	})
}

func (d Workflows) validate(in WorkflowIn, _ *tool.Context) *tool.Refusal {
	w, err := d.load(in.Workflow)
	switch {
	case errors.Is(err, errNoWorkflow):
		return &tool.Refusal{Message: unknown("workflow", in.Workflow, slices.Sorted(maps.Keys(d.files()))), Code: CodeNoWorkflow}
	case err != nil:
		return &tool.Refusal{Message: err.Error(), Code: CodeBadWorkflow}
	}
	if problem := w.misfit(in.Args); problem != "" {
		return &tool.Refusal{Message: problem, Code: CodeWorkflowArgs}
	}
	return nil
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

// workflowExt ends the names of workflows' files, mostSteps is how many steps one may have.
const (
	workflowExt = ".yaml"
	mostSteps   = 50
)

// workflowName keeps a name from being a path, and is what steps and arguments are called.
var workflowName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

// place is where a value goes in a step's input.
var place = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

var errNoWorkflow = errors.New("there is no such workflow")

// workflow is a file that was read.
type workflow struct {
	Description string `yaml:"description"`
	// Args are what a call has to give, each with what it is.
	Args  map[string]string `yaml:"args"`
	Steps []workflowStep    `yaml:"steps"`
}

// workflowStep is one call. KeepGoing: the workflow goes on where it fails.
type workflowStep struct {
	ID        string    `yaml:"id"`
	Tool      string    `yaml:"tool"`
	Input     stepInput `yaml:"input"`
	KeepGoing bool      `yaml:"keep_going"`

	// template is the input as JSON, with places for values.
	template any
}

// stepInput is a step's input as it was written down.
type stepInput map[string]any

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *stepInput) UnmarshalYAML(n *yaml.Node) error {
	if err := plain(n); err != nil {
		return err
	}
	return n.Decode((*map[string]any)(s))
}

// plain leaves dates the texts that they are, and refuses aliases, with which a few lines can
// stand for more than memory holds.
func plain(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		return fmt.Errorf("line %d: *%s is an alias; write out what it stands for", n.Line, n.Value)
	}
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, inner := range n.Content {
		if err := plain(inner); err != nil {
			return err
		}
	}
	return nil
}

// files are the workflows' files by name.
func (d Workflows) files() map[string]string {
	found := map[string]string{}
	for _, dir := range d.Dirs {
		entries, err := afero.ReadDir(d.FS, dir)
		if err != nil {
			continue // a folder that is not there has no workflows
		}
		for _, e := range entries {
			name, is := strings.CutSuffix(e.Name(), workflowExt)
			if _, earlier := found[name]; is && !earlier && e.Mode().IsRegular() && workflowName.MatchString(name) {
				found[name] = path.Join(dir, e.Name())
			}
		}
	}
	return found
}

// load reads a workflow and checks all of it, so that none begins that cannot end.
func (d Workflows) load(name string) (workflow, error) {
	file, found := d.files()[name]
	if !found {
		return workflow{}, errNoWorkflow
	}
	raw, err := afero.ReadFile(d.FS, file)
	if err != nil {
		return workflow{}, fmt.Errorf("the workflow cannot be read: %w", err)
	}
	var w workflow
	if err = readYAML(string(raw), &w, true); err == nil {
		err = w.check()
	}
	if err != nil {
		return workflow{}, fmt.Errorf("%s: %w", file, err)
	}
	return w, nil
}

func (w workflow) check() error {
	known := map[string]bool{}
	for arg := range w.Args {
		if !workflowName.MatchString(arg) {
			return fmt.Errorf("args: %q is no name; use letters, digits, _ and -", arg)
		}
		known["args."+arg] = true
	}
	if n := len(w.Steps); n == 0 || n > mostSteps {
		return fmt.Errorf("steps: there are %d; write 1 to %d", n, mostSteps)
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		if !workflowName.MatchString(s.ID) || known["steps."+s.ID] {
			return fmt.Errorf("steps[%d].id: %q; give each step a name of its own, of letters, digits, _ and -", i, s.ID)
		}
		if err := s.prepare(known); err != nil {
			return fmt.Errorf("step %s: %w", s.ID, err)
		}
		known["steps."+s.ID] = true
	}
	return nil
}

// prepare takes the input apart, in which only what is known by then may be named.
func (s *workflowStep) prepare(known map[string]bool) error {
	if s.Tool == "" {
		return errors.New("tool: name the tool that the step calls")
	}
	raw, err := json.Marshal(s.Input)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	for _, m := range place.FindAllSubmatch(raw, -1) {
		if name := string(m[1]); !known[name] {
			return fmt.Errorf("input: there is no {{%s}}; write {{args.NAME}} of an argument or {{steps.ID}} of an earlier step", name)
		}
	}
	return json.Unmarshal(raw, &s.template)
}

// call is the step with the values in their places. They go into texts as they are: what
// has become of a step is decided upon, not what was written down.
func (s workflowStep) call(values map[string]string) tool.InnerCall {
	fill := func(text string) string {
		return place.ReplaceAllStringFunc(text, func(found string) string { return values[place.FindStringSubmatch(found)[1]] })
	}
	raw, _ := json.Marshal(filled(s.template, fill)) // it was read from JSON
	return tool.InnerCall{Tool: s.Tool, Input: raw}
}

// filled applies a function to every text within a JSON value, members' names left alone.
func filled(v any, fill func(string) string) any {
	switch v := v.(type) {
	case string:
		return fill(v)
	case []any:
		return tool.Each(v, func(item any) any { return filled(item, fill) })
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = filled(v[name], fill)
		}
		return out
	}
	return v
}

// misfit is what is wrong with a call's arguments, "" if nothing is.
func (w workflow) misfit(args map[string]string) string {
	missing, strange := beyond(w.Args, args), beyond(args, w.Args)
	switch {
	case len(missing) > 0:
		return "args: give a value for " + strings.Join(missing, ", ")
	case len(strange) > 0:
		return "args: the workflow has no argument " + strings.Join(strange, ", ")
	}
	return ""
}

// beyond are the names of one map that another has not, in order.
func beyond(names, others map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool {
		_, there := others[name]
		return there
	})
}
