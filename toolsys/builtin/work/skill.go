package work

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/search"
	"toolbench/toolsys/tool"
)

// Why Skill refuses an input that fits its schema.
const (
	CodeNoSkill = iota + 1
	CodeBadName
)

// skillChars is the largest skill taken in, in code points (K1).
const skillChars = 100_000

// remotePrefix begins the name of a skill that is fetched.
const remotePrefix = "remote:"

// SkillIn is what Skill takes.
type SkillIn struct {
	Skill string `json:"skill" minLength:"1" jsonschema:"The skill's name"`
	Args  string `json:"args,omitempty" jsonschema:"What the skill is to work on, in its own terms"`
}

// SkillOut is what Skill answers with.
type SkillOut struct {
	Skill string `json:"skill"`
	// Mode is inline (the instructions follow the result) or fork (a sub-agent
	// carried them out).
	Mode string `json:"mode" enum:"inline,fork"`
	// Allowed are the rules that hold from here on, or held in the sub-agent.
	Allowed []string `json:"allowed_tools,omitempty"`
	// Answer is what the sub-agent reported.
	Answer string `json:"answer,omitempty"`
}

// Skill brings in the instructions of a skill (SPEC L). Inline they follow the
// result as a message, and the tools the skill allows itself become session
// rules; with `context: fork` a sub-agent carries them out, and those rules hold
// in the sub-agent only. A remote skill is fetched first. A local one that only
// brings text allows itself; one that brings permissions is for rules and the
// user to decide.
func Skill(d SkillDeps) *tool.Tool {
	return tool.Must(tool.Def[SkillIn, SkillOut]{
		Name:        "Skill",
		Hint:        "run a named skill with instructions",
		Description: "Brings in the instructions of a named skill.",
		Describe:    func(in SkillIn) string { return "Use the skill " + in.Skill },
		Prompt:      func(tool.PromptOptions) string { return prompts.Text("skill") + d.listed() },
		Call:        d.call,
		Text:        SkillOut.text,
		Validate:    d.validate,
		Permit:      d.permit,
		Subject:     SkillIn.subject,
		Traits:      tool.Traits[SkillIn]{Interrupt: tool.Cancel},
		Loading:     tool.Loading{Always: true},
		Shaping:     tool.Shaping[SkillIn]{Classifier: d.brings},
		Limits:      tool.Limits[SkillIn]{ResultChars: skillChars},
		View:        tool.Doing("Skill", "Using the skill ", func(in SkillIn) string { return in.name() }),
	})
}

// brings is the call with what the skill does beside instructing: who clears the one clears the other.
func (d SkillDeps) brings(in SkillIn) string {
	s, _, _ := d.load(in.name()) // what cannot be read brings nothing
	return strings.Join(slices.Concat([]string{strings.TrimSpace(in.name() + " " + in.Args)},
		tool.Each(s.allowed, func(r permission.Rule) string { return "It allows itself " + r.String() }),
		tool.Each(s.hooks, func(h tool.HookSpec) string { return "It has this run at " + h.Event + ": " + h.Command })), "\n")
}

// subject is what rules match. A server's prompt is called mcp__SERVER__PROMPT, and who forbids the server
// forbids it; either name may hold the underscores between them.
func (in SkillIn) subject(*tool.Context) tool.Subject {
	s := tool.Subject{Content: in.name()}
	rest, ofServer := strings.CutPrefix(s.Content, "mcp__")
	for i := range rest {
		if ofServer && strings.HasPrefix(rest[i:], "__") {
			s.Servers = append(s.Servers, rest[:i])
		}
	}
	return s
}

// name is the skill without the slash that people write commands with.
func (in SkillIn) name() string { return strings.TrimPrefix(in.Skill, "/") }

func (d SkillDeps) validate(in SkillIn, c *tool.Context) *tool.Refusal {
	name := in.name()
	if strings.HasPrefix(name, remotePrefix) {
		return nil
	}
	if !validSkill.MatchString(name) {
		return &tool.Refusal{Message: fmt.Sprintf("%q is no skill's name: letters, digits, _, - and dots", in.Skill), Code: CodeBadName}
	}
	if _, found, _ := d.load(name); !found && d.command(context.Background(), name, c) == nil {
		return &tool.Refusal{Message: unknown("skill", name, d.names()), Code: CodeNoSkill}
	}
	return nil
}

