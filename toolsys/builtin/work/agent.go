package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Why Agent refuses an input that fits its schema.
const (
	CodeTooDeep = iota + 1
	CodeUnknownType
	CodeAgentName
	CodeAgentNotBackground
)

// AgentIn is what Agent takes.
type AgentIn struct {
	Description     string `json:"description" minLength:"1" jsonschema:"The task in three to five words"`
	Prompt          string `json:"prompt" minLength:"1" jsonschema:"The whole task: the agent knows nothing else of this conversation"`
	SubagentType    string `json:"subagent_type,omitempty" jsonschema:"The kind of agent to use"`
	Model           string `json:"model,omitempty" jsonschema:"The model to use instead of this conversation's"`
	RunInBackground bool   `json:"run_in_background,omitempty" jsonschema:"Return at once; read the answer with TaskOutput later"`
	Name            string `json:"name,omitempty" jsonschema:"A name by which the agents reach it with SendMessage; only for one in the background, whose end then comes to you as a message"`
}

// AgentOut is what Agent answers with. A background agent has a task id and
// nothing else yet.
type AgentOut struct {
	// Text is the agent's last message, which is its answer.
	Text string `json:"text,omitempty"`
	// Turns and Calls count the model's turns and the tool calls in them.
	Turns  int    `json:"turns,omitempty"`
	Calls  int    `json:"calls,omitempty"`
	TaskID string `json:"task_id,omitempty"`
	// Name is how a background agent is reached.
	Name string `json:"name,omitempty"`
	// Results are those of its calls, of a type that keeps them for its parent.
	Results []tool.CallResult `json:"results,omitempty"`
}

// Agent hands a task to a sub-agent and gives back its answer (SPEC L, B4).
// Agents have states of their own, so several may run at once. The call allows
// itself, since each call the sub-agent makes is decided upon by itself.
func Agent(d Deps) *tool.Tool {
	return tool.Must(tool.Def[AgentIn, AgentOut]{
		Name:        "Agent",
		Coordinates: true,
		Aliases:     []string{"Task"},
		Hint:        "delegate a task to a sub-agent",
		Description: "Hands a task to a sub-agent that works on its own and reports back.",
		Describe:    func(in AgentIn) string { return in.Description },
		Prompt:      func(tool.PromptOptions) string { return prompts.Text("agent") + d.typesText() },
		Call:        d.callAgent,
		Text:        AgentOut.text,
		Validate:    d.validateAgent,
		Permit:      tool.Allows[AgentIn]("each call the agent makes is decided upon by itself"),
		Subject:     func(in AgentIn, _ *tool.Context) tool.Subject { return tool.Subject{Content: d.kind(in)} },
		Traits: tool.Traits[AgentIn]{
			// A background agent gets its id when it starts, so starts keep call order.
			Safe:      func(in AgentIn) bool { return !in.RunInBackground },
			Interrupt: tool.Cancel,
		},
		Shaping: tool.Shaping[AgentIn]{Classifier: func(in AgentIn) string { return in.Prompt }},
		View: tool.View[AgentIn]{
			Title:    func(in AgentIn) string { return cmp.Or(d.kind(in), "Agent") },
			Color:    "agent",
			Summary:  func(in AgentIn) string { return in.Description },
			Activity: func(in AgentIn) string { return in.Description },
		},
		Draw: drawAgent(),
	})
}

func (d Deps) callAgent(ctx context.Context, in AgentIn, c *tool.Context) (tool.Result[AgentOut], error) {
	switch {
	case c.Spawn == nil:
		return tool.Result[AgentOut]{}, errNoAgents
	case in.RunInBackground:
		return d.startAgent(in, c)
	}
	job, err := d.job(in, c)
	if err != nil {
		return tool.Result[AgentOut]{}, err
	}
	job.Progress = c.Progress
	got, err := c.Spawn(ctx, job)
	if err != nil {
		return tool.Result[AgentOut]{}, fmt.Errorf("the agent %q did not finish: %w", in.Description, err)
	}
	return tool.Done(AgentOut{Text: got.Text, Turns: got.Turns, Calls: got.Calls, Results: got.Results}), nil
}

// agentRule is the rule that decides about agents of a type, whichever tool begins one; nil where none does.
func agentRule(kind string, c *tool.Context) *permission.Hit {
	return c.Rules.Match(permission.Query{Subject: permission.Subject{Tool: "Agent", Aliases: []string{"Task"}}, Content: kind})
}

// kind is the type the call asks for, or the default one.
func (d Deps) kind(in AgentIn) string {
	if in.SubagentType == "" && len(d.Agents) > 0 {
		return d.Agents[0].Name
	}
	return in.SubagentType
}

