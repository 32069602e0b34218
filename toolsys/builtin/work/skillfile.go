package work

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	links "toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

// SkillFile is the file that makes a folder a skill.
const SkillFile = "SKILL.md"

// forkContext is the value of `context` that runs a skill as a sub-agent.
const forkContext = "fork"

// validSkill keeps a name from being a path: no slash, no leading dot.
var validSkill = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// SkillEntry is one skill as a list shows it.
type SkillEntry struct {
	// Name is the folder's, which is what Skill is called with.
	Name string
	// Description is the author's sentence on when to use it.
	Description string
	// File is the skill's file; empty for a remote one.
	File string
}

// skill is a skill file that was read.
type skill struct {
	SkillEntry
	fork         bool
	agent, model string
	allowed      []permission.Rule
	hooks        []tool.HookSpec
	text         string
}

// skillHead is the front matter. Members that are not ours are the author's business.
type skillHead struct {
	Description string `yaml:"description"`
	Allowed     any    `yaml:"allowed-tools"`
	Context     string `yaml:"context"`
	Agent       string `yaml:"agent"`
	Model       string `yaml:"model"`
	// Hooks are asked for the rest of the session, by their events.
	Hooks map[string][]hookGroup `yaml:"hooks"`
}

// hookGroup are commands for the calls that a matcher chooses.
type hookGroup struct {
	Matcher string        `yaml:"matcher"`
	If      string        `yaml:"if"`
	Hooks   []hookCommand `yaml:"hooks"`
}

type hookCommand struct {
	Type    string `yaml:"type"`
	Command string `yaml:"command"`
	// Timeout is in seconds.
	Timeout float64 `yaml:"timeout"`
}

// hooks reads the hooks of a skill. They are named after it, so that the skill loaded twice
// has them once.
func (h skillHead) hooks(skill string) ([]tool.HookSpec, error) {
	var all []tool.HookSpec
	for _, event := range slices.Sorted(maps.Keys(h.Hooks)) {
		for _, group := range h.Hooks[event] {
			for _, c := range group.Hooks {
				if c.Type != "" && c.Type != "command" || strings.TrimSpace(c.Command) == "" {
					return nil, fmt.Errorf("a hook of %s is no command; write type: command and a command", event)
				}
				all = append(all, tool.HookSpec{
					Name: fmt.Sprintf("%s/%s/%d", skill, event, len(all)+1), Event: event, Matcher: group.Matcher, If: group.If,
					Command: c.Command, Timeout: time.Duration(c.Timeout * float64(time.Second)),
				})
			}
		}
	}
	return all, nil
}

// parseSkill reads a skill's text: YAML between two lines of dashes, then the
// instructions. Without such a head all of it is instructions.
func parseSkill(e SkillEntry, text string) (skill, error) {
	var h skillHead
	body, err := readFront(text, &h)
	if err != nil {
		return skill{}, err
	}
	if h.Context != "" && h.Context != forkContext && h.Context != "inline" {
		return skill{}, fmt.Errorf("front matter: context %q; write fork or inline", h.Context)
	}
	allowed, err := rulesOf(h.Allowed)
	if err != nil {
		return skill{}, fmt.Errorf("front matter: allowed-tools: %w", err)
	}
	hooks, err := h.hooks(e.Name)
	if err != nil {
		return skill{}, fmt.Errorf("front matter: hooks: %w", err)
	}
	e.Description = strings.TrimSpace(h.Description)
	return skill{
		SkillEntry: e, fork: h.Context == forkContext, agent: h.Agent, model: h.Model,
		allowed: allowed, hooks: hooks, text: strings.TrimSpace(body),
	}, nil
}

// rulesOf reads allowed-tools: a list, or one text with commas between the rules.
func rulesOf(value any) ([]permission.Rule, error) {
	texts, err := textList(value)
	if err != nil {
		return nil, fmt.Errorf("%w; a rule is Tool or Tool(content)", err)
	}
	return parseRules(texts)
}

func parseRules(texts []string) (parsed []permission.Rule, err error) {
	for _, text := range texts {
		rule, err := permission.ParseRule(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, rule)
	}
	return parsed, nil
}

// load reads a local skill; found is false where no folder has it. A link to what is no skill, such as a file that rules keep
// from being read, is none.
func (d SkillDeps) load(name string) (s skill, found bool, err error) {
	for _, dir := range d.Dirs {
		file := path.Join(dir, name, SkillFile)
		raw, err := afero.ReadFile(d.FS, file)
		if err != nil {
			continue // not there: the next folder may have it
		}
		if real, err := links.Follow(d.FS, file, nil); err != nil || path.Base(real) != SkillFile {
			return skill{}, true, fmt.Errorf("%s: it is a link to a file of another name than %s", file, SkillFile)
		}
		s, err := parseSkill(SkillEntry{Name: name, File: file}, string(raw))
		if err != nil {
			return skill{}, true, fmt.Errorf("%s: %w", file, err)
		}
		return s, true, nil
	}
	return skill{}, false, nil
}

// Skills lists the local skills by name (SPEC L). The error joins the files that cannot
// be read as skills, which are left out.
func Skills(d SkillDeps) ([]SkillEntry, error) {
	var all []SkillEntry
	var problems []error
	for _, name := range d.names() {
		s, _, err := d.load(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		all = append(all, s.SkillEntry)
	}
	return all, errors.Join(problems...)
}

// listed is the list of skills that the prompt refers to; a file that is no skill is
// left out of it, and calling it gives the reason.
func (d SkillDeps) listed() string {
	all, _ := Skills(d)
	var b strings.Builder
	for i, e := range all {
		if i == 0 {
			b.WriteString("\nThe skills there are:\n")
		}
		b.WriteString("- " + strings.TrimSuffix(e.Name+": "+strings.Join(strings.Fields(e.Description), " "), ": ") + "\n")
	}
	return b.String()
}

func (d SkillDeps) names() []string {
	var names []string
	for _, dir := range d.Dirs {
		entries, err := afero.ReadDir(d.FS, dir)
		if err != nil {
			continue // a folder that is not there has no skills
		}
		for _, e := range entries {
			if _, err := d.FS.Stat(path.Join(dir, e.Name(), SkillFile)); err == nil && validSkill.MatchString(e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