// command is a command of the user's that is no skill, such as a prompt of a server, or nil.
func (d SkillDeps) command(ctx context.Context, name string, c *tool.Context) *tool.Command {
	if c.Commands == nil {
		return nil
	}
	all := c.Commands(ctx)
	i := slices.IndexFunc(all, func(c tool.Command) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// SkillCommands are the skills as commands of the user's, who decides by that what a skill brings.
func SkillCommands(d SkillDeps) []tool.Command {
	entries, _ := Skills(d) // a file that is no skill is no command
	return tool.Each(entries, func(e SkillEntry) tool.Command {
		return tool.Command{Name: e.Name, About: e.Description, Expand: func(ctx context.Context, args string) (tool.Expansion, error) {
			s, err := d.get(ctx, e.Name)
			return tool.Expansion{Blocks: []message.Block{message.Text(s.instructions(args))}, Modify: grant(s.allowed), Hooks: s.hooks}, err
		}}
	})
}

// unknown words the error for a skill or workflow that does not exist, with the names of those that do.
func unknown(kind, name string, names []string) string {
	switch near := search.Nearest(name, names, nil, 3); {
	case len(names) == 0:
		return fmt.Sprintf("no %s %q: there are none", kind, name)
	case len(near) > 0:
		return fmt.Sprintf("no %s %q; the nearest are %s", kind, name, strings.Join(near, ", "))
	}
	return fmt.Sprintf("no %s %q; there are %s", kind, name, strings.Join(names, ", "))
}

func (d SkillDeps) permit(in SkillIn, _ *tool.Context) permission.Opinion {
	s, found, err := d.load(in.name())
	if err != nil || !found || s.fork || len(s.allowed)+len(s.hooks) > 0 {
		return permission.Opinion{}
	}
	return permission.Opinion{Behaviour: permission.Allow, Text: "the skill brings instructions and nothing else"}
}

func (d SkillDeps) call(ctx context.Context, in SkillIn, c *tool.Context) (tool.Result[SkillOut], error) {
	if _, found, _ := d.load(in.name()); !found {
		if command := d.command(ctx, in.name(), c); command != nil {
			return expand(ctx, *command, in)
		}
	}
	s, err := d.get(ctx, in.name())
	if err != nil {
		return tool.Result[SkillOut]{}, err
	}
	if q := (permission.Query{Subject: permission.Subject{Tool: "Skill"}, Content: in.name()}); c.Mode == permission.Bypass && c.Rules.Match(q) == nil {
		s.allowed = nil // nobody approved them, and all that needs them there are commands that a list leaves out
	}
	if err := hookAll(s.hooks, c); err != nil {
		return tool.Result[SkillOut]{}, fmt.Errorf("skill %q: %w", s.Name, err)
	}
	if s.fork {
		return d.fork(ctx, s, in, c)
	}
	return tool.Result[SkillOut]{
		Data:     SkillOut{Skill: s.Name, Mode: "inline", Allowed: tool.Each(s.allowed, permission.Rule.String)},
		Messages: []message.Message{message.UserText(s.instructions(in.Args))},
		Modify:   grant(s.allowed),
	}, nil
}

// expand brings in a command that is no skill.
func expand(ctx context.Context, command tool.Command, in SkillIn) (tool.Result[SkillOut], error) {
	filled, err := command.Expand(ctx, in.Args)
	if err != nil {
		return tool.Result[SkillOut]{}, fmt.Errorf("the command %s: %w", command.Name, err)
	}
	return tool.Result[SkillOut]{
		Data: SkillOut{Skill: command.Name, Mode: "inline"}, Messages: []message.Message{{Role: message.User, Content: filled.Blocks}}, Modify: filled.Modify,
	}, nil
}

// hookAll adds hooks to the session, where they hold for every agent.
func hookAll(hooks []tool.HookSpec, c *tool.Context) error {
	if len(hooks) > 0 && c.Hook == nil {
		return errors.New("it brings hooks, and none can be added here")
	}
	for _, h := range hooks {
		if err := c.Hook(h); err != nil {
			return err
		}
	}
	return nil
}

func (d SkillDeps) get(ctx context.Context, name string) (skill, error) {
	ref, remote := strings.CutPrefix(name, remotePrefix)
	if !remote {
		s, found, err := d.load(name)
		if err == nil && !found {
			err = errors.New(unknown("skill", name, d.names()))
		}
		return s, err
	}
	if d.Fetch == nil {
		return skill{}, fmt.Errorf("skill %q: remote skills cannot be fetched here", name)
	}
	text, err := d.Fetch(ctx, ref)
	if err != nil {
		return skill{}, fmt.Errorf("skill %q was not fetched: %w", name, err)
	}
	s, err := parseSkill(SkillEntry{Name: name}, text)
	if err != nil {
		return skill{}, fmt.Errorf("skill %q: %w", name, err)
	}
	return s, nil
}

func (d SkillDeps) fork(ctx context.Context, s skill, in SkillIn, c *tool.Context) (tool.Result[SkillOut], error) {
	rule := agentRule(s.agent, c)
	switch {
	case rule != nil && rule.Behaviour > permission.Allow: // nobody was asked about the agent
		return tool.Result[SkillOut]{}, fmt.Errorf("skill %q did not finish: it runs as an agent: %s", s.Name, rule)
	case c.Spawn == nil:
		return tool.Result[SkillOut]{}, fmt.Errorf("skill %q did not finish: sub-agents cannot run here", s.Name)
	case c.Chain.Depth >= max(1, d.MaxDepth):
		return tool.Result[SkillOut]{}, fmt.Errorf("skill %q runs as a sub-agent, and a sub-agent may not start another", s.Name)
	}
	job := tool.Job{Description: "skill " + s.Name, Prompt: s.instructions(in.Args), Type: s.agent, Model: s.model, Isolate: grant(s.allowed)}
	report, err := c.Spawn(ctx, job)
	if err != nil {
		return tool.Result[SkillOut]{}, fmt.Errorf("skill %q did not finish: %w", s.Name, err)
	}
	return tool.Done(SkillOut{Skill: s.Name, Mode: "fork", Allowed: tool.Each(s.allowed, permission.Rule.String), Answer: report.Text}), nil
}

// grant makes the rules a skill allows itself part of the session's. Rules that
// are there already are not added again.
func grant(allowed []permission.Rule) tool.Modifier {
	if len(allowed) == 0 {
		return nil
	}
	return func(st tool.State) tool.State {
		fresh := slices.DeleteFunc(slices.Clone(allowed), func(r permission.Rule) bool {
			return slices.ContainsFunc(st.Rules.All(), func(h permission.Hit) bool {
				return h.Rule == r && h.Source == permission.Session && h.Behaviour == permission.Allow
			})
		})
		st.Rules = st.Rules.With(permission.Session, permission.Allow, fresh...)
		return st
	}
}

// instructions is the skill's text with the arguments in their place, or at the
// end where it has none for them, and where its other files lie.
func (s skill) instructions(args string) string {
	text := strings.ReplaceAll(s.text, "$ARGUMENTS", args)
	if text == s.text && args != "" {
		text += "\n\nArguments: " + args
	}
	if runes := []rune(text); len(runes) > skillChars {
		text = string(runes[:skillChars]) + "\n[the skill is longer than this; the rest is in " + s.File + "]"
	}
	if s.File == "" {
		return fmt.Sprintf("Instructions of the skill %s:\n\n%s", s.Name, text)
	}
	return fmt.Sprintf("Instructions of the skill %s (its files lie in %s):\n\n%s", s.Name, path.Dir(s.File), text)
}

func (out SkillOut) text() string {
	switch {
	case out.Mode == "inline":
		return fmt.Sprintf("The skill %s is loaded; its instructions follow.", out.Skill)
	case out.Answer == "":
		return fmt.Sprintf("The skill %s has run in a sub-agent, which gave no answer.", out.Skill)
	}
	return fmt.Sprintf("The skill %s has run in a sub-agent, which reports:\n\n%s", out.Skill, out.Answer)
}

// SkillDeps is what Skill needs from outside.
type SkillDeps struct {
	// FS holds the skills' folders.
	FS afero.Fs
	// Dirs are the absolute folders that skills lie in, the more important first:
	// of two skills of one name the first counts.
	Dirs []string
	// MaxDepth is how deep agents may start agents, skills among them: 0 and 1 mean that
	// only the main conversation does.
	MaxDepth int
	// Fetch gets the text of a remote skill by what follows "remote:" in its
	// name; nil where there are none.
	Fetch func(ctx context.Context, ref string) (string, error)
}