func (d Deps) validateAgent(in AgentIn, c *tool.Context) *tool.Refusal {
	if limit := max(1, d.MaxDepth); c.Chain.Depth >= limit {
		return &tool.Refusal{Message: fmt.Sprintf("a sub-agent at depth %d may not start another; do the work yourself", c.Chain.Depth), Code: CodeTooDeep}
	}
	if c.Chain.Forked {
		return &tool.Refusal{Message: "a fork may not start an agent; do the work yourself", Code: CodeTooDeep}
	}
	if refusal := d.validateName(in); refusal != nil {
		return refusal
	}
	types, broken := d.types()
	names := tool.Each(types, func(t AgentType) string { return t.Name })
	if in.SubagentType == "" || slices.Contains(names, in.SubagentType) {
		return nil
	}
	kinds := map[bool]string{true: "there are " + strings.Join(names, ", "), false: "there are no types here, leave subagent_type out"}[len(types) > 0]
	if broken != nil {
		kinds += "; files that could not be read: " + strings.ReplaceAll(broken.Error(), "\n", "; ")
	}
	return &tool.Refusal{Message: fmt.Sprintf("no agent type %q; %s", in.SubagentType, kinds), Code: CodeUnknownType}
}

// agentName is what an agent may be called. Names that stand for others in messages are
// not to be had.
var agentName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

var takenNames = []string{tool.MainName, "user", "system", "cron", "trigger", "pr", "task", "monitor"}

func (d Deps) validateName(in AgentIn) *tool.Refusal {
	switch {
	case in.Name == "":
		return nil
	case !in.RunInBackground:
		return &tool.Refusal{Message: "name is for an agent with run_in_background; leave it out", Code: CodeAgentNotBackground}
	case !agentName.MatchString(in.Name) || slices.Contains(takenNames, strings.ToLower(in.Name)):
		return &tool.Refusal{Message: fmt.Sprintf("%q is no name for an agent: use a letter and then letters, digits, _ and -, and none of %s", in.Name, strings.Join(takenNames, ", ")), Code: CodeAgentName}
	}
	return nil
}

func (d Deps) typesText() string {
	types, _ := d.types() // a call of a type whose file is broken gives the reason
	var b strings.Builder
	for i, t := range types {
		switch {
		case i > 0:
		case len(d.Agents) > 0:
			b.WriteString("\nTypes of agent (the first is the default):\n")
		default:
			b.WriteString("\nTypes of agent (without one, the agent has your tools):\n")
		}
		fmt.Fprintf(&b, "- %s: %s", t.Name, t.When)
		if t.Kind.Tools != nil {
			b.WriteString(" (Tools: " + cmp.Or(strings.Join(t.Kind.Tools, ", "), "none") + ")")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (d Deps) job(in AgentIn, c *tool.Context) (tool.Job, error) {
	job := tool.Job{Description: in.Description, Prompt: in.Prompt, Type: d.kind(in), Model: in.Model}
	types, _ := d.types()
	for _, t := range types {
		if t.Name == job.Type {
			job.Kind, job.Model = t.Kind, cmp.Or(in.Model, t.Model)
			return job, lacking(t, c)
		}
	}
	if job.Type == "" && c.CurrentSettings().Has(settings.ForkSubagent) {
		fork(&job, c)
	}
	return job, nil
}

// lacking is the error of a type that is to have servers which are not there: an agent without
// them could not do what it is for.
func lacking(t AgentType, c *tool.Context) error {
	if c.Servers == nil {
		return nil
	}
	servers := c.Servers()
	for _, name := range t.Kind.Servers {
		switch i := slices.IndexFunc(servers, func(s tool.ServerState) bool { return s.Name == name }); {
		case i < 0:
			there := slices.DeleteFunc(servers, func(s tool.ServerState) bool { return s.Pending })
			names := strings.Join(tool.Each(there, func(s tool.ServerState) string { return s.Name }), ", ")
			return fmt.Errorf("agents of the type %s need the MCP server %s, which is not there; those that are: %s", t.Name, name, cmp.Or(names, "none"))
		case servers[i].Pending:
			return fmt.Errorf("agents of the type %s need the MCP server %s, which is still being connected; try again later", t.Name, name)
		}
	}
	return nil
}

// What a fork reads in the place of the results that its parent's calls still have to get,
// and before its task.
const (
	forkedCall = "The call goes on in the conversation that this one was forked from."
	forkedTask = "<system-reminder>This is a fork of the conversation above: nobody there sees what you do here, only your last message. " +
		"Do the task yourself, start no agents, ask nothing and do nothing beyond it. Report briefly what you did and found.</system-reminder>\n\n"
	forkedTree = "<system-reminder>You work in the worktree %s, a copy of %s: what was read above of files there may differ here. Read a file before you change it.</system-reminder>\n\n"
)

// fork has the agent go on from this conversation: what was sent of it, then the message that
// starts the agent, whose calls have no results yet. The beginning is the parent's to the byte,
// so that its prompt cache serves the agent too.
func fork(job *tool.Job, c *tool.Context) {
	job.History = c.State.Snipped.Cut(c.FirstMessage).Of(slices.Clone(c.Messages))
	results := message.Message{Role: message.User, Content: tool.Each(c.Parent.Calls(), func(call message.Block) message.Block {
		return message.ToolResult(call.ID, false, message.Text(forkedCall))
	})}
	job.History, job.Forked = append(job.History, c.Parent, results), true
	job.Prompt = forkedTask + job.Prompt
	if w := c.State.Worktree; w != nil {
		job.Prompt = fmt.Sprintf(forkedTree, w.Dir, w.Main) + job.Prompt
	}
}

func (d Deps) startAgent(in AgentIn, c *tool.Context) (tool.Result[AgentOut], error) {
	if d.Tasks == nil || d.Inbox == nil || c.Enlist == nil {
		return tool.Result[AgentOut]{}, errors.New("agents cannot run in the background here; call again without run_in_background")
	}
	job, err := d.job(in, c)
	if err != nil {
		return tool.Result[AgentOut]{}, err
	}
	team := d.teamOf(in, c)
	p, err := c.Enlist(tool.Peer{Name: in.Name, Title: in.Description, Team: team, Reports: in.Name != "", Stays: team != ""})
	if err != nil {
		return tool.Result[AgentOut]{}, fmt.Errorf("%w; give the agent another name, or write to the one that has it with SendMessage", err)
	}
	job.Agent = p.Agent
	if p.Stays {
		job.Idle = func(last string) { d.idle(p, last) }
	}
	id := d.begin(p, job, c.Spawn)
	return tool.Result[AgentOut]{Data: AgentOut{TaskID: id, Name: p.Name}, Observed: []tool.Observation{{Task: id}}}, nil
}

// teamOf is the team that a named agent joins, which is its parent's.
func (d Deps) teamOf(in AgentIn, c *tool.Context) string {
	self, err := d.Inbox.Peer(c.AgentID)
	if in.Name == "" || err != nil {
		return ""
	}
	return self.Team
}

// idle reports to its parent that a member of a team waits for messages.
func (d Deps) idle(p tool.Peer, last string) {
	if now, err := d.Inbox.Peer(p.Agent); err != nil || !now.Stays {
		return // it ends, and reports that
	}
	text := "I wait for messages. My last words: " + cmp.Or(last, "none.")
	_, _ = d.Inbox.Post(tool.Mail{To: p.Parent, From: p.Name, Sender: p.Agent, Kind: tool.MailIdle, Text: text})
}

// begin runs an enlisted agent as a background task and gives the task's id. Spawn
// outlives the call, as the task does.
func (d Deps) begin(p tool.Peer, job tool.Job, spawn func(context.Context, tool.Job) (tool.Report, error)) string {
	ids := make(chan string, 1) // the task begins before its id is known here
	spec := tool.TaskSpec{Kind: "agent", Title: job.Description, Agent: p.Parent}
	id := d.Tasks.Start(spec, func(ctx context.Context, out io.Writer) (int, error) {
		id := <-ids
		got, err := spawn(ctx, job)
		if ctx.Err() == nil {
			d.report(p, id, got, err)
		}
		d.Inbox.Ended(p.Agent, func(text string) (string, error) {
			next := job
			next.Prompt, next.History = text, got.History
			next.Isolate = func(tool.State) tool.State { return got.State }
			return d.begin(p, next, spawn), nil
		})
		if err != nil {
			return 1, err
		}
		_, err = io.WriteString(out, got.Text)
		return 0, err
	})
	d.Inbox.Runs(p.Agent, id)
	ids <- id
	return id
}

// report sends the end of an agent to its parent. A parent that has ended itself reads
// it in the task's output, if at all.
func (d Deps) report(p tool.Peer, task string, got tool.Report, err error) {
	if !p.Reports {
		return
	}
	text := "I have ended: " + cmp.Or(got.Text, "without an answer.")
	if err != nil {
		text = "I failed: " + err.Error()
	}
	_, _ = d.Inbox.Post(tool.Mail{To: p.Parent, From: p.Name, Sender: p.Agent, Kind: tool.MailTask, About: task, Text: text})
}

func (out AgentOut) text() string {
	switch {
	case out.TaskID != "":
		return fmt.Sprintf("The agent %s runs in the background as %s. Read its answer with TaskOutput, write to it with SendMessage, end it with TaskStop.", out.Name, out.TaskID)
	case len(out.Results) > 0:
		return cmp.Or(out.Text, "The agent ended without an answer.") + out.resultsText()
	case out.Text == "":
		return "The agent ended without an answer."
	}
	return out.Text
}

// resultsText shows what the agent's calls gave.
func (out AgentOut) resultsText() string {
	var b strings.Builder
	b.WriteString("\n\nWhat its calls gave:")
	for _, r := range out.Results {
		fmt.Fprintf(&b, "\n<result tool=%q status=%q>\n%s\n</result>", r.Tool, r.Status, r.Text)
	}
	return b.String()
}

// errNoAgents is the error of a session in which no sub-agent can run.
var errNoAgents = errors.New("sub-agents cannot run here; do the work yourself")

// agentExt ends the names of the files of agents' types.
const agentExt = ".md"

// agentHead is the front matter of such a file. Members that are not ours are the author's
// business.
type agentHead struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Tools       any    `yaml:"tools"`
	Without     any    `yaml:"disallowedTools"`
	Model       string `yaml:"model"`
	Mode        string `yaml:"permissionMode"`
	Servers     any    `yaml:"mcpServers"`
	Reminder    string `yaml:"criticalSystemReminder"`
	Preserve    bool   `yaml:"preserveToolUseResults"`
}

// AgentTypes reads the types of agents from the files of folders, the more important first.
// The error joins what is wrong with files, which are left out.
func AgentTypes(fsys afero.Fs, dirs []string) ([]AgentType, error) {
	var all []AgentType
	var problems []error
	from := map[string]string{}
	for _, dir := range dirs {
		entries, err := afero.ReadDir(fsys, dir)
		if err != nil {
			continue // a folder that is not there has no agents
		}
		own := map[string]bool{}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), agentExt) || !e.Mode().IsRegular() {
				continue
			}
			file := path.Join(dir, e.Name())
			t, err := readAgentType(fsys, file)
			switch {
			case err != nil:
				problems = append(problems, fmt.Errorf("%s: %w", file, err))
			case own[t.Name]:
				problems = append(problems, fmt.Errorf("%s: %s has an agent of the name %s already", file, from[t.Name], t.Name))
			case from[t.Name] == "":
				from[t.Name], own[t.Name] = file, true
				all = append(all, t)
			}
		}
	}
	slices.SortFunc(all, func(a, b AgentType) int { return strings.Compare(a.Name, b.Name) })
	return all, errors.Join(problems...)
}

func readAgentType(fsys afero.Fs, file string) (AgentType, error) {
	raw, err := afero.ReadFile(fsys, file)
	if err != nil {
		return AgentType{}, err
	}
	var h agentHead
	body, err := readFront(string(raw), &h)
	if err != nil {
		return AgentType{}, err
	}
	t := AgentType{Name: h.Name, When: strings.Join(strings.Fields(h.Description), " "), Model: h.Model}
	if t.Model == "inherit" {
		t.Model = ""
	}
	t.Kind.System, t.Kind.Reminder, t.Kind.Preserve = strings.TrimSpace(body), strings.TrimSpace(h.Reminder), h.Preserve
	switch {
	case !agentName.MatchString(t.Name):
		return t, fmt.Errorf("front matter: name %q; use a letter and then letters, digits, _ and -", t.Name)
	case t.When == "":
		return t, errors.New("front matter: no description; without it the model cannot choose the agent")
	case t.Kind.System == "":
		return t, errors.New("no text behind the front matter, which is what the agent is told")
	}
	return t, h.narrow(&t.Kind)
}

// narrow reads what the agent is left of its parent's means.
func (h agentHead) narrow(k *tool.AgentKind) (err error) {
	if k.Tools, err = textList(h.Tools); err != nil {
		return fmt.Errorf("front matter: tools: %w", err)
	}
	for _, name := range k.Tools {
		if rule, err := permission.ParseRule(name); err != nil || rule.Content() != "" {
			return fmt.Errorf("front matter: tools: %q is no tool's name; what a tool may do is narrowed by disallowedTools", name)
		}
	}
	if slices.Contains(k.Tools, "*") {
		k.Tools = nil
	}
	without, err := textList(h.Without)
	if err == nil {
		k.Without, err = parseRules(without)
	}
	if err != nil {
		return fmt.Errorf("front matter: disallowedTools: %w", err)
	}
	if k.Servers, err = textList(h.Servers); err != nil {
		return fmt.Errorf("front matter: mcpServers: %w; name servers that the conversation has", err)
	}
	if h.Mode == "" {
		return nil
	}
	mode, err := permission.ParseMode(h.Mode)
	k.Mode = &mode
	if err != nil {
		return fmt.Errorf("front matter: permissionMode: %w", err)
	}
	return nil
}
